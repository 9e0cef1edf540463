"""RadImageNet-VQA in miniature: the benchmark's table, and a piece of the tables to train on.

Owns the layout and its oddities: letters for answers of choices, choices that are null, names of
findings with underscores, a text of the right answer that may be null.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import picture_bytes, write_parquet
from studies.medheb.mini.questions import Asked, ask, organ
from studies.medheb.mini.shared import look, number

PICTURES = 6
KINDS = ("open", "closed", "multiple_choice")
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """``benchmark/test-*.parquet``, ``instruct`` and ``alignment``."""
    rows = [_row(seed, shot, kind) for shot in range(PICTURES) for kind in KINDS]
    write_parquet(folder / "benchmark" / "test-00000-of-00001.parquet", rows, groups=6)
    for name in ("alignment", "instruct"):
        for part in ("train", "val"):
            rows = [_talk(seed, f"{name} {part}", shot) for shot in range(2)]
            write_parquet(folder / name / f"{part}-00000-of-00001.parquet", rows)


def _row(seed: int, shot: int, kind: str) -> Row:
    asked = ask(shot, 3 if kind == "closed" else shot + (kind == "open"))
    if kind != "closed" and asked.kind == "presence":
        asked = ask(shot, 1)
    told = asked.answer.replace(" ", "_")
    row: Row = {"image": _held(seed, "benchmark", shot), "question": asked.question}
    row |= {"choices": None, "answer": told, "question_type": kind}
    correct: str | None = None
    if kind == "multiple_choice":
        options = [*asked.wrong]
        options.insert(shot % 4, asked.answer)
        row |= {"choices": options, "answer": "ABCD"[shot % 4]}
        correct = told
    return row | {"metadata": _metadata(seed, shot, asked, kind, correct)}


def _metadata(seed: int, shot: int, asked: Asked, kind: str, correct: str | None) -> Row:
    return {
        "content_type": {"organ": "anatomy", "presence": "abnormality"}.get(
            asked.kind, "pathology"
        ),
        "correct_text": correct,
        "is_abnormal": shot % 3 != 0,
        "location": organ(shot),
        "modality": ("CT", "MRI")[shot % 2],
        "pathology": asked.answer if asked.kind == "finding" else None,
        "question_id": number(6, seed, "radimagenet", shot, kind),
    }


def _talk(seed: int, name: str, shot: int) -> Row:
    asked = ask(shot, 1)
    turns = [
        {"from": "human", "value": f"<image>\n{asked.question}"},
        {"from": "gpt", "value": asked.answer},
    ]
    metadata = _metadata(seed, shot, asked, name, asked.answer)
    return {"image": _held(seed, name, shot), "conversations": turns, "metadata": metadata}


def _held(seed: int, name: str, shot: int) -> Row:
    pixels = look(shot, seed, "radimagenet", name, shot, grey=True)
    return {"bytes": picture_bytes(pixels), "path": None}
