"""Writes the demo's pictures, index files and configs in the layout of the MedHEB release.

Owns where files lie below the data root and that their bytes repeat.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from studies.demo.bank import Bank, nucleus_crops
from studies.demo.dicom_out import write_nifti, write_series
from studies.demo.names import (
    Sizes,
    asked_nuclei,
    asked_regions,
    film_name,
    lesion_name,
    nucleus_names,
    patch_name,
    region_name,
    slice_names,
)
from studies.demo.registry import CONFIG_FORMS, demo_tasks, groups_csv, to_csv, to_yaml
from studies.demo.shapes import generator
from studies.demo.task_rows import rows_of
from studies.demo.words import Report, advice, brain_report, chest_report

Bytes = NDArray[np.uint8]
Step = Callable[[], None]
Writer = Callable[[Path, Bank, Sizes, int], None]


def write_text(path: Path, text: str) -> None:
    """UTF-8 with line feeds on every system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def write_png(path: Path, pixels: Bytes) -> None:
    """Grey or RGB, no metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.ascontiguousarray(pixels)).save(path, format="PNG", compress_type=zlib.Z_RLE)


def patient_steps(root: Path, bank: Bank, sizes: Sizes) -> list[Step]:
    """Pictures and evidence, one patient each; they may run in any order."""
    counts: tuple[tuple[Writer, int], ...] = (
        (_chest, sizes.chest),
        (_held_out, sizes.held_out),
        (_brain, sizes.brain),
        (_skin, sizes.skin),
        (_pathology, sizes.pathology),
    )
    return [
        partial(write, root, bank, sizes, index)
        for write, count in counts
        for index in range(count)
    ]


def _report(path: Path, report: Report) -> None:
    write_text(path, f"FINDINGS:\n{report.findings}\n\nIMPRESSION:\n{report.impression}\n")


def _question(path: Path, question: str, reply: str) -> None:
    write_text(path, f"QUESTION:\n{question}\n\nANSWER:\n{reply}\n")


def _chest(root: Path, bank: Bank, sizes: Sizes, index: int) -> None:
    """Film and slices for the tasks; film, report and some series as evidence."""
    scan = bank.add_chest(index)
    chest = bank.chest(index)
    case, film = chest.case, chest.film.pixels
    for folder in ("2D_Images/DemoChest", "3D_Images/DemoChestCT"):
        write_png(root / folder / film_name(bank, index), film)
    names = slice_names(f"slices/{case.patient}", len(chest.slices))
    for name, pixels in zip(names, chest.slices, strict=True):
        write_png(root / "3D_Images/DemoChestCT" / name, pixels)
    home = root / "Evidence" / "chest" / case.patient
    write_png(home / "film.png", film)
    _report(home / "report.txt", chest_report(case))
    if index < sizes.series:
        write_series(home / "ct", scan, case)
    question, reply = advice(case, generator(*case.key, "advice"))
    if index < sizes.series:
        _question(root / "Evidence" / "questions" / f"{case.patient}.txt", question, reply)


def _held_out(root: Path, bank: Bank, sizes: Sizes, index: int) -> None:
    scan = bank.add_chest(index, source="chest_b")
    chest = bank.chest(index, source="chest_b")
    case, film = chest.case, chest.film.pixels
    write_png(root / "2D_Images/DemoChestB" / film_name(bank, index, source="chest_b"), film)
    home = root / "Evidence" / "chest_b" / case.patient
    write_png(home / "film.png", film)
    _report(home / "report.txt", chest_report(case))
    if index < sizes.series // 3:
        write_series(home / "ct", scan, case)


def _brain(root: Path, bank: Bank, sizes: Sizes, index: int) -> None:
    scan = bank.add_brain(index)
    brain = bank.brain(index)
    case = brain.case
    for contrast, volume in (("t1", brain.t1), ("t2", brain.t2)):
        names = slice_names(f"{contrast}/{case.patient}", len(volume))
        for name, pixels in zip(names, volume, strict=True):
            write_png(root / "3D_Images/DemoBrain" / name, pixels)
    home = root / "Evidence" / "brain" / case.patient
    if index < sizes.nifti:
        write_nifti(home, scan, case)
    _report(home / "report.txt", brain_report(case))


def _skin(root: Path, bank: Bank, sizes: Sizes, index: int) -> None:
    lesion = bank.lesion(index)
    write_png(root / "2D_Images/DemoSkin" / lesion_name(bank, index), lesion.pixels)
    write_png(root / "Evidence" / "skin" / f"{lesion.patient}.png", lesion.pixels)


def _pathology(root: Path, bank: Bank, sizes: Sizes, index: int) -> None:
    patch = bank.patch(index)
    write_png(root / "2D_Images/DemoPathology" / patch_name(bank, index), patch.pixels)
    write_png(root / "Evidence" / "pathology" / f"{patch.patient}.png", patch.pixels)


def write_regions(root: Path, bank: Bank, sizes: Sizes) -> None:
    """The crops of both region tasks."""
    for patient, region in asked_regions(sizes):
        crop = bank.chest(patient).region(region)
        write_png(root / "2D_Images/DemoChest" / region_name(bank, patient, region), crop)
    for patient, kind in asked_nuclei(bank, sizes):
        names = nucleus_names(bank, patient, kind)
        for name, crop in zip(names, nucleus_crops(bank.patch(patient), kind), strict=True):
            write_png(root / "2D_Images/DemoPathology" / name, crop)


def write_tasks(root: Path, bank: Bank, sizes: Sizes) -> None:
    """Index files, the task table and the three configs."""
    tasks = demo_tasks(bank.split)
    for task in tasks:
        rows = rows_of(task, bank, sizes)
        write_text(root / task.data_path, json.dumps(rows, indent=0) + "\n")
    for form, name in CONFIG_FORMS.items():
        write_text(root / f"{name}.yaml", to_yaml(tasks, form))
    write_text(root / "tasks.csv", to_csv(tasks))
    write_text(root / "task_groups.csv", groups_csv(tasks))


def files_below(root: Path) -> Iterator[Path]:
    """All files of a data root, in a fixed order."""
    return iter(sorted(path for path in root.rglob("*") if path.is_file()))
