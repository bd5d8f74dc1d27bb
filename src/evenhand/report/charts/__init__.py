"""What every chart is made of: one Vega-Lite specification for the page, the notebook and files."""
