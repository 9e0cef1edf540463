"""The Viewer's pictures: each kind of evidence, tools and errors, for ``tests.screens``.

Takes the handed files of ../shared/data; what is not there is made up, and the reason is said
on standard error.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from PySide6.QtWidgets import QApplication

from app.main import Program
from tests.app import studies_on_disk as disk
from tests.app.gestures import click, drag, hover
from tests.shared import SHARED

FILES = SHARED / "data" / "files"
REPORT = (
    "CLINICAL HISTORY: Headache for two weeks.\n"
    "TECHNIQUE: CT of the head without contrast medium.\n"
    "COMPARISON: None.\n"
    "FINDINGS: The ventricles are of normal width. No haemorrhage, no mass, no shift of the "
    "midline. A low density in the left temporal lobe measures 21 mm.\n"
    "IMPRESSION: Low density in the left temporal lobe, most likely an old infarct. Follow up by "
    "MR in three months.\n"
)
Step = Callable[[Program], None]
_kept: list[tempfile.TemporaryDirectory[str]] = []


def room() -> Path:
    """A folder that lives as long as this process."""
    _kept.append(tempfile.TemporaryDirectory(prefix="triptych-evidence-"))
    return Path(_kept[-1].name)


def given(name: str, make: Callable[[Path], Path]) -> Path:
    """A handed file or folder, else something made up of the same kind."""
    path = FILES / name
    if path.exists():
        return path
    sys.stderr.write(f"{name} is not in ../shared/data/files; something made up is shown\n")
    return make(room())


def open_on(program: Program, *paths: Path) -> Any:
    """Open paths in the Viewer and wait for the first picture; the page."""
    from tests.screens import pump, view_of

    program.services.open_evidence(list(paths))
    pump(0.5)
    view = view_of(program)
    pump(20.0, lambda: view.strip.count() > 0 and not view._tick.isActive())
    return view


def ct_folder() -> Path:
    made = lambda place: disk.volume(place, disk.body(24, side=128))  # noqa: E731
    return given("series/ct_tilt_variable_spacing", made)


def ct(program: Program) -> None:
    """A CT with its report beside it."""
    place = room()
    (place / "report.txt").write_text(REPORT, encoding="utf-8")
    for path in ct_folder().iterdir():
        (place / path.name).write_bytes(path.read_bytes())
    open_on(program, place)


def mr(program: Program) -> None:
    make = lambda place: disk.volume(place, disk.body() + 1000, modality="MR")  # noqa: E731
    open_on(program, given("series/mr_coronal_missing_duplicate", make))


def radiograph(program: Program) -> None:
    """A frontal and a lateral radiograph of one study."""
    place = room()
    for number, view in enumerate(("PA", "LL")):
        disk.projection(place / f"{view}.dcm", chest(number), view=view)
    one = given("dicom/cr_monochrome1_10bit.dcm", lambda _place: place / "PA.dcm")
    open_on(program, one)


def chest(seed: int) -> np.ndarray:
    """Two dark fields beside a bright middle, [Y, X] uint16."""
    rows, columns = np.mgrid[0:900, 0:760] / 900
    field = sum(
        np.exp(-(((columns - x) / 0.13) ** 2) - ((rows - 0.45) / 0.3) ** 2)
        for x in (0.25 + 0.1 * seed, 0.6 - 0.1 * seed)
    )
    return ((1.2 - field) * 1500 + np.sin(rows * 60) * 40).clip(0, 4000).astype(np.uint16)


def breast(side: str) -> np.ndarray:
    """A half disc at the chest wall with some texture, [Y, X] uint16."""
    rows, columns = np.mgrid[0:900, 0:700] / 900
    far = np.hypot((rows - 0.5) * 1.1, columns)
    texture = np.sin(rows * 70 + 9 * np.sin(columns * 33)) * np.cos(columns * 50)
    shown = np.where(far < 0.42, 900 + 500 * (0.42 - far) + 160 * texture, 60)
    return (shown if side == "L" else shown[:, ::-1]).clip(0, 4000).astype(np.uint16)


def mammogram(program: Program) -> None:
    """Four made-up views by the mammogram rule: the handed files hold one view only."""
    place = room()
    for side, way in (("R", ["P", "L"]), ("L", ["A", "R"])):
        for view in ("CC", "MLO"):
            disk.projection(place / f"{side}{view}.dcm", breast(side), modality="MG", view=view,
                            side=side, orientation=way)  # fmt: skip
    open_on(program, place)


def mammogram_handed(program: Program) -> None:
    make = lambda place: disk.projection(place / "a.dcm", breast("L"), modality="MG")  # noqa: E731
    open_on(program, given("dicom/mg_overlay_outside.dcm", make))


def cine(program: Program) -> None:
    frames = np.zeros((12, 200, 260, 3), np.uint8)
    frames[..., :] = np.arange(12)[:, None, None, None] * 18 + 20
    make = lambda place: disk.cine(place / "c.dcm", frames)  # noqa: E731
    open_on(program, given("dicom/us_cine_30f.dcm", make))


def pathology(program: Program) -> None:
    """A made-up stained slide: no handed file shows one."""
    random = np.random.default_rng(3)
    high, wide = 900, 1200
    rows, columns = np.mgrid[0:high, 0:wide]
    wave = np.sin(rows / 41 + np.sin(columns / 67) * 2) + np.cos(columns / 53)
    slide = np.stack([225 + wave * 10, 170 + wave * 18, 205 + wave * 10], axis=-1)
    for y, x in random.integers(0, (high, wide), (900, 2)):
        far = np.hypot(rows[max(0, y - 9):y + 9, max(0, x - 9):x + 9] - y,
                       columns[max(0, y - 9):y + 9, max(0, x - 9):x + 9] - x)  # fmt: skip
        cell = slide[max(0, y - 9) : y + 9, max(0, x - 9) : x + 9]
        cell[far < random.uniform(3, 8)] = (96, 52, 132)
    path = room() / "slide.png"
    Image.fromarray(slide.clip(0, 255).astype(np.uint8)).save(path)
    open_on(program, path)


def report_sr(program: Program) -> None:
    def make(place: Path) -> Path:
        (place / "report.txt").write_text(REPORT, encoding="utf-8")
        return place / "report.txt"

    open_on(program, given("report/sr_consultation.dcm", make))


def planes(program: Program) -> None:
    make = lambda place: disk.volume(place, disk.body(24, side=128))  # noqa: E731
    view = open_on(program, given("nifti/anat_bigendian.nii", make))
    view.do("layout-mpr")


def prior(program: Program) -> None:
    """A prior beside the current study, by rule."""
    place = room()
    for name, day, slices in (("old", "20190105", 18), ("new", "20200105", 24)):
        array = disk.body(slices, side=192)
        disk.volume(place / name, array, study=name, day=day, frame=name)
    open_on(program, place)


def measures(program: Program) -> None:
    """A distance, an angle, a region and the value under the pointer."""
    view = open_on(program, ct_folder())
    canvas = view.center.canvas
    at = lambda y, x: (canvas.width() * x, canvas.height() * y)  # noqa: E731
    view.do("tool-distance")
    drag(canvas, at(0.3, 0.36), at(0.3, 0.62))
    view.do("tool-angle")
    for place in ((0.75, 0.4), (0.6, 0.4), (0.6, 0.55)):
        click(canvas, at(*place))
    view.do("tool-roi")
    drag(canvas, at(0.5, 0.6), at(0.62, 0.68))
    view.do("tool-probe")
    hover(canvas, at(0.45, 0.45))


def model_view(program: Program) -> None:
    view = open_on(program, ct_folder())
    view.do("model-view")


def errors(program: Program) -> None:
    """Cut short, not what its name says, and a plan that holds no picture."""
    place = room()
    whole = disk.volume(place / "ct", disk.body(1))
    (place / "text_named.dcm").write_bytes(b"this is no picture " * 60)
    (place / "mr_truncated.dcm").write_bytes(next(whole.iterdir()).read_bytes()[:2000])
    paths = [
        given("broken/mr_truncated.dcm", lambda _room: place / "mr_truncated.dcm"),
        given("broken/text_named.dcm", lambda _room: place / "text_named.dcm"),
        given("broken/truncated.jpg", lambda _room: place / "text_named.dcm"),
        given("nonimage/rtplan.dcm", lambda _room: place / "text_named.dcm"),
        given("dicom/ct_small.dcm", lambda _room: next(whole.iterdir())),
    ]
    view = open_on(program, *paths)
    view.do("layout-2x2")
    for row in range(view.strip.count()):
        if "rtplan" in view.strip.item(row).text():
            view.series_wanted.emit(row, 3)
    bad = [row for row in range(view.strip.count()) if "truncated" in view.strip.item(row).text()
           or "named" in view.strip.item(row).text()]  # fmt: skip
    for frame, row in enumerate(bad[:3], start=1):
        view.series_wanted.emit(row, frame)


def help_keys(program: Program) -> None:
    view = open_on(program, ct_folder())
    view.do("help")


def pattern(program: Program) -> None:
    from tests.screens import view_of

    program.window.go("viewer")
    view_of(program).open_pattern()


def leave_pattern(_program: Program) -> None:
    for widget in QApplication.topLevelWidgets():
        if type(widget).__name__ == "PatternScreen":
            widget.close()


def leave_help(program: Program) -> None:
    from tests.screens import view_of

    view_of(program).help.hide()


def nothing(_program: Program) -> None:
    """Leave the page as it is."""


# name, how to get there, how to leave
VIEWER_SCREENS: tuple[tuple[str, Step, Step], ...] = (
    ("viewer-ct", ct, nothing),
    ("viewer-mr", mr, nothing),
    ("viewer-radiograph", radiograph, nothing),
    ("viewer-mammogram", mammogram, nothing),
    ("viewer-mammogram-handed", mammogram_handed, nothing),
    ("viewer-cine", cine, nothing),
    ("viewer-pathology", pathology, nothing),
    ("viewer-report", report_sr, nothing),
    ("viewer-mpr", planes, nothing),
    ("viewer-prior", prior, nothing),
    ("viewer-measures", measures, nothing),
    ("viewer-model", model_view, nothing),
    ("viewer-errors", errors, nothing),
    ("viewer-keys", help_keys, leave_help),
    ("viewer-pattern", pattern, leave_pattern),
)
