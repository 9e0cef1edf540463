"""Crops of a panel: each stands on its own source, one or several of them."""

from __future__ import annotations

import numpy as np

from app.presenters.review_media import content_of
from app.widgets.content import eight_bit
from studies.preference.panels import Panel

SOURCE = np.arange(40 * 60, dtype=np.uint32).astype(np.uint8).reshape(40, 60)


def shown(panel: Panel) -> list[np.ndarray]:
    content = content_of(panel, lambda media_id: eight_bit(SOURCE))
    return [picture.array[0] for picture in content.pictures]


def test_one_crop_and_several_are_cut_from_their_source() -> None:
    first, second = (5, 10, 25, 30), (30, 0, 60, 20)
    (one,) = shown(Panel("image", ("m",), "", first, (first,)))
    assert one.shape[:2] == (20, 20)
    two = shown(Panel("image", ("m", "m"), "", None, (first, second)))
    assert [found.shape[:2] for found in two] == [(20, 20), (20, 30)]
    assert np.array_equal(two[0], one)
    mixed = shown(Panel("image", ("m", "m"), "", None, (None, second)))
    assert [found.shape[:2] for found in mixed] == [(40, 60), (20, 30)]
    assert [found.shape[:2] for found in shown(Panel("image", ("m",), ""))] == [(40, 60)]
