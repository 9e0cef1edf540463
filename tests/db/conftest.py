"""What all tests of this room may ask for."""

from tests.postgres import place, server

__all__ = ["place", "server"]
