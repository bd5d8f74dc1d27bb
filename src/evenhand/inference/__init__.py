"""Numbers → how sure we are: resampled tables, intervals, tests, power."""
