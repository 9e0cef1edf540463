"""Generated series and mixed folders for the benches: values and places are known exactly."""

from __future__ import annotations

from pathlib import Path

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import (
    CTImageStorage,
    DigitalXRayImageStorageForPresentation,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    MRImageStorage,
)

INTERCEPT = -1024
STEP = (1.25, 0.7, 0.6)  # slice, row, column
ORIGIN = (-150.0, -160.0, -300.0)


def phantom(slices: int, size: int) -> NDArray[np.int16]:
    """CT numbers [Z, Y, X]: a body with noise, different in every slice."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[:size, :size] / size - 0.5
    body = np.where(y**2 + x**2 < 0.16, 1064, 24)
    noise = random.integers(-20, 21, (size, 2 * size), np.int16)
    volume = np.empty((slices, size, size), np.int16)
    for place in range(slices):
        shift = place * 7 % size
        volume[place] = body + noise[:, shift : shift + size] + place % 50 + INTERCEPT
    return volume


def header(place: int, *, series: str, modality: str = "CT") -> Dataset:
    """A header of about 130 elements, as scanners write them."""
    made = Dataset()
    made.SOPClassUID = MRImageStorage if modality == "MR" else CTImageStorage
    made.SOPInstanceUID = f"{series}.{place + 1}"
    made.SpecificCharacterSet, made.Modality = "ISO_IR 100", modality
    made.ImageType = ["ORIGINAL", "PRIMARY", "AXIAL"]
    made.StudyDate = made.SeriesDate = made.AcquisitionDate = made.ContentDate = "20200102"
    made.StudyTime = made.SeriesTime = "101112"
    made.AcquisitionTime = made.ContentTime = f"1012{place % 60:02}.{place:06}"
    made.PatientID, made.PatientName, made.PatientSex = "4711", "Nobody^Generated", "O"
    made.StudyInstanceUID, made.SeriesInstanceUID = "1.2.826.0.1.40", series
    made.FrameOfReferenceUID = "1.2.826.0.1.41"
    made.SeriesNumber, made.AcquisitionNumber, made.InstanceNumber = 3, 1, place + 1
    made.ImagePositionPatient = [ORIGIN[0], ORIGIN[1], ORIGIN[2] + STEP[0] * place]
    made.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    made.SliceLocation = ORIGIN[2] + STEP[0] * place
    made.SliceThickness, made.PixelSpacing = STEP[0], [STEP[1], STEP[2]]
    made.KVP, made.XRayTubeCurrent, made.ExposureTime = 120, 200 + place % 40, 500
    made.WindowCenter, made.WindowWidth = [40, 600], [400, 1600]
    made.RescaleSlope, made.RescaleIntercept, made.RescaleType = 1, INTERCEPT, "HU"
    code = Dataset()
    code.CodeValue, code.CodingSchemeDesignator, code.CodeMeaning = "T-D3000", "SRT", "Chest"
    made.AnatomicRegionSequence = [code]
    private = made.private_block(0x0009, "GENERATED 1", create=True)
    for number in range(60):
        private.add_new(number, "DS", f"{number * 1.5:.3f}")
    made.private_block(0x0019, "GENERATED 2", create=True).add_new(0x01, "OB", bytes(800))
    return made


def write(path: Path, made: Dataset, values: NDArray[np.generic], syntax: str) -> None:
    """Store values as they are in a file of a transfer syntax."""
    made.file_meta = FileMetaDataset()
    made.file_meta.TransferSyntaxUID = syntax
    made.Rows, made.Columns = values.shape[-2:]
    made.SamplesPerPixel, made.PhotometricInterpretation = 1, "MONOCHROME2"
    made.BitsAllocated = made.BitsStored = 8 * values.dtype.itemsize
    made.HighBit = made.BitsStored - 1
    made.PixelRepresentation = int(values.dtype.kind == "i")
    if syntax == JPEG2000Lossless:
        stream = imagecodecs.jpeg2k_encode(values, level=0, reversible=True, codecformat="j2k")
        made.PixelData = encapsulate([stream])
        made["PixelData"].is_undefined_length = True
    else:
        made.PixelData = values.tobytes()
    made["PixelData"].VR = "OW" if syntax != JPEG2000Lossless else "OB"
    made.save_as(path, enforce_file_format=True)


def ct(folder: Path, volume: NDArray[np.int16], syntax: str = ExplicitVRLittleEndian) -> Path:
    """A CT series whose names say nothing of the order."""
    folder.mkdir(parents=True)
    series = "1.2.826.0.1.99"
    for place, values in enumerate(volume):
        stored = values - np.int16(INTERCEPT)
        name = f"{place * 7919 % 100_003:06}"
        write(folder / name, header(place, series=series), stored, syntax)
    return folder


def mixed(folder: Path, count: int) -> Path:
    """Files as a research folder holds them: most DICOM, some radiographs, pictures, words."""
    small = phantom(40, 128)
    for number in range(count):
        place = folder / f"{number // 250:03}"
        place.mkdir(parents=True, exist_ok=True)
        _one(place, number, small[number % len(small)])
    return folder


def _one(folder: Path, number: int, values: NDArray[np.int16]) -> None:
    """One file of a mixed folder."""
    kind, series = number % 20, f"1.2.826.0.1.{number // 40}"
    if kind < 9:
        write(folder / f"{number}.dcm", header(number % 40, series=series), values,
              ExplicitVRLittleEndian)  # fmt: skip
    elif kind < 13:
        made = header(number % 40, series=f"{series}.9", modality="MR")
        write(folder / f"{number}", made, values, ImplicitVRLittleEndian)
    elif kind < 15:
        write(folder / f"{number}.dcm", header(number % 40, series=f"{series}.7"), values,
              JPEG2000Lossless)  # fmt: skip
    elif kind < 17:
        made = header(0, series=f"{series}.{number}", modality="DX")
        made.SOPClassUID = DigitalXRayImageStorageForPresentation
        del made.ImagePositionPatient, made.ImageOrientationPatient
        write(folder / f"{number}.dcm", made, values.astype(np.uint16), ExplicitVRLittleEndian)
    elif kind < 19:
        Image.fromarray((values & 255).astype(np.uint8)).save(folder / f"{number}.png")
    else:
        text = "Chest CT\nFindings: none.\nImpression: generated."
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
