"""What a saved table tells about single people."""
