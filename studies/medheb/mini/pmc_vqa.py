"""PMC-VQA in miniature, both versions: tables of questions with choices, over figures of papers.

Owns the layout and its oddities: the answer is a text in one version and a letter in the other,
choices open with a blank and their letter, some answers fit no choice, figures repeat.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_picture, write_table
from studies.medheb.mini.questions import ask, sentence
from studies.medheb.mini.shared import look, number

FIRST = (("train", 6), ("test", 12))
SECOND = (("train_2", 4), ("test_2", 6))
CHOICES = [f"Choice {letter}" for letter in "ABCD"]
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """Tables beside ``images`` (version 1) and ``figures`` (version 2)."""
    columns = ["Figure_path", "Question", "Answer", *CHOICES, "Answer_label"]
    for part, count in FIRST:
        rows = [_row(folder / "images", seed, part, place) for place in range(count)]
        if part == "test":
            rows[3]["Answer"], rows[3]["Answer_label"] = " a change that no choice names", ""
            write_table(folder / "test_clean.csv", rows[:4], columns)
        write_table(folder / f"{part}.csv", rows, columns)
    columns = ["index", "Figure_path", "Caption", "Question", *CHOICES, "Answer", "split"]
    for part, count in SECOND:
        rows = [_row(folder / "figures", seed, part, place) for place in range(count)]
        for place, row in enumerate(rows):
            row |= {"Answer": row["Answer_label"], "index": place, "split": part[:-2]}
            row["Caption"] = sentence(place // 2, seed, part)
        write_table(folder / f"{part}.csv", rows, columns)


def _row(pictures: Path, seed: int, part: str, place: int) -> Row:
    """A question; two of them share a figure."""
    figure = place // 2
    name = f"PMC{number(7, seed, 'pmc', part, figure)}_Fig{1 + figure % 4}_{3 + figure}.jpg"
    if place % 2 == 0:
        pixels = look(figure, seed, part, figure, grey=figure % 3 == 0)
        write_picture(pictures / name, pixels, quality=90)
    asked = ask(figure, place % 3)
    options = [*asked.wrong]
    options.insert(place % 4, asked.answer)
    row: Row = {"Figure_path": name, "Question": f" {asked.question} ", "Answer": asked.answer}
    for letter, option in zip("ABCD", options, strict=True):
        row[f"Choice {letter}"] = f" {letter}:{option} "
    return row | {"Answer_label": "ABCD"[place % 4]}
