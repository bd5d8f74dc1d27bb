"""Fairness between individuals: who is near to whom, and how differently near people are treated."""
