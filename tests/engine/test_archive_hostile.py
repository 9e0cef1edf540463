"""Archives that lie, end early or blow up: an error in time, and bounded memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import archive, directory, inflate
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.study import Evidence
from tests.engine.evidence_files import picture, ramp
from tests.engine.test_archive_members import code_of, make, read

ZEROS = 3 << 20


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits a thousand times smaller, so that bombs stay small."""
    monkeypatch.setattr(inflate, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(inflate, "IN_MEMORY", 1 << 18)
    monkeypatch.setattr(directory, "FREE_TOTAL", 16 << 20)


def patched(path: Path, change: Callable[[bytearray, int, int], None]) -> Path:
    """The archive with its first central entry (and local header) changed."""
    raw = bytearray(path.read_bytes())
    change(raw, raw.index(b"PK\x01\x02"), 0)
    path.write_bytes(bytes(raw))
    return path


def listing_code(path: Path) -> str:
    with pytest.raises(EvidenceError) as caught:
        list(archive.members(path))
    (shown,) = find_evidence([path])
    assert shown.error is not None
    assert shown.error.code == caught.value.code
    return caught.value.code


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_member_that_grows_beyond_measure(tmp_path: Path, method: int) -> None:
    path = make(tmp_path / "a.zip", {"bomb": bytes(ZEROS), "fine": b"f"}, method=method)
    assert code_of(path / "bomb") == "bomb"
    assert read(path / "fine") == b"f"


@pytest.mark.usefixtures("small_limits")
def test_many_members_that_grow_together(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {f"{n}.txt": bytes(900_000) for n in range(20)})
    assert listing_code(path) == "bomb"


@pytest.mark.usefixtures("small_limits")
def test_gzip_that_grows_beyond_measure(tmp_path: Path) -> None:
    (tmp_path / "a.dcm").write_bytes(gzip.compress(bytes(ZEROS)))
    assert code_of(tmp_path / "a.dcm") == "bomb"


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_packed_tar_and_an_inner_archive_that_grow(tmp_path: Path, mode: str) -> None:
    with tarfile.open(tmp_path / "a.tgz", mode) as made:
        info = tarfile.TarInfo("x")
        info.size = ZEROS
        made.addfile(info, io.BytesIO(bytes(ZEROS)))
    with pytest.raises(EvidenceError) as caught:
        list(archive.members(tmp_path / "a.tgz"))
    assert caught.value.code == "bomb"
    inner = make(tmp_path / "i.zip", {"x": bytes(ZEROS)}, method=zipfile.ZIP_STORED).read_bytes()
    path = make(tmp_path / "o.zip", {"i.zip": inner})
    assert code_of(path / "i.zip" / "x") == "bomb"


def test_members_that_share_bytes(tmp_path: Path) -> None:
    """The overlapping kind: a directory of many entries over one body."""
    body = zlib.compress(bytes(100_000))[2:-4]
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(body), 100_000, 1, 0)
    entries = b"".join(
        struct.pack(
            "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, 0, len(body), 100_000, 1, 0, 0, 0,
            0, 0, 0,
        ) + bytes([65 + n])
        for n in range(20)
    )  # fmt: skip
    start = len(local) + 1 + len(body)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 20, 20, len(entries), start, 0)
    (tmp_path / "a.zip").write_bytes(local + b"A" + body + entries + end)
    assert listing_code(tmp_path / "a.zip") == "bomb"


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "LIMIT_MEMBERS", 50)
    path = make(tmp_path / "a.zip", {str(n): b"" for n in range(51)})
    assert listing_code(path) == "too_large"
    monkeypatch.setattr(directory, "DIRECTORY_BYTES", 100)
    path = make(tmp_path / "b.zip", {str(n): b"" for n in range(9)})
    assert listing_code(path) == "too_large"


def test_a_size_that_is_claimed_too_small_or_too_large(tmp_path: Path) -> None:
    content = random.Random(3).randbytes(50_000)
    for claim, code in ((49_000, "damaged"), (60_000, "truncated"), (1 << 29, "truncated")):
        path = make(tmp_path / f"{claim}.zip", {"x": content})
        patched(path, lambda raw, at, _, n=claim: struct.pack_into("<L", raw, at + 24, n))
        tracemalloc.start()
        try:
            assert code_of(path / "x") == code
            assert tracemalloc.get_traced_memory()[1] < 8 << 20
        finally:
            tracemalloc.stop()


