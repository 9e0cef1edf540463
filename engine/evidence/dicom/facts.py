"""Facts of a DICOM header that a picture needs: window, spacing, position, table, padding, names.

Owns the order in which the standard's elements are looked for, top level before functional
groups. Refuses everything that speaks of a person: the only such fact that leaves is ``subject``,
a salted hash.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset
from pydicom.multival import MultiValue
from pydicom.uid import UID

from engine.evidence.study import VoiLut

CENTIMETRES = 3
NEAREST_MM, FARTHEST_MM = 1e-9, 1e9  # what lies outside is no distance of pixels
TISSUE = 1
SAME_SPACING = 1e-3  # largest relative difference of one pixel spacing
REGIONS = "SequenceOfUltrasoundRegions (cm to mm)"


@dataclass(frozen=True)
class Plane:
    """Where a picture lies in the patient: unit vectors and the first pixel's place, in mm."""

    columns: tuple[float, float, float]
    rows: tuple[float, float, float]
    position: tuple[float, float, float] | None

    @property
    def normal(self) -> NDArray[np.float64]:
        """The slice normal: columns direction x rows direction."""
        (a, b, c), (d, e, f) = self.columns, self.rows
        return np.array([b * f - c * e, c * d - a * f, a * e - b * d])


def numbers(value: Any) -> list[float]:
    """The finite numbers of an element's value; what is not a number is left out."""
    if value is None or value == "":
        return []
    many = value if isinstance(value, (MultiValue, list, tuple)) else [value]
    found = []
    for one in many:
        try:
            number = float(one)
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            found.append(number)
    return found


def positions(value: Any) -> list[float | None]:
    """The numbers of an element's value, None where one is missing or no number."""
    if value is None or value == "":
        return []
    many = value if isinstance(value, (MultiValue, list, tuple)) else [value]
    return [found[0] if (found := numbers(one)) else None for one in many]


def integer(dataset: Dataset, keyword: str, default: int = 0) -> int:
    """An element as an integer, or the default."""
    found = numbers(dataset.get(keyword))
    return int(found[0]) if found else default


def word(dataset: Dataset, keyword: str) -> str:
    """A coded element (never free text about a person) as a trimmed word."""
    value = dataset.get(keyword)
    if isinstance(value, (MultiValue, list)):
        value = value[0] if value else ""
    return str(value or "").strip()


def item(dataset: Dataset, keyword: str) -> Dataset | None:
    """The first item of a sequence, None if it is missing or empty."""
    sequence = dataset.get(keyword)
    return sequence[0] if sequence else None


def groups(dataset: Dataset, frame: int = 0) -> Iterable[Dataset]:
    """The functional groups that speak of a frame: its own first, then the shared ones."""
    per_frame = dataset.get("PerFrameFunctionalGroupsSequence") or []
    if frame < len(per_frame):
        yield per_frame[frame]
    shared = item(dataset, "SharedFunctionalGroupsSequence")
    if shared is not None:
        yield shared


def grouped(dataset: Dataset, keyword: str, frame: int = 0) -> Dataset | None:
    """The item of a functional group macro for a frame."""
    for group in groups(dataset, frame):
        found = item(group, keyword)
        if found is not None:
            return found
    return None


def object_name(dataset: Dataset) -> str:
    """The object's name in the standard's words."""
    named = word(dataset, "SOPClassUID")
    if not named:
        named = str(getattr(dataset, "file_meta", {}).get("MediaStorageSOPClassUID", "") or "")
    if not named:
        return "DICOM object of unnamed class"
    return UID(named).name if UID(named).name != named else "DICOM object of unknown class"


def windows_of(dataset: Dataset, frame: int = 0) -> tuple[tuple[float, float], ...]:
    """Every usable (center, width) for a frame, in the header's order, each once."""
    found, _ = _windows(dataset, frame)
    return tuple(dict.fromkeys(found))


