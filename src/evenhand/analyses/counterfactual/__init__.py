"""Counterfactual fairness: had people been of another group, in a causal model."""
