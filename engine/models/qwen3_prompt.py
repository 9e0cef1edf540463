"""The prompt of Qwen3-VL-Embedding and MedEmb, character by character. Torch-free.

Owns turns, slots, placeholders and their order (specification 2.2); knows nothing of pixels or
tokens' ids.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from engine.evidence.item import ModelInput
from engine.models.marks import clean, split_marks
from engine.models.settings import Settings

IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
VIDEO_OUTER = "<|vision_start|><|video_pad|><|vision_end|>"
VIDEO_STRIPPED = "<|video_pad|>"
END_OF_TEXT = "<|endoftext|>"
NOTHING = "NULL"
OURS, INSTRUCTION, TEXT = "ours", "instruction", "text"
PICTURE, SLICE, VIDEO = "picture", "slice", "video"


@dataclass(frozen=True)
class Piece:
    """A stretch of a prompt.

    Attributes:
        text: its characters; of a picture or volume, its placeholder.
        role: ``ours`` (turns, defaults, the tail), ``instruction`` or ``text`` of the user, or
            what a placeholder stands for: ``picture``, ``slice`` (shown as a picture), ``video``.
        place: which picture, or which volume.
        slice: of the volume, for the role ``slice``.
    """

    text: str
    role: str = OURS
    place: int = 0
    slice: int = 0


def punctuate(instruction: str) -> str:
    """Strip an instruction and end it with a full stop unless it ends in punctuation."""
    stripped = instruction.strip()
    if stripped and not unicodedata.category(stripped[-1]).startswith("P"):
        return f"{stripped}."
    return stripped


def prompt(item: ModelInput, settings: Settings, *, tokens: Collection[str]) -> str:
    """The whole templated string of one item, one placeholder per picture or volume.

    Args:
        item: its pixels are only counted.
        settings: slots, wraps and order.
        tokens: control tokens that a user's text must not contain.
    """
    return joined(pieces(item, settings, tokens=tokens))


def joined(parts: Sequence[Piece]) -> str:
    """The string of a prompt's pieces."""
    return "".join(part.text for part in parts)


def pieces(
    item: ModelInput, settings: Settings, *, tokens: Collection[str], tail: str = ""
) -> tuple[Piece, ...]:
    """The same prompt in pieces, whose placeholders tell in which order the pixels go.

    Volumes go before pictures, and both before the text; with ``interleave = inline`` the next of
    them stands at each mark of the texts, and those without a mark go first.

    Args:
        item: its pixels are only counted.
        settings: slots, wraps and order.
        tokens: control tokens that a user's text must not contain.
        tail: what ends the prompt, the end-of-text token or nothing.
    """
    asked = Piece(punctuate(clean(item.instruction or "", tokens)), INSTRUCTION)
    in_system = settings.instruction_slot == "system" and asked.text
    prefix = [asked] if settings.instruction_slot == "prefix" and asked.text else []
    system = asked if in_system else Piece(clean(settings.default_instruction, tokens))
    whole = (
        Piece("<|im_start|>system\n"),
        system,
        Piece("<|im_end|>\n<|im_start|>user\n"),
        *_content(item, settings, prefix, tokens),
        Piece(f"<|im_end|>\n<|im_start|>assistant\n{tail}"),
    )
    return tuple(part for part in whole if part.text)


def _content(
    item: ModelInput, settings: Settings, prefix: list[Piece], tokens: Collection[str]
) -> list[Piece]:
    if not (item.texts or item.images or item.volumes):
        return [*prefix, Piece(f" {NOTHING}" if prefix else NOTHING)]
    media = list(_media(item, settings))
    inline = media if settings.interleave == "inline" else []
    marked, texts = _inline(item.texts, inline)
    body = _merged(texts, tokens)
    if prefix and body and body[0].role == TEXT:
        prefix = [*prefix, Piece(" ")]
    first = [part for medium in media[marked:] for part in medium]
    return [*first, *prefix, *body]


def _media(item: ModelInput, settings: Settings) -> Iterator[list[Piece]]:
    """The placeholders of each volume, then of each picture."""
    wrap = VIDEO_STRIPPED if settings.video_wrap == "stripped" else VIDEO_OUTER
    for place, volume in enumerate(item.volumes):
        if settings.volume_as == "images":
            yield [Piece(IMAGE, SLICE, place, index) for index in range(len(volume))]
        else:
            yield [Piece(wrap, VIDEO, place)]
    for place in range(len(item.images)):
        yield [Piece(IMAGE, PICTURE, place)]


def _inline(texts: Sequence[str], media: Sequence[list[Piece]]) -> tuple[int, list[Piece]]:
    """How many media found a mark, and the texts with these at their marks, in order.

    Marks beyond the media stay in the text, from which ``clean`` takes them.
    """
    used = 0
    made: list[Piece] = []
    for text in texts:
        for index, part in enumerate(split_marks(text, len(media) - used)):
            if index:
                made += media[used]
                used += 1
            made.append(Piece(part, TEXT))
    return used, made


def _merged(parts: Sequence[Piece], tokens: Collection[str]) -> list[Piece]:
    """Neighbouring texts joined without a separator, each cleaned alone and again together."""
    made: list[Piece] = []
    for part in parts:
        if part.role != TEXT:
            made.append(part)
            continue
        text = clean(part.text, tokens)
        if made and made[-1].role == TEXT:
            text = clean(made.pop().text + text, tokens)
        made.append(Piece(text, TEXT))
    return [part for part in made if part.text]
