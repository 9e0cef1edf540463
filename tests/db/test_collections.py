"""Evidence in the store: what goes in comes out, filters, same patient, files done, old homes."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from db import collections, indexing
from db.collections import Filters
from db.errors import StoreError
from db.home import Home
from db.indexing import IndexedFile, add_evidence
from db.session import Store, open_store

TIME = 123_456_789_012_345_678


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(Home(tmp_path / "home with % and \u00e4")) as opened:
        collections.add_collection(opened, "c")
        yield opened


def evidence(path: str, *more: str, **changes: object) -> collections.NewEvidence:
    files = tuple(collections.FileRow(Path(one), 10, TIME) for one in (path, *more))
    plain = collections.NewEvidence(
        path=Path(path),
        files=files,
        kind="volume",
        form="3d",
        modality="CT",
        shape=(4, 8, 8),
        details={"spacing_mm": [5.0, 0.7, 0.7], "notes": ["gap"]},
    )
    return dataclasses.replace(plain, **changes)


def names(store: Store, **filters: object) -> list[str]:
    return [row.path.name for row in collections.items(store, "c", filters=Filters(**filters))]


def test_evidence_comes_back_whole(store: Store) -> None:
    rows = [
        evidence("/a/one", body_part="CHEST", subject="p", study="s", series="r", day=70,
                 warnings=("burned_in_text", "head"), times=3, laterality="L", view="MLO"),
        evidence("/a/two", kind="report", form="text", text="Small EFFUSION, 5 % left"),
        evidence("/a/bad", kind="error", error_code="truncated", error_message="ends early"),
        evidence("/a/junk", kind="other", error_code="not_evidence", error_message="no evidence"),
    ]  # fmt: skip
    ids = add_evidence(store, "c", rows)
    found = collections.items(store, "c", filters=Filters(failures="show"))
    assert [row.id for row in found] == list(ids)
    facts = [field.name for field in dataclasses.fields(collections.NewEvidence)]
    for given, stored in zip(rows, found, strict=True):
        for name in facts:
            assert getattr(stored, name) == getattr(given, name), name
    assert collections.item(store, ids[0]) == found[0]
    (row,) = collections.collections(store)
    assert (row.name, row.count, row.failures) == ("c", 2, 2)


def test_filters_page_and_count(store: Store) -> None:
    add_evidence(store, "c", [evidence(f"/x/{n}") for n in range(7)])
    add_evidence(store, "c", [evidence("/y/r", form="text", kind="report", text="left clear 5 %",
                                       modality=None)])  # fmt: skip
    page = collections.items(store, "c", offset=5, limit=2)
    assert [row.path.name for row in page] == ["5", "6"]
    assert names(store, words="CLEAR left") == ["r"]
    assert collections.count_items(store, "c", filters=Filters(form="3d")) == 7
    assert collections.count_items(store, "c", filters=Filters(words="5 %")) == 1
    assert collections.count_items(store, "c", filters=Filters(failures="only")) == 0


def test_filters_by_body_part_and_their_offers(store: Store) -> None:
    add_evidence(store, "c", [
        evidence("/x/1", body_part="CHEST"),
        evidence("/x/2", body_part="HEAD", modality="MR"),
        evidence("/x/3", body_part="HEAD"),
        evidence("/x/4", body_part="KNEE", kind="error", error_code="damaged"),
    ])  # fmt: skip
    assert names(store, body_part="HEAD") == ["2", "3"]
    assert names(store, body_part="HEAD", modality="MR") == ["2"]
    offered = collections.facets(store, "c")
    assert offered.modalities == (("CT", 2), ("MR", 1))
    assert offered.body_parts == (("CHEST", 1), ("HEAD", 2)), "what is left out offers nothing"


def test_a_report_is_its_own_or_of_the_study_or_beside_the_picture(store: Store) -> None:
    add_evidence(store, "c", [
        evidence("/a/ct", study="s1"),
        evidence("/elsewhere/sr", kind="report", text="Clear.", study="s1"),
        evidence("/b/film"),
        evidence("/b/report.txt", kind="report", text="Fracture."),
        evidence("/d/other", study="s2"),
        evidence("/d/theirs", kind="report", text="Of another study.", study="s3"),
        evidence("/d/unnamed"),
        evidence("/e/empty", text=""),
    ])  # fmt: skip
    having = ["ct", "sr", "film", "report.txt", "theirs", "unnamed"]
    assert names(store, report=True) == having
    assert names(store, report=False) == ["other", "empty"]
    assert [row.path.name for row in collections.items(store, "c") if row.has_report] == having


def test_the_report_of_a_picture_is_the_one_that_is_sure(store: Store) -> None:
    ids = add_evidence(store, "c", [
        evidence("/a/ct", study="s1"),
        evidence("/elsewhere/sr", kind="report", text="Of the study.", study="s1"),
        evidence("/a/note.txt", kind="report", text="Beside it."),
        evidence("/b/film"),
        evidence("/b/report.txt", kind="report", text="Alone beside it."),
        evidence("/c/film"),
        evidence("/c/1.txt", kind="report", text="One."),
        evidence("/c/2.txt", kind="report", text="Two."),
        evidence("/d/film", study="s2"),
        evidence("/d/theirs", kind="report", text="Of another.", study="s3"),
    ])  # fmt: skip
    found = [collections.report_of(store, ids[number]) for number in (0, 3, 5, 8)]
    assert [row and row.text for row in found] == ["Of the study.", "Alone beside it.", None, None]


def test_the_same_patient_is_found_by_token_alone(store: Store) -> None:
    collections.add_collection(store, "other")
    add_evidence(store, "other", [evidence("/z/1", subject="p", study="s1")])
    ids = add_evidence(store, "c", [
        evidence("/a/1", subject="p", study="s1", day=40),
        evidence("/a/2", subject="p", study="s2", day=30),
        evidence("/a/3", subject="p", study="s2", day=20),
        evidence("/a/4", subject="p", study="s1", day=40),
        evidence("/a/5", subject="q", study="s9"),
        evidence("/a/6", study="s1"),
        evidence("/a/7"),
    ])  # fmt: skip
    found = [row.path.name for row in collections.related(store, ids[0])]
    assert found == ["6", "4", "3", "2"], "the same study first, then by day"
    assert collections.related(store, ids[6]) == ()
    assert collections.related(store, 999) == ()
    assert names(store, subject="p") == ["1", "2", "3", "4"]
    counted = collections.patient_counts(store, "c", ["p", "q", None, "nobody"])
    assert counted == {"p": 4, "q": 1}


def test_a_page_can_do_with_the_middle_file_of_each(store: Store) -> None:
    add_evidence(store, "c", [evidence("/s/0", "/s/1", "/s/2", "/s/3", "/s/4"), evidence("/s/x")])
    rows = collections.items(store, "c", files="middle")
    assert [[file.path.name for file in row.files] for row in rows] == [["2"], ["x"]]
    assert [row.file_count for row in rows] == [5, 1]


def test_many_rows_need_no_many_values_in_one_question(store: Store) -> None:
    many = 33_000  # more than SQLite takes as values of one statement
    rows = [evidence(f"/x.npz/train/{n}", text="", shape=None, details={}) for n in range(many)]
    add_evidence(store, "c", rows)
    assert len(collections.items(store, "c", limit=many)) == many
    add_evidence(store, "c", [], read=["/x.npz"])
    assert collections.count_items(store, "c") == 0


def test_new_rows_take_the_place_of_the_old_of_the_same_files(store: Store) -> None:
    add_evidence(store, "c", [evidence("/x/1"), evidence("/x/2", "/x/3")])
    add_evidence(store, "c", [evidence("/x/1", modality="MR"), evidence("/x/3")])
    rows = collections.items(store, "c")
    assert [(row.path.name, row.modality) for row in rows] == [("1", "MR"), ("3", "CT")]


@pytest.mark.parametrize("mark", ["/", "\\"])
def test_what_lies_in_a_container_goes_with_it(store: Store, mark: str) -> None:
    inside = [evidence(f"/x/a.zip{mark}{name}") for name in ("1", "deep", "z")]
    beside = [evidence("/x/a.zip.txt"), evidence("/x/a.zi"), evidence("/x/a.zipper/1")]
    add_evidence(store, "c", inside + beside)
    add_evidence(store, "c", [], read=["/x/a.zip"])
    assert [row.path for row in collections.items(store, "c")] == [row.path for row in beside]


def test_two_objects_of_one_file_are_both_kept(store: Store) -> None:
    ids = add_evidence(store, "c", [evidence("/x/1"), evidence("/x/1", modality="SR")])
    assert [row.id for row in collections.items(store, "c")] == list(ids)


def test_files_that_were_read_are_known_until_they_or_the_reader_change(store: Store) -> None:
    done = [IndexedFile("/x", "1", 10, TIME), IndexedFile("/x", "2", 20, TIME)]
    add_evidence(store, "c", [evidence("/x/1")], done=done, reader=3)
    assert indexing.known_files(store, "c", ["/x", "/y"], reader=3) == {
        "/x": {"1": (10, TIME), "2": (20, TIME)}
    }
    assert indexing.known_files(store, "c", ["/x"], reader=4) == {}
    assert indexing.known_files(store, "nowhere", ["/x"], reader=3) == {}
    add_evidence(store, "c", [], done=[IndexedFile("/x", "1", 11, TIME)], gone=done[1:], reader=3)
    assert indexing.known_files(store, "c", ["/x"], reader=3) == {"/x": {"1": (11, TIME)}}


def test_a_file_that_is_gone_takes_its_object_along(store: Store) -> None:
    add_evidence(store, "c", [evidence("/x/1"), evidence("/x/2", "/x/3")])
    add_evidence(store, "c", [], gone=[IndexedFile("/x", "3", 1, 1)])
    assert names(store) == ["1"]


def test_kin_are_found_by_file_and_by_series(store: Store) -> None:
    add_evidence(store, "c", [
        evidence("/x/1", "/x/2", series="r"), evidence("/x/3", series="r"),
        evidence("/x/4", series="q"), evidence("/y/5", series="r"),
    ])  # fmt: skip
    assert indexing.siblings(store, "c", ["/x/2", "/x/4", "/gone"]) == {"/x/1", "/x/2", "/x/4"}
    found = indexing.series_files(store, "c", ["/x", "/z"], ["r", "nothing"])
    assert found == {"r": {"/x/1", "/x/2", "/x/3"}}


def test_a_removed_collection_takes_its_rows_along(store: Store) -> None:
    add_evidence(store, "c", [evidence("/x/1")], done=[IndexedFile("/x", "1", 1, 1)], reader=1)
    collections.remove_collection(store, "c")
    assert collections.collections(store) == ()
    assert indexing.known_files(store, "c", ["/x"], reader=1) == {}
    with pytest.raises(StoreError, match="no collection 'c'"):
        add_evidence(store, "c", [evidence("/x/1")])


OLD_ROWS = r"""
INSERT INTO evidence VALUES(7,1,'/d/ct','/d/ct/1.dcm','volume','3d','CT','[2, 8, 8]','tok',NULL,
 NULL,NULL,NULL,'{"body_part": "CHEST", "times": 2, "source": {"format": "DICOM"}}','t');
