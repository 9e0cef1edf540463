"""What a rater holds tells no model, gold, stratum, source or name; and the walk proves itself.

The walk reads raw bytes of every file (the write-ahead log and free pages too), every cell, every
picture. A secret planted in each channel must be found.
"""

from __future__ import annotations

import io
import logging
import shutil
import sqlite3
import zlib
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from db.ratings import ANSWERS
from db.session import STUDY_FILE, Store
from studies.preference.leaks import find_in_cells, find_words
from studies.preference.study import open_study
from tests.studies.preference_material import MODEL_A, SECRETS, small_study

WORD = MODEL_A


@pytest.fixture(scope="module")
def read_study(tmp_path_factory):
    """A study that is being read: built, half answered, with undone answers, still open."""
    caught = io.StringIO()
    handler = logging.StreamHandler(caught)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    built = small_study(tmp_path_factory.mktemp("blind"))
    study = open_study(built.path)
    session = study.session("Ann", specialty="radiology", years=9)
    shown = []
    for place in range(built.items // 2):
        shown.append(session.current())
        session.answer(ANSWERS[place % 4], item_id=shown[-1].item_id, answer_ms=900)
    session.undo()
    logging.getLogger().removeHandler(handler)
    logging.getLogger().setLevel(logging.WARNING)
    yield built, study, tuple(shown), caught.getvalue()
    study.close()


def test_nothing_that_a_rater_holds_tells_a_secret(read_study):
    built, *_ = read_study
    names = {path.name for path in built.path.iterdir()}
    assert {"study.sqlite", "study.sqlite-wal"} <= names, "the log of writes was not looked at"
    assert find_words(built.path, SECRETS) == ()


def test_nothing_that_is_shown_or_logged_tells_a_secret(read_study):
    _, study, shown, logged = read_study
    said = repr([asdict(one) for one in shown]) + repr(asdict(study.info())) + logged
    assert [word for word in SECRETS if word.casefold() in said.casefold()] == []


def test_what_a_rater_asks_for_counts_no_preference(read_study):
    _, study, shown, _ = read_study
    known = {"id", "title", "created_utc", "items", "auto_ties", "answered", "raters"}
    known |= {"unblinded", "hash", "path", "fault", "packs", "seat", "places", "practice", "seats"}
    assert set(asdict(study.info())) == known
    assert study.info().raters == (("Ann", len(shown) - 1),)
    [(name, done, places)] = study.info().seats  # names and counts, nothing else
    assert (name, done) == ("Ann", len(shown) - 1)
    assert places == study.info().places


def test_left_and_right_are_told_apart_by_nothing_but_their_place(read_study):
    """Equal kinds and numbers of panels; a shared candidate is the same panel on both sides."""
    _, _, shown, _ = read_study
    for one in shown:
        assert len(one.left) == len(one.right)
        assert {panel.kind for panel in one.left} == {panel.kind for panel in one.right}
        places = {panel.media_ids: panel for panel in one.left}
        assert all(panel == places.get(panel.media_ids, panel) for panel in one.right if
                   panel.media_ids)  # fmt: skip


def test_the_place_in_the_file_tells_no_side(tmp_path):
    """Over several studies the media of A's list lie before those of B's as often as after."""
    before = total = 0
    for number in range(4):
        built = small_study(tmp_path / str(number), seed=number)
        with open_study(built.path) as study, study.store.reading() as connection:
            rows = connection.exec_driver_sql("SELECT media_id, key, rowid FROM medium").all()
            order = {row[0]: row[1] for row in rows}
            assert all(row[1] == row[2] for row in rows), "a hidden row number follows insertion"
        with open_study(built.path) as study:
            session = study.session("Ann")
            while (now := session.current()) is not None:
                if now.left[0].media_ids and now.left[0] != now.right[0]:
                    first, second = (order[p[0].media_ids[0]] for p in (now.left, now.right))
                    before += first < second
                    total += 1
                session.answer("both")
    assert total > 30
    assert 0.15 < before / total < 0.85


# ------------------------------------------------------------------ the walk itself


@pytest.fixture
def copy(read_study, tmp_path) -> Path:
    """A closed copy of the study without its guards, to plant into."""
    built, *_ = read_study
    target = tmp_path / "copied"
    shutil.copytree(built.path, target)
    with closing(sqlite3.connect(target / "study.sqlite")) as raw:
        names = raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in names:
            raw.execute(f"DROP TRIGGER {name}")
        for table in ("pack", "seat", "returned"):
            _fill(raw, table)
        raw.commit()
    assert find_words(target, [WORD]) == ()
    return target


def _fill(raw: sqlite3.Connection, table: str) -> None:
    """One row in a table that a study being read has none in."""
    if raw.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]:
        return
    kinds = [row[2] for row in raw.execute(f'PRAGMA table_info("{table}")')]
    values = [1 if "INT" in kind else "none" for kind in kinds]
    raw.execute(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(kinds))})', values)


def columns(path: Path) -> list[tuple[str, str]]:
    with Store(path, kind=STUDY_FILE) as store, store.reading() as connection:
        tables = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'alembic%'"
        ).scalars()
        return [
            (table, row[1])
            for table in tables.all()
            for row in connection.exec_driver_sql(f'PRAGMA table_info("{table}")')
        ]


