"""The task in the reader's words. Derived from family, form and the benchmark's instruction only.

Refuses to name a source, a task, a model or a candidate.
"""

from __future__ import annotations

import re

_SERIES = re.compile(r"^Find (an?) (.+?) that matches the given .+?$", re.IGNORECASE)


SIMILAR = "similar"  # the family of a study from a collection without gold answers


def prompt_for(family: str, form: str, instruction: str | None) -> str:
    """One sentence that says what a useful answer is.

    Args:
        family: the benchmark's family, or ``SIMILAR``.
        form: ``2d``, ``3d`` or ``text``.
        instruction: the query's instruction; only its kind of evidence is taken over.

    Returns:
        For example ``Find a T2-weighted MRI series of the same patient.``
    """
    said = (instruction or "").strip().rstrip(":. ").strip()
    if family == "MB-VR":
        return _same_patient(said)
    if family == "T-T":
        return _text_to_text(said.lower())
    thing = "series" if form == "3d" else "picture"
    sentences = {
        "I-I": f"Find a {thing} of the same category.",
        "I-Lab": f"Find the label that fits this {thing}.",
        "I-Rep": f"Find the report that describes this {thing}.",
        "T-I": f"Find a {thing} that fits this text.",
        "VQA": f"Find the answer to the question about this {thing}.",
        "VG": "Find the region that this text describes.",
        SIMILAR: f"Find a {'report' if form == 'text' else thing} of a similar case.",
    }
    return sentences.get(family, "Find what answers this query best.")


def _same_patient(instruction: str) -> str:
    found = _SERIES.match(instruction)
    if found is None:
        return "Find a series of the same patient."
    return f"Find {found[1].lower()} {found[2]} of the same patient."


def _text_to_text(instruction: str) -> str:
    if "impression" in instruction:
        return "Find the impression that follows from these findings."
    if "treatment" in instruction:
        return "Find the treatment plan for this diagnosis."
    if "summar" in instruction or "context" in instruction:
        return "Find the conclusion that this text supports."
    if "question" in instruction or "answer" in instruction:
        return "Find the answer to this question."
    return "Find the text that belongs to this one."
