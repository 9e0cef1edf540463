"""The lineage of the study schema."""
