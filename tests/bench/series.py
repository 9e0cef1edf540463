"""Series from a folder to correct voxels and geometry: ``python -m tests.bench.series [slices]``.

A generated CT, uncompressed and JPEG 2000 lossless, against SimpleITK's series reader, a pydicom
loop and dicomsdl in one run; every contender's voxels are compared with the truth. Rounds go by
turns, medians and ratios count: the machine may be busy.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom import dcmread
from pydicom.uid import JPEG2000Lossless

from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.stack import open_stack
from tests.bench.series_files import INTERCEPT, ORIGIN, STEP, ct, mixed, phantom

SIZE, ROUNDS, FEW, MIXED = 512, 5, 2, 2000
KEPT: dict[str, Any] = {}  # SimpleITK's view of its voxels does not keep them alive
Loaded = tuple[NDArray[Any], tuple[float, ...], tuple[float, ...]]  # voxels, origin, spacing


def ours(folder: Path) -> Loaded:
    """Find, group, sort and load."""
    (evidence,) = find_evidence([folder])
    pixels = load_pixels(evidence)
    assert pixels.geometry is not None
    assert pixels.geometry.straight
    assert pixels.spacing_mm is not None
    return pixels.array, tuple(pixels.geometry.origin_Z3[0]), pixels.spacing_mm


def simpleitk(folder: Path) -> Loaded:
    """GDCM's series discovery and ITK's series reader."""
    sitk = importlib.import_module("SimpleITK")
    reader = sitk.ImageSeriesReader()
    (uid,) = reader.GetGDCMSeriesIDs(str(folder))
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(folder), uid))
    image = KEPT["image"] = reader.Execute()
    return sitk.GetArrayViewFromImage(image), image.GetOrigin(), image.GetSpacing()[::-1]


def pydicom_loop(folder: Path) -> Loaded:
    """What everybody writes: read all, sort by position, stack, rescale."""
    files = [dcmread(path) for path in folder.iterdir()]
    files.sort(key=lambda one: float(one.ImagePositionPatient[2]))
    slope, intercept = int(files[0].RescaleSlope), int(files[0].RescaleIntercept)
    voxels = np.stack([one.pixel_array for one in files]) * np.int16(slope) + np.int16(intercept)
    first = files[0]
    between = float(files[1].ImagePositionPatient[2]) - float(first.ImagePositionPatient[2])
    spacing = (between, *map(float, first.PixelSpacing))
    return voxels, tuple(map(float, first.ImagePositionPatient)), spacing


def dicomsdl(folder: Path) -> Loaded:
    """The same loop with dicomsdl."""
    module = importlib.import_module("dicomsdl")
    files = [module.open(str(path)) for path in folder.iterdir()]
    files.sort(key=lambda one: one.ImagePositionPatient[2])
    voxels = np.stack([one.pixelData(storedvalue=True) for one in files])
    voxels = voxels + np.int16(files[0].RescaleIntercept)
    first = files[0]
    between = files[1].ImagePositionPatient[2] - first.ImagePositionPatient[2]
    return voxels, tuple(first.ImagePositionPatient), (between, *first.PixelSpacing)


CONTENDERS: dict[str, Callable[[Path], Loaded]] = {
    "ours": ours, "SimpleITK": simpleitk, "pydicom loop": pydicom_loop, "dicomsdl": dicomsdl,
}  # fmt: skip


def checked(work: Callable[[Path], Loaded], folder: Path, truth: NDArray[Any]) -> str:
    """Empty if voxels and geometry are right, else what is wrong."""
    try:
        voxels, origin, spacing = work(folder)
    except ModuleNotFoundError:
        return "not installed"
    except Exception as failure:  # noqa: BLE001 - a peer that cannot read this says so in its way
        return f"cannot read it ({type(failure).__name__})"
    if not np.array_equal(voxels, truth):
        return "wrong voxels"
    right = np.allclose(origin, ORIGIN, atol=1e-4) and np.allclose(spacing, STEP, atol=1e-4)
    return "" if right else "wrong geometry"


def seconds(work: Callable[[], object]) -> float:
    """How long it takes once."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def race(title: str, folder: Path, truth: NDArray[Any], rounds: int) -> str:
    """All contenders by turns, medians, and the ratio to ours."""
    lines, able = [f"{title}, {len(truth)} slices of {SIZE} x {SIZE}, finding and loading\n"], []
    for name, work in CONTENDERS.items():
        wrong = checked(work, folder, truth)
        if wrong:
            lines.append(f"  {name:14} {wrong}\n")
        else:
            able.append(name)
    times: dict[str, list[float]] = {name: [] for name in able}
    for _ in range(rounds):
        for name in able:
            times[name].append(seconds(lambda work=CONTENDERS[name]: work(folder)))
    mine = statistics.median(times["ours"])
    for name in able:
        median = statistics.median(times[name])
        lines.append(f"  {name:14} {median:7.3f} s   {median / mine:6.2f} x ours\n")
    return "".join(lines)


def steps(folder: Path, rounds: int) -> str:
    """Ours in parts: finding, loading, and the first slice."""
    (evidence,) = find_evidence([folder])
    parts: dict[str, Callable[[], object]] = {
        "finding alone": lambda: list(find_evidence([folder])),
        "loading alone": lambda: load_pixels(evidence),
        "first slice of what was found": lambda: open_stack(evidence),
        "first slice from the folder": lambda: open_stack(next(find_evidence([folder]))),
    }
    lines = []
    for name, work in parts.items():
        median = statistics.median(seconds(work) for _ in range(rounds))
        lines.append(f"  {name:30} {1000 * median:7.1f} ms\n")
    return "".join(lines)


def memory(folder: Path, truth: NDArray[Any]) -> str:
    """Peak memory of finding and loading, as a multiple of the volume."""
    tracemalloc.start()
    ours(folder)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return f"  peak memory {peak / truth.nbytes:.2f} x the volume\n"


def index(folder: Path) -> str:
    """A mixed folder described without decoding a pixel."""
    count = sum(path.is_file() for path in folder.rglob("*"))
    median = statistics.median(seconds(lambda: list(find_evidence([folder]))) for _ in range(3))
    found = list(find_evidence([folder], salt=b"bench"))
    wrong = sum(one.error is not None for one in found)
    return (
        f"{count} mixed files described: {median:.2f} s, {count / median:.0f} files/s, "
        f"{len(found)} pieces of evidence, {wrong} errors\n"
    )


def main(slices: int) -> None:
    """Generate, race, print."""
    truth = phantom(slices, SIZE)
    assert int(truth.min()) - INTERCEPT >= 0
    with tempfile.TemporaryDirectory() as name:
        plain = ct(Path(name) / "plain", truth)
        sys.stdout.write(race("Uncompressed", plain, truth, ROUNDS))
        sys.stdout.write(steps(plain, ROUNDS) + memory(plain, truth))
        packed = ct(Path(name) / "packed", truth, JPEG2000Lossless)
        sys.stdout.write(race("JPEG 2000 lossless", packed, truth, FEW))
        sys.stdout.write(steps(packed, FEW) + memory(packed, truth))
        sys.stdout.write(index(mixed(Path(name) / "mixed", MIXED)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
