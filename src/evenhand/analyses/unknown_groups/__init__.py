"""Groups as probabilities: how groups fare when only the chance is known that somebody belongs to one."""
