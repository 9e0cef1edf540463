"""The server and this program agree on what is hashed, whatever is in it."""

from __future__ import annotations

import json
import math
import random
import string
import struct
from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg")

from db import chain, ratings  # noqa: E402
from db.server_hash import DEEPEST  # noqa: E402
from tests.db.hostile_readers import Department, department, rating, sit  # noqa: E402
from tests.postgres import Server  # noqa: E402

LETTERS = (string.printable + '\x01\x1f\x7f\x80\xa0ßŁ大\u2028\ufeff\U0001fac1"\\/').replace(
    "\x00", ""
)


@pytest.fixture(scope="module")
def place(server: Server) -> Department:
    made = department(server)
    with made.store("anna") as store:
        sit(store, "Ann", session_id="a")
    return made


def plain(value: Any) -> str:
    """As ``db.chain`` writes it."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def ask(raw: Any, place: Department, values: list[str]) -> list[str]:
    rows = raw.execute(
        f"SELECT {place.schema}_own.plain_json(v::json, 0) "
        "FROM unnest(%s::text[]) WITH ORDINALITY u(v, n) ORDER BY n",
        (values,),
    )
    return [told for (told,) in rows.fetchall()]


def numbers(chance: random.Random) -> list[float | int]:
    edges = [0.0, -0.0, 1.0, 1e-4, 9.9999e-5, 1e-5, 1e15, 1e16, 9999999999999998.0, 1e22, 5e-324,
             1.7976931348623157e308, 123456789012345.6, 1234567890123456.8, 1125899906842624.1,
             0.1 + 0.2, 2**53, -(2**63), 10**40]  # fmt: skip
    any_bits = [
        struct.unpack("<d", struct.pack("<Q", chance.getrandbits(64)))[0] for _ in range(3000)
    ]
    large = [chance.uniform(1, 10) * 10 ** chance.randint(15, 25) for _ in range(5000)]
    near = [chance.uniform(9e14, 1.2e16) for _ in range(500)]
    short = [round(chance.uniform(-5000, 5000), chance.randint(0, 4)) for _ in range(500)]
    return [*edges, *filter(math.isfinite, any_bits), *large, *near, *short]


def nested(chance: random.Random, depth: int) -> Any:
    def word() -> str:
        return "".join(chance.choices(LETTERS, k=chance.randint(0, 6)))

    kind = chance.randrange(7 if depth else 5)
    if kind < 5:
        return (
            None,
            chance.random() < 0.5,
            chance.randint(-9, 2**40),
            chance.gauss(0, 99),
            word(),
        )[kind]
    inside = [nested(chance, depth - 1) for _ in range(chance.randint(0, 4))]
    return inside if kind == 5 else {word(): one for one in inside}


def test_numbers_texts_and_nests_are_written_as_python_does(place):
    chance = random.Random(11)
    values = [*numbers(chance), *LETTERS, *(nested(chance, 4) for _ in range(500))]
    with place.raw("chief") as raw:
        # as a column holds them: not yet in order, letters escaped
        assert ask(raw, place, [json.dumps(one) for one in values]) == list(map(plain, values))
        odd = ["1.00", "1e3", "-0", "-0.0", "1E+2", ' { "b" : 1 ,\n "a" : [ ] } ', '"\\u0041\\/"']
        assert ask(raw, place, odd) == [plain(json.loads(one)) for one in odd]


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', "1e999", "1" * 301, "[" * (DEEPEST + 2) + "]" * (DEEPEST + 2), '"\\u0000"',
     '"\\ud800"'],
)  # fmt: skip
def test_what_python_would_not_read_again_as_it_was_is_refused(place, text):
    with place.raw("chief") as raw, pytest.raises(psycopg.Error):
        ask(raw, place, [text])


def test_a_number_written_in_another_way_is_hashed_as_python_writes_it_or_refused(place):
    chance = random.Random(7)
    large = [chance.uniform(1, 10) * 10 ** chance.randint(15, 40) for _ in range(4000)]
    told = [form for one in large for form in (f"{one:.16e}", f"{one:.25e}", f"-{one:.1f}")]
    told += [f"{head}e+{power:02}" for head in (1, 1.5, 10, 9) for power in range(100)]
    # two that Python shortens and PostgreSQL does not
    told += ["9.999999999999999e+22", "4.8348161171933517e+17"]
    with place.raw("chief") as raw:
        raw.execute(
            "CREATE FUNCTION pg_temp.ask(token text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
            f"RETURN {place.schema}_own.plain_json(token::json, 0); "
            "EXCEPTION WHEN insufficient_privilege THEN RETURN 'refused'; END $$"
        )
        query = "SELECT pg_temp.ask(v) FROM unnest(%s::text[]) WITH ORDINALITY u(v, n) ORDER BY n"
        found = [row[0] for row in raw.execute(query, (told,)).fetchall()]
    pairs = list(zip(found, (plain(json.loads(one)) for one in told), strict=True))
    assert [pair for pair in pairs if pair[0] not in ("refused", pair[1])] == []
    assert found[-2:] == ["refused"] * 2
    assert found.count("refused") < len(found) / 50


def test_every_field_of_an_entry_takes_part_in_the_hash(place):
    state = {"window": [40.0, 400, 1e-7], "näher": {"b": None, "a": True}}
    said = {"comment": 'ein "Wort"\n\t大', "viewer_state": state, "usefulness": {"left1": 2}}
    numbers = {"answer_ms": 2**33, "idle_ms": 0, "first_action_ms": 7, "confidence": 3}
    with place.store("anna") as store:
        kept = ratings.add_rating(store, rating("Ann", "a", **said, **numbers))
        assert ratings.entries(store)[-1] == kept
        assert ratings.check_chain(store) == ()
    values = {**vars(kept), "number": kept.number + 1, "previous": kept.hash, "position": 2,
              "item_id": "i1"}  # fmt: skip
    changes: dict[str, Any] = {name: "x" for name in chain.NAMES if name != "number"}
    changes.update(dict.fromkeys((*numbers, "position"), 1), action="pause", number=9,
                   rater="Bob", usefulness={"left1": 1}, viewer_state={})  # fmt: skip
    with place.raw("anna") as raw:
        for name, value in changes.items():
            honest = chain.EntryRow(**{**values, "hash": ""})
            row = {**values, "hash": chain.entry_hash(honest), name: value}
            with pytest.raises(psycopg.errors.Error):
                insert(raw, row)
        for name, value in (
            ("usefulness", [1]),
            ("viewer_state", "text"),
            ("comment", "x" * 2**20),
        ):
            row = {**values, name: value}
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="as it is hashed"):
                insert(
                    raw, {**row, "hash": chain.entry_hash(chain.EntryRow(**{**row, "hash": ""}))}
                )
        insert(raw, {**values, "hash": chain.entry_hash(honest)})
    with place.store("chief") as store:
        assert ratings.check_chain(store) == ()


def insert(raw: Any, row: dict[str, Any]) -> None:
    cells = [psycopg.types.json.Json(one) if name in ("usefulness", "viewer_state") else one
             for name, one in row.items()]  # fmt: skip
    names = ", ".join(row)
    raw.execute(f"INSERT INTO entry ({names}) VALUES ({', '.join(['%s'] * len(row))})", cells)
