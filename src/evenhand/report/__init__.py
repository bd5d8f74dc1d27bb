"""What all results share: JSON, text, pages, charts, dataframes. It knows no analysis."""
