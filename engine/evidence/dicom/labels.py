"""What tells pictures of one place apart: times, echoes, b-values, by name and in order of trust.

Owns the list of elements. Refuses to convert them before somebody asks: of most series nobody
does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from pydicom.dataset import Dataset

from engine.evidence.dicom import facts
from engine.evidence.dicom.lean import Scanned

# name, elements of which the first that is there counts, and their representation
LABELS = (
    ("temporal position", (("TemporalPositionIdentifier", 0x00200100, "IS"),)),
    ("trigger time", (("TriggerTime", 0x00181060, "DS"),)),
    ("frame reference time", (("FrameReferenceTime", 0x00541300, "DS"),)),
    ("b-value", (("DiffusionBValue", 0x00189087, "FD"),)),
    ("gradient direction", (("DiffusionGradientOrientation", 0x00189089, "FD"),)),
    ("echo time", (("EchoTime", 0x00180081, "DS"),)),
    ("echo number", (("EchoNumbers", 0x00180086, "IS"),)),
    ("inversion time", (("InversionTime", 0x00180082, "DS"),)),
    ("flip angle", (("FlipAngle", 0x00181314, "DS"),)),
    ("acquisition number", (("AcquisitionNumber", 0x00200012, "IS"),)),
    (
        "acquisition time",
        (("AcquisitionDateTime", 0x0008002A, "DT"), ("AcquisitionTime", 0x00080032, "TM")),
    ),
    ("content time", (("ContentTime", 0x00080033, "TM"),)),
    ("image type", (("ImageType", 0x00080008, "CS"),)),
)
Raw = tuple[tuple[str, str, bytes], ...]


class RawLabels(Mapping[str, object]):
    """Labels that are still bytes.

    Args:
        raw: (name, representation, bytes) of those that are there.
        mark: ``<`` or ``>``, the byte order.
    """

    def __init__(self, raw: Raw, mark: str) -> None:
        self._raw, self._mark = raw, mark
        self._read: dict[str, object] | None = None

    def _values(self) -> dict[str, object]:
        if self._read is None:
            found = ((name, _value(vr, raw, self._mark)) for name, vr, raw in self._raw)
            self._read = {name: value for name, value in found if value}
        return self._read

    def __getitem__(self, name: str) -> object:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())


def labels_of(dataset: Dataset) -> Mapping[str, object]:
    """All labels of one file."""
    if isinstance(dataset, Scanned):
        return RawLabels(_raw(dataset), ">" if dataset.original_encoding[1] is False else "<")
    found: dict[str, object] = {}
    for name, elements in LABELS:
        for keyword, _, vr in elements:
            value = dataset.get(keyword)
            known = _coded(value) if vr == "CS" else tuple(facts.numbers(value))
            if known:
                found[name] = known
                break
    return found


def _coded(value: object) -> tuple[str, ...]:
    many = [value] if isinstance(value, str) else list(value or [])  # type: ignore[call-overload]
    return tuple(str(one).strip() for one in many)


def _raw(dataset: Scanned) -> Raw:
    """The bytes of the labels that are there."""
    found = []
    for name, elements in LABELS:
        for _, tag, vr in elements:
            raw = dataset.raw(tag)
            if raw:
                found.append((name, vr, raw))
                break
    return tuple(found)


def _value(vr: str, raw: bytes, mark: str) -> tuple[object, ...]:
    """Numbers or words that can be compared; empty if the bytes are neither."""
    if vr == "FD":
        return struct.unpack(f"{mark}{len(raw) // 8}d", raw) if len(raw) % 8 == 0 else ()
    words = raw.decode("latin-1").rstrip("\0 ").split("\\")
    if vr == "CS":
        return tuple(word.strip() for word in words)
    return tuple(facts.numbers(words))