def window_of(dataset: Dataset, frame: int = 0) -> tuple[tuple[float, float], str] | None:
    """The first usable (center, width) and its function; None if the header has none."""
    found, function = _windows(dataset, frame)
    return (found[0], function) if found else None


def _windows(dataset: Dataset, frame: int) -> tuple[list[tuple[float, float]], str]:
    """Usable windows and their function (PS3.3 C.11.2.1.2 and .3).

    LINEAR needs a width of 1 or more, the others one above 0; a pair that breaks this is not
    used, since nobody can know what was meant.
    """
    for holder in (dataset, grouped(dataset, "FrameVOILUTSequence", frame)):
        if holder is None:
            continue
        function = word(holder, "VOILUTFunction").lower()
        function = function if function in ("linear_exact", "sigmoid") else "linear"
        least = 1.0 if function == "linear" else 1e-12
        pairs = zip(
            positions(holder.get("WindowCenter")), positions(holder.get("WindowWidth")),
            strict=False,
        )  # fmt: skip
        found = [(c, w) for c, w in pairs if c is not None and w is not None and w >= least]
        if found:
            return found, function
    return [], "linear"


def invalid_window(dataset: Dataset) -> bool:
    """True if the header holds window values of which none is usable."""
    return bool(numbers(dataset.get("WindowWidth"))) and window_of(dataset) is None


def voi_lut_of(dataset: Dataset, frame: int = 0) -> VoiLut | None:
    """The first VOI LUT of the header scaled to 8 bits, None if there is none.

    The first value is a modality value: below zero where pixels are signed or the rescale goes
    below zero, whatever the element's ambiguous representation says.
    """
    below_zero = integer(dataset, "PixelRepresentation") == 1 or rescale_of(dataset, frame)[1] < 0
    for holder in (dataset, grouped(dataset, "FrameVOILUTSequence", frame)):
        found = None if holder is None else item(holder, "VOILUTSequence")
        if found is None:
            continue
        descriptor = numbers(found.get("LUTDescriptor"))
        table = table_values(found, order=order_of(dataset))
        if len(descriptor) < 3 or table.size == 0:
            continue
        return VoiLut(
            first=signed_first(below_zero, descriptor[1]), table=to_grey(table, descriptor[2])
        )
    return None


def to_grey(table: NDArray[np.float64], bits: float) -> NDArray[np.uint8]:
    """Entries of a table that ends in display values, from their bits to 0..255."""
    top = max(float(table.max()), float(2 ** min(max(int(bits), 1), 16) - 1))
    return np.rint(table * (255.0 / top)).astype(np.uint8)


def table_values(found: Dataset, *, order: str = "<") -> NDArray[np.float64]:
    """The entries of a LUT item as numbers, whatever way they were stored."""
    described = numbers(found.get("LUTDescriptor")) or [0.0]
    count = int(described[0]) & 0xFFFF or 65536
    return entries(found.get("LUTData"), count, order)[:count].astype(np.float64)


