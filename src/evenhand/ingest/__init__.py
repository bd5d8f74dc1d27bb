"""Any data → table: rows are seen once, here, and only counts travel on."""
