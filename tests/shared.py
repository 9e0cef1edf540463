"""Where the handed data lies: beside the checkout, never inside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared_path(relative: str) -> Path:
    """A path below ../shared; skips the test where the folder is absent, fails in CI."""
    path = SHARED / relative
    if path.exists():
        return path
    sentence = f"../shared/{relative} is not beside this checkout; the handed data is needed here"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)