def entries(raw: Any, count: int, order: str) -> NDArray[Any]:
    """The entries of a table: 16-bit words, or bytes where there are too few words.

    Args:
        raw: the element's value: bytes (OW) or numbers (US).
        count: how many entries its descriptor names.
        order: ``<`` or ``>``, the byte order of the file's words.
    """
    if isinstance(raw, (bytes, bytearray)):
        words = np.frombuffer(raw, f"{order}u2", len(raw) // 2)
        if len(raw) >= 2 * count:
            return words
        return np.frombuffer(words.astype("<u2").tobytes() + raw[2 * len(words) :], np.uint8)
    data = np.asarray(numbers(raw), np.float64)
    if count > len(data) >= count // 2 > 0 and data.min() >= 0:
        return np.frombuffer(data.astype("<u2").tobytes(), np.uint8)
    return data


def order_of(dataset: Dataset) -> str:
    """``>`` for a data set read from big endian, else ``<``."""
    encoding = getattr(dataset, "original_encoding", (None, True))
    return ">" if encoding[1] is False else "<"


def signed_first(signed: bool, first: float) -> float:
    """A table's first mapped value, read as signed where values below zero occur."""
    return first - 65536.0 if signed and first > 32767.0 else first


def rescale_of(dataset: Dataset, frame: int = 0) -> tuple[float, float]:
    """Slope and intercept of a frame; (1, 0) if the header has none."""
    for holder in (dataset, grouped(dataset, "PixelValueTransformationSequence", frame)):
        if holder is None:
            continue
        slope = numbers(holder.get("RescaleSlope"))
        intercept = numbers(holder.get("RescaleIntercept"))
        if slope or intercept:
            first = slope[0] if slope and slope[0] != 0.0 else 1.0
            return first, intercept[0] if intercept else 0.0
    return 1.0, 0.0


def padding_of(dataset: Dataset, *, signed: bool | None = None) -> tuple[float, float] | None:
    """Stored values (low, high) that are no picture (PS3.3 C.7.5.1.1.2).

    Args:
        dataset: the header.
        signed: how the pixels are read; None takes the header's word. The elements are stored
            with an ambiguous sign and are brought to it.
    """
    for kind in ("Float", "DoubleFloat"):
        value = numbers(dataset.get(f"{kind}PixelPaddingValue"))
        if value:
            limit = numbers(dataset.get(f"{kind}PixelPaddingRangeLimit")) or value
            return min(value[0], limit[0]), max(value[0], limit[0])
    value = numbers(dataset.get("PixelPaddingValue"))
    if not value:
        return None
    limit = numbers(dataset.get("PixelPaddingRangeLimit")) or value
    signed = integer(dataset, "PixelRepresentation") == 1 if signed is None else signed
    ends = [value[0], limit[0]]
    if integer(dataset, "BitsAllocated", 16) <= 16:
        low = -32768.0 if signed else 0.0
        ends = [(end - low) % 65536.0 + low for end in ends]
    return min(ends), max(ends)


def plane_of(dataset: Dataset, frame: int = 0) -> Plane | None:
    """Orientation and position of a frame, None if the header names none that is usable."""
    orientation = numbers(dataset.get("ImageOrientationPatient"))
    position = numbers(dataset.get("ImagePositionPatient"))
    if len(orientation) != 6:
        holder = grouped(dataset, "PlaneOrientationSequence", frame)
        orientation = numbers(holder.get("ImageOrientationPatient")) if holder else []
    if len(position) != 3:
        holder = grouped(dataset, "PlanePositionSequence", frame)
        position = numbers(holder.get("ImagePositionPatient")) if holder else []
    if len(orientation) != 6:
        return None
    columns, rows = np.array(orientation[:3]), np.array(orientation[3:])
    lengths = np.linalg.norm(columns), np.linalg.norm(rows)
    if min(lengths) < 1e-3 or abs(float(columns @ rows)) > 0.1 * float(lengths[0] * lengths[1]):
        return None
    place = (position[0], position[1], position[2]) if len(position) == 3 else None
    return Plane(_triple(columns / lengths[0]), _triple(rows / lengths[1]), place)


def _triple(vector: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])


def spacing_differs(dataset: Dataset) -> bool:
    """True if the frames of an object have several pixel spacings: then it has none of its own."""
    if numbers(dataset.get("PixelSpacing")):
        return False
    found = []
    for group in dataset.get("PerFrameFunctionalGroupsSequence") or []:
        measures = item(group, "PixelMeasuresSequence")
        spacing = [] if measures is None else numbers(measures.get("PixelSpacing"))
        found.append(spacing if len(spacing) == 2 else None)
    known = np.array([one for one in found if one is not None])
    if not len(known):
        return False
    least, most = known.min(axis=0), known.max(axis=0)
    return len(known) < len(found) or bool((most - least > SAME_SPACING * np.abs(most)).any())


