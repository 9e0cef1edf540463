"""Writes the miniature sources' files: tables, arrays, pictures, DICOM, NIfTI, with their folders.

Owns the file formats, nothing of a single source. Refuses pickles: arrays of texts are written as
fixed-width unicode, as numpy reads them back safely.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian

from engine.errors import EngineError
from studies.medheb.mini.shared import Pixels, uid

Array = NDArray[Any]


def _ready(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_bytes(path: Path, content: bytes) -> None:
    """The bytes; compressed without a time stamp where the name ends in ``.gz``."""
    packed = gzip.compress(content, 5, mtime=0) if path.suffix == ".gz" else content
    _ready(path).write_bytes(packed)


def write_text(path: Path, text: str, *, encoding: str = "utf-8") -> None:
    """A text, its line ends as given."""
    write_bytes(path, text.encode(encoding))


def write_table(
    path: Path,
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> None:
    """Rows under a header, in the order of ``columns``; missing and None become empty.

    A name ending in ``.gz`` is compressed.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if row.get(name) is None else row[name] for name in columns])
    write_text(path, text.getvalue(), encoding=encoding)


def write_json(path: Path, document: Any, *, encoding: str = "utf-8") -> None:
    """One JSON document, letters of all scripts as they are."""
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1), encoding=encoding)


def write_json_lines(path: Path, rows: Iterable[Any]) -> None:
    """One JSON document per line."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_text(path, "".join(lines))


def write_picture(path: Path, pixels: Pixels, **options: Any) -> None:
    """A picture in the format of its name; options are Pillow's (``quality`` for one)."""
    Image.fromarray(pixels).save(_ready(path), **options)


def picture_bytes(pixels: Pixels, kind: str = "PNG") -> bytes:
    """A picture file as bytes, for tables that hold pictures."""
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, kind)
    return held.getvalue()


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """A compressed npz of plain arrays."""
    held: Mapping[str, Any] = arrays  # the stubs mix up arrays and the one flag among the names
    np.savez_compressed(_ready(path), **held)


def write_npy(path: Path, array: Array) -> None:
    """A plain npy."""
    np.save(_ready(path), array, allow_pickle=False)


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], *, groups: int = 64) -> None:
    """A parquet table; the types follow from the rows (a picture is ``{"bytes", "path"}``).

    Args:
        path: of the file.
        rows: all with the same keys.
        groups: rows of one row group.

    Raises:
        EngineError: the library for parquet is not installed.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise EngineError(
            "Parquet tables need the library pyarrow: pip install pyarrow, or the extra [engine]."
        ) from error
    table = arrow.Table.from_pylist([dict(row) for row in rows])
    parquet.write_table(table, _ready(path), row_group_size=groups)


def write_dicom(
    path: Path, pixels: NDArray[np.uint16], *names: object, modality: str = "DX", **tags: Any
) -> None:
    """One single-frame picture with 12 stored bits, explicit VR little endian, no patient in it.

    Args:
        path: of the file, whatever its ending.
        pixels: [H, W], 0 to 4095.
        names: what its identifiers are made of.
        modality: of the header.
        tags: by DICOM keyword, over what is set here (``PhotometricInterpretation`` for one).
    """
    data = Dataset()
    data.file_meta = FileMetaDataset()
    data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID = "1.2.840.10008.5.1.4.1.1.1.1"
    data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID = uid("picture", *names)
    data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    data.StudyInstanceUID, data.SeriesInstanceUID = uid("study", *names), uid("series", *names)
    data.Modality, data.PatientName, data.PatientID = modality, "", ""
    data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
    data.Rows, data.Columns = pixels.shape
    data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 12, 11, 0
    data.WindowCenter, data.WindowWidth = 2048, 4096
    for keyword, value in tags.items():
        setattr(data, keyword, value)
    data.PixelData = pixels.astype("<u2").tobytes()
    data.save_as(_ready(path), enforce_file_format=True)


def write_volume(
    path: Path,
    voxels: Array,
    *,
    spacing: tuple[float, float, float] = (1.0, 1.0, 1.0),
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> None:
    """A volume in the format of its name: ``.nii``, ``.nii.gz``, ``.mha``, ``.nrrd``.

    Args:
        path: of the file.
        voxels: [Z, Y, X] as ``shared.volume`` gives; as read by nibabel they are [X, Y, Z].
        spacing: (x, y, z) in mm.
        origin: (x, y, z) in mm, LPS.
    """
    image = sitk.GetImageFromArray(voxels)
    image.SetSpacing(spacing)
    image.SetOrigin(origin)
    sitk.WriteImage(image, str(_ready(path)), useCompression=path.suffix != ".nii")
