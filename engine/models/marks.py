"""What of a user's text may reach a prompt. Owns picture marks and look-alikes of control tokens.

Refuses nothing: it takes marks away and breaks up look-alikes, so that a text can never open a
turn, end one, or claim a picture that is not there. Every step is linear in the text. Torch-free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARK = re.compile(r"<image>|<\|image_\d+\|>", re.IGNORECASE | re.ASCII)
_HALF = re.compile("[\ud800-\udfff]")


def strip_marks(text: str) -> str:
    """Take literal ``<image>`` and ``<|image_1|>`` out of a text.

    The benchmark writes them where a picture stands (specification 0.1); the picture itself is a
    field of its own. A text without marks comes back unchanged, white space included.
    """
    if not _MARK.search(text):
        return text
    # the blank stays, so that what lay around a mark cannot close up to another one
    return " ".join(part.strip() for part in _MARK.split(text)).strip()


def split_marks(text: str, most: int) -> list[str]:
    """Split a text at its first ``most`` marks, white space around them kept.

    Returns:
        One part more than marks were found; later marks stay in the last part.
    """
    return _MARK.split(text, maxsplit=most) if most > 0 else [text]


def neutralise(text: str, tokens: Iterable[str]) -> str:
    """Break up every control token typed in a text by one blank after its first character.

    Args:
        text: what a user wrote.
        tokens: the tokenizer's added tokens, for example ``<|im_end|>``. One that is a single
            character, or a run of blanks, cannot be broken up and carries no structure.

    Returns:
        The text, in which no other token of the list occurs any more.
    """
    breakable = {token for token in tokens if len("".join(token.split())) > 1}
    if not breakable:
        return text
    longest_first = sorted(breakable, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(token) for token in longest_first))
    while pattern.search(text):
        text = pattern.sub(lambda match: _broken(match[0]), text)
    return text


def _broken(token: str) -> str:
    start = len(token) - len(token.lstrip()) + 1
    return f"{token[:start]} {token[start:]}"


def whole_characters(text: str) -> str:
    """Join surrogate pairs and put U+FFFD for halves, which no tokenizer can read."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean(text: str, tokens: Iterable[str]) -> str:
    """Marks out, look-alikes broken up; in this order, since taking a mark out can make one."""
    return neutralise(strip_marks(whole_characters(text)), tokens)
