"""The watch: periods → gaps in each of them → alarms when one is no longer what it was."""
