"""The numbered definitions, theorems, tables and figures of the five documents, run again beside what was printed."""
