"""An audit: every measure on every attribute, with intervals, tests and what parity alone would show."""
