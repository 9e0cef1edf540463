"""Readers of a shared study, a login each: they sit down, go on, verify and see no other."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from db import study_items
from db.chain import append
from db.errors import LoginRefused, NotWritable, RatingRefused, ServerGone
from db.server_own import _FOLDED as FOLDED
from db.server_rights import logins_of
from db.session import open_study_store
from db.study_items import RaterRow
from studies import cli
from studies.errors import BadAnswers, BadRequest, BadStudy
from studies.preference.ledger import whole_log
from studies.preference.merge import merge
from studies.preference.seating import folded
from studies.preference.share import Shared, close_shared, share
from studies.preference.share import logins_of as pairs_of
from studies.preference.study import open_study
from studies.preference.verify import remarks, verify
from tests.db.studies import on_server
from tests.postgres import Server
from tests.studies.killing import Seen, kill_many
from tests.studies.plain_study import plain_study


@pytest.fixture(scope="module")
def logins(server: Server) -> str:
    """A group with three logins, and one login that it has in common with nobody."""
    with closing(on_server(server.study(), autocommit=True)) as raw:
        raw.execute("CREATE ROLE reading_room")
        for login in ("lea", "max_", "eve"):
            raw.execute(f"CREATE ROLE {login} LOGIN IN ROLE reading_room")
    return "reading_room"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return plain_study(tmp_path, 6)


def of(shared: Shared, login: str) -> str:
    return shared.raters_url.replace("LOGIN@", f"{login}@")


def read_on(url: str, name: str, count: int) -> int:
    with open_study(url) as study:
        session = study.session(name)
        for _ in range(count):
            session.answer("both")
        return session.answered


def test_each_reads_and_goes_on_under_the_own_name_alone(path, server, logins):
    made = share(path, server.database, role=logins)
    assert made.own_logins
    assert "shown its own answers" in made.privacy
    assert "which login writes at what time" in made.privacy
    assert "answer in each other's names" in made.privacy
    lea, max_, eve = (of(made, login) for login in ("lea", "max_", "eve"))
    assert [read_on(lea, "Lea", 3), read_on(max_, "Max", 2), read_on(lea, "Lea", 1)] == [3, 2, 4]
    with open_study(lea) as study:
        assert [study.known_rater(name) for name in ("Lea", "Max")] == [True, False]
        assert study.info().raters == (("Lea", 4),)
        for name in ("Max", "MAX", "Ｍax"):
            with pytest.raises(RatingRefused, match="another login of the server"):
                study.session(name)
        with pytest.raises(BadStudy, match="capitals"):
            study.session("LEA")
    with pytest.raises(RatingRefused, match="another login"):
        read_on(eve, "Lea", 1)
    with open_study(eve) as study:
        assert study.info().raters == ()
    (merged,) = merge(path, [made.url])
    assert (merged.rater, merged.answers) == ("Lea, Max", 6)
    assert "one login" not in merged.sentence
    assert verify(path) == verify(made.url) == ()
    assert not any("login" in told for told in remarks(made.url))


def test_two_windows_and_a_line_that_breaks_keep_each_answer_once(
    path, server, logins, monkeypatch
):
    made = share(path, server.database, role=logins)
    url = of(made, "lea")
    with open_study(url) as one, open_study(url) as two:
        first, second = one.session("Lea"), two.session("Lea")
        first.answer("both")
        with pytest.raises(RatingRefused, match="has its answer"):
            second.answer("left")
        second.undo()
        second.answer("right")
        first.refresh()
        assert first.answered == 1
        kept = first.store.session

        def cut():
            monkeypatch.setattr(first.store, "session", kept)
            with kept() as connection:
                yield connection
            raise ServerGone("after the commit")

        monkeypatch.setattr(first.store, "session", contextmanager(cut))
        with pytest.raises(ServerGone):
            first.answer("neither")
        assert first.answered == 1
        first.answer("neither")
        assert first.answered == 2
    assert verify(made.url) == ()


def test_a_reader_verifies_what_is_shown_and_is_told_how_much_that_is(path, server, logins):
    made = share(path, server.database, role=logins)
    read_on(of(made, "lea"), "Lea", 2)
    read_on(of(made, "max_"), "Max", 1)
    assert verify(of(made, "lea")) == ()
    assert any(
        told.startswith("This login is shown its own 3 of the 5 entries")
        for told in remarks(of(made, "lea"))
    )
    with pytest.raises(BadAnswers, match="shown its own answers only"):
        merge(path, [of(made, "lea")])


def test_one_who_reads_without_the_program_spoils_nothing_of_the_others(path, server, logins):
    made = share(path, server.database, role=logins)
    read_on(of(made, "lea"), "Lea", 3)
    with open_study(of(made, "eve")) as study:
        session = study.session("Eve")
        shown = session.current()
        session.answer("left")
        twice = {"action": "answer", "rater": "Eve", "session_id": session.session_id,
                 "position": 1, "item_id": shown.item_id, "kind": shown.kind,
                 "answer": "right"}  # fmt: skip
        with study.store.session() as connection:
            append(connection, twice)
    with open_study_store(of(made, "max_")) as store:
        study_items.add_rater(store, RaterRow("Max"), [(shown.item_id, "item", False)], "x")
    read_on(of(made, "lea"), "Lea", 1)
    (merged,) = merge(path, [made.url])
    assert merged.state == "merged"
    assert re.search(r"Eve is not counted: Entry \d+ of the log answers an item", merged.sentence)
    assert "Max is not counted: The order of Max is not" in merged.sentence
    assert "who read this study elsewhere" not in merged.sentence
    assert "the pack" not in merged.sentence
    with open_study(path) as study:
        assert study.info().raters == (("Lea", 4),)
        assert {row.rater for row in whole_log(study.store).entries if row.rater} == {"Lea"}
    assert verify(path) == ()
    assert sum("is not counted" in told for told in remarks(path)) == 2
    read_on(of(made, "lea"), "Lea", 1)
    assert merge(path, [made.url])[0].state == "merged"


def test_readers_at_once_and_one_who_is_killed_leave_a_whole_chain(path, server, logins):
    made = share(path, server.database, role=logins)
    seen = Seen()

    def read(login: str) -> None:
        assert read_on(of(made, login), login.upper(), 5) == 5

    with ThreadPoolExecutor(3) as pool:
        others = [pool.submit(read, login) for login in ("max_", "eve")]
        kill_many(of(made, "lea"), 4, 9, seen)
        for other in others:
            other.result()
    assert seen.kills == 4
    assert verify(made.url) == verify(of(made, "eve")) == ()
    with open_study_store(made.url) as store:
        assert {logins_of(store)[row.name] for row in study_items.raters(store)} >= {"max_", "eve"}


def test_a_closed_study_says_so_to_every_reader(path, server, logins):
    made = share(path, server.database, role=logins)
    read_on(of(made, "lea"), "Lea", 1)
    with open_study(path) as study:
        assert close_shared(study.store) == ()
    for login, name in (("lea", "Lea"), ("max_", "Max")):
        with pytest.raises(RatingRefused, match="unblinded"):
            read_on(of(made, login), name, 1)
        assert verify(of(made, login)) == ()


def test_handing_out_again_gives_the_rights_of_today(path, server, logins):
    made = share(path, server.database)
    assert not made.own_logins
    assert made.raters_url == made.url
    assert "each can read the others' answers and even change them" in made.privacy
    read_on(made.url, "Lea", 2)
    with pytest.raises(BadStudy, match="shared at"):
        share(path, server.database)
    with pytest.raises(NotWritable):
        open_study(made.url.replace("//triptych@", "//lea@"))
    with pytest.raises(LoginRefused, match="Lea sat down before"):
        share(path, server.database, role=logins)
    again = share(path, server.database, role=logins, logins={" Lea ": "lea"})
    assert (again.url, again.pack_id, again.own_logins) == (made.url, made.pack_id, True)
    assert read_on(of(again, "lea"), "Lea", 1) == 3
    with open_study_store(made.url) as store:
        assert logins_of(store) == {"Lea": "lea"}
    with pytest.raises(BadRequest, match="say with --role"):
        share(path, server.database, logins={"Lea": "lea"})


def test_the_commands_say_who_sees_what(path, server, logins, tmp_path):
    home = tmp_path / "home"
    (home / "studies").mkdir(parents=True)
    path.rename(home / "studies" / path.name)

    def said(*words: str) -> str:
        done = CliRunner().invoke(cli.app, ["--home", str(home), "study", *words])
        assert done.exit_code == 0, done.stderr
        return done.stdout

    told = said("pack", "--share", server.database, "--role", logins, "--login", "Dr Lea = 1=lea")
    assert "study open 'postgresql://LOGIN@" in told
    assert "no more than how many" in " ".join(told.split())
    again = said("pack", "--share", server.database, "--role", logins, "--json")
    document = json.loads(again)
    assert (document["own_logins"], "LOGIN@" in document["raters_url"]) == (True, True)
    with open_study_store(document["url"]) as store:
        assert logins_of(store) == {"Dr Lea = 1": "lea"}
    wrong = CliRunner().invoke(
        cli.app,
        ["--home", str(home), "study", "pack", "--share", server.database, "--role", logins,
         "--login", "Lea"],
    )  # fmt: skip
    assert wrong.exit_code != 0
    assert "Lea is not of the form NAME=LOGIN." in wrong.stderr


def test_the_server_holds_no_two_names_for_one_that_this_program_tells_apart(server):
    """Letter by letter: what PostgreSQL folds is folded further by Python, never otherwise."""
    codes = (*range(1, 0x130), *range(0x131, 0x3000), *range(0xFF01, 0xFFF0))  # İ: as locales say
    letters = [chr(code) for code in codes]
    fold = FOLDED.format(name="letter")
    with closing(on_server(server.study(), autocommit=True)) as raw:
        found = raw.execute(
            f"SELECT letter, {fold} FROM unnest(%s::text[]) letter", (letters,)
        ).fetchall()
    assert len(found) == len(letters)
    assert [pair for pair in found if folded(pair[0]) != folded(pair[1])] == []
    told = dict(found)
    assert told["A"] == told["a"] == told["\uff21"] == "a"
    assert told["\u200d"] == folded("\u200d") == ""


@pytest.mark.parametrize(
    ("typed", "told"),
    [(["AB="], "AB= is not of the form"), (["=anna"], "=anna is not of the form"),
     (["A  B=anna", "A B=carl"], "A B is given two logins")],
)  # fmt: skip
def test_logins_are_pairs_and_each_name_has_one(typed, told):
    with pytest.raises(BadRequest, match=told):
        pairs_of(typed)
    assert pairs_of([" A. B. = anna", "C=D=carl"]) == {"A. B.": "anna", "C=D": "carl"}
