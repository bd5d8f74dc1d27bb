"""Methods × data sets × strengths × seeds × splits, resumable, and what they show."""
