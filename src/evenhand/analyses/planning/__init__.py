"""Before there are data: how many people it takes, and which measure fits."""
