"""The numbers of the bias panel: sides, form, length of texts, look-alikes.

Owns names and shapes only. Each line has its smallest detectable effect: what 80 % power would
find at two-sided 5 % with as many answers; a share as its distance from one half.
"""

from __future__ import annotations

from dataclasses import dataclass

from studies.preference.analysis.numbers import Estimate, Share, Test

NOT_RECORDED = "not recorded when this study was built"


@dataclass(frozen=True)
class SideBias:
    """Whether a side was favoured.

    Attributes:
        left: left among the decided.
        sign: its test.
        first_when_left, first_when_right: the first model among the decided, by its side.
        averaged: the mean of the two.
        smallest_detectable: the bias in share that 80 % power would find at this n.
    """

    left: Share
    sign: Test
    first_when_left: Share
    first_when_right: Share
    averaged: float | None
    smallest_detectable: float | None


@dataclass(frozen=True)
class SideGroup:
    """Left among the decided of one form; its sign test adjusted by Holm over the forms."""

    name: str
    title: str
    left: Share
    sign: Test
    smallest_detectable: float | None


@dataclass(frozen=True)
class FormBias:
    """The side bias by what is compared: 2D, 3D or text.

    Attributes:
        heterogeneity: one test of left against right over the forms, None for one form.
        smallest_effect: Cohen's w that 80 % power would find; None where there is no test.
    """

    groups: tuple[SideGroup, ...]
    heterogeneity: Test | None
    smallest_effect: float | None


@dataclass(frozen=True)
class LengthBias:
    """Whether the list with the longer texts is preferred.

    Attributes:
        longer: it among the decided whose lists both carry words, not equally many.
        sign: its test, of several raters one vote for each item; it does not know which model has
            the longer texts.
        slope: log odds of being preferred for each doubling of the words against the other list,
            adjusted for which model it is.
        slope_test: likelihood ratio against no slope, of several raters Wald's t with errors by
            item; what the panel goes by.
        slope_smallest: the slope that 80 % power would find, from its standard error.
        recorded: ratings of items whose words were counted.
        note: why there is nothing, "" where there is something.
    """

    longer: Share
    sign: Test
    smallest_detectable: float | None
    slope: Estimate
    slope_test: Test
    slope_smallest: float | None
    recorded: int
    note: str = ""


@dataclass(frozen=True)
class LookalikeBias:
    """Whether a look-alike of the query draws the choice, where exactly one list holds one.

    Attributes:
        preferred: the list with a near-duplicate of the query or a candidate of its own patient,
            among the decided.
        sign: its test, of several raters one vote for each item.
        near_query: the same of near-duplicates alone. same_patient: of the same patient alone;
            each with its own smallest detectable distance.
        recorded: ratings of items that were looked through.
        note: why there is nothing, "" where there is something.
    """

    preferred: Share
    sign: Test
    smallest_detectable: float | None
    near_query: Share
    near_query_smallest: float | None
    same_patient: Share
    same_patient_smallest: float | None
    recorded: int
    note: str = ""
