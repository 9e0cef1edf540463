"""The bias panel of the Statistics page: every check in one table, what each could have found.

Owns which answers stand behind a line. The lines and their words are those of the published kit;
what a study did not record is said to be so.
"""

from __future__ import annotations

from app.presenters.statistics_behind import behind
from app.presenters.statistics_look import Look
from app.presenters.statistics_words import (
    CLEAR,
    ratio_words,
    share_dot,
    share_words,
    test_words,
)
from app.shown_statistics import Behind, Branch, Field, Forest, Grid, Line, Panel
from studies.preference.analysis.schema import Estimate, Share
from studies.preference.kit.bias import (
    BiasLine,
    kin_words,
    length_words,
    notes_of,
    pair_lines,
    session_lines,
)
from studies.preference.kit.words import TOO_FEW

SMALLEST = "Smallest found, 80 % power"
HEAD = ("Check", "Found", "n", "Test", SMALLEST)
TIPS = (
    "", "Share or estimate with its 95 % interval.", "Answers it was computed from.",
    "The p-value; of forms also adjusted for their number (Holm).",
    f"The smallest effect that four studies out of five of this size would find; {TOO_FEW} where "
    "none but the same choice every time, or a ratio beyond ten, would be found.",
)  # fmt: skip


def bias_panel(look: Look) -> Panel:
    """Sides, forms, longer texts, look-alikes and the session."""
    title = "Bias panel"
    if not look.pair.overall.n:
        return Panel("bias", title, "No item has an answer in force: nothing can be checked.")
    liked = "the left list" if len(look.found.pairs) > 1 else look.first
    lines = (*pair_lines(look.pair), *session_lines(look.found, liked))
    branches = tuple(_branch(one) for one in lines if isinstance(one.found, Share) and one.n)
    field = Field("Share among decided, %", "less than half", "more than half", 0, 100, 50, "")
    grid = Grid(title, HEAD, tuple(map(_line, lines)), TIPS)
    parts = (Forest(title, (field,), branches), grid) if branches else (grid,)
    return Panel("bias", title, _says(look, lines), parts, notes_of(look.found))


def _says(look: Look, lines: tuple[BiasLine, ...]) -> str:
    """Which checks lie beyond chance, and what the study did not record."""
    tested = [one for one in lines if one.test is not None and one.test.p is not None]
    odd = [one for one in tested if _p(one) < CLEAR]
    if not tested:
        told = "Too few answers for any test."
    elif not odd:
        told = (
            f"None of {len(tested)} checks lies beyond what chance alone could explain; the table "
            "says how large a bias each would have found."
        )
    else:
        told = (
            f"{len(odd)} of {len(tested)} checks beyond what chance alone would explain: "
            f"{'; '.join(one.name for one in odd)}. About one check in twenty is expected to look "
            "like this by chance alone."
        )
    pair = look.pair
    if pair.length.note:
        told = f"{told} {length_words(pair)}"
    return f"{told} {kin_words(pair)}" if pair.lookalike.note else told


def _p(line: BiasLine) -> float:
    """Adjusted where it is one of several forms."""
    if line.test is None or line.test.p is None:
        return 1.0
    return line.test.p if line.test.p_holm is None else line.test.p_holm


def _name(line: BiasLine) -> str:
    return f"{line.name[:1].upper()}{line.name[1:]}"


def _found(line: BiasLine) -> str:
    if isinstance(line.found, Share):
        return share_words(line.found)
    return ratio_words(line.found) if isinstance(line.found, Estimate) else line.found


def _line(line: BiasLine) -> Line:
    tested = "-" if line.test is None else test_words(line.test)
    cells = (_name(line), _found(line), str(line.n), tested, line.least)
    return Line(cells, f"{_name(line)}: {_found(line)}.", _behind(line))


def _branch(line: BiasLine) -> Branch:
    name = _name(line)
    assert isinstance(line.found, Share)
    few = line.least == TOO_FEW
    tip = f"80 % power would find {line.least}." if not few else (
        f"{TOO_FEW[:1].upper()}{TOO_FEW[1:]} what 80 % power would find."
    )  # fmt: skip
    return Branch(name, line.n, (share_dot(line.found, name, tip),), behind=_behind(line))


def _behind(line: BiasLine) -> Behind | None:
    """The answers of a line; none of a trend, which leaves out what never varies."""
    kind, _, form = line.key.partition(":")
    terms = {
        "left": {"preferred": "decided"},
        "order": {"preferred": "judged"},
        "form": {"preferred": "decided", "form": form},
        "forms": {"preferred": "decided"},
        "longer": {"preferred": "decided", "words": "unequal"},
        "doubling": {"preferred": "decided", "words": "both"},
        **{kin: {"preferred": "decided", "kin": kin}
           for kin in ("lookalike", "near_query", "same_patient")},
    }  # fmt: skip
    if kind not in terms or (isinstance(line.found, str) and line.test is None):
        return None
    return behind(_name(line), **terms[kind])
