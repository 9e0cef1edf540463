"""Building a study: what is frozen, what is hidden, what is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from db import study_items
from db.home import Home
from engine.control import Control
from engine.errors import Cancelled
from engine.evidence.item import ImageRef, Item
from studies.errors import BadStudy, WrongPassphrase
from studies.preference.build import build_from
from studies.preference.key import key_from_bytes
from studies.preference.leaks import PLAIN_CHUNKS, PNG, _chunks
from studies.preference.lists import Comparison, Listed
from studies.preference.media import as_grey, decode, encode
from studies.preference.sealing import seal, unseal
from studies.preference.study import list_studies, open_study
from studies.preference.verify import verify
from tests.studies.preference_material import MODEL_A, PASSPHRASE, material, small_study, wish


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return small_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def key(built):
    return key_from_bytes(unseal((built.path / "key.sealed").read_bytes(), PASSPHRASE))


def test_the_folder_holds_two_files_and_verifies(built):
    assert sorted(path.name for path in built.path.iterdir()) == ["key.sealed", "study.sqlite"]
    assert [path.name for path in built.path.parent.iterdir()] == [built.id]
    assert verify(built.path) == ()
    assert built.missing == {"hiddensource/gone": "no file"}


def test_the_sample_is_equal_per_task_and_identical_lists_are_set_aside(built, key):
    assert Counter(item.task_id for item in key.items.values()) == {
        "hiddensource/i2i": 9,
        "hiddensource/bridge": 6,
        "hiddensource/t2t": 9,
    }
    identical = {name for name, item in key.items.items() if item.overlap == "identical"}
    with open_study(built.path) as study:
        rows = {row.item_id: row for row in study_items.items(study.store)}
    assert {name for name, row in rows.items() if row.kind == "auto_tie"} == identical
    assert (built.items, built.auto_ties) == (24 - len(identical), len(identical))
    assert built.auto_ties > 0
    for name in identical:
        assert (rows[name].left, rows[name].right, rows[name].prompt) == ((), (), "")


def test_sides_are_balanced_inside_every_cell(key):
    cells: dict[tuple, Counter] = {}
    for item in key.items.values():
        if item.overlap != "identical":
            cell = (item.stratum, item.family, item.form)
            cells.setdefault(cell, Counter())[item.left] += 1
    assert all(abs(found["A"] - found["B"]) <= 1 for found in cells.values())
    whole = sum(cells.values(), Counter())
    assert abs(whole["A"] - whole["B"]) <= 1
    assert {cell[0] for cell in cells} == {"both", "only_a", "only_b", "neither"}


def test_the_key_says_what_was_shown_where(built, key, tmp_path):
    """Decoded pixels of each wing are those of the model that the key names."""
    from engine.evidence.pixels import prepare

    given = material(tmp_path)
    by_place = {(c.task_id, c.row): c for found in given.comparisons.values() for c in found}
    with open_study(built.path) as study:
        session = study.session("Ann")
        seen = set()
        while (now := session.current()) is not None:
            hidden = key.items[now.item_id]
            comparison = by_place[hidden.task_id, hidden.row]
            assert hidden.names_a == comparison.names_a
            lists = (comparison.list_a, comparison.list_b)
            left, right = lists if hidden.left == "A" else lists[::-1]
            for panels, listed in ((now.left, left), (now.right, right)):
                assert len(panels) == 3
                for panel, one in zip(panels, listed, strict=True):
                    assert panel.text == (one.item.text or "")
                    pixels = prepare(one.item)
                    for media_id, given_pixels in zip(
                        panel.media_ids, (*pixels.images, *pixels.volumes), strict=True
                    ):
                        assert np.array_equal(study.media(media_id), as_grey(given_pixels))
            shared = set(hidden.names_a) & set(hidden.names_b)
            if hidden.form != "text":
                names = [{p.media_ids[0] for p in panels} for panels in (now.left, now.right)]
                assert len(names[0] & names[1]) == len(shared)
            seen.add((now.query.kind, now.left[0].kind))
            session.answer("both")
    assert seen == {("image", "image"), ("volume", "volume"), ("text", "text")}


def test_pictures_hold_pixels_and_nothing_else(built):
    with open_study(built.path) as study:
        for row in study_items.media(study.store):
            if row.coding == "png":
                assert row.content.startswith(PNG)
                assert {name for name, _ in _chunks(row.content)} <= PLAIN_CHUNKS


def test_media_names_and_their_order_tell_nothing(built):
    with open_study(built.path) as study:
        rows = list(study_items.media(study.store))
    assert len({row.media_id for row in rows}) == len({row.sha256 for row in rows}) == len(rows)
    assert all(row.media_id not in row.sha256 for row in rows)
    assert [row.key for row in rows] != sorted(row.key for row in rows)


def test_the_same_seed_draws_the_same_sample_but_not_the_same_names(built, key, tmp_path):
    again = small_study(tmp_path)
    other = key_from_bytes(unseal((again.path / "key.sealed").read_bytes(), PASSPHRASE))

    def rows(found):
        return sorted((item.task_id, item.row) for item in found.items.values())

    assert rows(other) == rows(key)
    assert not set(other.items) & set(key.items)
    assert other.side_seed != key.side_seed
    assert again.hash != built.hash


@pytest.mark.parametrize(
    ("shape", "coding"),
    [((5, 7), "png"), ((5, 7, 3), "png"), ((4, 5, 7), "zlib"), ((4, 5, 7, 3), "zlib")],
)
def test_pixels_come_back_as_they_were(shape, coding):
    pixels = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    found, content = encode(pixels)
    assert found == coding
    row = study_items.MediumRow(1, "m", found, shape, "", content)
    assert np.array_equal(decode(row), pixels)
    with pytest.raises(BadStudy, match="damaged"):
        decode(replace(row, content=content[: len(content) // 2]))
    with pytest.raises(BadStudy, match="damaged"):
        decode(replace(row, shape=(*shape[:-1], shape[-1] + 1)))


def test_grey_pixels_lose_the_colour_axis_and_colour_keeps_it():
    grey = np.repeat(np.arange(24, dtype=np.uint8).reshape(2, 3, 4, 1), 3, axis=3)
    assert as_grey(grey).shape == (2, 3, 4)
    colour = grey.copy()
    colour[0, 0, 0, 1] += 1
    assert as_grey(colour).shape == (2, 3, 4, 3)
    narrow = np.zeros((2, 5, 3, 3), np.uint8)
    assert as_grey(narrow).shape == (2, 5, 3, 3)


@pytest.mark.parametrize("identical", ["auto-tie", "show", "exclude"])
def test_identical_lists_are_tied_shown_or_left_out(tmp_path, identical):
    built = small_study(tmp_path, total=100, identical=identical)
    expected = {"auto-tie": (25, 5), "show": (30, 0), "exclude": (25, 0)}
    assert (built.items, built.auto_ties) == expected[identical]


def test_unreadable_evidence_is_named_and_the_next_query_takes_its_place(tmp_path):
    home, given = Home(tmp_path / "home").make(), material(tmp_path / "evidence")
    task = "hiddensource/i2i"
    broken = Item(images=(ImageRef(tmp_path / "gone.png"),))
    rows = [replace(c, query=broken) if c.row % 2 else c for c in given.comparisons[task]]
    given = replace(given, comparisons={task: tuple(rows)})
    built = build_from(home, given, wish(total=6, identical="show"))
    assert built.items == 6
    named = [place for place in built.missing if place.startswith(task)]
    assert named
    assert all("gone.png" in built.missing[place] for place in named)
    assert verify(built.path) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": f"Chest with {MODEL_A}"}, "would tell raters a model"),
        ({"title": "the VEILEDMODEL study"}, "would tell raters a model"),
        ({"title": "Masked Title against the rest"}, "would tell raters a model"),
        ({"title": ""}, "needs a title"),
        ({"total": 0}, "at least one item"),
        ({"identical": "maybe"}, "not 'maybe'"),
        ({"repeat_share": 1.5}, "The share of items repeated must lie between 0 and 0.5, not 1.5"),
        ({"repeat_share": float("nan")}, "The share of items repeated must lie between"),
        ({"warmup": 21}, "The number of practice items must lie between 0 and 20, not 21"),
    ],
)
def test_what_would_tell_or_makes_no_sense_is_refused(tmp_path, changes, words):
    with pytest.raises(BadStudy, match=words):
        small_study(tmp_path, **changes)
    assert list((tmp_path / "home" / "studies").iterdir()) == []


def test_an_empty_passphrase_and_one_model_twice_are_refused(tmp_path):
    with pytest.raises(WrongPassphrase, match="not empty"):
        small_study(tmp_path, passphrase="  ")
    given = material(tmp_path / "evidence", per_task=2)
    with pytest.raises(BadStudy, match="with itself"):
        build_from(
            Home(tmp_path / "home").make(), replace(given, arms=(given.arms[0],) * 2), wish()
        )


def test_nothing_to_compare_is_said(tmp_path):
    listed = (Listed("n", Item(text="same")),)
    one = Comparison("a/b", "T-T", "text", "id", 0, Item(text="q"), "n", listed, listed)
    given = replace(material(tmp_path / "evidence", per_task=2), comparisons={"a/b": (one,)})
    home = Home(tmp_path / "home").make()
    with pytest.raises(BadStudy, match="No query has two different lists"):
        build_from(home, given, wish())
    assert list_studies(home) == ()


def test_a_build_that_is_stopped_leaves_nothing(tmp_path):
    asked = iter(range(1000))
    control = Control(cancelled=lambda: next(asked) > 4)
    home = Home(tmp_path / "home").make()
    with pytest.raises(Cancelled):
        build_from(home, material(tmp_path / "evidence"), wish(), control=control)
    assert list(home.studies.iterdir()) == []


def test_a_secret_in_a_text_that_is_shown_passes_but_not_elsewhere(tmp_path):
    given = material(tmp_path / "evidence", per_task=2)
    told = Listed("n1", Item(text=f"read by {MODEL_A}"))
    lists = ((told,), (Listed("n2", Item(text="x")),))
    one = Comparison("a/bcd", "T-T", "text", "id", 0, Item(text="q"), "n1", *lists)
    home = Home(tmp_path / "home").make()
    assert build_from(home, replace(given, comparisons={"a/bcd": (one,)}), wish()).items == 1
    arms = (replace(given.arms[0], revision="study_id"), given.arms[1])
    with pytest.raises(BadStudy, match="'study_id' can be read in"):
        build_from(home, replace(given, arms=arms), wish())


def test_a_sealed_key_opens_with_its_passphrase_only():
    sealed = seal(b'{"a": 1}', "right")
    assert unseal(sealed, "right") == b'{"a": 1}'
    assert seal(b'{"a": 1}', "right") != sealed
    assert len(seal(b"short", "p")) == len(seal(b"x" * 4000, "p"))
    with pytest.raises(WrongPassphrase, match="does not open"):
        unseal(sealed, "Right")
    for altered in (sealed[:-9], sealed.replace(b'"n":32768', b'"n":99999999'), b"[]", b"\xff"):
        with pytest.raises(BadStudy, match="not a key"):
            unseal(altered, "right")
    with pytest.raises(WrongPassphrase):
        unseal(sealed.replace(b'"r":8', b'"r":4'), "right")


def test_a_home_lists_its_studies_and_names_a_damaged_one(tmp_path):
    built = small_study(tmp_path, per_task=2)
    home = Home(tmp_path / "home")
    bad = home.studies / "bad"
    bad.mkdir()
    (bad / "study.sqlite").write_bytes(b"no database " * 500)
    (home.studies / ".building-x").mkdir()
    (home.studies / ".building-x" / "study.sqlite").write_bytes(b"")
    found = {info.id: info for info in list_studies(home)}
    assert set(found) == {built.id, "bad"}
    assert "damaged" in found["bad"].fault
    good = found[built.id]
    assert (good.title, good.items, good.answered, good.unblinded, good.hash, good.fault) == (
        "Chest 2026", built.items, 0, False, built.hash, "",
    )  # fmt: skip


def test_all_files_of_a_study_have_one_time(tmp_path):
    built = small_study(tmp_path, per_task=2)
    assert len({path.stat().st_mtime_ns for path in built.path.iterdir()}) == 1


def test_a_study_says_how_its_pictures_were_made_and_what_will_be_computed(built, key):
    with open_study(built.path) as study:
        settings = study.row.settings
    assert settings["shown"]["bits"] == 8
    assert settings["shown"]["slices"] == 64
    assert settings["protocol"]["identical"] == "auto-tie"
    assert tuple(settings["plan"]) == key.plan
    said = " ".join(key.plan)
    for word in (
        "Wilson",
        "sign test",
        "Davidson",
        "McNemar",
        "AC1",
        "bootstrap",
        "Holm",
        "repeats",
    ):
        assert word in said


def test_no_more_than_the_pixels_of_one_item_are_held(tmp_path, monkeypatch):
    """Encoded media wait until both lists are compared; then they lie in the file."""
    from studies.preference import draw

    held: list[int] = []
    kept = draw.Drawing._keep

    def counted(self, comparison, query, found):
        media = [one for each in (query, *found.values()) for one in getattr(each, "media", ())]
        held.append(len(media))
        return kept(self, comparison, query, found)

    monkeypatch.setattr(draw.Drawing, "_keep", counted)
    small_study(tmp_path, per_task=6)
    assert held
    assert max(held) <= 7
