"""What all tests of this room may ask for."""

from tests.postgres import place, server
from tests.studies.mini_root import mini, mini_root

__all__ = ["mini", "mini_root", "place", "server"]
