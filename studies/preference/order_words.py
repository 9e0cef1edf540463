"""What one reader reads, in words: the same on every page, in the terminal and in the strip.

Owns the words and what the total counts. Refuses to count by itself.
"""

from __future__ import annotations


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
