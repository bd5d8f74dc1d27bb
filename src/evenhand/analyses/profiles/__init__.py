"""Profiles: the options, tables and words of a rule that asks for an audit."""
