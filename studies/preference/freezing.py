"""What a study freezes: sides, the sealed key, the rows that raters see, the frame and its plan.

Owns where each model stands and the plan of the analysis. Refuses to read evidence and to write.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from db.clock import now_utc
from db.study_items import ItemRow, StudyRow
from studies.preference.copying import SHOWN
from studies.preference.draw import Drawing, Drawn
from studies.preference.frozen import item_hash, sha256, software_version, study_hash
from studies.preference.key import Key, KeyItem
from studies.preference.lists import DIFFICULTY_WORDS, TOP
from studies.preference.planned import frozen_plan
from studies.preference.sample import balanced, generator
from studies.preference.wish import LETTERS, Material, Wish

# Source: spec/peers.md 2.4; what is computed is in studies.preference.analysis.
PLAN = (
    "Primary: share of items with a preference that prefer A, with Wilson 95 % interval and exact "
    "two-sided sign test; beside it the shares of A, B and tie of all items. Both useful and "
    "neither useful are ties; cannot judge counts as missing.",
    "Net preference (A - B) / n with a bootstrap that draws tasks, then items in them (10,000 "
    "draws, percentile and BCa).",
    "Davidson's model for ties with a term for the order of the sides; with more than two models "
    "over all pairs.",
    "Side bias: share of left among items with a preference, overall and by form (2D, 3D, text) "
    "with one test between the forms, the order term, and a table of the repeats with sides "
    "swapped.",
    "Longer texts: where both lists show words, the share preferring the list whose candidates "
    "have more (median of each list, as shown) with exact sign test, and the log odds for each "
    "doubling of the words, adjusted for the model, by likelihood ratio. Look-alikes: where "
    "exactly one list holds a near-duplicate of the query or a candidate of its own patient, the "
    "share preferring it. Each check for bias is given with the smallest effect that 80 % power "
    "would find.",
    "Difficulty, for items with a known right answer: its rank in the whole pool under the model "
    f"that ranked it better, ties against it: {DIFFICULTY_WORDS}. "
    "A rank is stored for every such item and does not say which of the two models was "
    "better.",
    "The four strata of top-1 correctness, and difficulty, family, form, split and anatomy, each "
    "with shares and intervals; one test of heterogeneity for each of these tables; Holm's "
    "correction inside one table, none over several pairs of models; no p-value below 10 items "
    "with a preference.",
    "Hit@1 of the models on the same items by McNemar's test.",
    "Criterion validity: where exactly one model is right at the top, how often it is preferred.",
    "Repeats: raw agreement of a reader with an earlier answer, kappa and AC1. Several readers: "
    "pairwise kappa, Fleiss' kappa, AC1, Krippendorff's alpha, majority vote, tables for each and "
    "for all; shares and tests for all take the answers of one item as independent, so that with "
    "several readers the primary test is the sign test of the majority vote (one for each item) "
    "and that of all answers is descriptive. The mean of the readers has an interval for other "
    "readers and other items (variance of Obuchowski and Rockette, tasks as clusters, quantile "
    "after Cochran).",
    "Time and fatigue: time to answer without idle time and share of ties along the session.",
    "Missing and changed answers are counted; the primary figures are repeated with first answers.",
    "Blinding: guesses at the end of the reading and their index.",
    "Identical lists that were set aside count as ties and are reported apart, with shares given "
    "with and without them. Warm-up items and repeats are in no share.",
    "Only the primary figure and its test are confirmatory (with more than two models for each "
    "pair, not adjusted for their number); every other figure and test, the checks for bias among "
    "them, is exploratory.",
)


def sides_of(drawn: Sequence[Drawn], side_seed: int) -> dict[str, str]:
    """The letter of the model on the left of each item; the first one where nothing is shown.

    Balanced within stratum x family x form x pair; warm-up items among themselves.
    """
    left = {one.item_id: one.comparison.first for one in drawn}
    for stream, kind in enumerate(("item", "warmup")):
        shown = [one for one in drawn if one.kind == kind]
        cells = [
            (c.stratum, c.family, c.form, c.first, c.second)
            for c in (one.comparison for one in shown)
        ]
        places = balanced(cells, (0, 1), generator(side_seed, stream))
        for one, place in zip(shown, places, strict=True):
            left[one.item_id] = (one.comparison.first, one.comparison.second)[place]
    return left


def key_of(
    study_id: str,
    material: Material,
    drawing: Drawing,
    drawn: Sequence[Drawn],
    sides: Mapping[str, str],
    side_seed: int,
) -> Key:
    """Everything hidden until unblinding."""
    wish = drawing.wish
    counted = Counter(one.comparison.task_id for one in drawn if one.kind != "warmup")
    return Key(
        study_id=study_id,
        seed=wish.seed,
        side_seed=side_seed,
        arms=dict(zip(LETTERS, material.arms, strict=False)),
        items={one.item_id: _key_item(one, sides[one.item_id]) for one in drawn},
        tasks=dict(counted),
        missing=dict(drawing.missing),
        plan=PLAN,
        asked={
            "total": wish.total,
            "tasks": wish.tasks,
            "notes": list(material.notes),
            "mirrored": "avoided",
        },
        excluded=drawing.excluded,
    )


def _key_item(one: Drawn, left: str) -> KeyItem:
    comparison = one.comparison
    return KeyItem(
        left=left,
        first=comparison.first,
        second=comparison.second,
        stratum=comparison.stratum,
        task_id=comparison.task_id,
        family=comparison.family,
        form=comparison.form,
        split=comparison.split,
        row=comparison.row,
        gold=comparison.gold,
        names_a=comparison.names_a,
        names_b=comparison.names_b,
        overlap=one.overlap,
        flags=one.flags,
        anatomy=comparison.anatomy,
        words_a=one.words[0],
        words_b=one.words[1],
        near_query=one.kin.near_query,
        same_patient=one.kin.same_patient,
        rank_a=comparison.rank_a,
        rank_b=comparison.rank_b,
        difficulty=comparison.difficulty,
    )


def item_row(one: Drawn, left: str) -> ItemRow:
    """One item as raters see it."""
    sides = (one.list_a, one.list_b)
    if left != one.comparison.first:
        sides = sides[::-1]
    return ItemRow(
        item_id=one.item_id,
        kind=one.kind,
        block=one.comparison.form,
        prompt="" if one.kind == "auto_tie" else one.prompt,
        query=one.query,
        left=sides[0],
        right=sides[1],
    )


def frame_of(
    study_id: str,
    wish: Wish,
    rows: Sequence[ItemRow],
    media: Mapping[str, str],
    sealed: bytes,
    plain: bytes,
) -> StudyRow:
    """The frame with its hash, which covers every item, every medium and the sealed key."""
    settings = {
        "identical": wish.protocol.identical,
        "protocol": wish.protocol.to_json(),
        "top": TOP,
        "shown": dict(SHOWN),
        "plan": list(PLAN),
        "manifest": {"items": {row.item_id: item_hash(row) for row in rows}, "media": dict(media)},
    }
    if wish.planned is not None:
        settings["planned"] = frozen_plan(wish.planned)
    frame = StudyRow(
        study_id=study_id,
        title=wish.title,
        created_utc=now_utc(),
        software=software_version(),
        order_seed=str(secrets.randbits(128)),
        settings=settings,
        sealed_sha256=sha256(sealed),
        commitment=sha256(plain),
        hash="",
    )
    return replace(frame, hash=study_hash(frame))
