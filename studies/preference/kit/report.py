"""An analysis in words: plain text for a terminal, Markdown for a document, JSON for a program.

Owns opening and order. Numbers come from the analysis, cells from ``layout``; every percentage
stands with its interval and its n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studies.preference.analysis.rated import POOLED
from studies.preference.analysis.schema import Analysis, Block, Davidson, Pair
from studies.preference.kit.bias import kin_words, length_words, of_ratings
from studies.preference.kit.grid import Grid, words_of
from studies.preference.kit.layout import grids_of
from studies.preference.kit.summary import document_of
from studies.preference.kit.words import (
    counted,
    estimate_words,
    points_words,
    share_words,
    test_words,
)

SEVERAL = (
    "n counts the ratings of several raters. Ratings of one item are not independent: intervals "
    "of shares, sign tests and Davidson's model count them as if they were."
)


def to_json(analysis: Analysis) -> dict[str, Any]:
    """Every number, with the hash of the study; plain JSON values."""
    return document_of(analysis)


def to_text(analysis: Analysis) -> str:
    """For a terminal: the main numbers of every pair."""
    lines = opening(analysis)
    for pair in analysis.pairs:
        lines += ["", *_pair_text(pair)]
    if analysis.davidson is not None:
        lines += ["", *_all_pairs_text(analysis.davidson, analysis.models)]
    lines += ["", *_common_text(analysis)]
    return "\n".join(lines)


def to_markdown(analysis: Analysis) -> str:
    """For a document: every table."""
    head, *rest = opening(analysis)
    lines = [f"# {escaped(head)}", "", *(f"- {escaped(line)}" for line in rest)]
    for grid in grids_of(analysis, tasks="include"):
        lines += ["", f"## {escaped(grid.title)}", "", *_rows(grid)]
        if grid.notes:
            lines += ["", *(f"- {escaped(note)}" for note in grid.notes)]
    return "\n".join(lines) + "\n"


def opening(analysis: Analysis) -> list[str]:
    """What the numbers are of."""
    models = ", ".join(f"{letter} = {title}" for letter, title in analysis.models.items())
    told = [
        f"Preference study: {analysis.title}",
        models,
        f"study {analysis.study_id or '-'}, hash {analysis.hash or '-'}",
        f"{counted(len(analysis.raters), 'raters')}: {', '.join(analysis.raters) or 'none'}",
        f"bootstrap of {analysis.draws} draws, seed {analysis.seed}",
    ]
    if analysis.rater is not None:
        told.insert(1, f"only rater {analysis.rater}")
    opened = analysis.facts.get("unblinded_utc")
    if opened:
        left = analysis.facts.get("outstanding")
        forced = f" (forced: {left})" if left else ""
        told.append(f"unblinded {opened}: {analysis.facts.get('reason', '')}{forced}")
    return told


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    flat = " ".join(text.split())
    for letter in "\\`*_|<[":
        flat = flat.replace(letter, f"\\{letter}")
    # an interval is no link: nothing follows its bracket
    return flat.replace("\\[", "[") if "](" not in flat else flat


def _rows(grid: Grid) -> list[str]:
    cells = [tuple(words_of(cell) for cell in row) for row in grid.rows]
    rows = [grid.heads, ("---",) * len(grid.heads)]
    rows += cells
    return ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]


def _cell(text: str) -> str:
    return text if text == "---" else escaped(text)


def _pair_text(pair: Pair) -> list[str]:
    first, second = pair.first, pair.second
    lines = [f"{first} = {pair.first_title} against {second} = {pair.second_title}"]
    lines += _block_text(pair.overall, pair)
    if pair.with_auto_ties.n != pair.overall.n:
        lines += _block_text(pair.with_auto_ties, pair)
    if pair.majority is not None:
        lines += _block_text(pair.majority, pair)
    if pair.pooled is not None:
        across = points_words(pair.pooled.net)
        lines.append(f"Mean of {pair.pooled.raters} raters, net preference: {across}")
    fit = pair.davidson
    if fit.log_ratio is not None:
        lines.append(f"Davidson, log worth ratio: {estimate_words(fit.log_ratio)}")
    lines += [
        f"Order term (left): {estimate_words(fit.order)}; {test_words(fit.order_test)}",
        f"Left list among decided: {share_words(pair.side.left)}; "
        f"{of_ratings(pair)}{test_words(pair.side.sign)}",
        f"Correct list among decided: {share_words(pair.criterion.right)}",
        length_words(pair),
        kin_words(pair),
        "",
    ]
    for table in pair.tables:
        if table.group in ("stratum", "difficulty", "family", "form", "rater"):
            lines += [table.title, *_table_text(table.blocks, pair), ""]
    return lines[:-1]


def _all_pairs_text(fit: Davidson, models: Mapping[str, str]) -> list[str]:
    """Davidson's model over all pairs of three and more models."""
    base, *others = fit.log_worth
    lines = [f"Davidson over all pairs, log worth ({base} = {models.get(base, base)} is 0)"]
    width = max(map(len, others), default=0)
    lines += [f"  {one.ljust(width)}  {estimate_words(fit.log_worth[one])}" for one in others]
    lines.append(f"Order term (left): {estimate_words(fit.order)}; {test_words(fit.order_test)}")
    return [*lines, fit.note] if fit.note and fit.note != POOLED else lines


def _block_text(one: Block, pair: Pair) -> list[str]:
    said = ((f"{pair.first} better", one.first), (f"{pair.second} better", one.second),
            ("tie", one.tie), ("both useful", one.both), ("neither useful", one.neither),
            (f"{pair.first} among decided", one.first_decided))  # fmt: skip
    width = max(len(word) for word, _ in said)
    unit = "votes" if one.group == "majority" else "ratings"
    return [
        f"{one.title}, {counted(one.n, unit)} of {counted(one.items, 'items')}",
        *(f"  {word.ljust(width)}  {share_words(found)}" for word, found in said),
        f"  {'sign test'.ljust(width)}  {test_words(one.sign)}",
        f"  {'net preference'.ljust(width)}  {points_words(one.net, unit=unit)}",
    ]


def _table_text(blocks: Sequence[Block], pair: Pair) -> list[str]:
    rows = [
        (one.title, str(one.n), *map(share_words, (one.first, one.second, one.tie)))
        for one in blocks
    ]
    rows.insert(0, ("group", "n", f"{pair.first} better", f"{pair.second} better", "tie"))
    widths = [max(len(row[place]) for row in rows) for place in range(5)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return [f"  {line.rstrip()}" for line in lines]


def _common_text(analysis: Analysis) -> list[str]:
    missing = analysis.missing
    lines = [
        f"{missing.unanswered} of {missing.places} items and repeats not answered, "
        f"{sum(missing.cannot.values())} could not be judged, "
        f"{counted(missing.changed, 'answers')} changed",
    ]
    for one in analysis.repeats:
        lines.append(f"Repeats of {one.rater}, same again: {share_words(one.same)}")
    for found in analysis.between:
        lines.append(f"Agreement of {found.name}: AC1 {estimate_words(found.ac1)}")
    if analysis.blinding is not None:
        lines.append(f"Blinding, James's index: {estimate_words(analysis.blinding.james)}")
    lines.append("Shares with Wilson 95 % intervals; sign tests exact and two-sided.")
    if len(analysis.raters) > 1:
        lines.append(SEVERAL)
    return lines
