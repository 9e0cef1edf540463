"""The scripts that make the three small demo models of ``resources/models``."""
