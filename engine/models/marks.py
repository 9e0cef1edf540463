"""What of a user's text may reach a prompt. Owns picture marks and look-alikes of control tokens.

Refuses nothing: it takes marks away and breaks up look-alikes, so that a text can never open a
turn, end one, or claim a picture that is not there. Torch-free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARK = re.compile(r"\s*(?:<image>|<\|image_\d+\|>)\s*", re.IGNORECASE)


def strip_marks(text: str) -> str:
    """Take literal ``<image>`` and ``<|image_1|>`` out of a text.

    The benchmark writes them where a picture stands (specification 0.1); the picture itself is a
    field of its own. A text without marks comes back unchanged, white space included.
    """
    while _MARK.search(text):
        text = _MARK.sub(" ", text).strip()
    return text


def neutralise(text: str, tokens: Iterable[str]) -> str:
    """Break up every control token typed in a text by one blank after its first character.

    Args:
        text: what a user wrote.
        tokens: the tokenizer's added tokens, for example ``<|im_end|>``.

    Returns:
        The text, in which no token of the list occurs any more.
    """
    longest_first = sorted({token for token in tokens if len(token) > 1}, key=len, reverse=True)
    if not longest_first:
        return text
    pattern = re.compile("|".join(re.escape(token) for token in longest_first))
    while pattern.search(text):
        text = pattern.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
    return text


def clean(text: str, tokens: Iterable[str]) -> str:
    """Marks out, look-alikes broken up; in this order, since taking a mark out can make one."""
    return neutralise(strip_marks(text), tokens)
