"""How many items, sessions and hours a preference study needs, and what it could find.

Owns the arithmetic; the sentence for the paper is in ``studies.preference.planner_words``.
Refuses shares and rates that are none. Knows no file: what there is to read comes as numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from statistics import NormalDist
from typing import Any

from studies.errors import BadRequest
from studies.preference.protocol import BOUNDS
from studies.preference.sample import repeat_count

SECONDS = {"2d": 30.0, "3d": 270.0, "text": 40.0}  # 3D is reported to take nine times as long
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
        models: two, or more; each item compares one pair, the pairs balanced.
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
    models: int = 2
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
        per_pair: items for each pair of models; what follows is for one pair.
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
        repeats: items that are to come back; fewer where blocks are shorter than the gap.
        agreement_low, agreement_high: 95 % Wilson interval of the expected agreement.
        presentations: places in one rater's order, warm-up and repeats included.
        items: form to items.
        minutes: form to minutes of one rater, the items alone.
        item_hours: of one rater, the items alone.
        hours: of one rater with warm-up and repeats; hours_all: of all raters.
        sessions: of one rater.
        volumes: volumes to scroll in the 3D items (query and six candidates each).
    """

    wish: PlanWish
    per_pair: int
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
    items: Mapping[str, int]
    minutes: Mapping[str, float]
    item_hours: float
    hours: float
    hours_all: float
    sessions: int
    volumes: int

    @property
    def sentence(self) -> str:
        """For the paper, ready to paste."""
        from studies.preference.planner_words import sentence

        return sentence(self)

    def to_json(self) -> dict[str, Any]:
        """Every number and the sentence, as plain values."""
        return {**asdict(self), "sentence": self.sentence}


def plan(wish: PlanWish) -> StudyPlan:
    """Work out a study.

    Raises:
        BadRequest: a number outside its bounds, named.
    """
    check_wish(wish)
    pairs = len(list(combinations(range(wish.models), 2)))
    per_pair = wish.total // pairs
    needed = decided_needed(wish.share, power=wish.power, alpha=wish.alpha)
    independent = needed / (1 - wish.ties)
    clustered = _clustered(independent, wish)
    effect = design_effect(per_pair, wish.tasks, wish.icc)
    decided, effective = per_pair * (1 - wish.ties), per_pair / effect
    return StudyPlan(
        wish=wish,
        per_pair=per_pair,
        decided_needed=math.ceil(needed),
        items_needed=math.ceil(independent),
        items_clustered=clustered,
        enough=clustered is not None and per_pair >= clustered,
        decided=round(decided),
        design_effect=effect,
        effective=round(effective),
        coin_flip_sd=math.sqrt(per_pair) / 2,
        side_bias=side_bias(round(decided), power=wish.power, alpha=wish.alpha),
        **_findable(wish, max(round(effective * (1 - wish.ties)), 1)),
        **_repeats(wish),
        **_burden(wish),
    )


def check_wish(wish: PlanWish) -> None:
    """Refuse what no study can be.

    Raises:
        BadRequest: names the number and its bounds.
    """
    bounds: dict[str, tuple[float, float]] = {
        "total": (1, 1_000_000),
        "share": (0.501, 0.999),
        "ties": (0, 0.95),
        "icc": (0, 1),
        "tasks": (1, 100_000),
        "models": (2, 26),
        "readers": (1, 1000),
        "power": (0.5, 0.999),
        "alpha": (0.0001, 0.5),
        "repeat_share": BOUNDS["repeat_share"][1:],
        "warmup": BOUNDS["warmup"][1:],
        "session_minutes": (5, 600),
        "agreement": (0, 1),
    }
    for name, (low, high) in bounds.items():
        if not low <= getattr(wish, name) <= high:
            words = name.replace("_", " ")
            raise BadRequest(f"The {words} must lie between {low:g} and {high:g}; give another.")
    if wish.total < math.comb(wish.models, 2):
        raise BadRequest("There are fewer items than pairs of models; give a larger total.")
    if abs(sum(wish.forms.values()) - 1) > 1e-6 or min(wish.forms.values()) < 0:
        raise BadRequest("The shares of the forms must add up to 1; give others.")
    for form in wish.forms:
        if not 0 < wish.seconds.get(form, 0) <= 36_000:
            raise BadRequest(f"{form} needs its minutes per item, above 0 and at most 600.")


