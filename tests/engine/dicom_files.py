"""DICOM files written on the spot, in any transfer syntax and with any fault.

Pixels are given as the bytes that stand in the file, so that a test's expected values come from
its own arithmetic and never from the readers under test.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataelem import DataElement
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import UID, ExplicitVRLittleEndian, SecondaryCaptureImageStorage

from engine.evidence.dicom.decode import Decoded, decode_file

ROOT = "1.2.840.10008.1.2."
IMPLICIT, EXPLICIT, BIG = ROOT[:-1], ROOT + "1", ROOT + "2"
DEFLATED, RLE, DEFLATED_FRAMES = ROOT + "1.99", ROOT + "5", ROOT + "8.1"
JPEG, JPEG_12, LOSSLESS_57, LOSSLESS_70 = (ROOT + f"4.{n}" for n in (50, 51, 57, 70))
JPEG_LS, JPEG_LS_NEAR, J2K, J2K_LOSSY = (ROOT + f"4.{n}" for n in (80, 81, 90, 91))
JXL_LOSSLESS, JXL_JPEG, JXL, HTJ2K, HTJ2K_LOSSY = (
    ROOT + f"4.{n}" for n in (110, 111, 112, 201, 203)
)
ITEM, DELIMITER = b"\xfe\xff\x00\xe0", b"\xfe\xff\xdd\xe0" + bytes(4)


def header(shape: tuple[int, ...], *, bits: int = 16, **elements: Any) -> Dataset:
    """A data set without pixels; ``shape`` is [Y, X] or [Y, X, S]."""
    dataset = Dataset()
    dataset.SOPClassUID = SecondaryCaptureImageStorage
    dataset.SOPInstanceUID, dataset.SeriesInstanceUID = "1.2.3", "1.2.9"
    dataset.Modality = "OT"
    dataset.SamplesPerPixel = shape[2] if len(shape) > 2 else 1
    dataset.PhotometricInterpretation = "RGB" if len(shape) > 2 else "MONOCHROME2"
    if len(shape) > 2:
        dataset.PlanarConfiguration = 0
    dataset.Rows, dataset.Columns = shape[:2]
    dataset.BitsAllocated = dataset.BitsStored = bits
    dataset.PixelRepresentation = 0
    for keyword, value in elements.items():
        setattr(dataset, keyword, value)
    if "HighBit" not in elements:
        dataset.HighBit = dataset.BitsStored - 1
    return dataset


def native(
    path: Path, raw: bytes, shape: tuple[int, ...], *, syntax: str = EXPLICIT, vr: str = "OW",
    **elements: Any,
) -> Path:  # fmt: skip
    """A file with plain pixels: ``raw`` are the bytes as they stand in it."""
    dataset = header(shape, **elements)
    dataset["PixelData"] = DataElement(0x7FE00010, vr, raw + bytes(len(raw) % 2))
    return save(path, dataset, syntax)


def save(path: Path, dataset: Dataset, syntax: str) -> Path:
    """Write a data set; a syntax that pydicom does not know is put in afterwards."""
    dataset.file_meta = FileMetaDataset()
    known = UID(syntax).is_transfer_syntax and not UID(syntax).is_compressed
    written = UID(syntax) if known or syntax == DEFLATED else ExplicitVRLittleEndian
    dataset.file_meta.TransferSyntaxUID = written
    if syntax == DEFLATED:
        dataset.file_meta.TransferSyntaxUID = UID(DEFLATED)
    dataset.save_as(path, enforce_file_format=True)
    if written != syntax:
        _rename(path, syntax)
    return path


def _rename(path: Path, syntax: str) -> None:
    """Put another transfer syntax into a file's meta group."""
    raw = path.read_bytes()
    at = raw.index(b"\x02\x00\x10\x00UI")
    size = int.from_bytes(raw[at + 6 : at + 8], "little")
    value = syntax.encode() + bytes(len(syntax) % 2)
    group = int.from_bytes(raw[140:144], "little") + len(value) - size
    element = raw[at : at + 6] + len(value).to_bytes(2, "little") + value
    head = raw[:140] + group.to_bytes(4, "little") + raw[144:at]
    path.write_bytes(head + element + raw[at + 8 + size :])


def items(fragments: list[bytes], table: bytes = b"") -> bytes:
    """An encapsulated pixel sequence as it stands in a file, odd lengths as given."""
    parts = [ITEM + len(one).to_bytes(4, "little") + one for one in (table, *fragments)]
    return b"".join(parts) + DELIMITER


def even(frame: bytes) -> bytes:
    """A frame with its pad byte."""
    return frame + bytes(len(frame) % 2)


def packed(
    path: Path, fragments: list[bytes], shape: tuple[int, ...], *, syntax: str,
    table: bytes = b"", tail: bytes | None = None, **elements: Any,
) -> Path:  # fmt: skip
    """A file with compressed pixels, one fragment after the other."""
    dataset = header(shape, **elements)
    dataset["PixelData"] = DataElement(0x7FE00010, "OW", b"\0\0")
    save(path, dataset, syntax)
    raw = path.read_bytes()
    at = raw.index(b"\xe0\x7f\x10\x00OW")
    sequence = items(fragments, table) if tail is None else tail
    path.write_bytes(raw[:at] + b"\xe0\x7f\x10\x00OB\0\0\xff\xff\xff\xff" + sequence)
    return path


def values(path: Path) -> NDArray[np.generic]:
    """What the reader makes of a file."""
    return decode_file(path).values


def decoded(path: Path) -> Decoded:
    """What the reader makes of a file, with all that belongs to it."""
    return decode_file(path)


def smooth(rows: int = 20, columns: int = 30, *, most: int = 4000) -> NDArray[np.uint16]:
    """Grey values without two equal rows or columns, from 0 up to ``most``."""
    y, x = np.mgrid[:rows, :columns]
    wave = y * 3 + x * 2 + 7 * np.sin(y / 3) + 9 * np.cos(x / 4) + 16
    return np.rint(wave / wave.max() * most).astype(np.uint16)


def rainbow(rows: int = 20, columns: int = 30) -> NDArray[np.uint8]:
    """Colours whose channels differ everywhere."""
    y, x = np.mgrid[:rows, :columns]
    return np.stack([40 + 6 * x, 200 - 7 * y, 60 + 3 * (x + y)], axis=-1).astype(np.uint8)
