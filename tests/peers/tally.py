"""The table of this issue: every comparison with a reference is asserted and remembered here.

``compare`` holds a vector to its reference, ``differs`` shows that a wrong way is told apart.
``tests/peers/conftest.py`` prints the table at the end of a session and, if the environment
variable ``TRIPTYCH_PEERS_TABLE`` names a file, writes it there as JSON for ``markdown``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

TABLE_FILE = "TRIPTYCH_PEERS_TABLE"


@dataclass
class Line:
    """One row: what of a model was held against what.

    Attributes:
        model: family or model, as the reader knows it.
        against: the reference, or the wrong way in words.
        worst: largest difference to a reference, smallest to a wrong way.
        bound: the loosest tolerance used, or the tightest distance demanded.
        cases: names, each once.
    """

    model: str
    against: str
    worst: float
    bound: float
    cases: list[str] = field(default_factory=list)


_RIGHT: dict[tuple[str, str], Line] = {}
_WRONG: dict[tuple[str, str], Line] = {}


def apart(ours: Any, theirs: Any) -> float:
    """Largest difference of two arrays of one shape; both must be finite."""
    one, other = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    assert one.shape == other.shape, f"shapes {one.shape} and {other.shape}"
    assert np.isfinite(one).all(), "our numbers are not finite"
    assert np.isfinite(other).all(), "the reference's numbers are not finite"
    return float(np.abs(one - other).max())


def compare(
    model: str, reference: str, case: str, ours: Any, theirs: Any, *, within: float = 1e-5
) -> float:
    """Assert that ours is the reference's vector, and remember how far apart they are.

    Args:
        model: for the table, for example ``SigLIP``.
        reference: code and version, for example ``transformers 5.17.0 SiglipModel``.
        case: name of the case, unique within model and reference.
        ours: vector or rows of vectors.
        theirs: the same of the reference.
        within: largest difference allowed.

    Returns:
        The largest difference.
    """
    found = apart(ours, theirs)
    line = _RIGHT.setdefault((model, reference), Line(model, reference, 0.0, within))
    line.worst, line.bound = max(line.worst, found), max(line.bound, within)
    _name(line, case)
    assert found <= within, f"{model}, {case}: {found:.3g} from {reference}, more than {within:g}"
    return found


def differs(
    model: str, what: str, ours: Any, wrong: Any, *, beyond: float, case: str = ""
) -> float:
    """Assert that a wrong way gives another vector, and remember how near the nearest came.

    Args:
        model: for the table.
        what: the wrong way in words, for example ``text padded to the longest``.
        ours: the right vector.
        wrong: the vector of the wrong way.
        beyond: smallest difference demanded, above the tolerance of ``compare``.
        case: name of the case, where there are several.

    Returns:
        The largest difference of the two.
    """
    found = apart(ours, wrong)
    line = _WRONG.setdefault((model, what), Line(model, what, found, beyond))
    line.worst, line.bound = min(line.worst, found), min(line.bound, beyond)
    _name(line, case or what)
    assert found > beyond, f"{model}: '{what}' is only {found:.3g} away; {beyond:g} were demanded"
    return found


def _name(line: Line, case: str) -> None:
    if case not in line.cases:
        line.cases.append(case)


def table() -> dict[str, list[dict[str, Any]]]:
    """Everything remembered in this session, as plain values: ``right`` and ``wrong`` rows."""
    return {"right": _rows(_RIGHT.values()), "wrong": _rows(_WRONG.values())}


def _rows(lines: Iterable[Line]) -> list[dict[str, Any]]:
    return [asdict(line) for line in sorted(lines, key=lambda one: (one.model, one.against))]


def write(path: Path) -> None:
    """Write the table as JSON."""
    path.write_text(json.dumps(table(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


HEADS = {
    "right": ("model", "reference", "cases", "largest difference", "allowed"),
    "wrong": ("model", "wrong way", "cases", "smallest difference", "demanded"),
}


def cells(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of one half of a table as text."""
    return [
        (
            str(row["model"]), str(row["against"]), str(len(row["cases"])),
            f"{row['worst']:.1e}", f"{row['bound']:.0e}",
        )
        for row in rows
    ]  # fmt: skip


def markdown(content: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A table, as ``table`` gives it or as read from its JSON, in markdown."""
    parts = []
    for half, head in HEADS.items():
        lines = [head, ("---",) * len(head), *cells(content.get(half, ()))]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def plain(content: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """The same for a terminal, in columns."""
    lines: list[str] = []
    for half, head in HEADS.items():
        body = [head, *cells(content.get(half, ()))]
        if len(body) == 1:
            continue
        wide = [max(len(line[column]) for line in body) for column in range(len(head))]
        lines += ["", *("  ".join(map(str.ljust, line, wide)).rstrip() for line in body)]
    return lines
