"""What one reader reads, in words: the same on every page, in the terminal and in the strip.

Owns the words and what the total counts. Refuses to count by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

Seat = tuple[str, int | None, int]  # name, answers in force (None: nothing is back), places
NAMED = 4  # so many readers are named, more are a number


def order_words(items: int, repeats: int, practice: int) -> str:
    """``24 items and 3 repeats, 3 practice``; what there is none of is left out.

    Args:
        items: items of the study.
        repeats: places where one of them comes back.
        practice: practice items before them.
    """
    told = f"{items:,} {'item' if items == 1 else 'items'}"
    if repeats:
        told += f" and {repeats:,} {'repeat' if repeats == 1 else 'repeats'}"
    return f"{told}, {practice:,} practice" if practice else told


def far_words(far: tuple[int, int], seats: Sequence[Seat], reads: str) -> str:
    """``73 of 130 answered (115 items and 12 repeats, 3 practice)``; of several, who is where.

    Args:
        far: answers in force and places, over all who read.
        seats: of each.
        reads: what one of them reads, by ``order_words``.
    """
    told = f"{far[0]:,} of {far[1]:,} answered"
    if seats and all(done is None for _, done, _ in seats):
        told = "nothing back yet"
    if len(seats) < 2:
        return f"{told} ({reads})"
    each = ", ".join(
        f"{name} not back" if done is None else f"{name} {done:,} of {places:,}"
        for name, done, places in seats
    )
    who = each if len(seats) <= NAMED else f"{len(seats)} readers"
    return f"{told} over all, each reads {reads} ({who})"
