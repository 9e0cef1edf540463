"""Packs: one file for one rater, whole or refused, opened once and gone on with."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from db import packs as stored
from db import study_items
from db.errors import RatingRefused, StoreError
from studies.errors import BadPack, BadStudy
from studies.preference import ledger, pack_file, packs
from studies.preference.leaks import find_words
from studies.preference.pack_file import APPLICATION_ID, MARK, TRAILER
from studies.preference.packs import make_pack, open_pack, return_answers
from studies.preference.seating import reading_order
from studies.preference.study import list_studies, open_study
from studies.preference.unblind import unblind
from studies.preference.unfinished import KEEP_UNFINISHED_S
from studies.preference.verify import verify
from tests.studies.packs_on_disk import built, copied, laptop, pack_of, read
from tests.studies.preference_material import PASSPHRASE, SECRETS, small_study


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return built(tmp_path_factory.mktemp("packs"))


@pytest.fixture
def path(original, tmp_path):
    return copied(original, tmp_path)


@pytest.fixture(scope="module")
def sample(original, tmp_path_factory):
    """A pack that no test changes."""
    folder = tmp_path_factory.mktemp("sample")
    return pack_of(copied(original, folder), folder)


def sealed(content: bytes) -> bytes:
    """Bytes with the checksum that belongs to them."""
    return content + MARK + hashlib.sha256(content).digest()


def changed(sample, file, statement):
    """A pack with something changed in its tables, and a checksum that fits."""
    database = file.with_suffix(".sqlite")
    database.write_bytes(sample.read_bytes()[:-TRAILER])
    with closing(sqlite3.connect(database)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        triggers = [name for (name,) in names]
        made = [
            sql
            for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
        ]
        for name in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement)
        for sql in made:
            connection.execute(sql)
        connection.commit()
    file.write_bytes(sealed(database.read_bytes()))
    database.unlink()
    return file


def test_a_pack_holds_the_study_and_one_seat(path, tmp_path):
    file = pack_of(path, tmp_path / "stick")
    assert file.name == "Chest-2026-Ann-Lee.triptych"
    assert file.read_bytes()[68:72] == APPLICATION_ID.to_bytes(4, "big") == b"TRPY"
    opened = open_pack(laptop(tmp_path), file)
    assert verify(opened) == ()
    with open_study(opened) as study, open_study(path) as coordinator:
        assert study.row == coordinator.row
        assert study_items.items(study.store) == study_items.items(coordinator.store)
        assert [m.media_id for m in study_items.media(study.store)] == [
            m.media_id for m in study_items.media(coordinator.store)
        ]
        info = study.info()
        assert (info.seat, info.packs, info.answered) == ("Ann Lee", (), 0)
        assert stored.packs(study.store) == ()
        assert study_items.raters(study.store)[0].specialty == "chest"
        (state,) = coordinator.info().packs
        assert (state.rater, state.answered, state.returned_utc) == ("Ann Lee", 0, "")
        assert state.items == study.session("Ann Lee").total
        assert stored.seat_row(coordinator.store) is None
    assert not list(tmp_path.rglob("*.part"))
    assert [f.name for f in opened.parent.iterdir()] == [opened.name]
    assert not (opened / "key.sealed").exists()


def test_a_pack_tells_no_secret_and_no_other_rater(path, tmp_path):
    for name in ("Bob Veiled-Reader", "Ann Lee"):
        file = pack_of(path, tmp_path / "stick", name)
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(file, alone / "pack.sqlite")
    words = (*SECRETS, "Bob", "Veiled-Reader", str(path.parent.parent), path.parent.name)
    wanted = [word for word in words if word not in ("studies",)]
    assert find_words(alone, wanted) == ()
    opened = open_pack(laptop(tmp_path), file)
    read(opened, 3)
    back = return_answers(opened, alone)
    assert find_words(alone, wanted) == ()
    planted = changed(file, tmp_path / "planted.triptych", "UPDATE study SET title = 'hushgold'")
    shutil.copy(planted, alone / "planted.sqlite")
    assert {leak.word for leak in find_words(alone, wanted)} == {"hushgold"}
    assert back.suffix == ".triptych-answers"


def test_packs_of_two_raters_differ_in_the_seat_alone(path, tmp_path):
    sizes = {pack_of(path, tmp_path, name).stat().st_size for name in ("R1", "R2", "R3")}
    assert len(sizes) == 1


def test_opening_again_goes_on_where_the_rater_stopped(sample, tmp_path):
    home = laptop(tmp_path)
    opened = open_pack(home, sample)
    assert read(opened, 3) == 3
    assert open_pack(home, sample) == opened
    assert read(opened, 1) == 4
    assert [info.id for info in list_studies(home)] == [opened.name]
    elsewhere = shutil.copy(sample, tmp_path / "renamed.triptych")
    assert open_pack(home, elsewhere) == opened
    (opened / "pack.sha256").unlink()
    assert open_pack(home, sample) == opened
    assert read(opened, 0) == 4


def test_a_read_only_stick_is_enough(sample, tmp_path):
    stick = tmp_path / "stick"
    stick.mkdir()
    file = stick / "pack.triptych"
    shutil.copy(sample, file)
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    file.chmod(0o444)
    stick.chmod(0o555)
    try:
        assert read(open_pack(laptop(tmp_path), file), 2) == 2
        assert [entry.name for entry in stick.iterdir()] == ["pack.triptych"]
    finally:
        stick.chmod(0o755)
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_a_pack_opens_without_torch_and_without_the_data(sample, tmp_path):
    code = (
        "import sys; from pathlib import Path; from db.home import Home\n"
        "from studies.preference.packs import open_pack; "
        "from studies.preference.study import open_study\n"
        f"path = open_pack(Home(Path({str(tmp_path / 'h')!r})), Path({str(sample)!r}))\n"
        "with open_study(path) as study:\n"
        "    session = study.session('Ann Lee')\n"
        "    shown = session.current()\n"
        "    assert shown.media_ids or shown.query.text\n"
        "    [study.media(name) for name in shown.media_ids]\n"
        "    session.answer('left')\n"
        "heavy = {'torch', 'transformers', 'statsmodels', 'pandas', 'PySide6'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_pack_is_read_by_its_rater_alone(sample, tmp_path):
    opened = open_pack(laptop(tmp_path), sample)
    with open_study(opened) as study, pytest.raises(BadStudy, match="handed to Ann Lee"):
        study.session("Bob")
    with pytest.raises(BadStudy, match="rater's pack"):
        pack_of(opened, tmp_path / "again", "Bob")
    with pytest.raises(BadStudy, match="key"):
        unblind(opened, PASSPHRASE, "curious")


def test_a_rater_has_one_pack_and_one_place_to_read(path, tmp_path):
    file = pack_of(path, tmp_path)
    with pytest.raises(BadStudy, match="handed a pack"):
        make_pack(path, tmp_path / "other.triptych", rater=" Ann   Lee ")
    with pytest.raises(BadStudy, match="not overwritten"):
        make_pack(path, file, rater="Bob")
    with open_study(path) as study:
        with pytest.raises(BadStudy, match="reads there"):
            study.session("Ann Lee")
        study.session("Carl")
    with pytest.raises(BadStudy, match="reads in this study already"):
        make_pack(path, tmp_path / "carl.triptych", rater="Carl")
    with pytest.raises(BadStudy, match="needs a name"):
        make_pack(path, tmp_path / "nobody.triptych", rater="  ")
    assert not (tmp_path / "nobody.triptych").exists()
    assert verify(path) == ()


@pytest.mark.parametrize("other", ["ann lee", "ANN LEE", "\uff21nn Lee", "Ann\u200d Lee"])
def test_one_person_in_other_capitals_gets_no_second_pack(path, tmp_path, other):
    pack_of(path, tmp_path)
    with pytest.raises(BadStudy, match="Ann Lee, who is in this study already"):
        make_pack(path, tmp_path / "two.triptych", rater=other)
    read(path, 1, "Bob")
    with pytest.raises(BadStudy, match="bob and Bob, who is"):
        make_pack(path, tmp_path / "two.triptych", rater="bob")


def test_what_cannot_be_seen_is_no_part_of_a_name(path, tmp_path):
    make_pack(
        path, tmp_path / "one.triptych", rater="\u202e\x1b[31mAnn\u200b\nLee", display="\x1bA"
    )
    for nobody in ("\u200b", "\u200d \x07"):
        with pytest.raises(BadStudy, match="needs a name"):
            make_pack(path, tmp_path / "two.triptych", rater=nobody)
    with pytest.raises(BadStudy, match="Years"):
        make_pack(path, tmp_path / "two.triptych", rater="Bob", years=900)
    with open_study(open_pack(laptop(tmp_path), tmp_path / "one.triptych")) as study:
        (row,) = study_items.raters(study.store)
    assert (row.name, row.display) == ("[31mAnn Lee", "A")


def test_a_lost_pack_is_replaced_on_purpose(path, tmp_path):
    pack_of(path, tmp_path / "first")
    file = make_pack(path, tmp_path / "second.triptych", rater="Ann Lee", again=True)
    assert file.is_file()
    with open_study(path) as study:
        states = ledger.pack_states(study.store)
    assert sorted(state.replaced for state in states) == [False, True]
    assert verify(path) == ()


def test_only_one_pack_of_a_rater_is_valid_though_the_clock_was_set_back(
    path, tmp_path, monkeypatch
):
    for number, time in enumerate(("2026-02-02", "2026-01-01", "2026-01-15")):
        monkeypatch.setattr("studies.preference.packs.now_utc", lambda time=time: time)
        make_pack(path, tmp_path / f"{number}.triptych", rater="Ann Lee", again=number > 0)
    with open_study(path) as study:
        states = ledger.pack_states(study.store)
    assert {state.handed_utc: state.replaced for state in states} == {
        "2026-02-02": True, "2026-01-01": True, "2026-01-15": False
    }  # fmt: skip


def test_two_coordinators_at_once_make_one_pack_of_a_rater(path, tmp_path, monkeypatch):
    """The second decided before the first had written; then neither would be refused later."""
    decide = packs._refuse_pack

    def slower(*given, **named):
        decided = decide(*given, **named)
        monkeypatch.setattr(packs, "_refuse_pack", decide)
        pack_of(path, tmp_path / "quicker")
        return decided

    monkeypatch.setattr(packs, "_refuse_pack", slower)
    with pytest.raises(RatingRefused, match="Another window has just made a pack for Ann Lee"):
        pack_of(path, tmp_path / "slower")
    assert list((tmp_path / "slower").iterdir()) == []
    with open_study(path) as study:
        assert len(ledger.pack_states(study.store)) == 1
    assert verify(path) == ()


def test_an_unblinded_study_is_not_handed_out(path, tmp_path):
    unblind(path, PASSPHRASE, "done")
    with pytest.raises(RatingRefused, match="unblinded"):
        pack_of(path, tmp_path / "late")
    assert list((tmp_path / "late").iterdir()) == []


def test_a_full_or_missing_place_leaves_nothing_behind(path, tmp_path):
    with pytest.raises(StoreError, match="gone"):
        make_pack(path, tmp_path / "gone" / "pack.triptych", rater="Ann Lee")
    assert [f.name for f in path.parent.iterdir()] == [path.name]
    with open_study(path) as study:  # nor is a pack entered that nobody can have
        assert study.info().packs == ()


def test_a_full_laptop_is_named_and_not_the_stick(sample, tmp_path, monkeypatch):
    home = laptop(tmp_path)

    class Full(io.BytesIO):
        def write(self, _block: bytes) -> int:
            raise OSError(errno.ENOSPC, "no room")

    with pytest.raises(StoreError, match=f"No room is left on the disk of {home.studies}"):
        pack_file._copy(io.BytesIO(b"x" * 100), Full(), home.studies)
    usual = pack_file._copy
    monkeypatch.setattr(
        pack_file, "_copy", lambda source, _target, into, size: usual(source, Full(), into, size)
    )
    with pytest.raises(StoreError, match=f"No room is left on the disk of {home.studies}"):
        open_pack(home, sample)
    assert list(home.studies.iterdir()) == []


def test_what_a_kill_left_is_cleared_by_the_next_pack_of_another_day(sample, tmp_path):
    home = laptop(tmp_path)
    for name, age in ((".building-old", KEEP_UNFINISHED_S + 60), (".building-new", 0)):
        folder = home.studies / name
        folder.mkdir(parents=True)
        then = folder.stat().st_mtime - age
        os.utime(folder, (then, then))
    opened = open_pack(home, sample)
    assert {path.name for path in home.studies.iterdir()} == {".building-new", opened.name}


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda b: b[:-1], "not whole"),
        (lambda b: b[: len(b) // 2], "not whole"),
        (lambda b: b[:300], "not whole"),
        (lambda b: b + b"x", "not whole"),
        (lambda b: b"", "no pack"),
        (lambda b: b"PK\x03\x04" + b[4:], "no pack"),
        (lambda b: b[:68] + b"\0\0\0\0" + b[72:], "no pack"),
        (lambda b: b'{"format":"triptych-answers-1"}', "triptych study merge"),
        (lambda b: b[:-TRAILER] + b"triptych-pack-9\n" + b[-32:], "newer version"),
        (lambda b: b[:5000] + bytes([b[5000] ^ 1]) + b[5001:], "was altered"),
        (lambda b: b[:-1] + bytes([b[-1] ^ 1]), "was altered"),
    ],
)
def test_a_file_that_is_not_the_pack_is_refused_by_name(sample, tmp_path, spoil, told):
    file = tmp_path / "spoilt.triptych"
    file.write_bytes(spoil(sample.read_bytes()))
    home = laptop(tmp_path)
    with pytest.raises(BadPack, match=told) as caught:
        open_pack(home, file)
    assert "spoilt.triptych" in str(caught.value)
    assert not home.studies.exists() or list(home.studies.iterdir()) == []


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    for place in (tmp_path / "gone.triptych", tmp_path):
        with pytest.raises(BadPack, match="no file"):
            open_pack(laptop(tmp_path), place)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE study SET title = 'Other'", "frame"),
        ("UPDATE study SET order_seed = '77'", "frame"),
        ("UPDATE item SET prompt = 'Look left'", "altered"),
        ('UPDATE item SET "left" = "right", "right" = "left"', "altered"),
        ("DELETE FROM item WHERE item_id = (SELECT min(item_id) FROM item)", "removed"),
        ("UPDATE medium SET content = x'00'", "altered"),
        ("UPDATE presentation SET swapped = 1 - swapped", "order"),
        ("UPDATE presentation SET position = position + 1000", "order"),
        ("UPDATE seat SET rater = 'Bob'", "another rater"),
        ("UPDATE seat SET private_key = 'ab'", "sign"),
        ("UPDATE seat SET pack_id = '../../evil'", "names"),
        ("DELETE FROM seat", "nobody's"),
        ("UPDATE entry SET at_utc = '1999'", "altered"),
        ("DELETE FROM entry", "."),
        ("UPDATE study SET settings = '[]'", "."),
        ("UPDATE study SET settings = 'x'", "."),
        ("UPDATE alembic_version SET version_num = '9999'", "newer version"),
        ("CREATE TABLE more (a)", "no study that can be read"),
        (
            "CREATE TRIGGER more AFTER INSERT ON entry BEGIN SELECT 1; END",
            "no study that can be read",
        ),
        ("DROP INDEX ix_entry_place", "no study that can be read"),
        ("DELETE FROM study", "."),
    ],
)
def test_altered_contents_with_a_checksum_that_fits_are_refused(sample, tmp_path, statement, told):
    file = changed(sample, tmp_path / "spoilt.triptych", statement)
    home = laptop(tmp_path)
    with pytest.raises(BadPack, match=told) as caught:
        open_pack(home, file)
    assert "spoilt.triptych" in str(caught.value)
    assert list(home.studies.iterdir()) == []


def test_no_altered_byte_is_accepted(sample, tmp_path):
    content, rng = sample.read_bytes(), random.Random(7)
    file, home = tmp_path / "spoilt.triptych", laptop(tmp_path)
    for _ in range(600):
        spoilt = bytearray(content)
        for _ in range(rng.choice((1, 1, 2, 40))):
            spoilt[rng.randrange(len(spoilt))] ^= rng.randrange(1, 256)
        file.write_bytes(spoilt[: rng.choice((len(spoilt), len(spoilt), rng.randrange(900)))])
        with pytest.raises(BadPack):
            open_pack(home, file)
    assert list(home.studies.iterdir()) == []


def test_altered_bytes_with_a_checksum_that_fits_never_crash(sample, tmp_path):
    """What is let in then is equal in everything that is shown and hashed."""
    content, rng = sample.read_bytes()[:-TRAILER], random.Random(11)
    file, let_in = tmp_path / "spoilt.triptych", 0
    for turn in range(15):
        spoilt = bytearray(content)
        for _ in range(rng.choice((1, 3, 30))):
            spoilt[rng.randrange(100, len(spoilt))] ^= rng.randrange(1, 256)
        file.write_bytes(sealed(bytes(spoilt)))
        try:
            opened = open_pack(laptop(tmp_path / str(turn)), file)
        except BadPack:
            continue
        let_in += 1
        assert verify(opened) == ()
    assert let_in < 12


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no kill on this system")
def test_a_kill_while_a_pack_is_opened_leaves_no_half_study(sample, tmp_path):
    code = (
        "import os, signal; from pathlib import Path; from db.home import Home\n"
        "from studies.preference import packs\n"
        "packs.write_whole = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"packs.open_pack(Home(Path({str(tmp_path / 'laptop')!r})), Path({str(sample)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == -9
    home = laptop(tmp_path)
    assert list_studies(home) == ()
    opened = open_pack(home, sample)
    assert [info.path for info in list_studies(home)] == [opened]


def test_each_pack_counts_the_places_of_its_own_order(tmp_path):
    """Blocks shorter than the gap: by lot of the name one order has more repeats than another."""
    made = small_study(tmp_path, total=24, warmup=0, repeat_share=0.3, repeat_gap=11)
    names = [f"R{n}" for n in range(12)]
    for name in names:
        make_pack(made.path, tmp_path, rater=name)
    with open_study(made.path) as study:
        items = study_items.items(study.store)
        lengths = [len(reading_order(study.row, items, name)) for name in names]
        assert len(set(lengths)) > 1
        assert [pack.items for pack in study.info().packs] == lengths
