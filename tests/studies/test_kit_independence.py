"""Who could have read another's answers on a server stands in the methods and under GRRAS."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from db import chain
from db.session import open_study_store
from studies.preference.analysis.analyse import analyse
from studies.preference.in_sight import InSight, renamed, seen_in
from studies.preference.kit.methods import methods_text
from studies.preference.kit.tabular import coded, rater_codes
from studies.preference.merge import merge
from studies.preference.share import share
from studies.preference.study import open_study
from studies.preference.verify import verify
from tests.db.studies import on_server
from tests.postgres import server
from tests.studies.kit_tables import made
from tests.studies.plain_study import plain_study

__all__ = ["server"]

TOGETHER = "and so could have read others' answers with a database browser; the program showed none"
APART = "Raters on a server had logins of their own, each shown its own answers alone."
UNKNOWN = "Whether raters on a server shared a login at every time is not recorded."


@pytest.fixture(scope="module")
def tables():
    return made(raters=2)


def told(tables, **facts):
    known = coded(replace(tables, facts={**tables.facts, **facts}), rater_codes(tables))
    return methods_text(known, analyse(known, draws=20))


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ({"recorded": True}, APART),
        ({"recorded": False}, UNKNOWN),
        ({"recorded": True, "together": "both"}, f"R1 and R2 read with one login, {TOGETHER}."),
        ({"recorded": False, "together": "both"}, f"{TOGETHER}. {UNKNOWN}"),
        ({"recorded": True, "as_owner": "both"}, "R1 and R2 with the rights of the study's owner"),
    ],
)
def test_the_methods_and_grras_say_who_could_have_read_another(tables, seen, words):
    names = sorted({one.rater for one in tables.presented})
    fact = {"together": [names]} if "together" in seen else {}
    fact |= {"as_owner": names} if "as_owner" in seen else {}
    text = told(tables, in_sight={**seen, **fact})
    blinding = text.partition("## Blinding and allocation")[2].partition("##")[0]
    (row,) = re.findall(r"\| What raters knew, independence \|.*", text)
    assert words in blinding
    assert words in row
    assert not any(name in text for name in names)


def test_nothing_is_said_where_nothing_was_read_on_a_server(tables):
    assert "on a server" not in told(tables)
    assert seen_in(()) == {}


def test_names_without_a_code_do_not_leave_the_house():
    fact = {
        "recorded": True,
        "together": [["Ann", "Bob"], ["Ann", "Eve", "Kim"]],
        "as_owner": ["Z"],
    }
    codes = {"Ann": "R1", "Kim": "R2"}
    assert renamed(fact, codes) == {"recorded": True, "together": [["R1", "R2"]], "as_owner": []}
    assert renamed(fact, {}) == fact


def test_merging_keeps_in_the_log_who_shared_a_login(tmp_path, server):
    path = plain_study(tmp_path, 3)
    with on_server(server.study(), autocommit=True) as raw:
        raw.execute("CREATE ROLE clinic")
        raw.execute("CREATE ROLE ida LOGIN IN ROLE clinic")
    raw.close()
    url = share(path, server.database, role="clinic").url
    ida = url.replace("//triptych@", "//ida@")

    def read(place: str, name: str) -> None:
        with open_study(place) as study:
            study.session(name).answer("both")

    def log():
        with open_study_store(path) as store:
            return chain.entries(store)

    read(ida, "Ann")
    assert "read there" not in merge(path, [url])[0].sentence
    assert seen_in(log()) == {"recorded": True, "together": [], "as_owner": []}
    read(ida, "Bob")
    read(url, "Chief")
    (merged,) = merge(path, [url])
    seen = InSight((("Ann", "Bob"),), ("Chief",))
    assert merged.sentence.endswith(seen.words)
    assert seen_in(log()) == {"recorded": True, "together": [["Ann", "Bob"]], "as_owner": ["Chief"]}
    assert verify(path) == ()
    earlier = [row for row in log() if row.viewer_state is None or row.viewer_state["together"]]
    assert seen_in(earlier)["recorded"]
    earlier = [chain.EntryRow(**{**vars(row), "viewer_state": None}) for row in earlier]
    assert seen_in(earlier) == {"recorded": False, "together": [], "as_owner": []}
