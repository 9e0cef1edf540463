"""How many items, sessions and hours a preference study needs, and what it could find.

Owns the arithmetic and the sentence for the paper. Refuses shares and rates that are none.
Knows no file: what there is to read comes as plain numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SECONDS = {"2d": 30.0, "3d": 120.0, "text": 40.0}
FORMS = {"2d": 76 / 107, "3d": 31 / 107}
PRESENT_TASKS = 107


@dataclass(frozen=True)
class PlanWish:
    """What is expected of a study.

    Attributes:
        total: items wanted.
        share: share that is expected to prefer the tested model among the decided.
        ties: share of ties expected among all.
        icc: intraclass correlation of the preferences within one task.
        tasks: tasks the items are spread over.
        readers: raters who each read every item.
        power: wanted chance to find the expected share.
        alpha: two-sided level of the test.
        forms: form to its share of the items; they add up to 1.
        seconds: form to seconds for one item.
        repeat_share: share of items that come back for agreement with oneself.
        warmup: practice items of each rater.
        session_minutes: reading before a pause.
        agreement: expected agreement with oneself.
    """

    total: int = 530
    share: float = 0.60
    ties: float = 0.28
    icc: float = 0.05
    tasks: int = PRESENT_TASKS
    readers: int = 1
    power: float = 0.80
    alpha: float = 0.05
    forms: Mapping[str, float] = field(default_factory=lambda: dict(FORMS))
    seconds: Mapping[str, float] = field(default_factory=lambda: dict(SECONDS))
    repeat_share: float = 0.10
    warmup: int = 3
    session_minutes: float = 45.0
    agreement: float = 0.80


@dataclass(frozen=True)
class StudyPlan:
    """What follows from a wish; counts are whole, times are for one rater unless said.

    Attributes:
        wish: what was asked.
        decided_needed: decided pairs, independent, for the wanted power.
        items_needed: items with the expected ties, independent.
        items_clustered: items with ties and clustering; None if no number of items over so many
            tasks gives that power.
        enough: the total reaches it.
        decided: decided pairs expected of the total.
        design_effect: 1 + (items per task - 1) x intraclass correlation.
        effective: items that the total is worth after clustering.
        power_expected: chance to find the expected share with the effective decided (exact).
        half_width: of the 95 % Wilson interval of the share among the effective decided.
        smallest_share: smallest share above a half found with the wanted power.
        side_bias: smallest bias to one side found with the wanted power, in share.
        coin_flip_sd: items by which coin-flip sides would typically be out of balance.
        repeats: items that come back.
        agreement_low, agreement_high: 95 % Wilson interval of the expected agreement.
        presentations: places in one rater's order, warm-up and repeats included.
        minutes: form to minutes of one rater.
        hours: of one rater; hours_all: of all raters.
        sessions: of one rater.
        volumes: volumes to scroll in the 3D items (query and six candidates each).
        sentence: for the paper.
    """

    wish: PlanWish
    decided_needed: int
    items_needed: int
    items_clustered: int | None
    enough: bool
    decided: int
    design_effect: float
    effective: int
    power_expected: float
    half_width: float
    smallest_share: float
    side_bias: float
    coin_flip_sd: float
    repeats: int
    agreement_low: float
    agreement_high: float
    presentations: int
    minutes: Mapping[str, float]
    hours: float
    hours_all: float
    sessions: int
    volumes: int
    sentence: str


def plan(wish: PlanWish) -> StudyPlan:
    """Work out a study.

    Raises:
        BadRequest: a number outside its bounds, named.
    """
    raise NotImplementedError
