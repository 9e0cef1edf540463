"""Plain pictures and arrays."""
