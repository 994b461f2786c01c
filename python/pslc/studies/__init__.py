"""Studies: one question asked of many points. `axes` says what varies, `points` which points there are, `workers` runs
them in processes, `results` keeps a row per point, `study` puts them together."""
