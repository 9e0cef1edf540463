"""Where a rater sits: the order of warm-ups, items and repeats, and which items are guessed.

Both come from the study's stored seed and the rater's name, so that anybody can draw them again.
Refuses to look at answers: what is guessed was settled before the first was given.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence

from db.study_items import ItemRow, PresentationRow, RaterRow, StudyRow
from studies.errors import BadStudy
from studies.preference.protocol import Protocol, protocol_from_json
from studies.preference.sample import generator, reading_plan

GUESS_STREAM = 1
MOST_YEARS = 80
LONGEST_NAME = 120
JOINERS = "\u200c\u200d"  # between letters of some scripts and in some signs; seen by their effect


def plain_text(typed: str) -> str:
    """A text as every store can hold it: blanks and accents in one way, nothing unseen.

    Half characters become ``?``; characters that steer a terminal or turn the writing round, and
    those without any width, are left out.
    """
    words = " ".join("".join(map(_seen, typed)).split())
    return unicodedata.normalize("NFC", words).encode("utf-8", "replace").decode("utf-8")


def _seen(character: str) -> str:
    kind = unicodedata.category(character)
    unseen = kind == "Cf" and character not in JOINERS
    return " " if kind == "Cc" else "" if unseen else character


def rater_name(typed: str) -> str:
    """One spelling of one name.

    Raises:
        BadStudy: nothing is left of it.
    """
    name = plain_text(typed)
    if not name.strip(JOINERS + " "):
        raise BadStudy("A rater needs a name or initials; set it under Settings.")
    return name


def refuse_other_spelling(name: str, known: Iterable[str]) -> None:
    """Refuse a name that differs from a known one in capitals or in the width of letters alone.

    One person under two names would count twice and agree with himself.

    Raises:
        BadStudy: names the other one.
    """
    listed = set(known)
    if name in listed:
        return
    for other in sorted(listed):
        if folded(other) == folded(name):
            raise BadStudy(
                f"{name} and {other}, who is in this study already, differ in capitals or width "
                "alone. Write the name as before, or choose another for another person."
            )


def folded(name: str) -> str:
    """A name without what tells no two people apart: capitals, width."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in plain if character not in JOINERS)


def profile(
    name: str,
    *,
    specialty: str | None = None,
    years: int | None = None,
    modalities: str | None = None,
    display: str | None = None,
) -> RaterRow:
    """A rater's profile as it is stored and hashed; what is left blank is not stored.

    Raises:
        BadStudy: no name, a longer one than fits anywhere, or years that nobody has.
    """
    if len(rater_name(name)) > LONGEST_NAME:
        raise BadStudy(f"A rater's name has {LONGEST_NAME} characters at most. Take a shorter one.")
    if years is not None and not 0 <= years <= MOST_YEARS:
        raise BadStudy(f"Years of experience lie between 0 and {MOST_YEARS}, not {years}.")
    told = (plain_text(text or "") or None for text in (specialty, modalities, display))
    first, second, third = told
    return RaterRow(rater_name(name), first, years, second, third)


def protocol_of(row: StudyRow) -> Protocol:
    """How the study is read, as frozen in it."""
    stored = row.settings.get("protocol")
    return protocol_from_json(stored if isinstance(stored, dict) else None)


def reading_order(
    row: StudyRow, items: Sequence[ItemRow], rater: str
) -> tuple[tuple[str, str, bool], ...]:
    """The order of one rater: (item id, kind, sides exchanged) for each place."""
    protocol = protocol_of(row)
    blocks: dict[str, list[str]] = {}
    for item in items:
        if item.kind == "item":
            blocks.setdefault(item.block, []).append(item.item_id)
    return reading_plan(
        blocks,
        warmups=sorted(item.item_id for item in items if item.kind == "warmup"),
        repeat_share=protocol.repeat_share,
        repeat_gap=protocol.repeat_gap,
        rng=generator(int(row.order_seed), _own(rater)),
    )


def guess_sample(
    row: StudyRow, order: Sequence[PresentationRow], rater: str
) -> tuple[PresentationRow, ...]:
    """The items that this rater is asked to guess at the end, in the order they are asked."""
    items = [place for place in order if place.kind == "item"]
    rng = generator(int(row.order_seed), _own(rater), GUESS_STREAM)
    wanted = min(protocol_of(row).guess_items, len(items))
    return tuple(items[which] for which in rng.permutation(len(items))[:wanted])


def _own(rater: str) -> int:
    return int.from_bytes(hashlib.sha256(rater.encode("utf-8")).digest()[:8], "big")
