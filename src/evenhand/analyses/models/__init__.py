"""Several models of the same people, compared in the same resamples."""
