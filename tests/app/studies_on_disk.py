"""Small DICOM studies for the Viewer's tests: made-up values, known places, no person."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, generate_uid

CT_CLASS = "1.2.840.10008.5.1.4.1.1.2"
MR_CLASS = "1.2.840.10008.5.1.4.1.1.4"
DX_CLASS = "1.2.840.10008.5.1.4.1.1.1.1"
MG_CLASS = "1.2.840.10008.5.1.4.1.1.1.2"
US_CLASS = "1.2.840.10008.5.1.4.1.1.3.1"
CLASSES = {"CT": CT_CLASS, "MR": MR_CLASS, "DX": DX_CLASS, "MG": MG_CLASS, "US": US_CLASS}
AXIAL, CORONAL = [1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, -1]
SAGITTAL = [0, 1, 0, 0, 0, -1]
SPACING, STEP = (0.8, 0.8), 2.5
NAME = "SECRET^PERSON"


def uid(*parts: object) -> str:
    """The same words give the same identifier."""
    return generate_uid(entropy_srcs=[repr(parts)])


def header(modality: str, *, patient: str, study: str, series: str, day: str) -> Dataset:
    made = Dataset()
    made.file_meta = FileMetaDataset()
    made.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    made.SOPClassUID = made.file_meta.MediaStorageSOPClassUID = CLASSES[modality]
    made.Modality = modality
    made.PatientName, made.PatientID = NAME, patient
    made.StudyInstanceUID = uid(patient, study)
    made.SeriesInstanceUID = uid(patient, study, series)
    made.StudyDate = day
    return made


def save(made: Dataset, array: np.ndarray, path: Path, number: int) -> Path:
    made.SOPInstanceUID = made.file_meta.MediaStorageSOPInstanceUID = uid(str(path), number)
    made.InstanceNumber = number
    shape = array.shape
    color = array.ndim >= 3 and shape[-1] == 3
    made.Rows, made.Columns = shape[-3:-1] if color else shape[-2:]
    made.SamplesPerPixel = 3 if color else 1
    made.PhotometricInterpretation = "RGB" if color else "MONOCHROME2"
    if color:
        made.PlanarConfiguration = 0
    made.BitsAllocated = made.BitsStored = array.dtype.itemsize * 8
    made.HighBit = made.BitsStored - 1
    made.PixelRepresentation = int(array.dtype.kind == "i")
    made.PixelData = array.tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save_as(path, enforce_file_format=True)
    return path


def volume(
    folder: Path,
    array: np.ndarray,
    *,
    modality: str = "CT",
    patient: str = "p",
    study: str = "s",
    series: str = "a",
    day: str = "20200105",
    directions: list[int] = AXIAL,
    first: tuple[float, float, float] = (-20.0, -10.0, 100.0),
    body: str = "CHEST",
    window: tuple[float, float] | None = (40.0, 400.0),
    frame: str = "room",
    tilt: float = 0.0,
) -> Path:
    """A series of slices [Z, Y, X], int16, along the normal of ``directions``.

    With ``tilt`` each slice lies that many mm farther down its columns than the one before.
    """
    aside = np.array(directions[3:], float) * tilt
    normal = np.cross(directions[:3], directions[3:])
    for place, slice_ in enumerate(array):
        made = header(modality, patient=patient, study=study, series=series, day=day)
        made.BodyPartExamined = body
        made.FrameOfReferenceUID = uid(patient, frame)
        made.ImageOrientationPatient = list(map(float, directions))
        made.ImagePositionPatient = [float(one) for one in first + (normal * STEP + aside) * place]
        made.PixelSpacing, made.SliceThickness = list(SPACING), STEP
        made.KVP = "120" if modality == "CT" else None
        made.RescaleSlope, made.RescaleIntercept = "1", "0"
        if window is not None:
            made.WindowCenter, made.WindowWidth = str(window[0]), str(window[1])
        save(made, slice_.astype(np.int16), folder / f"{place:03}.dcm", place + 1)
    return folder


def projection(
    path: Path, array: np.ndarray, *, modality: str = "DX", view: str = "PA", side: str = "U",
    study: str = "s", day: str = "20200105", orientation: list[str] | None = None,
) -> Path:  # fmt: skip
    """One radiograph or mammogram."""
    made = header(modality, patient="p", study=study, series=view + side, day=day)
    made.ViewPosition, made.ImageLaterality = view, side
    made.BodyPartExamined = "BREAST" if modality == "MG" else "CHEST"
    made.ImagerPixelSpacing = [0.1, 0.1]
    made.PatientOrientation = orientation or ["L", "F"]
    made.WindowCenter, made.WindowWidth = "1000", "2000"
    return save(made, array.astype(np.uint16), path, 1)


def cine(path: Path, array: np.ndarray, *, ms: float = 50.0) -> Path:
    """An ultrasound cine [T, Y, X, 3]."""
    made = header("US", patient="p", study="us", series="c", day="20200105")
    made.NumberOfFrames, made.FrameTime = len(array), str(ms)
    made.BurnedInAnnotation = "YES"
    return save(made, array.astype(np.uint8), path, 1)


def body(slices: int = 20, side: int = 48) -> np.ndarray:
    """A round body with a brighter core; brighter towards the last slice. [Z, Y, X] int16."""
    rows, columns = np.mgrid[0:side, 0:side] - side / 2
    far = np.hypot(rows, columns)
    plane = np.where(far < side * 0.15, 300, np.where(far < side * 0.42, 40, -1000))
    return (plane[None] + np.arange(slices)[:, None, None] * 3).astype(np.int16)


def shape(seed: int, size: tuple[int, int] = (120, 90)) -> np.ndarray:
    """A smooth radiograph-like picture [Y, X] uint16."""
    rows, columns = np.mgrid[0 : size[0], 0 : size[1]]
    wave = np.sin(rows / (9 + seed)) + np.cos(columns / (7 + seed))
    return ((wave + 2) * 480).astype(np.uint16)
