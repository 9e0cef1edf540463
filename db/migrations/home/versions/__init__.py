"""The lineage of the home schema."""