def decided_needed(share: float, *, power: float, alpha: float) -> float:
    """Decided pairs for a two-sided test of a share against a half (normal approximation).

    Fleiss, Levin and Paik: (z(1 - alpha/2) / 2 + z(power) sqrt(p q))^2 / (p - 1/2)^2.
    """
    z = NormalDist().inv_cdf
    reach = z(1 - alpha / 2) / 2 + z(power) * math.sqrt(share * (1 - share))
    return (reach / (share - 0.5)) ** 2


def design_effect(items: float, tasks: int, icc: float) -> float:
    """What clustering costs: 1 + (items per task - 1) x intraclass correlation (Kish)."""
    return 1 + max(items / tasks - 1, 0) * icc


def side_bias(decided: int, *, power: float, alpha: float) -> float:
    """Smallest bias to one side, in share of the decided, found with that power."""
    z = NormalDist().inv_cdf
    reach = (z(1 - alpha / 2) + z(power)) / 2
    return min(reach / math.sqrt(decided), 0.5) if decided else 0.5


def sign_test_power(decided: int, share: float, *, alpha: float) -> float:
    """Power of the exact two-sided sign test, by its binomial distribution.

    Args:
        decided: pairs, independent.
        share: the true share.
        alpha: two-sided level.
    """
    from scipy.stats import binom

    limit = int(binom.ppf(alpha / 2, decided, 0.5))
    while limit >= 0 and 2 * binom.cdf(limit, decided, 0.5) > alpha:
        limit -= 1
    if limit < 0:
        return 0.0
    low, high = binom.cdf(limit, decided, share), binom.sf(decided - limit - 1, decided, share)
    return float(low + high)


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of Wilson for a share that need not be a whole count of n."""
    z = NormalDist().inv_cdf(0.975)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


def _clustered(independent: float, wish: PlanWish) -> int | None:
    """Items that are worth so many independent ones; None beyond tasks / icc."""
    if independent <= wish.tasks or wish.icc == 0:
        return math.ceil(independent)
    left = 1 - independent * wish.icc / wish.tasks
    return math.ceil(independent * (1 - wish.icc) / left) if left > 1e-9 else None


def _findable(wish: PlanWish, decided: int) -> dict[str, Any]:
    low, high = wilson(wish.share, decided)
    return {
        "power_expected": sign_test_power(decided, wish.share, alpha=wish.alpha),
        "half_width": (high - low) / 2,
        "smallest_share": _smallest_share(decided, wish),
    }


def _smallest_share(decided: int, wish: PlanWish) -> float:
    """The share that needs just so many decided pairs, by halving."""
    low, high = 0.5 + 1e-9, 1 - 1e-9
    for _ in range(60):
        middle = (low + high) / 2
        if decided_needed(middle, power=wish.power, alpha=wish.alpha) > decided:
            low = middle
        else:
            high = middle
    return high


def _repeats(wish: PlanWish) -> dict[str, Any]:
    repeats = repeat_count(wish.total, wish.repeat_share)
    if not repeats:
        return {"repeats": 0, "agreement_low": 0.0, "agreement_high": 1.0}
    low, high = wilson(round(repeats * wish.agreement) / repeats, repeats)
    return {"repeats": repeats, "agreement_low": low, "agreement_high": high}


def _burden(wish: PlanWish) -> dict[str, Any]:
    """Items, minutes and sessions of one rater; automatic ties are not taken out."""
    items = {form: round(wish.total * share) for form, share in wish.forms.items()}
    minutes = {
        form: wish.total * share * wish.seconds[form] / 60 for form, share in wish.forms.items()
    }
    presentations = wish.total + repeat_count(wish.total, wish.repeat_share) + wish.warmup
    hours = sum(minutes.values()) * presentations / wish.total / 60
    return {
        "presentations": presentations,
        "items": items,
        "minutes": minutes,
        "item_hours": sum(minutes.values()) / 60,
        "hours": hours,
        "hours_all": hours * wish.readers,
        "sessions": math.ceil(round(hours * 60 / wish.session_minutes, 6)),
        "volumes": 7 * items.get("3d", 0),
    }
