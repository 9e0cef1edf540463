"""Every number that is computed, as plain frozen values: what the page, tables and JSON show.

Owns names and shapes only. Each estimate carries its n and, where there is one, its interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studies.preference.analysis.numbers import Estimate as Estimate
from studies.preference.analysis.numbers import Share as Share
from studies.preference.analysis.numbers import Test as Test
from studies.preference.analysis.schema_bias import FormBias as FormBias
from studies.preference.analysis.schema_bias import LengthBias as LengthBias
from studies.preference.analysis.schema_bias import LookalikeBias as LookalikeBias
from studies.preference.analysis.schema_bias import SideBias as SideBias


@dataclass(frozen=True)
class Block:
    """One group of ratings.

    Attributes:
        group: ``all``, ``stratum``, ``family``, ``form``, ``split``, ``anatomy``, ``task``,
            ``difficulty``, ``overlap``, ``stratum_form``, ``rater``, ``majority``,
            ``first_answers`` or ``all_with_auto_ties``.
        name: of the group's member, as in the tables; title: for people.
        n: ratings; items and tasks: how many different ones.
        first, second, tie: preferred; tie is both, neither and automatic ties together.
        first_decided: the first model among those that preferred one.
        sign: exact two-sided sign test on the decided.
        net: (first - second) / n with the bootstrap that resamples tasks, then items in them.
        net_bca: the same draws, bias-corrected and accelerated.
        median_ms: time to answer.
        net_tasks: whole tasks resampled and nothing within them. Resampling items again inside the
            drawn tasks counts the scatter within tasks twice, so ``net`` is on the safe side.
    """

    group: str
    name: str
    title: str
    n: int
    items: int
    tasks: int
    first: Share
    second: Share
    tie: Share
    both: Share
    neither: Share
    auto_tie: Share
    first_decided: Share
    sign: Test
    net: Estimate
    net_bca: Estimate
    median_ms: float | None = None
    net_tasks: Estimate | None = None


@dataclass(frozen=True)
class Table:
    """The blocks of one way to group, one heterogeneity test over them (None for one block)."""

    group: str
    title: str
    blocks: tuple[Block, ...]
    heterogeneity: Test | None = None


@dataclass(frozen=True)
class Davidson:
    """The model of Davidson (1970) with an order term (Davidson and Beaver 1977).

    Attributes:
        log_worth: letter to log worth against the first model (0 for it); for two models the
            log-ratio first : second is ``log_ratio``.
        log_tie: log of the tie parameter nu.
        order: log advantage of the left side.
        order_test: likelihood ratio against no order term.
        order_smallest: the order term that 80 % power would find, from its standard error.
        without_order: log-ratio of the fit without the order term (two models; None for more).
        converged: False where a category is empty; ``note`` says which.
    """

    models: tuple[str, ...]
    log_worth: Mapping[str, Estimate]
    log_ratio: Estimate | None
    log_tie: Estimate
    order: Estimate
    order_test: Test
    without_order: Estimate | None
    converged: bool
    note: str = ""
    order_smallest: float | None = None


@dataclass(frozen=True)
class Window:
    """One stretch of a session: places ``start`` to ``end`` of the order, practice counted."""

    start: int
    end: int
    n: int
    tie: Share
    first_decided: Share
    median_ms: float | None


@dataclass(frozen=True)
class Fatigue:
    """Ties and times along the session.

    Attributes:
        windows: consecutive tenths of the reading order.
        tie_trend: logistic regression of tie on place, odds ratio from first to last item.
        time_trend: ratio of the time to answer from first to last item (log-linear).
        tie_test, time_test: of the two trends; preference_trend, preference_test: the odds that
            the first model is preferred among the decided (the left list where there are more
            than two models). All are adjusted for form and rater.
        tie_trend_smallest, time_trend_smallest, preference_trend_smallest: the ratio above 1 that
            80 % power would find, from the standard error; None where there is no trend.
        practice: places before the first item; the reader's own numbers leave them out.
    """

    windows: tuple[Window, ...]
    tie_trend: Estimate
    tie_test: Test
    time_trend: Estimate
    time_test: Test
    preference_trend: Estimate
    preference_test: Test
    tie_trend_smallest: float | None = None
    time_trend_smallest: float | None = None
    preference_trend_smallest: float | None = None
    practice: int = 0


@dataclass(frozen=True)
class Agreement:
    """Agreement of one pair of readings, or of several raters, over first / second / tie.

    Attributes:
        name: ``repeats of NAME``, ``NAME and NAME``, ``all raters``.
        raw: observed agreement. kappa: Cohen's, or Fleiss's for more than two raters.
        ac1: Gwet's. alpha: Krippendorff's, nominal (None for repeats).
        table: (first reading, second reading) counts over ``words``; None for more than two.
    """

    name: str
    n: int
    raw: Estimate
    kappa: Estimate
    ac1: Estimate
    alpha: Estimate | None
    words: tuple[str, ...]
    table: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True)
class Repeats:
    """Swapped repeats of one rater (or of all, pooled).

    Attributes:
        same: the same preference again. flipped: the other model, which is the same side again.
        to_tie, from_tie: a preference became a tie, a tie a preference.
        agreement: intra-rater agreement.
        drift: exact sign test of moves towards the first model against moves towards the second.
    """

    rater: str
    n: int
    same: Share
    flipped: Share
    to_tie: Share
    from_tie: Share
    agreement: Agreement
    drift: Test


@dataclass(frozen=True)
class Criterion:
    """Criterion validity: how often the list with the right top answer is preferred.

    Attributes:
        right: preferring the right one among the decided, where exactly one top-1 is right.
        of_all: the same among all, ties counted as not preferring.
        test: exact sign test of ``right``.
    """

    right: Share
    of_all: Share
    test: Test


@dataclass(frozen=True)
class Correctness:
    """Hit@1 of both models on the same items (each item once).

    Attributes:
        both, only_first, only_second, neither: the fourfold table.
        mcnemar: exact; mid_p: the mid-p version; clustered: Durkalski's, by task.
    """

    n: int
    hit_first: Share
    hit_second: Share
    both: int
    only_first: int
    only_second: int
    neither: int
    mcnemar: Test
    mid_p: Test
    clustered: Test


@dataclass(frozen=True)
class Blinding:
    """The guesses at the end.

    Attributes:
        james: James's index (1: all unsure, 0.5 chance, 0: all right).
        bang: Bang's index by arm (``A left``, ``A right``): 0 chance, 1 all right, -1 all wrong.
        counts: arm to counts of right, wrong, unsure.
    """

    n: int
    james: Estimate
    bang: Mapping[str, Estimate]
    counts: Mapping[str, tuple[int, int, int]]


@dataclass(frozen=True)
class Missing:
    """Missing and changed answers.

    Attributes:
        unanswered: places without an answer. cannot: flagged, by reason.
        changed: presentations whose answer was taken back at least once.
    """

    places: int
    unanswered: int
    cannot: Mapping[str, int]
    changed: int


@dataclass(frozen=True)
class Clustering:
    """How much items of one task resemble each other; shares and sign tests do not know of it.

    Attributes:
        icc: intraclass correlation of the net preference of items within tasks (one-way analysis
            of variance, may fall below 0); None where it is not defined.
        mean_size: items in the task of an item, mean over the items.
        design_effect: 1 + (mean_size - 1) * icc, at least 1.
        effective_n: items / design_effect.
        sentence: the remark for the text.
    """

    tasks: int
    items: int
    mean_size: float | None
    icc: float | None
    design_effect: float | None
    effective_n: float | None
    sentence: str


@dataclass(frozen=True)
class Pooled:
    """The mean of the raters; every rater weighs the same, however many items were read.

    Attributes:
        raters: how many.
        net: mean of their net preferences; the interval allows for other raters and other items.
        decided: the same of the first model's share among the decided; a rater who decided
            nothing is left out.
        rater_sd: scatter of true net preferences between raters; 0 where chance explains it.
        from_raters: share of the variance of ``net`` that more raters would lower; the rest only
            more items would.
    """

    raters: int
    net: Estimate
    decided: Estimate
    rater_sd: float | None
    from_raters: float | None


@dataclass(frozen=True)
class Pair:
    """Everything about one pair of models.

    Attributes:
        first, second: letters. overall: all items read. with_auto_ties: identical lists as ties.
        first_answers: what the first answer to each item alone would say.
        tables: by stratum, family, form, split, anatomy, difficulty, overlap, task, rater; those
            with n > 0.
        majority: one vote per item over raters (None for one rater).
        side, side_by_form, length, lookalike: the bias panel.
        clustering: how far the items of a task resemble each other.
        pooled: the mean of the raters, for other raters and other items (None for one rater).
    """

    first: str
    second: str
    first_title: str
    second_title: str
    overall: Block
    with_auto_ties: Block
    first_answers: Block
    tables: tuple[Table, ...]
    davidson: Davidson
    side: SideBias
    side_by_form: FormBias
    length: LengthBias
    lookalike: LookalikeBias
    criterion: Criterion
    correctness: Correctness
    clustering: Clustering
    usefulness: Mapping[str, Estimate] = field(default_factory=dict)
    majority: Block | None = None
    pooled: Pooled | None = None


@dataclass(frozen=True)
class Analysis:
    """Every number of a study.

    Attributes:
        pairs: one for two models, each pair for more.
        davidson: over all pairs (None for two models; there it stands in the pair).
        flow: words to counts, in order: sampled, auto ties, shown, answered, flagged, analysed.
    """

    study_id: str
    title: str
    hash: str
    models: Mapping[str, str]
    raters: tuple[str, ...]
    rater: str | None
    draws: int
    seed: int
    pairs: tuple[Pair, ...]
    davidson: Davidson | None
    fatigue: Fatigue
    repeats: tuple[Repeats, ...]
    between: tuple[Agreement, ...]
    blinding: Blinding | None
    missing: Missing
    flow: Mapping[str, int]
    facts: Mapping[str, object] = field(default_factory=dict)
