"""Publishing into a folder again: what a person wrote is never lost, strangers are refused."""

from __future__ import annotations

import hashlib
import shutil
import subprocess

import pytest

from studies.errors import BadRequest
from studies.preference.kit.keeping import CHECKSUMS, look, put, remarks

HASH, OTHER = "ab" * 32, "cd" * 32


def kit(version: int, **more: str) -> dict[str, bytes]:
    texts = {"README.md": "guide", "methods.md": "methods ____", "study.csv": "facts",
             "analysis.py": "script", "forest.png": "picture"}  # fmt: skip
    texts = {name: f"{text} {version} {HASH}" for name, text in texts.items()}
    return {name: text.encode() for name, text in {**texts, **more}.items()}


def publish(folder, contents):
    folder.mkdir(exist_ok=True)
    return put(look(folder, HASH), contents, HASH)


def names(paths):
    return sorted(path.name for path in paths)


def test_own_files_are_replaced_and_what_is_of_the_kit_no_more_goes(tmp_path):
    publish(tmp_path, kit(1, **{"trec_run_C.txt": "old"}))
    (tmp_path / "mine.txt").write_text("my own")
    written = publish(tmp_path, kit(2))
    assert {path.name: path.read_bytes() for path in written if path.name in kit(2)} == kit(2)
    assert names(tmp_path.iterdir()) == sorted([*kit(2), CHECKSUMS, "mine.txt"])
    assert remarks(written) == ()


def test_a_stale_file_that_somebody_changed_stays(tmp_path):
    publish(tmp_path, kit(1, **{"trec_run_C.txt": "old"}))
    (tmp_path / "trec_run_C.txt").write_text("sorted anew")
    publish(tmp_path, kit(2))
    assert (tmp_path / "trec_run_C.txt").read_text() == "sorted anew"


def test_filled_in_gaps_stay_and_the_new_text_stands_beside_them(tmp_path):
    publish(tmp_path, kit(1))
    methods = tmp_path / "methods.md"
    methods.write_text("methods approved by the board")
    assert remarks(publish(tmp_path, kit(1))) == (), "nothing new, nothing beside it"
    written = publish(tmp_path, kit(2))
    assert remarks(written) == (
        "methods.md was changed by somebody and stays as it is; the new text is methods.new.md "
        "beside it.",
    )
    assert methods.read_text() == "methods approved by the board"
    beside = tmp_path / "methods.new.md"
    assert beside.read_bytes() == kit(2)["methods.md"]
    publish(tmp_path, kit(3))
    assert beside.read_bytes() == kit(3)["methods.md"], "nobody wrote in it"
    beside.write_text("went on in this one")
    publish(tmp_path, kit(4))
    assert beside.read_text() == "went on in this one"
    assert methods.read_text() == "methods approved by the board"
    assert (tmp_path / "methods.new-2.md").read_bytes() == kit(4)["methods.md"]


def test_a_changed_table_is_named_and_nothing_is_written(tmp_path):
    publish(tmp_path, kit(1))
    for name in ("study.csv", "forest.png"):
        (tmp_path / name).write_bytes(b"saved by a spreadsheet")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(BadRequest, match=r"published: forest\.png, study\.csv\. Nothing was"):
        publish(tmp_path, kit(2))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_kit_from_before_there_were_checksums(tmp_path):
    publish(tmp_path, kit(1))
    (tmp_path / CHECKSUMS).unlink()
    (tmp_path / "methods.md").write_text(f"filled in {HASH}")
    written = publish(tmp_path, kit(2))
    assert (tmp_path / "methods.md").read_text() == f"filled in {HASH}"
    assert (tmp_path / "study.csv").read_bytes() == kit(2)["study.csv"]
    assert "methods.new.md" in names(written)


@pytest.mark.parametrize("name", ["README.md", "study.csv", "methods.md", CHECKSUMS])
def test_a_folder_of_another_study_is_refused_before_anything_is_computed(tmp_path, name):
    (tmp_path / name).write_text(f"# study hash {OTHER}\n")
    with pytest.raises(BadRequest, match=f"{name} is not of this study"):
        look(tmp_path, HASH)


def test_a_file_of_a_kits_name_in_a_folder_of_ones_own_is_refused(tmp_path):
    (tmp_path / "forest.png").write_bytes(b"trees")
    with pytest.raises(BadRequest, match=r"forest\.png is not of this study"):
        publish(tmp_path, kit(1))
    assert names(tmp_path.iterdir()) == ["forest.png"]


def test_checksums_are_of_the_bytes_and_a_usual_tool_reads_them(tmp_path):
    publish(tmp_path, kit(1))
    lines = (tmp_path / CHECKSUMS).read_text().splitlines()
    assert lines[0] == f"# study hash {HASH}"
    assert f"{hashlib.sha256(kit(1)['study.csv']).hexdigest()}  study.csv" in lines
    tool = shutil.which("sha256sum")
    if tool is not None:
        done = subprocess.run([tool, "-c", CHECKSUMS], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stdout.count(": OK")) == (0, len(kit(1))), done.stderr


def test_a_line_that_leads_out_of_the_folder_is_no_file_of_the_kit(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"x")
    folder = tmp_path / "kit"
    publish(folder, kit(1))
    with (folder / CHECKSUMS).open("a") as file:
        file.write(f"{hashlib.sha256(b'x').hexdigest()}  ../outside.txt\n")
    publish(folder, kit(2))
    assert outside.read_bytes() == b"x"
