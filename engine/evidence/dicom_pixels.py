"""The values of one DICOM file: decoded, in RGB or after the modality transform.

Owns the chain of PS3.3 C.11.1 (Modality LUT or rescale), palettes, and number formats. Refuses
half pictures: too few bytes or frames are an error, never zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom import dcmread
from pydicom.dataset import Dataset
from pydicom.pixels import get_decoder
from pydicom.pixels.processing import apply_color_lut
from pydicom.uid import UID, RLELossless

from engine.errors import EvidenceError
from engine.evidence import dicom_facts as facts
from engine.evidence.dicom_codecs import LABEL, is_available
from engine.evidence.dicom_read import PARSE_ERRORS, syntax_of
from engine.evidence.failures import of_system, truncated
from engine.evidence.quiet import quiet
from engine.evidence.study import VoiLut

DECODE_ERRORS = (*PARSE_ERRORS, RuntimeError, MemoryError)


@dataclass(frozen=True, eq=False)
class Decoded:
    """Values of one file: [F, Y, X] after the modality transform or [F, Y, X, 3] RGB uint8.

    ``padding`` is (low, high) after the modality transform, ``lut`` the value-of-interest table;
    None if there is none.
    """

    values: NDArray[np.generic]
    padding: tuple[float, float] | None = None
    lut: VoiLut | None = None


def decode_file(path: Path) -> Decoded:
    """Decode every frame of a DICOM file.

    Args:
        path: the file.

    Raises:
        EvidenceError: ``truncated``, ``undecodable``, ``unsupported``.
    """
    syntax = UID("")
    try:
        with quiet():
            dataset = dcmread(path, force=True)
            syntax = syntax_of(dataset)
            stored, photometric = _stored(path, dataset, syntax)
            if photometric == "PALETTE COLOR":
                return Decoded(_palette(stored, dataset))
            if stored.ndim == 4:
                return Decoded(_to_bytes(stored, dataset))
            return replace(_modality(stored, dataset), lut=facts.voi_lut_of(dataset))
    except OSError as failure:
        raise of_system(path, failure) from failure
    except DECODE_ERRORS as failure:
        raise _failure(path, failure, syntax) from failure


def _failure(path: Path, failure: Exception, syntax: UID) -> EvidenceError:
    """The sentence for a decoder's failure; its own words may quote the file and are not used."""
    words = str(failure).lower()
    if "less than expected" in words or "no end marker" in words or isinstance(failure, EOFError):
        return truncated(path)
    name = syntax.name or "an unnamed transfer syntax"
    if isinstance(failure, NotImplementedError):
        return EvidenceError(path, "unsupported", f"pixels in {name} are not read; convert them")
    if isinstance(failure, MemoryError):
        return EvidenceError(path, "too_large", "the picture does not fit into memory; reduce it")
    reason = f"the pixels ({name}) cannot be decoded; the file is damaged, ask for it again"
    return EvidenceError(path, "undecodable", reason)


def _stored(path: Path, dataset: Dataset, syntax: UID) -> tuple[NDArray[np.generic], str]:
    """Decoded frames [F, Y, X] or [F, Y, X, 3] and what they mean."""
    options: dict[str, Any] = {}
    if syntax == RLELossless:
        options["decoding_plugin"] = "pydicom"
    elif is_available(syntax):
        options["decoding_plugin"] = LABEL
    array, properties = get_decoder(syntax).as_array(dataset, **options)
    frames = max(1, facts.integer(dataset, "NumberOfFrames", 1))
    samples = facts.integer(dataset, "SamplesPerPixel", 1)
    if array.ndim == (2 if samples == 1 else 3):
        array = array[None]
    if len(array) < frames:
        raise truncated(path)
    return array[:frames], str(properties["photometric_interpretation"])


def _palette(index: NDArray[np.generic], dataset: Dataset) -> NDArray[np.uint8]:
    """Palette indices as 8-bit RGB; 16-bit tables run from 0 to 65535, so 257 is one step."""
    rgb = apply_color_lut(index, dataset)[..., :3]
    if rgb.dtype == np.uint8:
        return rgb
    return ((rgb.astype(np.uint32) + 128) // 257).astype(np.uint8)


def _to_bytes(color: NDArray[Any], dataset: Dataset) -> NDArray[np.uint8]:
    """RGB of more than 8 bits brought to 8 by dropping the low bits."""
    if color.dtype == np.uint8:
        return color
    return (color >> max(0, facts.integer(dataset, "BitsStored", 16) - 8)).astype(np.uint8)


def _modality(stored: NDArray[Any], dataset: Dataset) -> Decoded:
    """Apply the Modality LUT or the rescale of each frame."""
    padding = facts.padding_of(dataset)
    lut = facts.item(dataset, "ModalityLUTSequence")
    if lut is not None:
        return Decoded(_by_lut(stored, lut, dataset))
    pairs = {facts.rescale_of(dataset, frame) for frame in range(len(stored))}
    if len(pairs) == 1:
        slope, intercept = pairs.pop()
        shifted = None if padding is None else _shift(padding, slope, intercept)
        return Decoded(rescale(stored, slope, intercept), shifted)
    values = np.empty(stored.shape, np.float32)
    for frame, layer in enumerate(stored):
        slope, intercept = facts.rescale_of(dataset, frame)
        values[frame] = layer * slope + intercept
    return Decoded(values)


def _shift(padding: tuple[float, float], slope: float, intercept: float) -> tuple[float, float]:
    """Padding limits after the rescale, low end first."""
    ends = padding[0] * slope + intercept, padding[1] * slope + intercept
    return min(ends), max(ends)


def _by_lut(stored: NDArray[Any], lut: Dataset, dataset: Dataset) -> NDArray[np.generic]:
    """Values through the Modality LUT; ends are held beyond the table (PS3.3 C.11.1.1)."""
    table = facts.table_values(lut)
    first = facts.signed_first(dataset, facts.numbers(lut.get("LUTDescriptor"))[1])
    index = np.clip(stored.astype(np.int64) - int(first), 0, len(table) - 1)
    kind = np.uint16 if table.max() <= 65535 else np.float64
    return table.astype(kind)[index]


def rescale(stored: NDArray[Any], slope: float, intercept: float) -> NDArray[np.generic]:
    """``stored * slope + intercept`` in the smallest format that holds it without rounding.

    Whole slopes and intercepts stay whole; 16-bit data with fractions becomes float32, whose
    error of one part in ten million is below any display step; wider data becomes float64.
    """
    if slope == 1.0 and intercept == 0.0:
        return stored
    if stored.dtype.kind in "ui" and slope.is_integer() and intercept.is_integer():
        ends = [float(end) * slope + intercept for end in (stored.min(), stored.max())]
        low, high = min(ends), max(ends)
        for kind in (np.int16, np.uint16, np.int32):
            if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
                wide = stored.astype(np.int64 if stored.dtype.itemsize > 2 else np.int32)
                return (wide * int(slope) + int(intercept)).astype(kind)
    exact = stored.dtype.itemsize > 2
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = stored.astype(np.float64) * slope + intercept
        return scaled if exact else scaled.astype(np.float32)
