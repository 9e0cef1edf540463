"""What the release writes into texts beside their words: marks of pictures, and its cleaning.

Owns three rules and nothing else. Refuses to guess: a text is changed only by a rule named here.
"""

from __future__ import annotations

import re

# Builders of the release put these marks in front of instructions and candidate texts, and
# nothing strips them afterwards; a model would read them as words.
_NUMBERED_MARK = re.compile(r"<\|image_\d+\|>[^\S\n]*\n?")
# Stands for "no text, see the picture" in an image-only query.
_PICTURE_MARK = re.compile(r"<image>")

_RUNS = re.compile(r"[\r\n]+|[_-]+")
_REFUSED = re.compile(r"[^\w\s.,:;()-]")
_BLANKS = re.compile(r"\s+")


def strip_numbered_marks(text: str) -> tuple[str, int]:
    """Remove ``<|image_1|>`` and its like with the line break behind it; say how many."""
    return _NUMBERED_MARK.subn("", text)


def strip_picture_mark(text: str) -> str:
    """Remove the literal ``<image>``, always: it is a place holder, no word."""
    if "<image>" not in text:
        return text
    return _PICTURE_MARK.sub("", text).strip()


def clean(text: str) -> str:
    """The cleaning that the release applies to text tasks (our default leaves texts alone).

    Line breaks and runs of ``_`` or ``-`` become a blank; every character but word characters,
    white space and ``. , : ; ( ) -`` is deleted; blanks are squeezed. Case is kept.
    """
    spaced = _RUNS.sub(" ", text)
    return _BLANKS.sub(" ", _REFUSED.sub("", spaced)).strip()
