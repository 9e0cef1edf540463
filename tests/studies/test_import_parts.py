"""Import by parts: containers, what is read again and what is not, and what a kill costs."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from db.collections import EvidenceRow, Filters, items
from db.session import Store
from engine.control import Control
from engine.errors import Cancelled
from engine.evidence.open import find_evidence
from engine.evidence.pixels import digest, prepare, thumbnail
from studies import collection, import_buffer
from studies.collection import Taken, import_paths
from studies.evidence_rows import USABLE, item_of_row
from studies.walk import walk
from studies.whole import judged
from tests.engine.evidence_files import dicom, picture, ramp, slices
from tests.shared import shared_path

EVERYTHING = Filters(failures="show")
SERIES = {"SeriesInstanceUID": "1.2.3.77", "StudyInstanceUID": "1.2.3.7", "PatientID": "A1"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "home.sqlite") as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "scans"
    made.mkdir()
    return made


def take(store: Store, *roots: Path) -> Taken:
    return import_paths(store, roots, "c", Control())


def rows(store: Store, filters: Filters | None = None) -> tuple[EvidenceRow, ...]:
    return items(store, "c", limit=1_000_000, filters=filters)


def series(folder: Path, positions: list[float], *, start: int = 0, **elements: object) -> None:
    folder.mkdir(exist_ok=True)
    values = {"ImageOrientationPatient": [1, 0, 0, 0, 1, 0], "PixelSpacing": [2.0, 3.0]}
    for number, position in enumerate(positions, start=start):
        place = {"ImagePositionPatient": [0.0, 0.0, position], "InstanceNumber": number + 1}
        dicom(folder / f"im{number:04}.dcm", np.full((4, 5), number, np.int16),
              **{**SERIES, **values, **place, **elements})  # fmt: skip


def write_arrays(path: Path, count: int) -> None:
    random = np.random.default_rng(0)
    parts = {}
    for part in ("train", "val", "test"):
        parts[f"{part}_images"] = random.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        parts[f"{part}_labels"] = np.zeros((count, 1), np.uint8)
    np.savez(path, **parts)


def write_table(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["study", "report"])
        for number in range(count):
            table.writerow([f"s{number}", f"FINDINGS: case {number}. IMPRESSION: nothing new."])


def write_zip(path: Path, folder: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder).as_posix())


def test_containers_arrive_as_their_parts_and_open_again(store: Store, root: Path) -> None:
    inner = root.parent / "inner"
    inner.mkdir()
    series(inner / "ct", [0.0, 1.0, 2.0])
    picture(inner / "film.png", ramp())
    (inner / "report.txt").write_text("FINDINGS: none.", encoding="utf-8")
    write_zip(root / "disc.zip", inner)
    write_arrays(root / "mini.npz", 4)
    write_table(root / "reports.csv", 3)
    taken = take(store, root)
    found = {row.path.relative_to(root).as_posix(): row for row in rows(store)}
    assert taken.added == len(found) == 3 + 12 + 3
    assert {"disc.zip/ct", "disc.zip/film.png", "disc.zip/report.txt"} <= set(found)
    assert found["disc.zip/ct"].kind == "volume"
    assert found["disc.zip/ct"].file_count == 3
    assert sum(name.startswith("mini.npz/train/") for name in found) == 4
    reports = [row for name, row in found.items() if name.startswith("reports.csv/")]
    assert [row.text is not None and "case" in row.text for row in reports] == [True] * 3
    for name, row in found.items():
        item = item_of_row(row)
        seen = prepare(item)
        assert seen.images or seen.volumes or seen.texts, name
        assert len(digest(item)) == 64
    assert len({digest(item_of_row(row)) for row in found.values()}) == len(found)
    assert thumbnail(item_of_row(found["disc.zip/film.png"]).images[0], 16).shape == (12, 16, 3)
    container = (root / "disc.zip").stat()
    assert {file.mtime_ns for file in found["disc.zip/ct"].files} == {container.st_mtime_ns}


def test_an_unchanged_container_is_not_opened_again(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(root / "reports.csv", 5)
    write_arrays(root / "mini.npz", 2)
    assert take(store, root).added == 11
    read: list[list[str]] = []
    find = collection.find_evidence

    def watched(paths: list[Path], **options: object) -> object:
        read.append([path.name for path in paths])
        return find(paths, **options)

    monkeypatch.setattr(collection, "find_evidence", watched)
    again = take(store, root)
    assert (again.added, again.unchanged, read) == (0, 2, [])
    write_table(root / "reports.csv", 4)
    os.utime(root / "reports.csv", ns=(1, 1))
    take(store, root)
    assert len(rows(store)) == 10, "the fifth row of the table is gone with its line"


def test_a_large_container_is_stored_in_short_transactions(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_buffer, "MOST_ROWS", 100)
    sizes: list[int] = []
    add = import_buffer.add_evidence

    def watched(store: Store, name: str, rows: list[object], **options: object) -> object:
        sizes.append(len(rows))
        return add(store, name, rows, **options)

    monkeypatch.setattr(import_buffer, "add_evidence", watched)
    write_table(root / "reports.csv", 1050)
    taken = take(store, root)
    assert taken.added == 1050
    assert max(sizes) == 100
    assert len(rows(store)) == 1050


def test_a_container_can_be_left_in_its_middle_and_is_whole_after_resuming(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_buffer, "MOST_ROWS", 100)
    write_table(root / "reports.csv", 1000)
    asked = iter(range(1_000_000))
    with pytest.raises(Cancelled):
        import_paths(store, [root], "c", Control(cancelled=lambda: next(asked) > 300))
    assert 0 < len(rows(store)) < 1000, "what was read is there"
    assert take(store, root).unchanged == 0
    names = [row.path.name for row in rows(store)]
    assert len(names) == len(set(names)) == 1000


@pytest.mark.parametrize("size", [1, 3, 7, 1000], ids=lambda size: f"{size} at once")
def test_series_of_a_large_folder_come_together_whatever_the_parts(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(collection, "AT_ONCE", size)
    folder = root / "mixed"
    series(folder, [float(z) for z in range(10)], SeriesInstanceUID="1.2.3.1")
    for number in range(10, 30):  # two series whose names alternate
        series(folder, [float(number // 2)], start=number, SeriesInstanceUID=f"1.2.4.{number % 2}")
    for number in range(5):
        picture(folder / f"z{number}.png", ramp(start=number))
    (folder / "m.mhd").write_text(
        "ObjectType = Image\nNDims = 2\nDimSize = 2 2\nElementType = MET_UCHAR\n"
        "ElementDataFile = a.raw\n", encoding="utf-8")  # fmt: skip
    (folder / "a.raw").write_bytes(bytes(4))
    taken = take(store, root)
    found = rows(store)
    assert sorted(row.file_count for row in found if row.kind == "volume") == [10, 10, 10]
    assert sum(row.kind == "image" for row in found) == 6
    assert taken.added == len(found) == 9
    again = take(store, root)
    assert (again.added, again.unchanged) == (0, 37)


def test_one_changed_file_of_a_large_folder_reads_its_series_again_and_no_other(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "AT_ONCE", 5)
    series(root, [float(z) for z in range(6)], SeriesInstanceUID="1.2.3.1")
    series(root, [float(z) for z in range(6)], start=6, SeriesInstanceUID="1.2.3.2")
    for number in range(20):
        picture(root / f"z{number:02}.png", ramp(start=number))
    take(store, root)
    before = {row.id for row in rows(store)}
    series(root, [9.0], start=3, SeriesInstanceUID="1.2.3.1")
    os.utime(root / "im0003.dcm", ns=(5, 5))
    read: set[str] = set()
    find = collection.find_evidence

    def watched(paths: list[Path], **options: object) -> object:
        read.update(path.name for path in paths)
        return find(paths, **options)

    monkeypatch.setattr(collection, "find_evidence", watched)
    taken = take(store, root)
    assert read == {f"im{n:04}.dcm" for n in range(6)}
    assert (taken.added, taken.unchanged) == (1, 26)
    assert len({row.id for row in rows(store)} - before) == 1
    assert sorted(r.file_count for r in rows(store) if r.kind == "volume") == [6, 6]


def test_a_series_that_grows_in_a_large_folder_is_kept_once(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "AT_ONCE", 4)
    for number in range(10):
        picture(root / f"a{number}.png", ramp(start=number))
    for count in range(1, 5):
        series(root, [float(count)], start=count)
        assert take(store, root).added == (11 if count == 1 else 1)
        assert [r.file_count for r in rows(store) if r.kind != "image" or r.modality] == [count]


def test_a_file_that_is_gone_is_forgotten_and_its_series_read_again(
    store: Store, root: Path
) -> None:
    series(root / "ct", [0.0, 1.0, 2.0, 3.0])
    picture(root / "ct" / "film.png", ramp())
    take(store, root)
    (root / "ct" / "im0003.dcm").unlink()
    (root / "ct" / "film.png").unlink()
    take(store, root)
    assert [(row.kind, row.file_count) for row in rows(store)] == [("volume", 3)]
    assert take(store, root).unchanged == 3


def test_tokens_and_warnings_reach_the_store_and_nothing_that_names_a_patient(
    store: Store, root: Path
) -> None:
    series(root / "a", [0.0, 1.0], BodyPartExamined="HEAD", PatientName="Doe^Jane",
           StudyDate="20260131", BurnedInAnnotation="YES")  # fmt: skip
    series(root / "b", [0.0, 1.0], SeriesInstanceUID="1.2.3.78", StudyInstanceUID="1.2.3.8",
           StudyDate="20260210", PatientName="Doe^Jane")  # fmt: skip
    series(root / "c", [0.0, 1.0], SeriesInstanceUID="1.2.3.79", StudyInstanceUID="1.2.3.9",
           PatientID="B2")  # fmt: skip
    take(store, root)
    a, b, c = sorted(rows(store), key=lambda row: row.path.name)
    assert a.body_part == "HEAD"
    assert "burned_in_text" in a.warnings
    assert a.subject == b.subject != c.subject
    assert len({a.study, b.study, c.study}) == len({a.series, b.series, c.series}) == 3
    assert a.day is not None
    assert b.day is not None
    assert b.day - a.day == 10
    with store.reading() as connection:
        dump = "\n".join(connection.connection.dbapi_connection.iterdump())
    for secret in ("Doe", "20260131", "1.2.3.77", "1.2.3.78", "'A1'", "B2"):
        assert secret not in dump, secret


def test_what_is_left_out_is_told_with_counts(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "NAMED_MOST", 3)
    for number in range(5):
        (root / f"{number}.bin").write_bytes(b"\x7fELF\0\0")
    (root / "empty.dcm").write_bytes(b"")
    taken = take(store, root)
    assert taken.added == 0
    assert len(taken.left_out) == 3
    assert sorted(taken.reasons.values()) == [1, 5]
    kept = rows(store, Filters(failures="only"))
    assert len(kept) == 6
    assert all(row.error_message for row in kept)
    assert rows(store) == ()


def test_a_disc_is_taken_once_with_its_series_whole(store: Store, root: Path) -> None:
    from pydicom.fileset import FileSet

    loose = root.parent / "loose"
    loose.mkdir()
    made = FileSet()
    for path in slices(loose, [0.0, 1.0, 2.0], PatientID="A1", StudyInstanceUID="1.2.3",
                       PatientName="A", StudyDate="20260101", StudyTime="120000",
                       StudyID="1", SeriesNumber=1):  # fmt: skip
        made.add(path)
    made.write(root)
    made._stage["t"].cleanup()  # pydicom leaves it to the end of the program, with a warning
    for way in (root, root / "DICOMDIR"):
        take(store, way)
        volumes = [row for row in rows(store) if row.kind == "volume"]
        assert [row.file_count for row in volumes] == [3], way


@pytest.mark.parametrize("size", [3, 2000], ids=lambda size: f"{size} at once")
def test_an_import_finds_what_the_readers_find(
    store: Store, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Whatever the parts, the library holds what ``show`` tells of the same files."""
    monkeypatch.setattr(collection, "AT_ONCE", size)
    place = shared_path("data/files")
    told = map(judged, find_evidence([place]))
    found = {(one.path, one.kind, frozenset(one.members)) for one in told}
    taken = take(store, place)
    kept = rows(store, EVERYTHING)
    assert {(row.path, row.kind, frozenset(f.path for f in row.files)) for row in kept} == found
    assert len(kept) == len(found)
    assert taken.added == sum(row.kind in USABLE or bool(row.text) for row in kept)
    assert take(store, place).added == 0


