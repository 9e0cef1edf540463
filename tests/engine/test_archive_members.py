"""Zip and tar archives as folders: names, methods, streams, threads, and agreement with zipfile."""

from __future__ import annotations

import gc
import gzip
import io
import random
import struct
import tarfile
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import archive, containers, inflate
from engine.evidence.digest import file_digest
from engine.evidence.item import ImageRef
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.pixels import thumbnail
from tests.engine.evidence_files import dicom, picture, ramp, slices

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)


def make(path: Path, content: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip archive with these members."""
    with zipfile.ZipFile(path, "w", method) as made:
        for name, value in content.items():
            made.writestr(name, value)
    return path


def names(path: Path) -> list[str]:
    return [one.relative_to(path).as_posix() for one in archive.members(path)]


def read(path: Path) -> bytes:
    with files.open_file(path) as stream:
        return stream.read()


def code_of(path: Path) -> str:
    with pytest.raises(EvidenceError) as caught:
        read(path)
    assert caught.value.reason.count(".") == 0
    assert ";" in caught.value.reason
    return caught.value.code


@pytest.mark.parametrize("method", METHODS)
def test_members_are_what_zipfile_finds(tmp_path: Path, method: int) -> None:
    chance = random.Random(method)
    content = {
        f"d{n % 3}/{n}.bin": chance.randbytes(chance.choice((0, 1, 900, 300_000)))
        + bytes(chance.choice((0, 70_000)))
        for n in range(24)
    }
    path = make(tmp_path / "a.zip", content, method=method)
    assert sorted(names(path)) == sorted(content)
    for name, value in content.items():
        assert read(path / name) == value
        assert files.facts_of(path / name).size == len(value)
        assert files.exists(path / name)
        with files.open_file(path / name) as stream:
            assert stream.seek(0, 2) == len(value)
            for _ in range(4):
                at = chance.randrange(len(value) + 2)
                stream.seek(at)
                assert stream.read(50) == value[at : at + 50]
    assert not files.exists(path / "d0" / "nothing")
    with pytest.raises(FileNotFoundError):
        files.open_file(path / "d0" / "nothing")


def test_streams_unpack_no_further_than_they_are_read(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {"large": random.Random(1).randbytes(4 << 20)})
    with files.open_file(path / "large") as stream:
        stream.read(352)
        assert stream.raw._made <= inflate.CHUNK  # type: ignore[attr-defined]
        stream.seek(0, 2)
        assert stream.raw._made <= inflate.CHUNK  # type: ignore[attr-defined]


def test_large_members_go_to_a_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inflate, "IN_MEMORY", 1 << 16)
    value = random.Random(2).randbytes(1 << 20)
    path = make(tmp_path / "a.zip", {"large": value})
    with files.open_file(path / "large") as stream:
        assert stream.read() == value
        assert stream.raw._store._rolled  # type: ignore[attr-defined]


def test_names_stay_inside_and_none_is_lost(tmp_path: Path) -> None:
    content = {
        "../../up.txt": b"1", "/root.txt": b"2", "C:\\disk\\file.txt": b"3",
        "back\\slash.txt": b"4", "./dot//twice.txt": b"5", "a:b.txt": b"6",
        "back/slash.txt": b"7", "line\nbreak": b"8",
    }  # fmt: skip
    path = make(tmp_path / "a.zip", content)
    found = {name: read(path / name) for name in names(path)}
    assert found == {
        "up.txt": b"1", "root.txt": b"2", "disk/file.txt": b"3", "back/slash.txt": b"4",
        "dot/twice.txt": b"5", "a_b.txt": b"6", "back/slash (2).txt": b"7", "line_break": b"8",
    }  # fmt: skip
    assert all(path in one.parents for one in archive.members(path))


def test_what_systems_leave_behind_and_folders_are_no_members(tmp_path: Path) -> None:
    content = {"__MACOSX/._a": b"1", ".hidden/a": b"1", "d/Thumbs.db": b"1", "d/": b"", "d/a": b"1"}
    assert names(make(tmp_path / "a.zip", content)) == ["d/a"]
    assert names(make(tmp_path / "empty.zip", {})) == []


def test_links_in_an_archive_are_not_followed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr(link, "/etc/passwd")
        made.writestr("plain", "x")
    assert names(tmp_path / "a.zip") == ["plain"]


@pytest.mark.parametrize(("raw", "shown"), [
    ("größe.txt".encode("cp437"), "größe.txt"), ("größe.txt".encode(), "größe.txt"),
    (b"\xe6\x97\xa5.txt", "日.txt"), (b"\xff\xfe.txt", "\xa0■.txt"),
])  # fmt: skip
def test_names_in_old_code_pages_and_in_unmarked_utf8(
    tmp_path: Path, raw: bytes, shown: str
) -> None:
    path = make(tmp_path / "a.zip", {"x" * len(raw): b"1"})
    path.write_bytes(path.read_bytes().replace(b"x" * len(raw), raw))
    assert names(path) == [shown]
    assert read(path / shown) == b"1"


def test_a_name_that_differs_by_case_only_is_found(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {"IMAGES/I10": b"1"})
    assert read(path / "images" / "i10") == b"1"


def test_zip64_and_bytes_before_the_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as made:
        with made.open("big", "w", force_zip64=True) as stream:
            stream.write(b"word" * 1000)
        made.writestr("small", b"s")
    whole = tmp_path / "self.zip"
    whole.write_bytes(b"MZ program" * 40 + (tmp_path / "a.zip").read_bytes())
    assert read(tmp_path / "a.zip" / "big") == b"word" * 1000
    with zipfile.ZipFile(whole) as peer:
        assert peer.read("small") == b"s"
    # not found by its first bytes, but readable where its name is given
    assert not archive.is_archive(whole.read_bytes()[:352])


def test_an_archive_in_an_archive_one_level(tmp_path: Path) -> None:
    inner = make(tmp_path / "inner.zip", {"deep/x": b"deep" * 500}).read_bytes()
    middle = make(tmp_path / "middle.zip", {"inner.zip": inner, "y": b"y"}).read_bytes()
    path = make(tmp_path / "outer.zip", {"middle.zip": middle, "z": b"z"})
    assert names(path) == ["middle.zip", "z"]
    assert names(path / "middle.zip") == ["inner.zip", "y"]
    assert read(path / "middle.zip" / "y") == b"y"
    with pytest.raises(EvidenceError) as caught:
        list(archive.members(path / "middle.zip" / "inner.zip"))
    assert caught.value.code == "nested"
    assert code_of(path / "middle.zip" / "inner.zip" / "deep" / "x") == "nested"


def test_few_inner_archives_are_kept_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inflate, "IN_MEMORY", 1000)  # so that each lies in a temporary folder
    folders: list[Path] = []
    real = tempfile.mkdtemp

    def noted() -> str:
        folders.append(Path(real()))
        return str(folders[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    content = {}
    for number in range(9):
        inner = make(tmp_path / "i.zip", {"x": random.Random(number).randbytes(3000)})
        content[f"{number}.zip"] = inner.read_bytes()
    path = make(tmp_path / "a.zip", content)
    for number in range(9):
        assert read(path / f"{number}.zip" / "x") == random.Random(number).randbytes(3000)
    gc.collect()
    assert len(folders) == 9
    assert sum(one.exists() for one in folders) <= containers.KEPT_UNPACKED


@pytest.mark.parametrize("first", [
    "[Content_Types].xml", "_rels/.rels", "META-INF/MANIFEST.MF", "mimetype", "train_images.npy",
])  # fmt: skip
def test_documents_programs_and_arrays_are_no_archives(tmp_path: Path, first: str) -> None:
    path = make(tmp_path / "a.zip", {first: b"x", "other": b"y"})
    assert not archive.is_archive(path.read_bytes()[:352])
    with pytest.raises(EvidenceError) as caught:
        list(archive.members(path))
    assert caught.value.code == "not_archive"


def test_a_document_in_another_order_is_no_archive(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {"xl/a.xml": b"x", "[Content_Types].xml": b"x"})
    with pytest.raises(EvidenceError) as caught:
        list(archive.members(path))
    assert caught.value.code == "not_archive"
    assert names(make(tmp_path / "b.zip", {"xl/slice": b"x"})) == ["xl/slice"]


def test_many_threads_read_one_archive(tmp_path: Path) -> None:
    content = {f"{n}.bin": random.Random(n).randbytes(40_000) for n in range(12)}
    path = make(tmp_path / "a.zip", content)
    wanted = [name for name in content for _ in range(6)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda name: read(path / name), wanted))
    assert got == [content[name] for name in wanted]


def test_the_archive_can_be_replaced_while_it_is_known(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {"x": b"first"})
    assert read(path / "x") == b"first"
    path.unlink()  # nothing holds it open
    make(path, {"x": b"second, longer"})
    assert read(path / "x") == b"second, longer"


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_archives(tmp_path: Path, mode: str) -> None:
    good = {"IMAGES/a": b"abc" * 900, "../up": b"u", "long/" + "n" * 160: b"l"}
    path = tmp_path / "a.tar"
    with tarfile.open(path, mode) as made:
        for name, value in good.items():
            info = tarfile.TarInfo(name)
            info.size = len(value)
            made.addfile(info, io.BytesIO(value))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    with files.open_file(path) as stream:
        assert archive.is_archive(stream.read(352))
    assert sorted(names(path)) == ["IMAGES/a", "long/" + "n" * 160, "up"]
    assert read(path / "IMAGES" / "a") == good["IMAGES/a"]
    assert read(path / "up") == b"u"


def test_gzip_files_are_read_unzipped(tmp_path: Path) -> None:
    plain = dicom(tmp_path / "a.dcm", ramp())
    grey = picture(tmp_path / "b.png", ramp())
    for whole in (plain, grey):
        zipped = tmp_path / f"z_{whole.name}.gz"
        zipped.write_bytes(gzip.compress(whole.read_bytes()))
        assert files.facts_of(zipped).size == whole.stat().st_size
        seen = read_file(zipped)
        np.testing.assert_array_equal(load_pixels(seen).array, load_pixels(read_file(whole)).array)
        assert thumbnail(ImageRef(zipped), 8).shape == thumbnail(ImageRef(whole), 8).shape
    several = tmp_path / "several.gz"
    several.write_bytes(gzip.compress(b"one") + gzip.compress(b"two") + b"\0\0")
    assert read(several) == gzip.decompress(gzip.compress(b"one") + gzip.compress(b"two"))
    assert files.facts_of(several).size == 6
    parts = dicom(tmp_path / "parts.dcm", ramp()).read_bytes()
    (tmp_path / "parts.dcm").write_bytes(gzip.compress(parts[:300]) + gzip.compress(parts[300:]))
    np.testing.assert_array_equal(
        load_pixels(read_file(tmp_path / "parts.dcm")).array[0], ramp()
    )  # fmt: skip
    with files.on_disk(several) as copy:
        assert copy.read_bytes() == b"onetwo"
    with files.on_disk(plain) as same:
        assert same == plain


def test_a_series_in_an_archive_is_the_series_on_disk(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    paths = slices(tmp_path / "disk", [3.0, 1.0, 2.0])
    picture(tmp_path / "disk" / "p.png", ramp())
    path = tmp_path / "disc.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for one in sorted((tmp_path / "disk").iterdir()):
            made.write(one, f"DICOM/{one.name}")
    on_disk = {one.kind: one for one in find_evidence([tmp_path / "disk"])}
    inside = {one.kind: one for one in find_evidence([path])}
    assert inside.keys() == on_disk.keys() == {"volume", "image"}
    assert [one.name for one in inside["volume"].members] == [
        one.name for one in on_disk["volume"].members
    ]
    for kind, one in inside.items():
        assert one.error is None
        np.testing.assert_array_equal(
            load_pixels(one).array, load_pixels(on_disk[kind]).array
        )  # fmt: skip
    assert file_digest(path / "DICOM" / paths[0].name) == file_digest(paths[0])


def test_a_header_and_its_data_in_an_archive(tmp_path: Path) -> None:
    values = np.arange(24, dtype="<i2").reshape(2, 3, 4)
    header = (
        "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nElementType = MET_SHORT\n"
        "TransformMatrix = 1 0 0 0 1 0 0 0 1\nElementDataFile = sub/x.raw\n"
    )
    path = make(tmp_path / "a.zip", {"v/x.mhd": header.encode(), "v/sub/x.raw": values.tobytes()})
    found = [one for one in find_evidence([path]) if one.path.name == "x.mhd"]
    assert [one.error for one in found] == [None]
    np.testing.assert_array_equal(load_pixels(found[0]).array, values)
    assert [one.name for one in found[0].members] == ["x.mhd", "x.raw"]


def test_paths_through_a_plain_file_are_no_files(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png", ramp())
    assert not files.exists(path / "inside")
    with pytest.raises(FileNotFoundError):
        files.open_file(path / "inside")
    assert files.split(path) == (path, ())
    with pytest.raises(FileNotFoundError):
        files.facts_of(tmp_path / "nothing")


def test_an_image_of_unknown_zip_method_is_named(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {"x": b"x" * 100}, method=zipfile.ZIP_LZMA)
    assert code_of(path / "x") == "unsupported"
    Image.fromarray(ramp()).save(tmp_path / "fine.png")
    kinds = sorted(one.kind for one in find_evidence([tmp_path]))
    assert kinds == ["error", "image"]


def test_encrypted_members_ask_for_help(tmp_path: Path) -> None:
    path = make(tmp_path / "a.zip", {"x": b"x" * 100, "y": b"y"})
    raw = bytearray(path.read_bytes())
    central = raw.index(b"PK\x01\x02")
    struct.pack_into("<H", raw, central + 8, 1)
    struct.pack_into("<H", raw, 6, 1)
    path.write_bytes(bytes(raw))
    assert code_of(path / "x") == "encrypted"
    assert read(path / "y") == b"y"
