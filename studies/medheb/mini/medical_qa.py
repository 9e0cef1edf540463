"""MedicalQARetrieval in miniature, as the hub keeps it: corpus, queries, and which belong together.

Owns the layout and its oddities: questions that repeat with another answer, documents that repeat,
titles that are empty, one very long document.
"""

from __future__ import annotations

from pathlib import Path

from studies.medheb.mini.files import write_json_lines
from studies.medheb.mini.questions import finding, organ, sentence
from studies.medheb.mini.shared import number

PAIRS = 24
REPEATED, SAME_TEXT, LONG = 3, 7, 5


def write(folder: Path, *, seed: int) -> None:
    """``corpus.jsonl``, ``queries.jsonl``, ``default.jsonl``."""
    corpus, queries, pairs = [], [], []
    for place in range(PAIRS):
        document, query = (number(7, seed, name, place) for name in ("document", "query"))
        of = place - 1 if place == SAME_TEXT else place
        text = " ".join(sentence(of, seed, "mqa", of, part) for part in range(3))
        text = " ".join([text] * 12) if place == LONG else text
        title = "" if place % 3 else f"{finding(place)}, {place}"
        asked = place - 1 if place % 8 == REPEATED else place
        question = f"What is {finding(asked)} of the {organ(asked)}, form {asked}?"
        corpus.append({"_id": document, "title": title, "text": text})
        queries.append({"_id": query, "text": question})
        pairs.append({"query-id": query, "corpus-id": document, "score": 1.0})
    write_json_lines(folder / "corpus.jsonl", corpus)
    write_json_lines(folder / "queries.jsonl", queries)
    write_json_lines(folder / "default.jsonl", pairs)
