"""How numbers are said: no percentage without its interval and n, no p-value without a reason.

Owns the wording that the terminal, the window and every published table share. Refuses to
compute anything; what is not defined says why.
"""

from __future__ import annotations

from math import log

from studies.preference.analysis.schema import Estimate, Share, Test

LEAST_FOR_P = 10
TOO_FEW = "too few to say"
# A smallest effect beyond this could not matter to anybody: an odds ratio of ten takes a share of
# one half to 91 %, a ratio of times an hour to six minutes. A log odds is held to the same.
MOST_RATIO = 10.0


def share_words(share: Share) -> str:
    """For example ``49.1 % [44.8, 53.3] (260 of 530)``; a dash where there is nothing."""
    if share.share is None or share.low is None or share.high is None:
        return "-"
    interval = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return f"{100 * share.share:.1f} % {interval} ({share.count} of {share.n})"


def p_words(p: float | None) -> str:
    """For example ``0.036`` or ``1.4e-12``; says why there is none."""
    if p is None:
        return f"n < {LEAST_FOR_P}"
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}"


def test_words(test: Test) -> str:
    """For example ``p 0.036 (Holm 0.072), n = 382``; why there is none where there is none."""
    if test.p is None:
        return f"{no_p_words(test)}, n = {test.n}"
    adjusted = "" if test.p_holm is None else f" (Holm {p_words(test.p_holm)})"
    return f"p {p_words(test.p)}{adjusted}, n = {test.n}"


def no_p_words(test: Test) -> str:
    """Why a test has no p-value."""
    why = test.note or f"n < {LEAST_FOR_P}"
    return why if why.startswith("no p-value") else f"no p-value ({why})"


test_words.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name


def estimate_words(estimate: Estimate, *, digits: int = 2, percent: str = "no") -> str:
    """For example ``0.68 [0.60, 0.76] (53 pairs)``.

    Args:
        estimate: value with its interval.
        digits: after the point.
        percent: ``"yes"`` says a share of one in percent.
    """
    if estimate.value is None:
        return f"- ({estimate.note or 'not defined'}; {counted(estimate.n, estimate.unit)})"
    scale, sign = (100.0, " %") if percent == "yes" else (1.0, "")
    said = f"{scale * estimate.value:.{digits}f}{sign}"
    if estimate.low is None or estimate.high is None:
        return f"{said} [no interval] ({counted(estimate.n, estimate.unit)})"
    low, high = (f"{scale * bound:.{digits}f}" for bound in (estimate.low, estimate.high))
    return f"{said} [{low}, {high}] ({counted(estimate.n, estimate.unit)})"


def points_words(estimate: Estimate, *, unit: str = "ratings") -> str:
    """A difference of shares in points: ``+26.0 points [19.2, 32.9] (530 ratings)``.

    Args:
        estimate: a net preference, in shares.
        unit: what n counts; an item read by two raters counts twice.
    """
    if estimate.value is None:
        return f"- ({estimate.note or 'not defined'}; {counted(estimate.n, unit)})"
    said = f"{100 * estimate.value:+.1f} points"
    if estimate.low is None or estimate.high is None:
        return f"{said} [no interval] ({counted(estimate.n, unit)})"
    interval = f"[{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"
    return f"{said} {interval} ({counted(estimate.n, unit)})"


def away_words(distance: float | None) -> str:
    """A share's smallest detectable distance: ``7.2 points away from one half``."""
    return TOO_FEW if distance is None else f"{100 * distance:.1f} points away from one half"


def least_words(value: float | None, *, what: str) -> str:
    """Another smallest detectable effect: ``odds ratio 1.85``; beyond ``MOST_RATIO`` too few.

    Args:
        value: a ratio, Cohen's w, or the logarithm of odds where ``what`` says so.
        what: the words before it.
    """
    most = log(MOST_RATIO) if what.startswith("log ") else MOST_RATIO
    return TOO_FEW if value is None or value > most else f"{what} {value:.2f}"


def counted(n: int, unit: str) -> str:
    """``1 item``, ``530 items``."""
    return f"{n} {unit[:-1] if n == 1 and unit.endswith('s') else unit}"


def were(n: int) -> str:
    """``was`` for one, else ``were``."""
    return "was" if n == 1 else "were"


def seconds_words(ms: float | None) -> str:
    """A time for people: ``18.4 s``; a dash where none was taken."""
    return "-" if ms is None else f"{ms / 1000:.1f} s"


FLOW = {
    "sampled": "items sampled",
    "auto_ties": "identical lists, recorded as ties, not shown",
    "shown": "readings planned (items of all raters)",
    "not_answered": "readings not answered",
    "answered": "readings answered",
    "flagged": "readings flagged as not to be judged",
    "analysed": "readings analysed",
    "repeats": "repeats answered, for consistency only",
}


def flow_words(step: str) -> str:
    """A step of the flow of items for people."""
    return FLOW.get(step, step.replace("_", " "))
