"""A study on a server, readers of one group with a login each; the owner is no superuser."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from db import ratings, study_items
from db.server_rights import let_rate
from db.session import Store, open_study_store
from tests.db.studies import item, on_server
from tests.postgres import Server

ORDER = [("i2", "item", False), ("i1", "item", False)]
LOGINS = ("chief", "anna", "bert", "mallory")
SECRET = "the-comment-of-bert"


@dataclass(frozen=True)
class Department:
    """A shared study and who comes to it.

    Attributes:
        schema: of the study.
    """

    server: Server
    schema: str

    def url(self, login: str) -> str:
        return f"{self.server.address(login)}&schema={self.schema}"

    def store(self, login: str) -> Store:
        return open_study_store(self.url(login))

    @contextmanager
    def raw(self, login: str) -> Iterator[Any]:
        """A database browser: psycopg, both schemas in sight."""
        with closing(on_server(self.url(login), autocommit=True)) as raw:
            raw.execute(f"SET search_path TO {self.schema}_own, {self.schema}")
            yield raw


def department(server: Server) -> Department:
    """Roles once for each server, a study with two items, nobody seated."""
    made = Department(server, f"study_{secrets.token_hex(6)}")
    with closing(on_server(server.study(), autocommit=True)) as raw:
        if raw.execute("SELECT 1 FROM pg_roles WHERE rolname = 'chief'").fetchone() is None:
            raw.execute("CREATE ROLE crowd")
            for login in LOGINS:
                raw.execute(f"CREATE ROLE {login} LOGIN")
            raw.execute("GRANT crowd TO anna, bert, mallory")
            raw.execute("GRANT CREATE ON DATABASE postgres TO chief")
    frame = study_items.StudyRow("s1", "Chest", "2026-01-31", "0", "5", {}, "bb", "cc", "dd")
    with open_study_store(made.url("chief"), create="create") as store:
        study_items.freeze(store, frame, [item("i1"), item("i2")])
        let_rate(store, "crowd")
    return made


def sit(store: Store, name: str, *, session_id: str) -> None:
    study_items.add_rater(
        store, study_items.RaterRow(name, "chest", 9), ORDER, "ee", session_id=session_id
    )
    study_items.start_session(store, session_id, name, "0")


def rating(name: str, session_id: str, position: int = 1, **more: Any) -> ratings.NewRating:
    item_id = ORDER[position - 1][0]
    return ratings.NewRating(name, session_id, position, item_id, "item", "left", **more)


def read_by_two(place: Department) -> None:
    """Anna and Bert sit down, each with an answer; Bert says something besides."""
    for login, name in (("anna", "Ann"), ("bert", "Bob")):
        with place.store(login) as store:
            sit(store, name, session_id=f"sitting-of-{login}")
            said = {"comment": SECRET} if login == "bert" else {}
            ratings.add_rating(store, rating(name, f"sitting-of-{login}", **said))
