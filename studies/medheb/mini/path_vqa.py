"""PathVQA in miniature, as the hub keeps it: parquet tables that hold the pictures.

Owns the layout and its oddities: grey and CMYK pictures, half of the answers yes or no, a triplet
twice. The archive of pickles is left out on purpose: nothing here writes a pickle.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

from studies.medheb.mini.files import write_parquet
from studies.medheb.mini.questions import ask
from studies.medheb.mini.shared import look

PARTS = (("train", 4), ("validation", 2), ("test", 8))


def write(folder: Path, *, seed: int) -> None:
    """``data/{train,validation,test}-00000-of-00001.parquet``."""
    for part, count in PARTS:
        rows: list[dict[str, Any]] = []
        for place in range(count):
            held = {"bytes": _jpeg(seed, part, place), "path": None}
            for turn in (1, 2 + place % 2):
                asked = ask(place, turn)
                answer = asked.answer.upper() if place % 5 == 4 else asked.answer
                question = asked.question.lower()
                rows.append({"image": held, "question": question, "answer": answer})
        rows.append(rows[0])
        write_parquet(folder / "data" / f"{part}-00000-of-00001.parquet", rows, groups=5)


def _jpeg(seed: int, part: str, place: int) -> bytes:
    picture = Image.fromarray(look(place, seed, "path-vqa", part, place))
    mode = ("RGB", "CMYK", "L", "RGB")[place % 4]
    stream = io.BytesIO()
    picture.convert(mode).save(stream, "JPEG", quality=90)
    return stream.getvalue()
