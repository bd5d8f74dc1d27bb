"""Fairness over time: gaps of every period, and alarms when one is no longer what it was."""
