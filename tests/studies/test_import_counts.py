"""What an import says it added and left out is what the collection counts and the filter lists."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from db.collections import Filters, collections, count_items, items
from db.session import Store
from engine.control import Control
from engine.evidence.item import Item
from studies import walk
from studies.collection import Taken, import_paths
from studies.evidence_rows import item_of_row
from tests.engine.evidence_files import dicom, picture, ramp
from tests.shared import shared_path

LOST = Filters(failures="only")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "home.sqlite") as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "scans"
    made.mkdir()
    return made


def take(store: Store, root: Path) -> Taken:
    return import_paths(store, [root], "c", Control())


def agree(store: Store, taken: Taken) -> None:
    """The import, the collection and the filter, of a collection that was imported at once."""
    (row,) = collections(store)
    left = taken.reasons.total()
    assert (row.count, row.failures) == (taken.added, left)
    assert (count_items(store, "c"), count_items(store, "c", filters=LOST)) == (taken.added, left)
    lost = items(store, "c", limit=10_000, filters=LOST)
    assert sorted((str(one.path), one.error_message or "") for one in lost) == sorted(
        (told["path"], told["reason"]) for told in taken.left_out
    )
    for one in items(store, "c", limit=10_000):
        assert isinstance(item_of_row(one), Item), "what was added can be searched with"


def test_three_counts_of_many_kinds_agree(store: Store) -> None:
    agree(store, take(store, shared_path("data/files")))


def test_counts_agree_on_objects_without_picture_and_files_of_no_kind(
    store: Store, root: Path
) -> None:
    dicom(root / "plan.dcm", None, SOPClassUID="1.2.840.10008.5.1.4.1.1.481.5", Modality="RTPLAN")
    picture(root / "film.png", ramp())
    (root / "junk.bin").write_bytes(b"\x7fELF\0")
    taken = take(store, root)
    assert (taken.added, taken.reasons.total()) == (1, 2)
    agree(store, taken)


def test_a_folder_that_opens_later_is_no_longer_left_out(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture(root / "film.png", ramp())
    closed = root / "closed"
    closed.mkdir()
    picture(closed / "film.png", ramp(start=1))
    scan = os.scandir

    def refusing(place: str) -> object:
        if str(place) == str(closed):
            raise PermissionError(place)
        return scan(place)

    with monkeypatch.context() as patched:
        patched.setattr(walk.os, "scandir", refusing)
        taken = take(store, root)
        assert (taken.added, list(taken.reasons)) == (1, [walk.CLOSED])
        agree(store, taken)
        take(store, root)
        assert count_items(store, "c", filters=LOST) == 1, "told twice, kept once"
    assert take(store, root).added == 1
    assert (count_items(store, "c"), count_items(store, "c", filters=LOST)) == (2, 0)


def spoil(path: Path) -> None:
    """Turn over a byte in the middle of the picture's data."""
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    path.write_bytes(raw)


def test_pictures_that_cannot_be_decoded_are_left_out(store: Store, root: Path) -> None:
    noise = Image.effect_noise((200, 160), 60)
    for name in ("spoilt.png", "cut.png", "cut.jpg", "whole.png", "whole.jpg"):
        noise.save(root / name)
    spoil(root / "spoilt.png")
    for name in ("cut.png", "cut.jpg"):
        raw = (root / name).read_bytes()
        (root / name).write_bytes(raw[: len(raw) * 2 // 3])
    taken = take(store, root)
    assert {Path(row["path"]).name for row in taken.left_out} == {
        "spoilt.png", "cut.png", "cut.jpg"}  # fmt: skip
    agree(store, taken)


def test_a_sign_of_loss_alone_is_no_loss(store: Store, root: Path) -> None:
    """Bytes behind the end of a JPEG, and a wrong checksum of words, cost no picture."""
    noise = Image.effect_noise((40, 30), 60)
    noise.save(root / "more.jpg")
    with (root / "more.jpg").open("ab") as stream:
        stream.write(bytes(500))
    noise.save(root / "words.png")
    raw = (root / "words.png").read_bytes()
    words = b"tEXtComment\0x"
    chunk = (len(words) - 4).to_bytes(4, "big") + words + (zlib.crc32(words) ^ 1).to_bytes(4, "big")
    (root / "words.png").write_bytes(raw[:-12] + chunk + raw[-12:])
    taken = take(store, root)
    agree(store, taken)
    assert "more.jpg" in {one.path.name for one in items(store, "c")}


def test_of_everything_what_was_left_out_comes_last(store: Store, root: Path) -> None:
    (root / "a.bin").write_bytes(b"\x7fELF\0")
    (root / "b.dcm").write_bytes(b"")
    picture(root / "c.png", ramp())
    take(store, root)
    shown = items(store, "c", filters=Filters(failures="show"))
    assert [one.path.name for one in shown] == ["c.png", "a.bin", "b.dcm"]
    second = items(store, "c", offset=1, limit=1, filters=Filters(failures="show"))
    assert [one.path.name for one in second] == ["a.bin"]
