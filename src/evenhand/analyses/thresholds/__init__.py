"""Every threshold of a score, and the one that meets the requirements at the least cost."""
