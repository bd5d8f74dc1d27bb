"""Charts of what was found: one Vega-Lite specification for the page, the notebook and files."""
