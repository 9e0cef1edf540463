"""ROCO as questions in miniature, as the hub's two copies keep it: one question per picture.

Owns the layout and its oddities: a part whose name is spelled ``Vaild``, in two files, and the
training part in a copy of its own.
"""

from __future__ import annotations

from pathlib import Path

from studies.medheb.mini.files import picture_bytes, write_parquet
from studies.medheb.mini.questions import ask, sentence
from studies.medheb.mini.shared import look, number

FILES = (
    ("ROCO-QA", "Test-00000-of-00001", 10),
    ("ROCO-QA", "Vaild-00000-of-00002", 2),
    ("ROCO-QA", "Vaild-00001-of-00002", 2),
    ("ROCO-QA-Train", "Train-00000-of-00001", 3),
)


def write(folder: Path, *, seed: int) -> None:
    """``ROCO-QA/data/*.parquet`` and ``ROCO-QA-Train/data/*.parquet``."""
    for copy, name, count in FILES:
        rows = []
        for place in range(count):
            asked = ask(place, place % 3)
            digits = number(5, seed, name, place)
            content = picture_bytes(look(place, seed, name, place, grey=True), "JPEG")
            answer = asked.answer if place % 4 else sentence(place, seed, name)
            rows.append(
                {
                    "image_id": f"ROCO_{digits}",
                    "image": {"bytes": content, "path": f"ROCO_{digits}.jpg"},
                    "question": asked.question,
                    "answer": answer,
                }
            )
        write_parquet(folder / copy / "data" / f"{name}.parquet", rows, groups=4)
