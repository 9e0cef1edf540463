"""A folder of odd things: everything is named, nothing waits for ever, nothing stops the rest."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EvidenceError
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.pixels import as_model_sees, digest, item_of, prepare, thumbnail
from engine.evidence.show import describe
from engine.evidence.stack import open_stack
from tests.engine.evidence_files import dicom, picture, ramp, slices
from tests.fuzz import makers, makers_dicom

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="the system has no such things")
SPARSE = 1 << 30
NAMES = (
    "new\nline.png", "tab\t.png", " lead.png", "-rf.png", "--help", "*.png", '"q".png',
    "\x1b[31mred.png", "\u202egnp.exe", "%s%n{0}.png", "a" * 240 + ".png", "x:y.png",
)  # fmt: skip


def kinds(folder: Path) -> dict[str, str]:
    """Name to kind, or to the error's code; every document is asked for."""
    found = {}
    for evidence in find_evidence([folder]):
        shown = describe(evidence)
        code = evidence.kind if shown["error"] is None else shown["error"]["code"]
        found[evidence.path.relative_to(folder).as_posix()] = code
    return found


@POSIX
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    for name in ("a.dcm", "b.png", "c.nii.gz", "d.mhd", "e.zip", "DICOMDIR", "f.csv", "g"):
        os.mkfifo(tmp_path / name)
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind(str(tmp_path / "s"))
    (tmp_path / "zero.dcm").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone.png").symlink_to(tmp_path / "nowhere.png")
    (tmp_path / "below").mkdir()
    (tmp_path / "below/back").symlink_to("..")
    picture(tmp_path / "whole.png", ramp())
    found = kinds(tmp_path)
    assert found.pop("whole.png") == "image"
    assert found.pop("gone.png") == "missing"
    assert found.pop("loop") in ("missing", "unreadable")
    assert set(found.values()) == {"not_a_file"}
    assert len(found) == 10


@POSIX
def test_odd_names_are_names(tmp_path: Path) -> None:
    for name in NAMES:
        picture(tmp_path / "a.png", ramp()).rename(tmp_path / name)
    bad = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff\xfe")
    for ending, raw in ((".png", makers.png()["a.png"]), (".zip", makers.archive()["a.zip"]),
                        (".csv", makers.table()["reports.csv"])):  # fmt: skip
        Path(bad + ending).write_bytes(raw)
    found = kinds(tmp_path)
    assert {found[name] for name in NAMES} == {"image"}
    assert sum(name.startswith("bad") for name in found) == 8
    assert set(found.values()) <= {"image", "volume", "report"}


def test_files_without_content_say_so(tmp_path: Path) -> None:
    for ending in ("dcm", "png", "nii", "nii.gz", "nrrd", "mhd", "zip", "npz", "csv", "hl7", "pdf"):
        (tmp_path / f"empty.{ending}").write_bytes(b"")
    assert set(kinds(tmp_path).values()) == {"empty"}


@pytest.mark.parametrize("byte", [0, 32, 255])
def test_files_of_one_byte_again_and_again(tmp_path: Path, byte: int) -> None:
    endings = ("dcm", "png", "jpg", "tif", "gif", "nii", "nii.gz", "nrrd", "nhdr", "mha", "hdr",
               "zip", "npz", "npy", "csv", "jsonl", "hl7", "pdf", "txt", "rtf", "xml")  # fmt: skip
    for ending in endings:
        (tmp_path / f"a.{ending}").write_bytes(bytes([byte]) * 700)
    found = kinds(tmp_path)
    assert len(found) == len(endings)
    assert not {"image", "volume", "cine"} & set(found.values())


@POSIX
def test_gigabytes_of_nothing_behind_a_file(tmp_path: Path) -> None:
    starts = {
        "a.dcm": bytes(128) + b"DICM", "b.dcm": makers_dicom.ct(), "c.csv": b"id,report\n1,abc\n",
        "d.txt": b"FINDINGS: clear.", "e.zip": b"PK\3\4", "f.jpg": makers.jpeg()["a.jpg"],
        "g.pdf": makers.pdf()["a.pdf"], "h": b"",
    }  # fmt: skip
    for name, start in starts.items():
        with (tmp_path / name).open("wb") as stream:
            stream.write(start)
            stream.truncate(SPARSE)
    found = kinds(tmp_path)
    assert found["a.dcm"] == "damaged"
    assert found["b.dcm"] == "image"
    assert found["c.csv/row-000001"] == "report"
    assert found["d.txt"] == found["g.pdf"] == "too_large"


def uses(evidence, folder: Path) -> list[str]:
    """The code with which each use of a piece of evidence ends."""
    codes = []
    for use in (
        load_pixels,
        as_model_sees,
        lambda one: thumbnail(one, 8),
        lambda one: open_stack(one).fill(),
        lambda one: prepare(item_of(one)),
        lambda one: digest(item_of(one)),
    ):
        with pytest.raises(EvidenceError) as caught:
            use(evidence)
        codes.append(caught.value.code)
        assert str(folder) not in str(caught.value)
    return codes


@pytest.mark.parametrize("what", ["png", "dicom", "series", "nifti", "npz"])
def test_a_file_that_goes_away_between_finding_and_loading(tmp_path: Path, what: str) -> None:
    make = {
        "png": lambda: picture(tmp_path / "a.png", ramp()),
        "dicom": lambda: dicom(tmp_path / "a.dcm", ramp()),
        "series": lambda: slices(tmp_path, [1.0, 2.0, 3.0]),
        "nifti": lambda: (tmp_path / "a.nii").write_bytes(makers.nifti_4d()["a.nii"]),
        "npz": lambda: (tmp_path / "a.npz").write_bytes(makers.npz()["amnist.npz"]),
    }
    make[what]()
    first = next(iter(find_evidence([tmp_path])))
    for path in tmp_path.iterdir():
        path.unlink()
    assert set(uses(first, tmp_path)) == {"missing"}


def test_a_file_that_shrinks_between_finding_and_loading(tmp_path: Path) -> None:
    paths = slices(tmp_path, [1.0, 2.0, 3.0])
    (series,) = find_evidence([tmp_path])
    whole = load_pixels(series).array
    raw = paths[1].read_bytes()
    paths[1].write_bytes(raw[:-7])
    with pytest.raises(EvidenceError) as caught:
        load_pixels(series)
    assert caught.value.code == "truncated"
    paths[1].write_bytes(raw)
    assert (load_pixels(series).array == whole).all()


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    path = dicom(tmp_path / "a.dcm", ramp())
    raw = path.read_bytes()
    path.write_bytes(raw[:-10])
    (early,) = find_evidence([tmp_path])
    assert early.error is not None
    assert early.error.code == "truncated"
    path.write_bytes(raw)
    (late,) = find_evidence([tmp_path])
    assert (load_pixels(late).array[0] == ramp()).all()


def test_a_file_that_becomes_another(tmp_path: Path) -> None:
    path = dicom(tmp_path / "a.dcm", ramp())
    (first,) = find_evidence([tmp_path])
    dicom(path, np.zeros((3, 3), np.uint16))
    with pytest.raises(EvidenceError) as caught:
        load_pixels(first)
    assert caught.value.code == "changed"
