"""Puts the table of comparisons into the documentation of the models.

Run: TRIPTYCH_PEERS_TABLE=table.json python -m pytest tests/peers, then
python -m tests.peers.document table.json
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.peers import tally

DOCUMENT = Path(__file__).resolve().parents[2] / "engine" / "models" / "README.md"
START, END = "<!-- comparisons: start -->", "<!-- comparisons: end -->"


def parts(text: str) -> tuple[str, str, str]:
    """What stands before, between and after the marks of the table."""
    before, start, rest = text.partition(START)
    middle, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{DOCUMENT.name} has no place for the table: {START} and {END}")
    return before + START, middle, END + after


def rows(text: str) -> set[tuple[str, str, str]]:
    """Model, reference or wrong way, and number of cases of every row in the document."""
    found = set()
    for line in parts(text)[1].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == len(tally.HEADS["right"]) and cells[0] not in ("model", "---"):
            found.add(_key(cells))
    return found


def keys(content: Mapping[str, Sequence[Mapping[str, Any]]]) -> set[tuple[str, str, str]]:
    """The same of a table in memory or from its JSON."""
    return {_key(cells) for half in content.values() for cells in tally.cells(half)}


def _key(cells: Sequence[str]) -> tuple[str, str, str]:
    """A row without the versions of what is installed here, which differ between machines."""
    return cells[0], re.sub(r"\b\d+(\.\d+)+\b", "x", cells[1]), cells[2]


def main(path: str) -> None:
    """Write the table of a JSON file into the document."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    before, _, after = parts(DOCUMENT.read_text(encoding="utf-8"))
    text = f"{before}\n\n{tally.markdown(content)}\n{after}"
    DOCUMENT.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1])
