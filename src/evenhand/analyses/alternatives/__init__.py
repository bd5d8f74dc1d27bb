"""Less discriminatory alternatives to a model in use, confirmed on people who did not select them."""
