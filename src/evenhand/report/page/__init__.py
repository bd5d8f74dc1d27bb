"""Results → one self-contained page that a person can read, print and check."""
