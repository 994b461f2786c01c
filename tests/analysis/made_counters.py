"""Counters of a phase, as a simulated drive would have counted."""

GB = 1e9
DIES = 32


def counters(seconds: float = 50.0, **shares: float) -> dict[str, float]:
    """Counters of a phase of 100 GB; shares of the host's bytes and of the time."""
    host, nanoseconds = 100 * GB, seconds * 1e9
    return {
        "host_write_bytes_total": host,
        "host_to_slc_bytes_total": shares.get("slc", 0.0) * host,
        "host_to_native_bytes_total": shares.get("native", 0.0) * host,
        "folded_bytes_total": shares.get("fold", 0.0) * host,
        "gc_bytes_total": shares.get("gc", 0.0) * host,
        "slc_valid_bytes": shares.get("held", 0.0) * GB,
        "cache_limit_bytes": shares.get("limit", 690.0) * GB,
        "slc_superblocks": shares.get("superblocks", 0.0),
        "link_busy_ns_total": shares.get("link", 0.3) * nanoseconds,
        "die_busy_ns_total": shares.get("dies", 0.95) * nanoseconds * DIES,
        "buffer_wait_ns_total": shares.get("wait", 0.5) * nanoseconds,
        "map_read_bytes_total": shares.get("map", 0.0) * host,
        "map_wait_ns_total": shares.get("map_wait", 0.0) * nanoseconds,
        "buffer_rise_bytes": shares.get("buffered", 0.0) * host,
        "wake_ns_total": shares.get("woken", 0.0) * nanoseconds,
        "flush_wait_ns_total": shares.get("flushed", 0.0) * nanoseconds,
        "host_cpu_busy_ns_total": shares.get("cpu", 0.0) * nanoseconds,
        "other_bytes": shares.get("others", 0.0) * host,
        "throttle_level": shares.get("throttled", 0.0),
        "temperature_millicelsius": 91_000.0,
    }