def test_folders_named_twice_are_walked_once(root: Path) -> None:
    picture(root / "a.png", ramp())
    (root / "deep").mkdir()
    picture(root / "deep" / "b.png", ramp())
    found = [
        Path(file).name for folder in walk([root, root / "deep", root]) for file in folder.files
    ]
    assert found == ["a.png", "b.png"]


SLOW = """
import sys, time
from pathlib import Path
from db.session import Store
from engine.control import Control
from studies import collection, import_buffer
collection.AT_ONCE, import_buffer.MOST_ROWS = 10, 10
find = collection.find_evidence
def slow(*paths, **options):
    for number, one in enumerate(find(*paths, **options)):
        time.sleep(0.01)
        yield one
collection.find_evidence = slow
with Store(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    collection.import_paths(store, [Path(sys.argv[2])], "c", Control())
"""


def test_a_killed_import_goes_on_without_double_rows(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        picture(root / f"{number:03}.png", ramp(start=number))
    series(root, [float(z) for z in range(12)])
    write_table(root / "reports.csv", 80)
    home = tmp_path / "killed.sqlite"
    command = [sys.executable, "-c", SLOW, str(home), str(root)]
    told = (tmp_path / "told.txt").open("w+", encoding="utf-8")
    with told, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=told) as process:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        told.seek(0)
        assert said == b"ready", told.read()
        with Store(home) as watching:
            while process.poll() is None and len(rows(watching)) < 25:
                time.sleep(0.01)
        process.kill()
    with Store(home) as store:
        stored = len(rows(store))
        assert 25 <= stored < 141
        monkeypatch.setattr(collection, "AT_ONCE", 10)
        taken = take(store, root)
        found = rows(store)
        assert taken.unchanged >= 20, "what was done before the kill is not read again"
        assert len(found) == 60 + 1 + 80
        places = [(row.path, row.files[0].path) for row in found]
        assert len(set(places)) == len(places)
        assert store.check_integrity() == ()
        assert take(store, root).unchanged == 73


def test_the_job_answers_with_what_a_terminal_and_a_window_tell(tmp_path: Path, root: Path) -> None:
    from db.home import Home

    Image.fromarray(ramp()).save(root / "a.png")
    (root / "b.bin").write_bytes(b"\x7fELF\0")
    home = Home(tmp_path / "home")
    wish = {"paths": [str(root)], "collection": "  Mine "}
    answer = collection.import_job(home, wish, Control())
    assert json.loads(json.dumps({**answer, "saved": []}))["collection"] == "Mine"
    assert (answer["added"], answer["left_out_count"]) == (1, 1)
    assert list(answer["reasons"].values()) == [1]
