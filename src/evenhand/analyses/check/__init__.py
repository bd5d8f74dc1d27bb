"""A policy, data held to it, and a verdict that a pipeline understands."""