INSERT INTO evidence_file VALUES(7,0,'/d/ct/1.dcm',10,20),(7,1,'/d/ct/2.dcm',10,20);
INSERT INTO evidence VALUES(8,1,'/d/x.raw','/d/x.raw','other',NULL,NULL,NULL,NULL,NULL,NULL,NULL,
 NULL,'{"companion": true}','t');
INSERT INTO evidence VALUES(9,1,'D:\d\x.bin','D:\d\x.bin','other',NULL,NULL,NULL,NULL,NULL,NULL,
 NULL,NULL,'{"source": {"object": "unknown file"}}','t');
"""


def test_a_home_of_the_version_before_is_read_again_by_the_next_import(tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"
    dump = Path(__file__).parent / "versions" / "home_0001.sql"
    with closing(sqlite3.connect(file)) as raw:
        raw.executescript(dump.read_text("utf-8") + OLD_ROWS)
    with Store(file) as store:
        rows = {row.id: row for row in collections.items(store, "Chest")}
        assert set(rows) == {1, 7}, "the mark of a data file beside its header is gone"
        assert (rows[7].body_part, rows[7].times, rows[7].file_count) == ("CHEST", 2, 2)
        assert rows[7].subject == "tok"
        (lost,) = collections.items(store, "Chest", filters=Filters(failures="only"))
        assert lost.error_code == "not_evidence"
        with store.reading() as connection:
            folders = connection.execute(text("SELECT folder FROM evidence ORDER BY id")).scalars()
            assert list(folders) == ["/data", "/d/ct", "D:\\d"]
        assert indexing.known_files(store, "Chest", ["/d/ct", "/data"], reader=1) == {}
