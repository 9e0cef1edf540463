"""Looks for values that separate the arms: any number of a side, stored or shown, that the model
behind the side moves though nothing that is shown does.

The lists that it is given hold pictures that are alike for both models by construction, so that
every difference is a leak: ids, order in the file, sizes, times, geometry, words. A paired sign
test per value, with the key known only to the test; the level is divided by the number of values,
so that a sound study is called leaky once in a million walks.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from math import comb, isfinite
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from tests.app.blinding import GETTERS

LEVEL = 1e-6
Values = Mapping[str, float]


@dataclass(frozen=True)
class Sides:
    """One item as it can be read: numbers of the left side, of the right, and of the whole."""

    left: Values
    right: Values
    whole: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Separation:
    """A value that tells the arms apart, and how unlikely that is by chance."""

    name: str
    p: float


def separations(items: Sequence[Sides], left_is_a: Sequence[bool]) -> tuple[Separation, ...]:
    """Every value whose distribution differs between the arms beyond chance.

    Args:
        items: what can be read of each item.
        left_is_a: the key: whether model A stands left.
    """
    found = [*_of_sides(items, left_is_a), *_of_wholes(items, left_is_a)]
    return tuple(one for one in found if one.p < LEVEL / max(1, len(found)))


def _of_sides(items: Sequence[Sides], left_is_a: Sequence[bool]) -> Iterator[Separation]:
    """Is A's number larger than B's more often than not?"""
    names = sorted({name for item in items for name in (*item.left, *item.right)})
    for name in names:
        ups = downs = 0
        for item, a_left in zip(items, left_is_a, strict=True):
            left, right = item.left.get(name, 0.0), item.right.get(name, 0.0)
            a, b = (left, right) if a_left else (right, left)
            ups, downs = ups + (a > b), downs + (a < b)
        yield Separation(name, sign_test(ups, ups + downs))


def _of_wholes(items: Sequence[Sides], left_is_a: Sequence[bool]) -> Iterator[Separation]:
    """Does a number of the item say which side A stands on? Its halves, and odd against even."""
    names = sorted({name for item in items for name in item.whole})
    for name in names:
        numbers = [item.whole.get(name, 0.0) for item in items]
        middle = sorted(numbers)[len(numbers) // 2]
        for words, marks in (
            ("above its middle", [number >= middle for number in numbers]),
            ("odd", [int(number) % 2 == 1 for number in numbers]),
        ):
            agree = sum(mark == a for mark, a in zip(marks, left_is_a, strict=True))
            if len(set(marks)) > 1:
                yield Separation(f"{name}, {words}", sign_test(agree, len(items)))


def sign_test(ups: int, n: int) -> float:
    """Exact two-sided p of ``ups`` of ``n`` under a fair coin."""
    tail = sum(comb(n, k) for k in range(max(ups, n - ups), n + 1))
    return min(1.0, 2 * tail / 2**n) if n else 1.0


# -- what is stored


def stored(file: Path) -> dict[str, Sides]:
    """Every item of a study file or pack: its row, and every column of the media of each side."""
    raw = file.read_bytes()
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        media = {
            row["media_id"]: _medium(dict(row), raw)
            for row in connection.execute("SELECT rowid AS place, * FROM medium ORDER BY rowid")
        }
        rows = connection.execute("SELECT rowid AS place, * FROM item ORDER BY rowid").fetchall()
    return {
        row["item_id"]: Sides(
            _side(json.loads(row["left"]), media),
            _side(json.loads(row["right"]), media),
            _plain({name: row[name] for name in row.keys() if name not in ("left", "right")}),  # noqa: SIM118
        )
        for row in rows
        if row["kind"] != "auto_tie"
    }


def _medium(row: dict[str, Any], raw: bytes) -> Values:
    """Numbers of one medium: its columns, where it lies in the file, how it is packed."""
    content = bytes(row.pop("content"))
    return {
        **_plain(row),
        "place in the file": float(raw.find(content[:64])),
        "bytes": float(len(content)),
        "first bytes": float(int.from_bytes(content[:48], "big") % 2**52),
        "checksum": float(zlib.crc32(content)),
    }


def _side(panels: Sequence[Mapping[str, Any]], media: Mapping[str, Values]) -> Values:
    """Numbers of one side: of each place, and of all its media together."""
    found: dict[str, float] = {"panels": float(len(panels))}
    together: dict[str, list[float]] = {}
    for place, panel in enumerate(panels, 1):
        found[f"{place}: length of its JSON"] = float(len(json.dumps(panel)))
        for key, value in _plain(panel).items():
            found[f"{place}: {key}"] = value
        for name in panel["media_ids"] if "media_ids" in panel else panel.get("media", ()):
            for key, value in media[name].items():
                together.setdefault(key, []).append(value)
                found.setdefault(f"{place}: {key}", value)
    for key, values in together.items():
        found[f"mean {key}"] = sum(values) / len(values)
        found[f"largest {key}"] = max(values)
    return found


def _plain(values: Mapping[str, Any]) -> dict[str, float]:
    """Any value as numbers: itself, whether it is odd, its order as text, its length."""
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, int):
            found |= {name: float(value), f"{name} odd": float(value % 2)}
        elif isinstance(value, float) and isfinite(value):
            found[name] = value
        else:
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            found[f"{name} in order"] = float(int.from_bytes(text.encode()[:6].ljust(6), "big"))
            found[f"length of {name}"] = float(len(text))
    return found


# -- what is shown


def shown(left: Sequence[QWidget], right: Sequence[QWidget], width: int) -> Sides:
    """Numbers of both wings as they stand on the screen, the right one mirrored.

    Args:
        left, right: the frames of a wing, from top to bottom.
        width: of the board, in pixels.
    """
    return Sides(_wing(left, None), _wing(right, width))


def _wing(frames: Sequence[QWidget], mirror: int | None) -> Values:
    found: dict[str, float] = {}
    for place, frame in enumerate(frames, 1):
        x = frame.x() if mirror is None else mirror - frame.x() - frame.width()
        for name, number in (("x", x), ("y", frame.y()), ("width", frame.width()),
                             ("height", frame.height())):  # fmt: skip
            found[f"{place}: {name}"] = float(number)
        parts = [frame, *frame.findChildren(QWidget)]
        found[f"{place}: parts"] = float(len(parts))
        found[f"{place}: parts in sight"] = float(sum(part.isVisible() for part in parts))
        found[f"{place}: properties"] = float(
            sum(len(part.dynamicPropertyNames()) for part in parts)
        )
        for getter in GETTERS:
            told = [str(getattr(part, getter)()) for part in parts if _tells(part, getter)]
            found[f"{place}: length of {getter}"] = float(sum(map(len, told)))
    return found


def _tells(part: QWidget, getter: str) -> bool:
    """Whether a getter is one without arguments."""
    value = getattr(part, getter, None)
    try:
        return callable(value) and isinstance(value(), str)
    except TypeError:
        return False
