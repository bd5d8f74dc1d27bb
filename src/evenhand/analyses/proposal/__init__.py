"""Which column of a file may play which role: a proposal with reasons, before anything is counted."""
