"""A study on a PostgreSQL server: several raters at once, merged back by its address."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from db import packs as stored
from db.errors import RatingRefused, StoreError
from studies import cli
from studies.errors import BadAnswers, BadRequest, BadStudy
from studies.preference import ledger
from studies.preference import share as sharing
from studies.preference.merge import merge
from studies.preference.packs import make_pack
from studies.preference.share import plain_url, share
from studies.preference.study import open_study
from studies.preference.unblind import unblind
from studies.preference.verify import verify
from tests.postgres import server
from tests.studies.packs_on_disk import built, copied, read, returned
from tests.studies.preference_material import PASSPHRASE

__all__ = ["server"]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return built(tmp_path_factory.mktemp("share"))


@pytest.fixture
def path(original, tmp_path):
    return copied(original, tmp_path)


def test_several_raters_read_one_database_and_are_merged(server, path, tmp_path):
    made = share(path, server.database)
    assert "schema=study_" in made.url
    for name, count in (("R1", 3), ("R2", 5), ("R1", 2)):
        read(made.url, count, name)
    with open_study(made.url) as one, open_study(made.url) as two:
        sessions = [one.session("R1"), two.session("R3")]
        for session in (*sessions, *sessions):
            session.answer("both")
    back = returned(path, tmp_path, 4, "R4")
    first = merge(path, [made.url, str(back)])
    assert [(row.state, row.rater, row.answers) for row in first] == [
        ("merged", "R1, R2, R3", 14),
        ("merged", "R4", 4),
    ]
    with open_study(path) as study:
        info = study.info()
    assert info.raters == (("R1", 7), ("R2", 5), ("R3", 2), ("R4", 4))
    assert info.packs[0].url == made.url
    read(made.url, 1, "R2")
    again = merge(path, [f"{server.database}", made.url])
    assert [(row.state, row.answers) for row in again] == [("merged", 15), ("same", 15)]
    assert verify(path) == ()
    opened = unblind(path, PASSPHRASE, "done")
    assert opened.remarks == ()
    assert sum(entry.action == "answer" for entry in opened.log) == 19
    with pytest.raises(RatingRefused, match="unblinded"):
        read(made.url, 1, "R2")
    with pytest.raises(RatingRefused, match="unblinded"):
        merge(path, [made.url])


def test_the_commands_take_an_address(server, path, monkeypatch):
    monkeypatch.setattr(cli, "has_display", lambda: False)
    home = str(path.parent.parent)

    def said(*words):
        done = CliRunner().invoke(cli.app, ["--home", home, "study", *words, "--json"])
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    url = said("pack", "--share", server.database)["url"]
    opened = said("open", url, "--rater", "R1")
    assert (opened["path"], opened["title"]) == (url, "Chest 2026")
    read(url, 2, "R1")
    (state,) = said("status", url)
    assert state["raters"] == [{"rater": "R1", "answered": 2}]
    assert said("verify", url)["verified"] is True
    (merged,) = said("merge", url)["merged"]
    assert (merged["state"], merged["answers"], merged["source"]) == ("merged", 2, url)


def test_one_name_on_the_server_and_in_a_pack_counts_once(server, path, tmp_path):
    made = share(path, server.database)
    read(made.url, 2, "R1")
    read(made.url, 4, "R2")
    back = returned(path, tmp_path, 3, "R1")
    (from_server,) = merge(path, [made.url])
    assert "Not counted from here: R1" in from_server.sentence
    merge(path, [str(back)])
    with open_study(path) as study:
        assert study.info().raters == (("R1", 3), ("R2", 4))
        whole = ledger.whole_log(study.store)
        assert [rater.name for rater in whole.raters] == ["R1", "R2"]
        assert sum(entry.action == "answer" for entry in whole.entries) == 7
    with pytest.raises(BadStudy, match="from a shared study"):
        make_pack(path, tmp_path / "late.triptych", rater="R2")
    assert verify(path) == ()


def test_one_name_in_other_capitals_on_the_server_counts_once(server, path, tmp_path):
    made = share(path, server.database)
    read(made.url, 3, "ann lee")
    back = returned(path, tmp_path, 2, "Ann Lee")
    merged = merge(path, [made.url, str(back)])
    assert "Not counted from here: ann lee" in merged[0].sentence
    with open_study(path) as study:
        assert study.info().raters == (("Ann Lee", 2),)


def test_what_cannot_be_shared_or_merged_is_refused(server, path, original, tmp_path):
    made = share(path, server.database)
    with pytest.raises(BadStudy, match="shared at"):
        share(path, server.database)
    other = copied(original, tmp_path / "other")
    with pytest.raises(BadStudy, match="lies at"):
        share(other, made.url)
    with pytest.raises(BadAnswers, match="not shared at"):
        merge(other, [made.url])
    with pytest.raises(BadRequest, match="no address"):
        share(other, "mysql://who:hush@server/db")
    unblind(other, PASSPHRASE, "done")
    with pytest.raises(RatingRefused, match="unblinded"):
        share(other, server.database)


def test_a_password_is_kept_nowhere(server, path, monkeypatch):
    with_secret = server.database.replace("triptych@", "triptych:hush-4711@")
    made = share(path, with_secret)
    assert "hush" not in made.url
    merge(path, [made.url.replace("triptych@", "triptych:hush-4711@")])
    assert all(b"hush-4711" not in file.read_bytes() for file in path.iterdir())
    with pytest.raises(BadAnswers) as caught:
        merge(path, ["postgresql://who:hush-4711@host.invalid/x?schema=study_a"])
    assert "hush" not in f"{caught.value} {caught.value.refused}"
    with pytest.raises(StoreError) as refused:
        share(path, "postgresql://who:hush-4711@127.0.0.1:1/x")
    assert "hush" not in str(refused.value)


def test_a_server_out_of_reach_is_a_remark_after_unblinding(server, path, monkeypatch):
    share(path, server.database)
    gone = stored.packs
    monkeypatch.setattr(
        sharing, "shared_url", lambda _row: "postgresql://who@127.0.0.1:1/x?schema=study_a"
    )
    opened = unblind(path, PASSPHRASE, "done")
    assert len(opened.remarks) == 1
    assert "could not be closed" in opened.remarks[0]
    assert opened.info.unblinded
    assert gone is stored.packs


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://ann:hush@host:5/db?schema=s", "postgresql://ann@host:5/db?schema=s"),
        ("postgresql://host/db?password=hush&schema=s", "postgresql://host/db?schema=s"),
        ("postgresql://ann:hu%40sh@[::1]/db", "postgresql://ann@[::1]/db"),
        ("stick/file.triptych-answers", "stick/file.triptych-answers"),
    ],
)
def test_an_address_is_shown_without_its_password(url, told):
    assert plain_url(url) == told
