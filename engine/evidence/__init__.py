"""Evidence: what lies on disk, read into items. Tolerant of the world, strict about what it hands on."""