@pytest.mark.parametrize("form", ["plain", "UPPER", "json"])
def test_a_word_in_any_column_of_any_table_is_found(copy, tmp_path, form):
    empty = tmp_path / "empty.sqlite"
    listed = columns(empty)
    assert len(listed) > 50
    word = "Geheim\u00e4-" + WORD
    planted = {"plain": word, "UPPER": word.upper(), "json": f'{{"a": "Geheim\\u00e4-{WORD}"}}'}
    kinds = {"number", "position", "one", "swapped", "key", "entries", "years", "confidence"}
    kinds |= {"first_action_ms", "answer_ms", "idle_ms"}
    for table, column in listed:
        if column in kinds:
            continue
        folder = tmp_path / f"{table}-{column}"
        shutil.copytree(copy, folder)
        with closing(sqlite3.connect(folder / "study.sqlite")) as raw:
            raw.execute("PRAGMA foreign_keys = OFF")
            first = f'(SELECT min(rowid) FROM "{table}")'
            change = f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = {first}'
            assert raw.execute(change, (planted[form],)).rowcount == 1, (table, column)
            raw.commit()
        found = find_words(folder, [word])
        assert any(leak.place == f"study.sqlite, {table}.{column}" for leak in found)
        assert find_in_cells(folder / "study.sqlite", [word])
        shutil.rmtree(folder)


def test_a_word_in_the_write_ahead_log_is_found(copy):
    with closing(sqlite3.connect(copy / "study.sqlite")) as raw:
        raw.execute("PRAGMA wal_autocheckpoint = 0")
        raw.execute("UPDATE study SET title = ?", (WORD,))
        raw.commit()
        raw.execute("UPDATE study SET title = 'clean'")
        raw.commit()
        places = {leak.place for leak in find_words(copy, [WORD])}
        assert places == {"study.sqlite-wal"}


def test_a_word_in_a_free_page_is_found(copy):
    with closing(sqlite3.connect(copy / "study.sqlite")) as raw:
        raw.execute("PRAGMA secure_delete = OFF")
        raw.execute("CREATE TABLE scrap (said TEXT)")
        raw.execute("INSERT INTO scrap VALUES (?)", (WORD,))
        raw.commit()
        raw.execute("DROP TABLE scrap")
        raw.commit()
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert [leak.place for leak in find_words(copy, [WORD])] == ["study.sqlite"]


def test_what_a_store_deletes_is_overwritten(tmp_path):
    file = tmp_path / "study.sqlite"
    with Store(file, kind=STUDY_FILE) as store:
        with store.session() as connection:
            connection.exec_driver_sql("CREATE TABLE scrap (said TEXT)")
            connection.exec_driver_sql("INSERT INTO scrap VALUES (?)", (WORD,))
        with store.session() as connection:
            connection.exec_driver_sql("DROP TABLE scrap")
        store.checkpoint()
    assert find_words(tmp_path, [WORD]) == ()


def png_with(word: str, chunk: str) -> bytes:
    told, held = PngInfo(), io.BytesIO()
    if chunk == "tEXt":
        told.add_text("Comment", word)
    elif chunk == "zTXt":
        told.add_text("Comment", word, zip=True)
    elif chunk == "iTXt":
        told.add_itxt("Comment", word, zip=True)
    picture = Image.new("L", (4, 4))
    if chunk == "exif":
        exif = picture.getexif()
        exif[0x010E] = word
        picture.save(held, format="PNG", exif=exif)
    else:
        picture.save(held, format="PNG", pnginfo=told)
    return held.getvalue()


@pytest.mark.parametrize("chunk", ["tEXt", "zTXt", "iTXt", "exif", "volume", "after the end"])
def test_a_word_inside_a_picture_is_found(copy, chunk):
    content = {
        "volume": zlib.compress(b"\0" * 500 + WORD.encode() + b"\0" * 500),
        "after the end": png_with("", "tEXt") + WORD.encode(),
    }.get(chunk) or png_with(WORD, chunk)
    with closing(sqlite3.connect(copy / "study.sqlite")) as raw:
        raw.execute(
            "INSERT INTO medium (key, media_id, coding, shape, sha256, content)"
            " VALUES (1, 'x', 'png', '[4, 4]', '', ?)",
            (content,),
        )
        raw.commit()
    assert any("medium.content" in leak.place for leak in find_words(copy, [WORD]))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_word_in_any_other_file_is_found(copy, encoding):
    (copy / "thumbs.db").write_bytes(b"\1\2" + WORD.upper().encode(encoding) + b"\3")
    assert [leak.place for leak in find_words(copy, [WORD])] == ["thumbs.db"]


def test_a_word_in_a_name_is_found(copy):
    (copy / "sub").mkdir()
    (copy / "sub" / f"{WORD}.txt").write_bytes(b"")
    assert [leak.place for leak in find_words(copy, [WORD])] == [f"name of {WORD}.txt"]
    moved = copy.rename(copy.with_name(f"study of {WORD}"))
    assert len(find_words(moved, [WORD])) == 2


def test_a_word_in_the_schema_is_found(copy):
    with closing(sqlite3.connect(copy / "study.sqlite")) as raw:
        raw.execute(f'CREATE TABLE "scores of {WORD}" (a)')
        raw.commit()
    assert any("schema" in leak.place for leak in find_words(copy, [WORD]))
