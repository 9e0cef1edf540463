"""A study shared on a server: raters with rights of their own, merged by its address."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from db.chain import append
from db.errors import LoginRefused, NotWritable
from db.session import open_study_store
from studies.errors import BadAnswers
from studies.preference.merge import merge
from studies.preference.share import share
from studies.preference.study import open_study
from studies.preference.verify import remarks, verify
from tests.db.studies import on_server
from tests.studies.plain_study import plain_study


def test_raters_read_with_a_role_of_their_own_and_are_merged_by_the_address(
    tmp_path, server, monkeypatch
):
    path = plain_study(tmp_path, 6)
    with on_server(server.study(), autocommit=True) as raw:
        raw.execute("CREATE ROLE readers")
        raw.execute("CREATE ROLE ann LOGIN IN ROLE readers")
    raw.close()
    url = share(path, server.database, role="readers").url
    own = url.replace("//triptych@", "//ann@")
    for name in ("Ann", "Bob"):
        with open_study(own) as study:
            session = study.session(name)
            while session.current() is not None:
                session.answer("both")
            if name == "Bob":
                monkeypatch.setattr("db.chain.now_utc", lambda: "2020-01-01T00:00:00.000Z")
            for shown in session.guesses():
                session.guess(shown.item_id, "unsure")
    assert verify(own) == verify(url) == ()
    schema = url.rpartition("=")[2]
    with open_study_store(own) as store, pytest.raises(NotWritable), store.session() as raw:
        raw.exec_driver_sql(f"DELETE FROM {schema}.entry")
    (merged,) = merge(path, [url])
    assert (merged.state, merged.rater) == ("merged", "Ann, Bob")
    assert merged.sentence.endswith(
        "Ann, Bob read there with one login, so each could see the others' answers."
    )
    with open_study(path) as study:
        assert [name for name, _ in study.info().raters] == ["Ann", "Bob"]
    assert verify(path) == ()
    assert any(told.startswith("Answers of the shared study: Entry") for told in remarks(path))


def test_a_role_that_is_not_there_is_named_and_the_study_can_be_shared_afterwards(tmp_path, server):
    path = plain_study(tmp_path, 3)
    database = f"{server.database}&schema=study_later"
    with pytest.raises(LoginRefused, match="has no role nobody"):
        share(path, database, role="nobody")
    with open_study(path) as study:
        assert study.info().packs == ()
    url = share(path, database).url
    with open_study(url) as study:
        assert study.session("Ann").answered == 0


def test_entries_of_nobody_and_a_name_in_other_capitals_spoil_nothing_of_the_others(
    tmp_path, server
):
    path = plain_study(tmp_path, 3)
    with on_server(server.study(), autocommit=True) as raw:
        raw.execute("CREATE ROLE house")
        for login in ("gerd", "hans"):
            raw.execute(f"CREATE ROLE {login} LOGIN IN ROLE house")
    raw.close()
    url = share(path, server.database, role="house").url
    # the tests' server knows no capitals beyond ASCII
    for login, name, answers in (("gerd", "Müller", 2), ("hans", "MÜLLER", 3)):
        with open_study(url.replace("//triptych@", f"//{login}@")) as study:
            session = study.session(name)
            for _ in range(answers):
                session.answer("both")
    with open_study_store(url) as store, store.session() as connection:
        append(connection, {"action": "order", "rater": "Mal"})  # as a version before let it be
    (merged,) = merge(path, [url])
    assert (merged.state, merged.rater) == ("merged", "MÜLLER, Müller")
    assert "MÜLLER is not counted: Müller, who sat down before, differs in capi" in merged.sentence
    assert "Mal is not counted: Entry 8 of the log is of nobody who sat down." in merged.sentence
    with open_study(path) as study:
        assert study.info().raters == (("Müller", 2),)
    assert verify(path) == ()
    assert {told.split(" is not counted")[0] for told in remarks(path)} >= {"MÜLLER", "Mal"}


def test_a_shared_study_whose_server_moved_is_merged_at_its_new_address(tmp_path, server):
    path = plain_study(tmp_path, 3)
    url = share(path, server.database).url
    with open_study(url) as study:
        study.session("Ann").answer("both")
    merge(path, [url])
    folder = quote(str(server.folder), safe="")
    moved = url.replace(folder, folder + quote("/.", safe=""))  # the same by another name
    assert moved != url
    with open_study(moved) as study:
        study.session("Ann").answer("both")
    (merged,) = merge(path, [moved])
    assert (merged.state, merged.answers) == ("merged", 2)
    assert verify(path) == ()
    with pytest.raises(BadAnswers, match="not shared at"):
        merge(path, [moved.replace("schema=study_", "schema=studies_")])


def old(url):
    return [told for told in remarks(url) if told.startswith("Readers have the rights of")]


def test_rights_of_a_version_before_are_told_until_they_are_renewed(tmp_path, server):
    path = plain_study(tmp_path, 3)
    with on_server(server.study(), autocommit=True) as raw:
        raw.execute("CREATE ROLE annex")
        url = share(path, server.database, role="annex").url
        own = url.rpartition("schema=")[2] + "_own"
        assert not old(url)
        raw.execute(
            f"CREATE OR REPLACE FUNCTION {own}.add_entry() RETURNS trigger LANGUAGE plpgsql "
            "AS $$ BEGIN RETURN NEW; END $$"
        )
        (told,) = old(url)
        assert "--share URL --role ROLE" in told
        share(path, url, role="annex")
        assert not old(url)
    raw.close()