def in_plane_spacing(dataset: Dataset) -> tuple[tuple[float, float], str] | None:
    """(row, column) distances in mm and the element they come from; None if frames differ."""
    if spacing_differs(dataset):
        return None
    measures = grouped(dataset, "PixelMeasuresSequence")
    places = (
        (dataset, "PixelSpacing", "PixelSpacing"),
        (measures, "PixelSpacing", "PixelMeasuresSequence"),
        (dataset, "ImagerPixelSpacing", "ImagerPixelSpacing"),
        (dataset, "NominalScannedPixelSpacing", "NominalScannedPixelSpacing"),
    )
    for holder, keyword, name in places:
        found = numbers(holder.get(keyword)) if holder is not None else []
        if len(found) == 2 and min(found) > NEAREST_MM and max(found) < FARTHEST_MM:
            return (found[0], found[1]), name
    region = _region(dataset)
    return (region[0], REGIONS) if region is not None else _volume_spacing(dataset)


def calibrated_box(dataset: Dataset) -> tuple[int, int, int, int] | None:
    """(left, top, right, bottom) of the ultrasound region in which distances hold.

    Right and bottom are excluded; None where distances hold everywhere, or nowhere.
    """
    found, region = in_plane_spacing(dataset), _region(dataset)
    return region[1] if found is not None and found[1] == REGIONS and region is not None else None


def _region(dataset: Dataset) -> tuple[tuple[float, float], tuple[int, int, int, int]] | None:
    """Distances in, and box of, the largest ultrasound region that has them, flat ones first."""
    found = []
    for region in dataset.get("SequenceOfUltrasoundRegions") or []:
        down, across = (numbers(region.get(f"PhysicalDelta{axis}")) for axis in "YX")
        units = {integer(region, f"PhysicalUnits{axis}Direction") for axis in "XY"}
        if units != {CENTIMETRES} or not (down and across and down[0] and across[0]):
            continue
        low_x, low_y, high_x, high_y = (
            integer(region, f"RegionLocation{corner}")
            for corner in ("MinX0", "MinY0", "MaxX1", "MaxY1")
        )
        (low_x, high_x), (low_y, high_y) = sorted((low_x, high_x)), sorted((low_y, high_y))
        area = (high_x - low_x) * (high_y - low_y)
        flat = integer(region, "RegionSpatialFormat", TISSUE) == TISSUE
        box = (low_x, low_y, high_x + 1, high_y + 1)  # the last pixels belong to it (C.8.5.5)
        found.append((flat, area, (abs(down[0]) * 10.0, abs(across[0]) * 10.0), box))
    if not found:
        return None
    best = max(found, key=lambda one: one[:2])
    return best[2], best[3]


def _volume_spacing(dataset: Dataset) -> tuple[tuple[float, float], str] | None:
    """Distances of a whole slide: its size in mm over its size in pixels (C.8.12.4)."""
    found = []
    for size, count in (("Height", "Rows"), ("Width", "Columns")):
        length = numbers(dataset.get(f"ImagedVolume{size}"))
        pixels = integer(dataset, f"TotalPixelMatrix{count}")
        if not length or length[0] <= 0 or pixels <= 0:
            return None
        found.append(length[0] / pixels)
    return (found[0], found[1]), "ImagedVolumeWidth and ImagedVolumeHeight"


def slice_spacing(dataset: Dataset) -> float:
    """Slice distance that the header claims, 0 if it claims none."""
    measures = grouped(dataset, "PixelMeasuresSequence")
    for keyword in ("SpacingBetweenSlices", "SliceThickness"):
        for holder in (dataset, measures):
            found = numbers(holder.get(keyword)) if holder is not None else []
            if found and abs(found[0]) > 0:
                return abs(found[0])
    return 0.0


def pixel_aspect(dataset: Dataset, spacing: tuple[float, float] | None) -> float:
    """Height of a pixel over its width, from spacing or Pixel Aspect Ratio; 1 if unknown."""
    if spacing is not None:
        return spacing[0] / spacing[1]
    ratio = numbers(dataset.get("PixelAspectRatio"))
    return ratio[0] / ratio[1] if len(ratio) == 2 and min(ratio) > 0 else 1.0
