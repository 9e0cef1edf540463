"""Phantoms as the files a hospital would hand over: DICOM CT series and NIfTI volumes.

Owns headers: geometry, rescale, identifiers derived from the seed, fixed dates. No name and no
identifier of a living person; bytes depend on the patient alone.
"""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian

from studies.demo.chest_case import ChestCase
from studies.demo.phantom_brain import BrainCase, BrainScan
from studies.demo.phantom_chest import ChestScan
from studies.demo.shapes import Grid

DATE, TIME = "20200102", "090000"


def uid(*names: object) -> str:
    """A UID below 2.25 (ISO/IEC 9834-8) that depends on nothing but ``names``."""
    text = "/".join(str(name) for name in names)
    return f"2.25.{int.from_bytes(hashlib.sha256(text.encode()).digest()[:15], 'big')}"


def write_series(folder: Path, scan: ChestScan, case: ChestCase) -> None:
    """One file per slice, numbered from the head down as scanners do.

    Args:
        folder: made if missing.
        scan: voxels in Hounsfield units.
        case: whose they are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    count = len(scan.hu)
    for number in range(count):
        index = count - 1 - number
        data = _slice(scan, case, index, number + 1)
        data.save_as(folder / f"IM{number + 1:04d}.dcm", enforce_file_format=True)


def _slice(scan: ChestScan, case: ChestCase, index: int, number: int) -> Dataset:
    """One CT image; the held-out source stores signed values without an offset."""
    data = Dataset()
    data.file_meta = _meta(uid(*case.key, "image", index))
    _identify(data, case, number)
    _place(data, scan.grid, index)
    signed = case.source == "chest_b"
    data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
    data.Rows, data.Columns = scan.hu.shape[1:]
    data.BitsAllocated, data.BitsStored, data.HighBit = 16, 16, 15
    data.PixelRepresentation = int(signed)
    data.RescaleSlope, data.RescaleIntercept, data.RescaleType = 1, 0 if signed else -1024, "HU"
    data.WindowCenter, data.WindowWidth = -600, 1500
    stored = scan.hu[index].astype(np.int32) + (0 if signed else 1024)
    data.PixelData = stored.astype("<i2" if signed else "<u2").tobytes()
    return data


def _meta(instance: str) -> FileMetaDataset:
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = CTImageStorage
    meta.MediaStorageSOPInstanceUID = instance
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.ImplementationClassUID = uid("implementation")
    meta.ImplementationVersionName = "DEMO"
    return meta


def _identify(data: Dataset, case: ChestCase, number: int) -> None:
    """Who, when and what, all of it made up."""
    data.SpecificCharacterSet = "ISO_IR 100"
    data.SOPClassUID = CTImageStorage
    data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID
    data.StudyInstanceUID = uid(*case.key, "study")
    data.SeriesInstanceUID = uid(*case.key, "series")
    data.FrameOfReferenceUID = uid(*case.key, "frame")
    data.ImageType = ["DERIVED", "PRIMARY", "AXIAL"]
    data.Modality, data.BodyPartExamined = "CT", "CHEST"
    data.StudyDate = data.SeriesDate = data.ContentDate = DATE
    data.StudyTime = data.SeriesTime = data.ContentTime = TIME
    data.PatientName, data.PatientID = "", case.patient
    data.PatientBirthDate, data.PatientSex = "", "F" if case.female else "M"
    data.PatientIdentityRemoved, data.DeidentificationMethod = "YES", "Generated, no patient"
    data.AccessionNumber, data.ReferringPhysicianName, data.StudyID = "", "", "1"
    data.Manufacturer = "Generated"
    data.StudyDescription, data.SeriesDescription = "Generated chest CT", "Chest 5 mm"
    data.SeriesNumber, data.InstanceNumber = 1, number
    data.PatientPosition, data.PositionReferenceIndicator = "HFS", ""
    data.KVP = 120


def _place(data: Dataset, grid: Grid, index: int) -> None:
    """Geometry in patient millimetres (PS3.3 C.7.6.2)."""
    dz, dy, dx = grid.spacing
    corner = (grid.x.flat[0], grid.y.flat[0], grid.z.flat[index])
    data.ImagePositionPatient = [f"{float(value):.4f}" for value in corner]
    data.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    data.PixelSpacing = [f"{dy:.5f}", f"{dx:.5f}"]
    data.SliceThickness = data.SpacingBetweenSlices = f"{dz:.5f}"
    data.SliceLocation = f"{float(corner[2]):.4f}"


def write_nifti(folder: Path, scan: BrainScan, case: BrainCase) -> None:
    """``t1.nii.gz`` and ``t2.nii.gz`` on one grid, compressed without a time stamp."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, voxels in (("t1", scan.t1), ("t2", scan.t2)):
        plain = folder / f"{name}.nii"
        sitk.WriteImage(_volume(voxels, scan.grid), str(plain))
        (folder / f"{name}.nii.gz").write_bytes(gzip.compress(plain.read_bytes(), 5, mtime=0))
        plain.unlink()


def _volume(voxels: NDArray[np.int16], grid: Grid) -> sitk.Image:
    dz, dy, dx = grid.spacing
    image = sitk.GetImageFromArray(voxels)
    image.SetSpacing((dx, dy, dz))
    image.SetOrigin([float(axis.flat[0]) for axis in (grid.x, grid.y, grid.z)])
    return image
