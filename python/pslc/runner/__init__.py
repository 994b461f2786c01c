"""Running: a suite or a job file on a target, several runs as one, and the plan that is shown before."""
