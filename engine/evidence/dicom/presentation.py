"""The last steps of grey values to a screen: tables of values, presentation LUT, inversion.

Owns PS3.3 C.11.2 (VOI LUT) and C.11.6 (Presentation LUT) where an image carries them itself.
Refuses presentation states: they are objects of their own and are named, not applied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset

from engine.evidence.dicom import facts
from engine.evidence.dicom.layout import photometric_of
from engine.evidence.study import VoiLut
from engine.evidence.window import apply_lut, derive_window, to_display

WIDEST = 1 << 16


def inverted_of(dataset: Dataset) -> bool:
    """True if low values are white.

    Photometric Interpretation alone decides. Presentation LUT Shape INVERSE is how a MONOCHROME1
    picture says the same thing a second time (C.8.11.3.1.2); turning for both would undo it.
    """
    return photometric_of(dataset) == "MONOCHROME1"


def presentation_notes(dataset: Dataset) -> list[str]:
    """Sentences on what the header asks for and how it is taken."""
    notes = []
    shape = facts.word(dataset, "PresentationLUTShape")
    if shape in ("IDENTITY", "INVERSE") and (shape == "INVERSE") != inverted_of(dataset):
        notes.append(
            f"Presentation LUT Shape {shape} contradicts the photometric interpretation, "
            "which is followed"
        )
    if _presentation_table(dataset) is not None:
        notes.append("the file's own presentation LUT is applied after the window")
    return notes


def table_of(
    dataset: Dataset, values: NDArray[Any], *, frame: int, padding: tuple[float, float] | None
) -> VoiLut | None:
    """The table that shows a frame, None if a window does.

    Args:
        dataset: the header.
        values: the picture after the modality transform.
        frame: which frame's functional groups are asked.
        padding: values left out of a derived window.

    Returns:
        A VOI LUT where the header has no usable window; with an embedded presentation LUT one
        table that does both steps.
    """
    voi = None if facts.window_of(dataset, frame) else facts.voi_lut_of(dataset, frame)
    last = _presentation_table(dataset)
    if last is None or values.dtype.kind not in "ui" or not values.size:
        return voi
    low, high = int(values.min()), int(values.max())
    if high - low >= WIDEST:
        return voi
    every = np.arange(low, high + 1)
    if voi is not None:
        grey = apply_lut(every, voi)
    else:
        window, function = facts.window_of(dataset, frame) or (
            derive_window(values, padding=padding), "linear",
        )  # fmt: skip
        grey = to_display(every, center=window[0], width=window[1], function=function)
    at = np.rint(grey / 255.0 * (len(last) - 1)).astype(np.intp)
    return VoiLut(first=float(low), table=last[at])


def _presentation_table(dataset: Dataset) -> NDArray[np.uint8] | None:
    """An embedded Presentation LUT as 8-bit values, None if there is none."""
    found = facts.item(dataset, "PresentationLUTSequence")
    if found is None:
        return None
    descriptor = facts.numbers(found.get("LUTDescriptor"))
    table = facts.table_values(found, order=facts.order_of(dataset))
    if len(descriptor) < 3 or table.size == 0:
        return None
    return facts.to_grey(table, descriptor[2])
