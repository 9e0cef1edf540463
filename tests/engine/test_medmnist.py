"""MedMNIST sets and plain NumPy files: items as evidence, one at a time, objects refused."""

from __future__ import annotations

import pickle
import tomllib
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.digest import file_digest
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.pictures import arrays, medmnist
from engine.evidence.pixels import digest, item_of, prepare, thumbnail
from engine.evidence.show import describe
from tests.engine.test_formats_nifti import values
from tests.shared import shared_path

SHAPES: dict[str, tuple[int, ...]] = {
    "grey": (5, 28, 28), "colour": (5, 28, 28, 3), "volume": (5, 28, 28, 28), "large": (5, 224, 224)
}  # fmt: skip


class Evil:
    """Runs when unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("run",))


def made(path: Path, kind: str, *, packed: bool, seed: int = 0, **more: Any) -> Path:
    """A set of three splits."""
    content = {}
    for number, split in enumerate(("train", "val", "test")):
        content[f"{split}_images"] = values("u1", SHAPES[kind], seed=seed + number)
        content[f"{split}_labels"] = np.arange(5, dtype=np.uint8)[:, None]
    (np.savez_compressed if packed else np.savez)(path, **(content | more))
    return path


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("zipped", [False, True])
def test_every_item_is_evidence(tmp_path: Path, kind: str, *, packed: bool, zipped: bool) -> None:
    path = made(tmp_path / "x.npz", kind, packed=packed)
    with np.load(path, allow_pickle=False) as peer:
        wanted = {name: peer[name] for name in peer.files}
    if zipped:
        with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(path, "sets/x.npz")
        path = tmp_path / "a.zip" / "sets" / "x.npz"
        found = list(find_evidence([tmp_path / "a.zip"]))
    else:
        found = list(find_evidence([path]))
    assert len(found) == 15
    assert {one.kind for one in found} == {"volume" if kind == "volume" else "image"}
    for number in (0, 3, 4):
        part = path / "val" / str(number)
        assert files.exists(part)
        evidence = read_file(part)
        pixels = load_pixels(evidence)
        assert pixels.array.shape == evidence.shape
        np.testing.assert_array_equal(pixels.array.squeeze(), wanted["val_images"][number])
        assert evidence.source["label"] == str(number)
        assert "label" not in " ".join(evidence.notes)
        assert (evidence.spacing_mm, evidence.color) == (None, kind == "colour")
        assert thumbnail(evidence, 16).shape == (16, 16, 3)
        same = next(one for one in found if one.path == part)
        assert (same.shape, same.source) == (evidence.shape, evidence.source)
    part = path / "train" / "2"
    if kind == "volume":
        reference = Item(volumes=(VolumeRef((part,), kind="file"),))
        assert prepare(reference).volumes[0].shape == (28, 28, 28, 3)
    else:
        (seen,) = prepare(Item(images=(ImageRef(part),))).images
        shown = wanted["train_images"][2]
        np.testing.assert_array_equal(seen[..., 0], shown[..., 0] if kind == "colour" else shown)
    assert prepare(item_of(read_file(part))) is not None


def test_parts_are_named_by_their_values(tmp_path: Path) -> None:
    first = made(tmp_path / "a.npz", "grey", packed=False)
    second = made(tmp_path / "b.npz", "grey", packed=True, extra=np.zeros(3))
    other = made(tmp_path / "c.npz", "grey", packed=True, seed=9)
    parts = [one / "test" / "1" for one in (first, second, other)]
    names = [file_digest(part) for part in parts]
    assert names[0] == names[1] != names[2]
    assert digest(Item(images=(ImageRef(parts[0]),))) == digest(Item(images=(ImageRef(parts[1]),)))
    assert file_digest(first / "test" / "2") != names[0]
    assert file_digest(first) != file_digest(second)


def test_the_handed_set_has_its_true_values() -> None:
    path = shared_path("data/sets/medmnist/pneumoniamnist.npz")
    manifest = shared_path("data/sets/MANIFEST.toml").read_text(encoding="utf-8")
    (truth,) = [
        one["truth"] for one in tomllib.loads(manifest)["set"] if "pneumonia" in one["file"]
    ]
    found = list(find_evidence([path]))
    for split in ("train", "val", "test"):
        items = [one for one in found if one.source["split"] == split]
        wanted = truth[f"{split}_images"]
        assert [len(items), *(items[0].shape or ())[1:]] == wanted["shape"]
        assert {one.dtype for one in items} == {wanted["dtype"]}
        labels = [one.source["label"] for one in items]
        assert labels.count("0") == truth[f"{split}_labels"]["zeros"]
        assert labels.count("1") == truth[f"{split}_labels"]["ones"]
    tests = [load_pixels(one).array for one in found if one.source["split"] == "test"]
    stack = np.stack(tests)
    wanted = truth["test_images"]
    assert (stack.min(), stack.max()) == (wanted["min"], wanted["max"])
    assert stack.mean() == pytest.approx(wanted["mean"], abs=1e-4)
    shown = describe(read_file(path / "train" / "17"))
    assert (shown["kind"], shown["shape"], shown["error"]) == ("image", [1, 28, 28], None)


@pytest.mark.parametrize("packed", [False, True])
def test_one_item_is_read_without_the_others(tmp_path: Path, *, packed: bool) -> None:
    big = np.zeros((600, 256, 256), np.uint8)  # 39 MB
    big[:] = np.arange(600, dtype=np.uint16).astype(np.uint8)[:, None, None]
    path = tmp_path / "x.npz"
    (np.savez_compressed if packed else np.savez)(path, train_images=big)
    load_pixels(read_file(path / "train" / "0"))
    tracemalloc.start()
    try:
        for number in (599, 3, 300):
            got = load_pixels(read_file(path / "train" / str(number))).array
            assert got.min() == got.max() == number % 256
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_labels_that_are_objects_are_not_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    labels = np.array([Evil()] * 5, dtype=object)
    path = made(tmp_path / "x.npz", "grey", packed=False, train_labels=labels)
    evidence = read_file(path / "train" / "1")
    assert "label" not in evidence.source
    assert evidence.notes == ("its labels hold objects and are not read",)
    assert load_pixels(evidence).array.shape == (1, 28, 28)
    assert "run" not in capfd.readouterr().out


def test_objects_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    objects = np.array([Evil()], dtype=object)
    np.savez(tmp_path / "x.npz", train_images=objects)
    np.savez(tmp_path / "y.npz", a=objects, b=np.zeros((3, 4)))
    np.save(tmp_path / "z.npy", objects, allow_pickle=True)
    (tmp_path / "p.npy").write_bytes(pickle.dumps(Evil()))
    codes = {one.path.relative_to(tmp_path).as_posix(): one.error.code if one.error else None
             for one in find_evidence([tmp_path])}  # fmt: skip
    assert codes.pop("p.npy") == "damaged"  # a pickle is no array, whatever its name says
    assert codes == {"x.npz": "objects", "y.npz/a": "objects", "y.npz/b": None, "z.npy": "objects"}
    assert "run" not in capfd.readouterr().out


@pytest.mark.parametrize(("shape", "kind", "seen"), [
    ((20, 30), "i2", (1, 20, 30)), ((4, 20, 30), "f4", (4, 20, 30)),
    ((20, 30, 3), "u1", (1, 20, 30, 3)), ((2, 4, 20, 30), "u2", (4, 20, 30)),
    ((4, 20, 30, 3), "u1", (4, 20, 30, 3)),
])  # fmt: skip
@pytest.mark.parametrize("fortran", [False, True])
def test_plain_arrays(
    tmp_path: Path, shape: tuple[int, ...], kind: str, seen: tuple[int, ...], *, fortran: bool
) -> None:
    array = values(kind, shape)
    stored = np.asfortranarray(array) if fortran else array
    np.save(tmp_path / "a.npy", stored.astype(stored.dtype.newbyteorder(">")))
    np.savez_compressed(tmp_path / "b.npz", one=stored, two=stored[:1])
    for path in (tmp_path / "a.npy", tmp_path / "b.npz" / "one"):
        evidence = read_file(path)
        pixels = load_pixels(evidence)
        assert evidence.shape == pixels.array.shape == seen
        assert any("without spacing" in note for note in evidence.notes)
        got = pixels.array if pixels.times is None else pixels.times
        np.testing.assert_array_equal(got.reshape(shape), array)
        assert thumbnail(evidence, 8).shape[-1] == 3
    names = [one.path.name for one in find_evidence([tmp_path])]
    assert names == ["a.npy", "one", "two"]


def test_arrays_that_are_no_pictures(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", row=np.zeros(4), deep=np.zeros((2, 2, 2, 2, 2)), none=np.zeros(()),
             words=np.array(["a", "b"]), complex=np.zeros((3, 3), complex))  # fmt: skip
    kinds = {one.path.name: (one.kind, one.error and one.error.code)
             for one in find_evidence([tmp_path])}  # fmt: skip
    assert kinds == {
        "row": ("other", None), "deep": ("other", None), "none": ("other", None),
        "words": ("error", "unsupported"), "complex": ("error", "unsupported"),
    }  # fmt: skip


@pytest.mark.parametrize(("part", "code"), [
    ("train/5", "no_frame"), ("train/x", "missing"), ("train/-1", "missing"),
    ("train/1/2", "missing"), ("nothing", "missing"), ("train/99999999999", "missing"),
])  # fmt: skip
def test_parts_that_are_not_there(tmp_path: Path, part: str, code: str) -> None:
    path = made(tmp_path / "x.npz", "grey", packed=True)
    with pytest.raises(EvidenceError) as caught:
        read_file(path / part)
    assert caught.value.code == code


def header_of(shape: str, kind: str = "<u1") -> bytes:
    words = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    words += b" " * (118 - len(words)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words


@pytest.mark.parametrize(("shape", "code"), [
    ("(99999, 9999, 9999)", "truncated"), ("(100, 100)", "truncated"), ("(-3, 4)", "damaged"),
    ("(3, 4", "damaged"), ("__import__('os')", "damaged"),
])  # fmt: skip
def test_headers_that_lie(tmp_path: Path, shape: str, code: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(header_of(shape) + bytes(12))
    tracemalloc.start()
    try:
        with pytest.raises(EvidenceError) as caught:
            load_pixels(read_file(path))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert caught.value.code == code


def test_a_cut_set_is_an_error_and_a_bomb_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "x.npz", "grey", packed=True)
    path.write_bytes(path.read_bytes()[:-300])
    (evidence,) = find_evidence([path])
    assert evidence.error is not None
    assert evidence.error.code in {"truncated", "damaged"}
    np.savez_compressed(tmp_path / "b.npz", train_images=np.zeros((300, 100, 100), np.uint8))
    monkeypatch.setattr("engine.evidence.archives.inflate.FREE_BYTES", 1 << 20)
    (evidence,) = find_evidence([tmp_path / "b.npz"])
    assert evidence.error is not None
    assert evidence.error.code == "bomb"


def test_a_set_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = made(tmp_path / "x.npz", "grey", packed=True)
    first = medmnist.values_of(path / "test" / "1")
    path.unlink()
    made(path, "grey", packed=False, seed=50)
    assert not np.array_equal(first, medmnist.values_of(path / "test" / "1"))
    assert arrays.names(path)[0] == "train_images"
