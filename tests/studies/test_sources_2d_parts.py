"""What flat sources share: tables by column name, copies by content, arrays that are refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EvidenceError
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_cards
from studies.medheb.sources import arrays, tables
from studies.medheb.sources.copies import same_bytes
from studies.medheb.tasks import load_tasks

MINE = (
    "lc25000", "rfmid", "aptos2019", "mimic_cxr_lt", "isic2019", "brain_tumor_mri", "pannuke",
    "bloodmnist", "chestmnist", "dermamnist", "octmnist", "organamnist", "organcmnist",
    "organsmnist", "pathmnist", "tissuemnist",
)  # fmt: skip


def test_every_flat_source_with_classes_has_a_card_that_feeds_all_its_tasks():
    cards = {card.id: card for card in source_cards()}
    sources = {*MINE, "pannuke_vg"}
    wanted = {task.id for task in load_tasks() if task.source in sources}
    assert {plan.task for name in MINE for plan in cards[name].plans} == wanted
    assert len(wanted) == 7 * 3 - 1 + 9 * 3
    for name in MINE:
        card = cards[name]
        assert len(set(card.labels)) == len(card.labels) > 3
        assert card.settings, "open facts are settings"
        assert settle(card, {}) | {one.name: one.default for one in card.settings} == settle(
            card, {}
        )


def test_marks_blanks_gzip_and_ragged_rows_are_taken_in_stride(tmp_path: Path):
    path = tmp_path / "table.csv"
    text = '\ufeff ID , a b,"c"\r\n 1 , x ,"two\r\nlines"\r\n\r\n2,y\r\n3,z,w,more,and more\r\n'
    path.write_bytes(text.encode("utf-8"))
    rows = tables.read_table(path, ("ID", "a b", "c"))
    assert rows == [
        (3, {"ID": "1", "a b": "x", "c": "two\r\nlines"}),
        (5, {"ID": "2", "a b": "y", "c": ""}),
        (6, {"ID": "3", "a b": "z", "c": "w"}),
    ]
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert tables.read_table(packed) == rows


def test_tables_that_are_none_are_refused_in_words(tmp_path: Path):
    path = tmp_path / "table.csv"
    for content, says in (
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS pointer"),
        (b"ID,a\n1,\xff\xfe\n", "UTF-8"),
        (b"id,a\n1,2\n", "no column ID"),
        (b"", "no column ID"),
        (b'ID,a\n1,"2"3\n', "comma-separated"),
    ):
        path.write_bytes(content)
        with pytest.raises(EvidenceError, match=says):
            tables.read_table(path, ("ID",))
    with pytest.raises(EvidenceError, match="cannot be read"):
        tables.read_table(tmp_path / "nothing.csv")


def test_cells_of_ones_and_zeros():
    assert [tables.is_one(cell) for cell in ("1", "1.0", "0", "0.0", "")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    for cell in ("-1", "0.5", "nan"):
        with pytest.raises(ValueError, match="neither"):
            tables.is_one(cell)
    with pytest.raises(ValueError):
        tables.is_one("yes")


def test_copies_are_found_by_content_not_by_size(tmp_path: Path):
    contents = {"a": b"same", "b": b"same", "c": b"else", "d": b"longer"}
    paths = {name: tmp_path / name for name in contents}
    for name, content in contents.items():
        paths[name].write_bytes(content)
    found = same_bytes([*paths.values(), tmp_path / "gone"])
    assert set(found) == {paths["a"], paths["b"]}
    assert len(set(found.values())) == 1


def test_arrays_of_objects_and_pieces_of_arrays_are_refused(tmp_path: Path):
    path = tmp_path / "x.npy"
    np.save(path, np.array([{"a": 1}], dtype=object))
    with pytest.raises(EvidenceError, match="no array of numbers"):
        arrays.map_npy(path)
    np.save(path, np.zeros((40, 40)))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(EvidenceError, match="no array of numbers"):
        arrays.map_npy(path)
    with pytest.raises(EvidenceError, match="cannot be read"):
        arrays.npz_part(path, "x")
