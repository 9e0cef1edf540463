"""Folders that nobody would wish for: odd names, pipes, closed folders, series that grow."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest

from db.collections import items
from db.session import Store
from engine.control import Control
from engine.errors import Cancelled
from engine.evidence.open import find_evidence
from engine.evidence.study import Evidence
from studies.collection import import_paths
from studies.evidence_rows import new_row
from studies.walk import ODD, walk
from tests.engine.evidence_files import picture, slices

GREY = np.zeros((8, 8), np.uint8)


def grey(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return picture(path, GREY)


def series(folder: Path, positions: list[float]) -> list[Path]:
    folder.mkdir()
    return slices(folder, positions)


def stored(store: Store) -> list[tuple[str, int]]:
    return [(row.path.name, len(row.files)) for row in items(store, "c")]


def test_a_name_that_is_no_text_is_left_out_and_the_rest_taken(tmp_path):
    folder = tmp_path / "scans"
    grey(folder / "good.png")
    try:
        shutil.copy(folder / "good.png", os.fsencode(folder) + b"/bad\xff.png")
    except OSError:
        pytest.skip("this system has no such names")
    with Store(tmp_path / "home.sqlite") as store:
        taken = import_paths(store, [folder], "c", Control())
        assert stored(store) == [("good.png", 1)]
    [row] = taken.left_out
    assert row["path"].endswith("bad?.png")
    assert "rename it" in row["reason"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
@pytest.mark.parametrize("name", ["pipe.mhd", "pipe.nhdr", "pipe.hdr", "pipe.png", "pipe"])
def test_a_pipe_is_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    [found] = find_evidence([tmp_path])
    assert found.error is not None
    assert found.error.code == "not_a_file"


def test_a_closed_folder_is_named(tmp_path, monkeypatch):
    grey(tmp_path / "open" / "a.png")
    (tmp_path / "open" / "Thumbs.db").write_bytes(b"x")
    (tmp_path / "closed").mkdir()
    look = os.scandir  # the one there is, for everybody else

    def scandir(folder):
        if str(folder).endswith("closed"):
            raise PermissionError(13, "Permission denied", folder)
        return look(folder)

    monkeypatch.setattr("studies.walk.os.scandir", scandir)
    told: list[dict[str, str]] = []
    groups = [list(folder.files) for folder in walk([tmp_path], told=told)]
    assert groups == [[str(tmp_path / "open" / "a.png")]]
    assert told[0]["path"] == str(tmp_path / "closed")
    assert "rights" in told[0]["reason"]


def test_files_named_one_by_one_are_one_series(tmp_path):
    paths = series(tmp_path / "scan", [0.0, 1.0, 2.0])
    with Store(tmp_path / "home.sqlite") as store:
        taken = import_paths(store, paths, "c", Control())
        assert (taken.added, stored(store)) == (1, [("scan", 3)])


def test_a_series_that_grows_at_its_beginning_is_kept_once(tmp_path):
    folder = tmp_path / "scan"
    later = series(tmp_path / "later", [5.0, 6.0, 7.0])
    folder.mkdir()
    with Store(tmp_path / "home.sqlite") as store:
        for count in (1, 2, 3):
            shutil.copy(later[-count], folder / later[-count].name)
            import_paths(store, [folder], "c", Control())
            assert [n for _, n in stored(store)] == [count]


def test_a_folder_of_any_size_can_be_left_in_the_middle(tmp_path):
    folder = tmp_path / "scans"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.txt").write_text("words", encoding="utf-8")
    steps: list[int] = []
    control = Control(
        cancelled=lambda: len(steps) > 5, report=lambda done, *others: steps.append(done)
    )
    with Store(tmp_path / "home.sqlite") as store:
        with pytest.raises(Cancelled):
            import_paths(store, [folder], "c", control)
        assert steps == [0, 1, 2, 3, 4, 5]
        (folder / "scan.mhd").write_text("ElementDataFile = scan.raw\n", encoding="utf-8")
        (folder / "scan.raw").write_bytes(b"x")
        steps.clear()
        import_paths(store, [folder], "c", Control(report=control._report))
        assert steps[-1] == len(list(folder.iterdir()))


def test_a_member_whose_name_is_no_text_is_left_out_and_the_rest_taken(tmp_path):
    grey(tmp_path / "a.png")
    with tarfile.open(
        tmp_path / "disc.tar", "w", format=tarfile.GNU_FORMAT, encoding="latin-1"
    ) as archive:
        archive.add(tmp_path / "a.png", "good.png")
        archive.add(tmp_path / "a.png", "b\u00e4d.png")
    with Store(tmp_path / "home.sqlite") as store:
        taken = import_paths(store, [tmp_path / "disc.tar"], "c", Control())
        assert stored(store) == [("good.png", 1)]
    assert [row["reason"] for row in taken.left_out] == [ODD]


def test_half_letters_in_a_report_do_not_stop_an_import(tmp_path):
    lines = [{"report": "FINDINGS: \ud800 broken"}, {"report": "FINDINGS: whole"}]
    words = "\n".join(json.dumps(line) for line in lines)
    (tmp_path / "reports.jsonl").write_text(words, encoding="utf-8")
    with Store(tmp_path / "home.sqlite") as store:
        assert import_paths(store, [tmp_path / "reports.jsonl"], "c", Control()).added == 2
        assert [row.text.split()[-1] for row in items(store, "c")] == ["broken", "whole"]


def test_numbers_of_numpy_and_half_letters_become_plain_values():
    found = Evidence(
        path=Path("x"), members=(), kind="volume", shape=(np.int64(1), np.int64(2), np.int64(2)),
        spacing_mm=(np.float32(0.5), 1.0, 1.0), times=np.int64(3), notes=("half \ud800",),
        source={"object": "\udcff"}, day=np.int64(5),
    )  # fmt: skip
    row = new_row(found, facts=lambda path: (1, 2))
    assert json.loads(json.dumps(dict(row.details)))["spacing_mm"] == [0.5, 1.0, 1.0]
    assert [type(value) for value in (*row.shape, row.times, row.day)] == [int] * 5
    assert row.details["notes"] == ["half ?"]
    assert row.details["source"] == {"object": "?"}
