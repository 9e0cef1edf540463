"""How long a prompt of this family is, exactly and before any pixel is resized, and cutting it.

Only a user's words are cut: from the end of the text, then of the instruction. Refuses an item
that is too long by its pictures alone. Torch-free but for the sizes it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import ItemRefused
from engine.models.qwen3_prompt import INSTRUCTION, TEXT, VIDEO, Piece, joined

_LARGEST = 3  # a byte grows to at most three when characters are put in their normal form
START, END = "<|vision_start|>", "<|vision_end|>"
IMAGE_PAD, VIDEO_PAD = "<|image_pad|>", "<|video_pad|>"


@dataclass(frozen=True)
class Shape:
    """What a placeholder becomes.

    Attributes:
        each: tokens of the picture, or of one pair of slices.
        seconds: when each pair of slices is shown; empty for a picture.
    """

    each: int
    seconds: tuple[float, ...] = ()


@dataclass(frozen=True)
class Fitted:
    """A prompt that fits.

    Attributes:
        pieces: of the prompt.
        shortened: whether words were cut.
    """

    pieces: tuple[Piece, ...]
    shortened: bool


def too_long(length: int, limit: int) -> ItemRefused:
    """The refusal, with the item's length."""
    return ItemRefused(
        f"This item is {length} tokens long and the model takes {limit}. "
        "Shorten its text or show fewer slices."
    )


def spelled(piece: Piece, shape: Shape) -> tuple[str, int]:
    """What a placeholder becomes with one pad in place of many, and how many pads are left out.

    A control token always stands alone for the tokenizer, so that counting pads is exact.
    """
    if piece.role != VIDEO:
        return piece.text, shape.each - 1
    one = f"{START}{VIDEO_PAD}{END}"
    pairs = "".join(f"<{second:.1f} seconds>{one}" for second in shape.seconds)
    return piece.text.replace(VIDEO_PAD, pairs), len(shape.seconds) * (shape.each - 1)


def control_tokens(piece: Piece, shape: Shape) -> list[str]:
    """The control tokens that a placeholder becomes, in order."""
    if piece.role != VIDEO:
        return [START, *[IMAGE_PAD] * shape.each, END]
    pairs = [START, *[VIDEO_PAD] * shape.each, END] * len(shape.seconds)
    return [START, *pairs, END] if piece.text.startswith(START) else pairs


def fit(
    parts: Sequence[Piece],
    shape_of: Callable[[Piece], Shape | None],
    *,
    tokenizer: Any,
    special: bool,
    limit: int,
    shorten: bool,
) -> Fitted:
    """Hold a prompt to the model's length.

    Args:
        parts: of the prompt.
        shape_of: what each placeholder becomes, None for words.
        tokenizer: a fast tokenizer of the transformers library.
        special: whether it may end the text itself.
        limit: most tokens.
        shorten: cut the user's words, instead of refusing.

    Raises:
        ItemRefused: longer than the limit; the message says by how much.
    """
    words, more = _spelled_out(parts, shape_of)
    if _LARGEST * len(joined(words).encode("utf-8")) + more < limit:
        return Fitted(tuple(parts), False)
    shortened = False
    while True:
        offsets = _offsets(joined(words), tokenizer, special=special)
        over = len(offsets) + more - limit
        if over <= 0:
            return Fitted(_put_back(parts, words), shortened)
        cut = _cut(words, offsets, over) if shorten else None
        if cut is None:
            raise too_long(len(offsets) + more, limit)
        words, shortened = cut, True


def over(
    parts: Sequence[Piece],
    shape_of: Callable[[Piece], Shape | None],
    *,
    tokenizer: Any,
    special: bool,
    limit: int,
) -> bool:
    """Whether a prompt is longer than ``limit`` tokens; arguments as those of ``fit``."""
    words, more = _spelled_out(parts, shape_of)
    if _LARGEST * len(joined(words).encode("utf-8")) + more < limit:
        return False
    return len(_offsets(joined(words), tokenizer, special=special)) + more > limit


def kept_places(ids: Sequence[int], special: Collection[int], limit: int) -> list[int]:
    """Which tokens of a long row stay by the rule of the authors' helper and the release.

    Every special token stays, of the others the first ones for which there is room: none where the
    special ones alone fill the limit. The turn's last word goes with the text.
    """
    if len(ids) <= limit:
        return list(range(len(ids)))
    room, kept = limit - sum(number in special for number in ids), []
    for place, number in enumerate(ids):
        if number not in special:
            room -= 1
            if room < 0:
                continue
        kept.append(place)
    return kept


def _put_back(parts: Sequence[Piece], words: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces with the words that are left, and their placeholders."""
    return tuple(
        word if word.role in (TEXT, INSTRUCTION) else part
        for part, word in zip(parts, words, strict=True)
    )


def _spelled_out(
    parts: Sequence[Piece], shape_of: Callable[[Piece], Shape | None]
) -> tuple[list[Piece], int]:
    made, more = [], 0
    for part in parts:
        shape = shape_of(part)
        if shape is not None:
            text, left_out = spelled(part, shape)
            part, more = replace(part, text=text), more + left_out
        made.append(part)
    return made, more


def _offsets(text: str, tokenizer: Any, *, special: bool) -> list[tuple[int, int]]:
    """First character and the one after the last, of every token."""
    made = tokenizer(
        text, add_special_tokens=special, return_offsets_mapping=True, truncation=False
    )
    return [(int(start), int(end)) for start, end in made["offset_mapping"]]


def _cut(
    parts: Sequence[Piece], offsets: Sequence[tuple[int, int]], over: int
) -> list[Piece] | None:
    """Take ``over`` tokens from the end of the text, then of the instruction.

    Returns:
        The pieces; None where no words are left.
    """
    made, changed = list(parts), False
    starts = [sum(len(part.text) for part in parts[:index]) for index in range(len(parts))]
    for role in (TEXT, INSTRUCTION):
        for index in reversed(range(len(made))):
            text, first = made[index].text, starts[index]
            if made[index].role != role or not text or over <= 0:
                continue
            inside = [start for start, end in offsets if first <= start < end <= first + len(text)]
            keep = inside[-over] - first if over < len(inside) else 0
            made[index], changed = replace(made[index], text=text[:keep]), True
            over -= len(inside)
    return made if changed else None
