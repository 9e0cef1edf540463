"""VQA-RAD in miniature, as its own project keeps it: one JSON of questions beside the pictures.

Owns the layout and its oddities: parts told by the type of the phrase, pictures on both sides,
answers that are numbers, a blank after a word, kinds of questions as a list with commas.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_json, write_picture
from studies.medheb.mini.questions import Asked, ask
from studies.medheb.mini.shared import look, number

PICTURES = 8
PHRASES = ("freeform", "para", "test_freeform", "test_para")
BASE = "VQA_RAD"


def write(folder: Path, *, seed: int) -> None:
    """``VQA_RAD Dataset Public.json`` and ``VQA_RAD Image Folder/synpic<digits>.jpg``."""
    rows: list[dict[str, Any]] = []
    for shot in range(PICTURES):
        name = f"synpic{number(5, seed, 'vqa-rad', shot)}.jpg"
        pixels = look(shot, seed, "vqa-rad", shot, grey=True)
        write_picture(folder / f"{BASE} Image Folder" / name, pixels, quality=90)
        for turn, phrase in enumerate(PHRASES):
            rows.append(_row(seed, shot, turn, phrase, name))
    rows[2] |= {"question": "How many masses are there?", "answer": 2}
    rows[2] |= {"question_type": "COUNT, SIZE", "answer_type": "OPEN"}
    write_json(folder / f"{BASE} Dataset Public.json", rows)


def _row(seed: int, shot: int, turn: int, phrase: str, name: str) -> dict[str, Any]:
    asked: Asked = ask(shot, turn + shot % 2)
    closed = asked.kind == "presence"
    row: dict[str, Any] = {"qid": 4 * shot + turn, "phrase_type": phrase}
    row |= {"qid_linked_id": f"{number(8, seed, 'linked', shot)}", "image_name": name}
    row |= {"image_case_url": f"https://medpix.example/case/{number(6, seed, 'case', shot)}"}
    row |= {"image_organ": ("HEAD", "CHEST", "ABD")[shot % 3], "evaluation": "evaluated"}
    row |= {"question": asked.question, "question_rephrase": "NULL", "question_relation": "NULL"}
    row |= {"question_frame": "NULL", "question_type": "PRES" if closed else "POS"}
    answer = asked.answer.capitalize() if shot % 2 else f"{asked.answer} "
    return row | {"answer": answer, "answer_type": "CLOSED " if closed else "OPEN"}
