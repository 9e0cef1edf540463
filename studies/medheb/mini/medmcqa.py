"""MedMCQA in miniature, as its own archive keeps it: one question a line, options counted from 1.

Owns the layout and its oddities: a test part without answers, options that name other options,
questions that make no sense without theirs, explanations that are null or open with the letter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_json_lines
from studies.medheb.mini.questions import ask, sentence
from studies.medheb.mini.shared import uuid

PARTS = (("train", 6), ("dev", 24), ("test", 4))
SUBJECTS = ("Anatomy", "Surgery", "Pathology", "Dental")


def write(folder: Path, *, seed: int) -> None:
    """``train.json``, ``dev.json``, ``test.json``."""
    for part, count in PARTS:
        rows = [_row(seed, part, place) for place in range(count)]
        write_json_lines(folder / f"{part}.json", rows)


def _row(seed: int, part: str, place: int) -> dict[str, Any]:
    asked = ask(place, place % 3)
    right, options = place % 4, [f"{wrong} ({place})" for wrong in asked.wrong]
    options.insert(right, f"{asked.answer}, grade {place % 5}-{place}")
    question = f"{asked.question} ({sentence(place, seed, part, place)})"
    if place % 8 == 5:
        options[right], question = "All of the above", f"True about it are all except: {question}"
    row: dict[str, Any] = {"id": uuid(seed, "medmcqa", part, place), "question": question}
    row |= {f"op{letter}": option for letter, option in zip("abcd", options, strict=True)}
    if part != "test":
        told = f"Ans. {'abcd'[right]}. {options[right]}" if place % 3 else None
        row |= {"cop": right + 1, "exp": told}
    row |= {"choice_type": ("single", "multi")[place % 2]}
    return row | {"subject_name": SUBJECTS[place % 4], "topic_name": None}
