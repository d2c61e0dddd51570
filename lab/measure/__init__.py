"""Running passes: the plan, the worker process, what is timed and observed, and what becomes of each attempt."""
