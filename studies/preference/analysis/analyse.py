"""The whole analysis of a study: rows in, every number out.

Owns what is computed from which rows. Refuses nothing: where a number is not defined it is None
and says why.
Source: MedHEB section 5.6 and Figure 7; the analysis plan frozen with each study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from studies.preference.analysis import blocks
from studies.preference.analysis.agreement import between, majority, repeats
from studies.preference.analysis.bias import length_bias, lookalike_bias, side_by_form
from studies.preference.analysis.blinding import blinding
from studies.preference.analysis.blocks import block
from studies.preference.analysis.bootstrap import Draws
from studies.preference.analysis.clustering import clustering
from studies.preference.analysis.crossing import across_raters
from studies.preference.analysis.davidson import davidson
from studies.preference.analysis.fatigue import fatigue
from studies.preference.analysis.missing import flow, missing
from studies.preference.analysis.rated import Rated, rated, raters_of
from studies.preference.analysis.schema import Analysis, Block, Pair
from studies.preference.analysis.side import side_bias
from studies.preference.analysis.stream import Replay
from studies.preference.analysis.tables import Presented, StudyTables
from studies.preference.analysis.usefulness import usefulness
from studies.preference.analysis.validity import correctness, criterion


def analyse(tables: StudyTables, *, rater: str | None = None, draws: int = 10_000) -> Analysis:
    """Every number of a study.

    Args:
        tables: from ``gather.tables_of`` or from exported files.
        rater: only this one; None pools all.
        draws: of the bootstrap.
    """
    how = Draws(draws, Replay(tables.seed))
    rows = rated(tables, rater=rater)
    pairs = tuple(_pair(tables, *names, rater=rater, how=how) for names in _pairs_of(tables))
    many = len(pairs) > 1
    return Analysis(
        study_id=tables.study_id,
        title=tables.title,
        hash=tables.hash,
        models=dict(tables.models),
        raters=_raters(tables, rater),
        rater=rater,
        draws=draws,
        seed=tables.seed,
        pairs=pairs,
        davidson=davidson(rows, tuple(tables.models)) if many else None,
        fatigue=fatigue(
            rows,
            by_side=many,
            practice=sum(one.kind == "warmup" for one in tables.items),
        ),
        repeats=repeats(tables, rater=rater),
        between=between(rated(tables)) if rater is None else (),
        blinding=blinding(tables, rater=rater),
        missing=missing(tables, rater=rater),
        flow=flow(tables, rater=rater),
        facts=dict(tables.facts),
    )


def _pairs_of(tables: StudyTables) -> tuple[tuple[str, str], ...]:
    """The pairs compared, in the order of the letters; the two models where nothing is."""
    found = sorted({(one.first, one.second) for one in tables.items if one.kind != "warmup"})
    letters = tuple(tables.models)
    return tuple(found) if found else ((letters[0], letters[1]),)


def _raters(tables: StudyTables, rater: str | None) -> tuple[str, ...]:
    names = [one.name for one in tables.raters] + [row.rater for row in tables.presented]
    return tuple(name for name in dict.fromkeys(names) if rater in (None, name))


def _pair(tables: StudyTables, first: str, second: str, *, rater: str | None, how: Draws) -> Pair:
    own = replace(
        tables,
        items=tuple(one for one in tables.items if (one.first, one.second) == (first, second)),
        presented=_of_pair(tables, first, second),
    )
    rows = rated(own, rater=rater)
    with_ties = rated(own, rater=rater, kinds=("item", "auto_tie"))
    first_only = rated(own, rater=rater, answers="first")
    title = "All, identical lists as ties"
    return Pair(
        first=first,
        second=second,
        first_title=tables.models.get(first, first),
        second_title=tables.models.get(second, second),
        overall=block("all", "all", "All", rows, how),
        with_auto_ties=block("all_with_auto_ties", "all", title, with_ties, how),
        first_answers=block("first_answers", "first", "First answers only", first_only, how),
        tables=blocks.tables(rows, first, second, how),
        davidson=davidson(rows, (first, second)),
        side=side_bias(rows),
        side_by_form=side_by_form(rows, how.numbers),
        length=length_bias(rows),
        lookalike=lookalike_bias(rows),
        criterion=criterion(rows),
        correctness=correctness(own.items),
        clustering=clustering(rows),
        usefulness=usefulness(rows, (first, second), how),
        majority=_majority(rows, how),
        pooled=across_raters(rows),
    )


def _of_pair(tables: StudyTables, first: str, second: str) -> tuple[Presented, ...]:
    kept = {one.item_id for one in tables.items if (one.first, one.second) == (first, second)}
    return tuple(row for row in tables.presented if row.item_id in kept)


def _majority(rows: Sequence[Rated], how: Draws) -> Block | None:
    if len(raters_of(rows)) < 2:
        return None
    return block("majority", "majority", "Majority of the raters", majority(rows), how)
