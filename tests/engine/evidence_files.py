"""Small files made on the spot for the tests of the readers."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian


def picture(path: Path, values: NDArray[Any], **options: Any) -> Path:
    """Write an array as a picture file."""
    Image.fromarray(values).save(path, **options)
    return path


def ramp(rows: int = 6, columns: int = 8, *, start: int = 0) -> NDArray[np.uint8]:
    """Distinct 8-bit values."""
    return (np.arange(rows * columns) + start).reshape(rows, columns).astype(np.uint8)


def dicom(path: Path, values: NDArray[np.generic] | None, **elements: Any) -> Path:
    """Write a small CT slice (or an object without pixels); elements override the header's."""
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.SOPClassUID = CTImageStorage
    dataset.SOPInstanceUID = f"1.2.3.{zlib.crc32(str(path).encode())}"
    dataset.SeriesInstanceUID = "1.2.9"
    dataset.Modality = "CT"
    dataset.PhotometricInterpretation = "MONOCHROME2"
    dataset.SamplesPerPixel = 1
    if values is not None:
        dataset.Rows, dataset.Columns = values.shape[-2:]
        dataset.BitsAllocated = dataset.BitsStored = 8 * values.dtype.itemsize
        dataset.HighBit = dataset.BitsStored - 1
        dataset.PixelRepresentation = int(values.dtype.kind == "i")
        dataset.PixelData = values.tobytes()
    for keyword, value in elements.items():
        setattr(dataset, keyword, value)
    dataset.save_as(path, enforce_file_format=True)
    return path


def slices(folder: Path, positions: list[float], **elements: Any) -> list[Path]:
    """An axial series with one file per position, slice k filled with the value k."""
    paths = []
    for number, position in enumerate(positions):
        values = np.full((4, 5), number, np.int16)
        place = {"ImagePositionPatient": [0.0, 0.0, position], "InstanceNumber": number + 1}
        geometry = {"ImageOrientationPatient": [1, 0, 0, 0, 1, 0], "PixelSpacing": [2.0, 3.0]}
        name = folder / f"file_{len(positions) - number:03}.dcm"
        paths.append(dicom(name, values, **{**geometry, **place, **elements}))
    return paths
