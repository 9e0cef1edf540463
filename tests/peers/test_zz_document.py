"""The last of the peer tests: the table kept in the documentation is the one just measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers import tally
from tests.peers.document import DOCUMENT, keys, rows


def test_the_documented_table_is_the_measured_one(request: pytest.FixtureRequest):
    here = Path(__file__).parent
    wanted = {path.name for path in here.glob("test_*.py")}
    ran = {item.path.name for item in request.session.items if item.path.parent == here}
    if ran != wanted or request.session.testsfailed:
        pytest.skip("says something only when all peer tests ran and passed")
    assert keys(tally.table()) == rows(DOCUMENT.read_text(encoding="utf-8")), (
        "the table of comparisons changed; write it anew with python -m tests.peers.document"
    )
