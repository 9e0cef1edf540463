"""The demo on disk: same bytes, real files that the readers open, the release's own reader."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from pathlib import Path

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk

from engine.control import Control
from engine.errors import Cancelled
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.pixels import prepare
from studies.demo.bank import Bank
from studies.demo.build import STAMP, build_demo
from studies.demo.chest_case import draw_chest
from studies.demo.phantom_brain import draw_brain, scan_brain
from studies.demo.phantom_chest import scan_chest
from studies.errors import StudyError
from studies.medheb.anatomy import ANATOMY, load_groups
from studies.medheb.release import read_task
from studies.medheb.tasks import COLUMNS, load_tasks
from tests.studies.demo_build import SMALL


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo")
    build_demo(root, sizes=SMALL)
    return root


def _hashes(root: Path) -> dict[str, str]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_the_same_seed_gives_the_same_bytes(demo: Path, tmp_path: Path) -> None:
    build_demo(tmp_path / "again", sizes=SMALL)
    assert _hashes(tmp_path / "again") == _hashes(demo)


def test_a_complete_folder_is_left_alone_and_an_incomplete_one_completed(
    demo: Path,
) -> None:
    before = _hashes(demo)
    film = next((demo / "2D_Images/DemoChest/films").iterdir())
    kept = film.read_bytes()
    film.write_bytes(b"changed")
    build_demo(demo, sizes=SMALL)
    assert film.read_bytes() == b"changed"
    film.write_bytes(kept)
    assert _hashes(demo) == before


def test_a_stop_leaves_no_stamp(tmp_path: Path) -> None:
    asked = iter([False, True])
    with pytest.raises(Cancelled):
        build_demo(tmp_path, sizes=SMALL, control=Control(cancelled=lambda: next(asked, True)))
    assert not (tmp_path / STAMP).exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    with pytest.raises(StudyError, match="cannot be written"):
        build_demo(blocked / "demo", sizes=SMALL)


def test_the_series_reads_back_in_hounsfield_units_and_in_order(demo: Path) -> None:
    folder = next((demo / "Evidence/chest").glob("*/ct"))
    (found,) = find_evidence([folder], salt=b"salt")
    truth = scan_chest(draw_chest(0, "test", 0), shape=SMALL.shape)
    pixels = load_pixels(found)
    assert (found.kind, found.modality) == ("volume", "CT")
    assert pixels.orientation == "LPS"
    assert np.array_equal(np.asarray(pixels.array), truth.hu)
    assert pixels.spacing_mm == pytest.approx(truth.grid.spacing, abs=1e-3)
    assert found.subject is not None
    assert "CHEST" not in found.subject


def test_headers_place_slices_upwards_and_hold_no_name(demo: Path) -> None:
    files = sorted(next((demo / "Evidence/chest").glob("*/ct")).iterdir())
    headers = [pydicom.dcmread(path) for path in files]
    heights = [float(header.ImagePositionPatient[2]) for header in headers]
    assert heights == sorted(heights, reverse=True)
    assert np.allclose(np.diff(heights), -float(headers[0].SliceThickness))
    assert len({header.SOPInstanceUID for header in headers}) == len(files)
    assert len({header.SeriesInstanceUID for header in headers}) == 1
    assert all(header.SOPInstanceUID.is_valid for header in headers)
    assert all(str(header.PatientName) == "" for header in headers)


def test_nifti_contrasts_share_one_grid(demo: Path) -> None:
    folder = next(path.parent for path in (demo / "Evidence/brain").glob("*/t1.nii.gz"))
    t1, t2 = (sitk.ReadImage(str(folder / f"{name}.nii.gz")) for name in ("t1", "t2"))
    truth = scan_brain(draw_brain(0, "test", 0), shape=SMALL.shape)
    assert t1.GetSpacing() == t2.GetSpacing()
    assert t1.GetOrigin() == t2.GetOrigin()
    assert t1.GetDirection() == t2.GetDirection()
    assert np.array_equal(sitk.GetArrayFromImage(t1), truth.t1)
    assert np.array_equal(sitk.GetArrayFromImage(t2), truth.t2)
    assert (folder / "t1.nii.gz").read_bytes()[4:8] == b"\0\0\0\0"


def test_all_evidence_opens(demo: Path) -> None:
    found = list(find_evidence([demo / "Evidence"], salt=b"salt"))
    kinds = Counter(evidence.kind for evidence in found)
    assert kinds["error"] == 0
    assert kinds["volume"] == SMALL.series + 2 * SMALL.nifti
    assert kinds["report"] >= SMALL.chest + SMALL.brain
    assert kinds["image"] == SMALL.chest + SMALL.held_out + SMALL.skin + SMALL.pathology


def test_the_release_reader_reads_every_row(demo: Path) -> None:
    tasks = load_tasks(demo)
    assert len(tasks) == 22
    for task in tasks:
        data = read_task(task, demo)
        assert data.failures == ()
        assert data.notes == ()
        for query in data.queries:
            assert query.gold == query.candidates[0].name


def test_a_model_sees_what_training_shows(demo: Path) -> None:
    bank = Bank(0, "test", shape=SMALL.shape, slices=SMALL.shape[0])
    tasks = {task.id: task for task in load_tasks(demo)}
    query = read_task(tasks["chest/xray-ct"], demo).queries[3]
    film, volume = prepare(query.item), prepare(query.candidates[0].item)
    chest = bank.chest(3)
    assert film.texts == ()
    assert film.volumes == ()
    assert np.array_equal(film.images[0][..., 1], chest.film.pixels)
    assert np.array_equal(volume.volumes[0][..., 2], chest.slices)
    regions = read_task(tasks["pathology/t2r"], demo).queries[0].candidates[0]
    assert len(prepare(regions.item).images) > 1


def test_tables_have_the_columns_and_text_is_plain_ascii(demo: Path) -> None:
    with (demo / "tasks.csv").open(encoding="utf-8", newline="") as stream:
        assert tuple(next(csv.reader(stream))) == COLUMNS
    for path in demo.rglob("*"):
        if path.suffix in (".json", ".txt", ".csv", ".yaml"):
            assert path.read_bytes().isascii(), path
            assert b"\\u" not in path.read_bytes(), path


def test_every_task_says_what_it_is_about(demo: Path) -> None:
    tasks = load_tasks(demo)
    groups = load_groups(tasks, demo)
    assert all(groups[task.id].anatomy in ANATOMY for task in tasks)
    assert {groups[task.id].target for task in tasks if task.family == "VQA"} == {"VQA answer"}
