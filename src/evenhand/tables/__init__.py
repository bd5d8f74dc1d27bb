"""The counts: by score × group × label, by class, or by several scores; their files, and how they are shared."""
