"""What is kept: the home folder, settings, tables and queries."""
