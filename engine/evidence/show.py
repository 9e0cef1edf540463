"""The `show --json` object of one piece of evidence: plain numbers and words, nobody's name.

Owns the document's keys. Refuses to print: the command line does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.dicom.decode import decode_file
from engine.evidence.dicom.volume import delivered_shape, delivered_slice
from engine.evidence.open import load_pixels
from engine.evidence.pictures.raster import load_picture
from engine.evidence.study import Evidence, Pixels

LAYER = 1 << 22


def describe(
    evidence: Evidence,
    *,
    probes: Sequence[tuple[int, int, int]] = (),
    with_text: bool = False,
    with_pixels: bool = True,
) -> dict[str, Any]:
    """One object of ``show --json`` (cli.md).

    Args:
        evidence: what was found.
        probes: (slice or frame, row, column) places whose values are wanted.
        with_text: include a report's words.
        with_pixels: decode, for min, max, mean, a derived window and probes.

    Returns:
        A dictionary that ``json`` can write. A picture that turns out damaged has an error and no
        numbers; a probe outside the picture has the value None. Several time points give a list
        of values per probe; min, max and mean are over all of them.
    """
    shown = _facts(evidence)
    shown["characters"] = None if evidence.text is None else len(evidence.text)
    if with_text:
        shown["text"] = evidence.text
    if with_pixels and evidence.shape is not None and evidence.error is None:
        try:
            pixels = _pixels(evidence)
        except EvidenceError as error:
            shown.update(kind="error", error=_error(error))
        else:
            shown.update(_numbers(pixels))
            shown["notes"] = list(dict.fromkeys((*evidence.notes, *pixels.notes)))
            shown["shape"] = list(delivered_shape(evidence, pixels.array.shape))
            shown["probes"] = [_probe(evidence, pixels, place) for place in probes]
    return shown


def _facts(evidence: Evidence) -> dict[str, Any]:
    """All keys, from the header alone."""
    spacing = evidence.spacing_mm
    return {
        "path": str(evidence.path),
        "kind": evidence.kind,
        "form": evidence.form,
        "modality": evidence.modality,
        "photometric": evidence.photometric,
        "color": evidence.color,
        "shape": evidence.shape and list(delivered_shape(evidence, evidence.shape)),
        "dtype": evidence.dtype,
        "min": None,
        "max": None,
        "mean": None,
        "window": None if evidence.window is None else list(evidence.window),
        "window_source": evidence.window_source,
        "display_inverted": evidence.display_inverted,
        "spacing_mm": None if spacing is None else [value or None for value in spacing],
        "spacing_source": evidence.spacing_source,
        "orientation": evidence.orientation,
        "probes": [],
        "notes": list(evidence.notes),
        "source": dict(evidence.source),
        "error": None if evidence.error is None else _error(evidence.error),
    }


def _error(error: EvidenceError) -> dict[str, str]:
    """Code and sentence; the path stands beside them already."""
    return {"code": error.code, "message": error.reason}


def _pixels(evidence: Evidence) -> Pixels:
    """Decoded values; transparency of plain pictures is left out, not laid on white."""
    if evidence.source.get("object", "").endswith(" picture"):
        return load_picture(evidence.path, white=False)
    if _deep_color(evidence):
        values = decode_file(evidence.members[0], deep=True).values
        return Pixels(values[list(evidence.order)] if evidence.order else values)
    return load_pixels(evidence)


def _deep_color(evidence: Evidence) -> bool:
    """True for DICOM colour of more than 8 bits: shown with 8, its numbers are those stored.

    Plain pictures of such depth are read with 8 bits by nearly every program, and so here.
    """
    alone = len(evidence.members) == 1 and evidence.times == 1
    stored = evidence.color and evidence.photometric != "PALETTE COLOR"
    dicom = evidence.source.get("format") == "DICOM"
    return alone and stored and dicom and evidence.dtype not in ("uint8", "int8")


def _numbers(pixels: Pixels) -> dict[str, Any]:
    """Least, greatest and mean finite value, the window and the true shape."""
    every = pixels.array if pixels.times is None else pixels.times
    least, greatest, mean = statistics(every)
    found: dict[str, Any] = {
        "shape": list(pixels.array.shape),
        "min": least,
        "max": greatest,
        "mean": mean,
    }
    if not pixels.color:
        found.update(window=list(pixels.window), window_source=pixels.window_source)
    return found


def statistics(values: NDArray[np.generic]) -> tuple[float | None, float | None, float | None]:
    """Least, greatest and mean finite value; None where there is none.

    Goes part by part, so that a volume is never held twice.
    """
    least, greatest, total, count = math.inf, -math.inf, 0.0, 0
    for layer in _layers(values):
        known = layer[np.isfinite(layer)] if layer.dtype.kind == "f" else layer
        if known.size:
            least, greatest = min(least, float(known.min())), max(greatest, float(known.max()))
            with np.errstate(over="ignore"):
                total += float(known.sum(dtype=np.float64))
            count += known.size
    if count == 0:
        return None, None, None
    return least, greatest, _plain(total / count)


def _layers(values: NDArray[np.generic]) -> Iterator[NDArray[np.generic]]:
    """Parts of an array along its first axes, each of at most some million values."""
    if values.ndim <= 2 or values.size <= LAYER:
        yield values
        return
    for part in values:
        yield from _layers(part)


def _plain(value: Any) -> float | None:
    """A finite float, None for what JSON cannot hold."""
    number = float(value)
    return number if math.isfinite(number) else None


def _probe(evidence: Evidence, pixels: Pixels, place: tuple[int, int, int]) -> dict[str, Any]:
    """The value at a place, a list for colour or several time points.

    Slices of DICOM objects are counted as they were delivered: files in order, frames as stored.
    """
    shape = delivered_shape(evidence, pixels.array.shape)
    if not all(0 <= at < n for at, n in zip(place, shape, strict=False)):
        return {"at": list(place), "value": None}
    z, y, x = place
    delivered = delivered_slice(evidence, pixels, z)
    value: NDArray[np.generic]
    if delivered is not None:
        value = delivered[y, x]
    elif pixels.times is not None:
        value = pixels.times[:, z, y, x]
    else:
        value = pixels.array[z, y, x]
    return {"at": list(place), "value": _nested(value)}


def _nested(value: Any) -> Any:
    """Floats, in lists where the value has axes."""
    array = np.asarray(value)
    if array.ndim == 0:
        return _plain(array)
    return [_nested(one) for one in array]
