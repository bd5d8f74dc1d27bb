"""Whether a gap between groups is another one than before: of rates in closed form, of whole scores by resamples."""
