"""The Wasserstein-projection test of a logistic score."""
