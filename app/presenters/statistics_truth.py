"""The sheet of correctness: do readers see which list is right, which model is right more.

Owns the two panels; computes nothing.
"""

from __future__ import annotations

from app.presenters.statistics_behind import behind
from app.presenters.statistics_look import Look
from app.presenters.statistics_words import CLEAR, said, share_dot, share_words, test_words
from app.shown_statistics import (
    Branch,
    Cell,
    Field,
    Forest,
    Grid,
    Line,
    Matrix,
    Panel,
    Sheet,
)


def correctness_sheet(look: Look) -> Sheet:
    """Criterion validity and Hit@1."""
    return Sheet("correctness", "Correctness", (_criterion(look), _hits(look)))


def _criterion(look: Look) -> Panel:
    title = "Criterion validity: is the right list preferred"
    found = look.pair.criterion
    if not look.has_gold:
        return Panel("criterion", title, "No item has a known right answer: this cannot be told.")
    if not found.of_all.n:
        return Panel("criterion", title, "No answer is about an item where exactly one model has "
                                         "the right answer on top.")  # fmt: skip
    rows = (
        ("Right list preferred, of decided", found.right,
         "Where exactly one list has the right answer on top and one list was preferred.",
         behind("Exactly one right, decided", exact="right,wrong")),
        ("Right list preferred, of all", found.of_all,
         "The same with ties counted as not preferring the right list.",
         behind("Exactly one right", exact="right,wrong,tie")),
    )  # fmt: skip
    branches = tuple(
        Branch(name, share.n, (share_dot(share, name, tip),), behind=known)
        for name, share, tip, known in rows
    )
    lines = [
        Line((name, share_words(share), test_words(found.test) if place == 0 else ""),
             said(name, share_words(share), tip), known)
        for place, (name, share, tip, known) in enumerate(rows)
    ]  # fmt: skip
    lines += [
        Line((name, str(count), ""), f"{name}: {count} answers.", known)
        for name, count, known in (
            ("The wrong list was preferred", found.right.n - found.right.count,
             behind("Exactly one right, the wrong one preferred", exact="wrong")),
            ("Neither was preferred", found.of_all.n - found.right.n,
             behind("Exactly one right, tie", exact="tie")),
        )
    ]  # fmt: skip
    field = Field("Share, %", "the wrong list", "the right list", 0, 100, 50, "")
    grid = Grid(title, ("Quantity", "Share or count", "Test"), tuple(lines))
    forest = Forest(title, (field,), branches)
    return Panel("criterion", title, _criterion_words(look), (forest, grid))


def _criterion_words(look: Look) -> str:
    found = look.pair.criterion
    told = (
        "Where exactly one model has the right answer on top, its list was preferred in "
        f"{share_words(found.right)} of the decided answers"
    )
    p, share = found.test.p, found.right.share
    if p is None or share is None:
        return f"{told}; too few to say whether readers can tell."
    if p >= CLEAR:
        return f"{told}: not clearly more often than by chance ({test_words(found.test)})."
    way = "readers do see which list is right" if share > 0.5 else "the wrong list is preferred"
    return f"{told}: {way} ({test_words(found.test)})."


def _hits(look: Look) -> Panel:
    title = "Right on top (Hit@1) of both models on the same items"
    found = look.pair.correctness
    if not found.n:
        return Panel("hits", title, "No item has a known right answer: this cannot be told.")
    names = ((look.first, found.hit_first), (look.second, found.hit_second))
    lines = [
        Line((f"{name} right on top", share_words(share)),
             said(name, share_words(share), "Each item once, whether it was read or not."))
        for name, share in names
    ]  # fmt: skip
    lines += [
        Line((words, test_words(test)), tip)
        for words, test, tip in (
            ("McNemar, exact", found.mcnemar, "Compares the items that only one model got right."),
            ("McNemar, mid-p", found.mid_p, "The same, less cautious than the exact one."),
            ("McNemar, clustered by task", found.clustered,
             "The same with items of one task taken together (Durkalski)."),
        )
    ]  # fmt: skip
    grid = Grid(title, ("Quantity", "Share or test"), tuple(lines))
    return Panel("hits", title, _hits_words(look), (_fourfold(look, title), grid))


def _hits_words(look: Look) -> str:
    found = look.pair.correctness
    told = (
        f"{look.first} has the right answer on top in {share_words(found.hit_first)}, "
        f"{look.second} in {share_words(found.hit_second)}"
    )
    if found.mcnemar.p is None:
        return f"{told}; too few items differ for a test."
    surely = "more than chance alone would explain" if found.mcnemar.p < CLEAR else (
        "no more than chance alone could explain"
    )  # fmt: skip
    return f"{told}: they differ {surely} ({test_words(found.mcnemar)})."


def _fourfold(look: Look, title: str) -> Matrix:
    found = look.pair.correctness
    counts = (
        (("both", found.both), ("only_first", found.only_first)),
        (("only_second", found.only_second), ("neither", found.neither)),
    )
    words = {
        "both": "Both right on top",
        "only_first": f"Only {look.first} right",
        "only_second": f"Only {look.second} right",
        "neither": "Both wrong",
    }
    cells = tuple(
        tuple(
            Cell(count, f"{words[name]}: {count} of {found.n} items.", name in ("both", "neither"),
                 behind(f"{words[name]}, items", hits=name, kind="item,auto_tie"))
            for name, count in line
        )
        for line in counts
    )  # fmt: skip
    sides = ("right", "wrong")
    return Matrix(title, f"{look.first} ↓", f"{look.second} →", sides, sides, cells)
