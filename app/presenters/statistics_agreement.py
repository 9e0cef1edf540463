"""The sheet of consistency: repeats with sides swapped, and readers among each other.

Raw agreement, kappa and AC1 always stand together, with the sentence that says why.
"""

from __future__ import annotations

from itertools import permutations

from app.presenters.statistics_behind import behind
from app.presenters.statistics_look import Look
from app.presenters.statistics_pooled import pooled_panels
from app.presenters.statistics_words import (
    estimate_words,
    ratio_words,
    said,
    share_dot,
    share_words,
    test_words,
)
from app.shown_statistics import (
    Branch,
    Cell,
    Chart,
    Field,
    Forest,
    Grid,
    Line,
    Matrix,
    Panel,
    Sheet,
)
from studies.preference.analysis.schema import Agreement, Estimate, Repeats

PARADOX = (
    "Kappa falls when nearly all answers are of one kind: with answers split 90, 5 and 5 %, "
    "85 % agreement gives kappa 0.19 but AC1 0.83, while with three even kinds 80 % agreement "
    "gives 0.68 and 0.71. So look at all three, not at kappa alone."
)
TIPS = (
    "",
    "Readings compared.",
    "Share of readings that agree.",
    "Cohen's kappa, or Fleiss's for more than two raters: agreement beyond chance.",
    "Gwet's AC1: agreement beyond chance, steady where one answer dominates.",
    "Krippendorff's alpha, nominal: bears missing answers.",
)
KINDS = (
    ("same", "The same again", "The second reading, sides swapped, prefers the same."),
    ("flipped", "The other model, the same side again",
     "A sign of a side bias or of guessing."),
    ("to_tie", "A preference became a tie", ""),
    ("from_tie", "A tie became a preference", ""),
)  # fmt: skip


def consistency_sheet(look: Look) -> Sheet:
    """Repeats of each rater, raters against each other, all of them together."""
    panels = (*_repeats(look), *_between(look), *pooled_panels(look))
    return Sheet("consistency", "Consistency", panels)


def _repeats(look: Look) -> list[Panel]:
    found = [one for one in look.found.repeats if one.n]
    title = "The same item again, sides swapped"
    if not found:
        return [Panel("repeats", title, "No item was read twice, so nothing is known of how "
                                        "steady a reader is.")]  # fmt: skip
    return [_repeat_panel(look, one, place) for place, one in enumerate(found)]


def _whom(look: Look, one: Repeats) -> str | None:
    """The rater of a table of repeats, None where all are pooled."""
    return one.rater if one.rater in look.found.raters else None


def _repeat_panel(look: Look, one: Repeats, place: int) -> Panel:
    whom = _whom(look, one)
    title = "The same item again, sides swapped"
    title = f"{title}: {whom or 'all readers'}" if len(look.found.raters) > 1 else title
    terms = {"pair": "all", "kind": "repeat", **({"rater": whom} if whom else {})}
    branches, lines = [], []
    for kind, name, tip in KINDS:
        share = getattr(one, kind)
        known = behind(f"Repeats: {name.lower()}", again=kind, **terms)
        branches.append(Branch(name, share.n, (share_dot(share, name, tip),), behind=known))
        lines.append(Line((name, share_words(share)), said(name, share_words(share), tip), known))
    drift = f"Drift between the readings: {test_words(one.drift)}"
    matrix = _matrix(look, one.agreement, f"Repeats {place + 1}", ("first reading",
                     "second reading, sides swapped"), {"again": "{cell}", **terms})  # fmt: skip
    field = Field("Share of repeats, %", "", "", 0, 100, 0, "")
    parts: list[Chart | Grid] = [Forest(title, (field,), tuple(branches))]
    parts += [] if matrix is None else [matrix]
    parts.append(Grid(title, ("What happened", "Share of repeats"), tuple(lines)))
    parts.append(_grid(f"Agreement of repeats {place + 1}", (one.agreement,)))
    notes = (PARADOX, f"{drift}.") if place == 0 else (f"{drift}.",)
    says = (
        f"{share_words(one.same)} of the repeats had the same answer; "
        f"{share_words(one.flipped)} preferred the other model, which stood on the same side."
    )
    return Panel(f"repeats-{place}", title, says, tuple(parts), notes)


def _between(look: Look) -> list[Panel]:
    found = look.found.between
    title = "Readers among each other"
    if look.found.rater is not None:
        return [Panel("between", title, "One reader is chosen; choose all readers to compare.")]
    if not found:
        told = "One reader read this study: nothing can be said about agreement between readers."
        if len(look.found.raters) > 1:
            told = "No item was read by two readers, so their agreement cannot be told."
        return [Panel("between", title, told)]
    parts: list[Grid | Matrix] = [_grid(title, found)]
    for agreement in found:
        names = _names(look, agreement.name)
        if agreement.table is None or names is None:
            continue
        terms = {"pair": "all", "raters": "\n".join(names), "cell": "{cell}"}
        matrix = _matrix(look, agreement, agreement.name, (names[0], names[1]), terms)
        if matrix is not None:
            parts.append(matrix)
    return [Panel("between", title, "", tuple(parts), (PARADOX,))]


def _names(look: Look, told: str) -> tuple[str, str] | None:
    """The two raters of an agreement, whatever their names hold; None for all of them."""
    for one, other in permutations(look.found.raters, 2):
        if told == f"{one} and {other}":
            return one, other
    return None


def _grid(name: str, agreements: tuple[Agreement, ...]) -> Grid:
    lines = []
    for one in agreements:
        numbers = (one.kappa, one.ac1)
        cells = (one.name, str(one.n), _percent(one.raw), *(ratio_words(v) for v in numbers))
        alpha = "-" if one.alpha is None else ratio_words(one.alpha)
        tip = f"{one.name}: raw {_percent(one.raw)}, kappa {ratio_words(one.kappa)}"
        lines.append(Line((*cells, alpha), f"{tip}, AC1 {ratio_words(one.ac1)}."))
    head = ("Readings", "n", "Raw agreement", "Kappa", "AC1", "Alpha")
    return Grid(name, head, tuple(lines), TIPS)


def _percent(estimate: Estimate) -> str:
    return estimate_words(estimate, digits=1, percent="yes")


def _matrix(
    look: Look,
    agreement: Agreement,
    name: str,
    sides: tuple[str, str],
    terms: dict[str, str],
) -> Matrix | None:
    """Counts of one reading against another, each cell with its rows."""
    if agreement.table is None:
        return None
    known = {"first": look.first, "second": look.second}
    if len(look.found.pairs) > 1:
        known = {"first": "first model", "second": "second model"}
    words = tuple(known.get(word, word) for word in agreement.words)
    cells = []
    for row, line in enumerate(agreement.table):
        made = []
        for place, count in enumerate(line):
            cell = f"{agreement.words[row]}>{agreement.words[place]}"
            filled = {key: value.replace("{cell}", cell) for key, value in terms.items()}
            told = f"{sides[0]}: {words[row]}; {sides[1]}: {words[place]}"
            made.append(Cell(count, f"{told}. {count} of {agreement.n} readings.",
                             row == place, behind(told, **filled)))  # fmt: skip
        cells.append(tuple(made))
    return Matrix(f"Two readings: {name}", f"{sides[0]} ↓", f"{sides[1]} →", words, words,
                  tuple(cells))  # fmt: skip