def test_a_wrong_checksum_is_told_before_the_last_bytes(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {"x": b"words " * 5000})
    patched(path, lambda raw, at, _: struct.pack_into("<L", raw, at + 16, 1))
    assert code_of(path / "x") == "damaged"
    zipped = bytearray(gzip.compress(b"words " * 5000))
    zipped[-7] ^= 1
    (tmp_path / "a.gz").write_bytes(bytes(zipped))
    assert code_of(tmp_path / "a.gz") == "damaged"


@pytest.mark.parametrize("cut", [1, 30, 60, 400])
def test_archives_that_end_early(tmp_path: Path, cut: int) -> None:
    path = make(tmp_path / "a.zip", {f"{n}": random.Random(n).randbytes(200) for n in range(4)})
    path.write_bytes(path.read_bytes()[:-cut])
    assert listing_code(path) in {"truncated", "damaged"}
    (tmp_path / "a.gz").write_bytes(gzip.compress(random.Random(1).randbytes(3000))[:-cut])
    assert code_of(tmp_path / "a.gz") == "truncated"


def test_a_tar_that_claims_a_name_of_gigabytes(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 3 << 30
    path = tmp_path / "a.tar"
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    with pytest.raises(EvidenceError) as caught:
        list(archive.members(path))
    assert caught.value.code in {"bomb", "truncated"}


def test_memory_stays_small_while_a_large_member_is_read(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {"x": bytes(96 << 20)})
    tracemalloc.start()
    try:
        with files.open_file(path / "x") as stream:
            total = sum(len(piece) for piece in iter(lambda: stream.read(1 << 20), b""))
        assert total == 96 << 20
        # the part that is kept in memory, once more while it moves to the temporary file
        assert tracemalloc.get_traced_memory()[1] < 3 * inflate.IN_MEMORY
    finally:
        tracemalloc.stop()


def kind_when_shown(one: Evidence) -> str:
    try:
        load_pixels(one)
    except EvidenceError:
        return "error"
    return one.kind


def test_one_bad_archive_or_member_stops_nothing(tmp_path: Path) -> None:
    good = picture(tmp_path / "good.png", ramp()).read_bytes()
    grain = np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)
    noise = picture(tmp_path / "noise.png", grain).read_bytes()
    (tmp_path / "noise.png").unlink()
    make(tmp_path / "mixed.zip", {"a.png": good, "b.png": noise[:900], "c/d.png": good})
    (tmp_path / "cut.zip").write_bytes((tmp_path / "mixed.zip").read_bytes()[:-40])
    found = list(find_evidence([tmp_path]))
    kinds = {one.path.relative_to(tmp_path).as_posix(): kind_when_shown(one) for one in found}
    assert kinds == {
        "good.png": "image", "cut.zip": "error", "mixed.zip/a.png": "image",
        "mixed.zip/b.png": "error", "mixed.zip/c/d.png": "image",
    }  # fmt: skip


def test_bytes_changed_at_random_end_in_sentences(tmp_path: Path) -> None:
    whole = make(
        tmp_path / "whole.zip",
        {f"{n}.png": picture(tmp_path / "p.png", ramp(start=n)).read_bytes() for n in range(3)},
    ).read_bytes()
    chance = random.Random(7)
    seen: set[str] = set()
    for number in range(250):
        raw = bytearray(whole)
        for _ in range(chance.choice((1, 3, 12))):
            raw[chance.randrange(len(raw))] = chance.choice((0, 255, chance.randrange(256)))
        path = tmp_path / f"{number}.zip"
        path.write_bytes(bytes(raw))
        for one in find_evidence([path]):
            seen.add("fine" if one.error is None else one.error.code)
        path.unlink()
    assert {"fine", "damaged", "truncated"} <= seen


@pytest.mark.parametrize("name", ["a.bz2", "a.xz", "a.7z", "a.rar"])
def test_packed_files_that_are_not_opened_say_what_to_do(tmp_path: Path, name: str) -> None:
    packed = {
        "a.bz2": bz2.compress(b"x"), "a.xz": lzma.compress(b"x"),
        "a.7z": b"7z\xbc\xaf\x27\x1c" + bytes(40), "a.rar": b"Rar!\x1a\x07\x01\0" + bytes(40),
    }  # fmt: skip
    (tmp_path / name).write_bytes(packed[name])
    assert listing_code(tmp_path / name) == "unsupported"
