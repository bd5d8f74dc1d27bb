"""The gate: rules in a policy → data held to them → a verdict that a pipeline understands."""
