"""Charts that are published as they are: their figures written on them, drawn without a browser."""
