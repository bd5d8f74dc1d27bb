"""The groups of an audit within strata: compared in each, and pooled over them."""
