"""Indexing a folder tree of 2,000 mixed files: ``python -m tests.bench.index [--files N]``.

DICOM series of several sizes, NIfTI, NRRD, MetaImage, PNG, JPEG, TIFF, text and junk, none of
whose pixels is decoded. Prints files a second for the readers alone, the whole import, the same
again with nothing changed, and after one changed file. The issue asks for 1,000 and 10,000.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import SimpleITK
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

from db.collections import collections
from db.home import Home
from db.session import Store, open_store
from engine.control import Control
from engine.evidence.open import find_evidence
from studies.collection import Taken, import_paths

SERIES = (300, 220, 120, 60, 60, 30, 30, 20, 10, 10)  # slices; 860 of 2,000 files
SINGLES = {"radiographs": 40, "text": 300, "png": 300, "jpeg": 150, "tiff": 100, "nifti": 60,
           "nrrd": 60, "metaimage": 40, "junk": 90}  # fmt: skip
ROUNDS = 3


def slice_of(series: str, study: str, patient: int, number: int, side: int) -> Dataset:
    """One CT slice with the elements of a usual header."""
    made = Dataset()
    made.file_meta = FileMetaDataset()
    made.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    made.SOPClassUID, made.SOPInstanceUID = CTImageStorage, generate_uid()
    made.SpecificCharacterSet = "ISO_IR 100"
    made.StudyDate, made.Modality, made.BodyPartExamined = "20260131", "CT", "CHEST"
    made.PatientID, made.PatientName = f"P{patient}", f"Case^{patient}"
    made.StudyInstanceUID, made.SeriesInstanceUID = study, series
    made.FrameOfReferenceUID = study
    made.InstanceNumber = number + 1
    made.ImagePositionPatient = [-100.0, -100.0, 2.5 * number]
    made.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    made.PixelSpacing, made.SliceThickness = [0.7, 0.7], 2.5
    made.WindowCenter, made.WindowWidth = 40, 400
    made.RescaleSlope, made.RescaleIntercept = 1, -1024
    made.SamplesPerPixel, made.PhotometricInterpretation = 1, "MONOCHROME2"
    made.Rows = made.Columns = side
    made.BitsAllocated, made.BitsStored, made.HighBit, made.PixelRepresentation = 16, 16, 15, 1
    made.PixelData = np.full((side, side), number, np.int16).tobytes()
    return made


def write_series(folder: Path, patient: int, count: int, *, side: int = 128) -> None:
    """A series in a folder of its own."""
    folder.mkdir(parents=True)
    series, study = generate_uid(), generate_uid()
    for number in range(count):
        made = slice_of(series, study, patient, number, side)
        made.save_as(folder / f"IM{number:05}.dcm", enforce_file_format=True)


def write_single(folder: Path, kind: str, number: int) -> None:
    """One file of a kind."""
    folder.mkdir(parents=True, exist_ok=True)
    grey = np.full((96, 96), number % 256, np.uint8)
    if kind == "text":
        words = f"FINDINGS: case {number}.\nIMPRESSION: none.\n" * 8
        (folder / f"report{number}.txt").write_text(words, encoding="utf-8")
    elif kind in ("png", "jpeg", "tiff"):
        Image.fromarray(grey).save(folder / f"picture{number}.{kind}")
    elif kind == "radiographs":
        made = slice_of(generate_uid(), generate_uid(), number, 0, 256)
        made.Modality = "DX"
        made.save_as(folder / f"film{number}.dcm", enforce_file_format=True)
    elif kind == "junk":
        (folder / f"notes{number}.bin").write_bytes(b"\x7fELF" + bytes(2000))
    else:
        suffix = {"nifti": ".nii.gz", "nrrd": ".nrrd", "metaimage": ".mha"}[kind]
        volume = SimpleITK.GetImageFromArray(np.zeros((8, 32, 32), np.int16))
        SimpleITK.WriteImage(volume, str(folder / f"volume{number}{suffix}"))


def make_tree(root: Path, files: int) -> int:
    """Write the tree, scaled to about so many files; returns how many there are."""
    scale = files / (sum(SERIES) + sum(SINGLES.values()))
    for number, count in enumerate(SERIES):
        write_series(root / f"patient{number // 2}" / f"series{number}", number // 2,
                     max(1, round(count * scale)))  # fmt: skip
    for kind, count in SINGLES.items():
        for number in range(max(1, round(count * scale))):
            write_single(root / kind / f"part{number // 100}", kind, number)
    return sum(1 for path in root.rglob("*") if path.is_file())


def timed(work: Callable[[], object], *, rounds: int = 1) -> tuple[float, float]:
    """The fastest of a few rounds: seconds on the wall, and of the processor."""
    times = []
    for _ in range(rounds):
        started, worked = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - started, time.process_time() - worked))
    return min(times)


def told(name: str, files: int, seconds: tuple[float, float]) -> None:
    """One line of the answer; on a busy machine the processor's seconds are the truer ones."""
    wall, worked = seconds
    sys.stdout.write(
        f"{name:48} {wall:8.3f} s {files / wall:9,.0f} files/s"
        f"   processor {worked:7.3f} s {files / worked:9,.0f} files/s\n"
    )


def measure(root: Path, home: Path, files: int) -> None:
    """The four ways through the tree."""

    def into(store: Store) -> Taken:
        return import_paths(store, [root], "Bench", Control())

    list(find_evidence([root]))  # the readers' own imports, and the disk's cache
    told("readers alone", files, timed(lambda: list(find_evidence([root])), rounds=ROUNDS))
    times = []
    for number in range(ROUNDS):
        with open_store(Home(home / f"{number}")) as store:
            times.append(timed(lambda store=store: into(store)))
    told("whole import", files, min(times))
    with open_store(Home(home / "0")) as store:
        told("again, nothing changed", files, timed(lambda: into(store), rounds=ROUNDS))
        (root / "patient0" / "series0" / "IM00000.dcm").touch()
        told("again, one file of the largest series touched", files, timed(lambda: into(store)))
        (row,) = collections(store)
        sys.stdout.write(f"{row.count} objects, {row.failures} left out\n")


def main(arguments: list[str] | None = None) -> int:
    """Make the tree, measure, clear away."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--profile", action="store_true", help="where the import spends its time")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="triptych-index-") as folder:
        root, home = Path(folder) / "tree", Path(folder) / "homes"
        files = make_tree(root, asked.files)
        sys.stdout.write(f"{files} files\n")
        if asked.profile:
            list(find_evidence([root]))
            with open_store(Home(home / "profile")) as store, cProfile.Profile() as profile:
                import_paths(store, [root], "Bench", Control())
            pstats.Stats(profile).sort_stats("tottime").print_stats(40)
        else:
            measure(root, home, files)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
