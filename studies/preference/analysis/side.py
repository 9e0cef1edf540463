"""Whether a side was favoured, and how small a bias this study could have found.

Owns left among the decided. The order term of the model is in ``davidson``, the swapped
repeats in ``agreement``. Refuses to say that there is no bias.
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.preference.analysis.counts import share, sign_test
from studies.preference.analysis.detectable import smallest_detectable
from studies.preference.analysis.rated import DECIDED, Rated, pooled
from studies.preference.analysis.schema import Share, SideBias


def side_bias(rows: Sequence[Rated]) -> SideBias:
    """Left among the decided, the first model by side, the smallest detectable bias."""
    decided = [one for one in rows if one.preferred in DECIDED]
    left = sum(one.row.answer == "left" for one in decided)
    when_left = _first([one for one in decided if one.row.left == one.item.first])
    when_right = _first([one for one in decided if one.row.left == one.item.second])
    both = (when_left.share, when_right.share)
    return SideBias(
        left=share(left, len(decided)),
        sign=sign_test(left, len(decided) - left, note=pooled(rows)),
        first_when_left=when_left,
        first_when_right=when_right,
        averaged=None if both[0] is None or both[1] is None else (both[0] + both[1]) / 2,
        smallest_detectable=smallest_detectable(len(decided)),
    )


def _first(rows: Sequence[Rated]) -> Share:
    return share(sum(one.preferred == "first" for one in rows), len(rows))
