"""Evidence: what lies on disk, read into items. Tolerant of the world, strict on what leaves."""
