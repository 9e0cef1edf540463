"""What is exported equals the summary, names no path and no candidate, and can be counted anew."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter

import pytest
from PIL import Image

from db.errors import NotWritable
from db.ratings import ANSWERS
from studies.errors import StillBlind
from studies.preference import report
from studies.preference.export import COMMENT, ITEMS, RATINGS, export
from studies.preference.statistics import summary
from studies.preference.study import open_study
from studies.preference.unblind import load_unblinded, unblind
from tests.studies.preference_material import GOLD, MODEL_A, PASSPHRASE, small_study

FILES = {
    "ratings.csv", "items.csv", "shares.csv", "dictionary.csv", "summary.json", "report.md",
    "preference.png", "preference.svg", "preference.pdf",
}  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A study read by two raters, with changes of mind and a place left open."""
    built = small_study(tmp_path_factory.mktemp("export"), per_task=18, total=40)
    with open_study(built.path) as study:
        for shift, name in enumerate(("Ann", "Bob")):
            session = study.session(name)
            while (now := session.current()) is not None and now.position < now.total - shift:
                answer = ANSWERS[(3 * int(now.item_id, 16) + shift) % 4]
                session.answer(answer, answer_ms=1000 + now.position, comment="seen by quietname")
                if now.position == 4:
                    session.undo()
                    session.answer("both", confidence=2, usefulness={"left1": 1})
    unblind(built.path, PASSPHRASE, "finished")
    return built.path


@pytest.fixture(scope="module")
def written(done, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out") / "new"
    paths = export(done, folder)
    assert {path.name for path in paths} == FILES == {path.name for path in folder.iterdir()}
    return folder


def table(folder, name):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_counting_the_table_gives_the_summary(done, written):
    numbers = json.loads((written / "summary.json").read_text("utf-8"))
    rows, items = table(written, "ratings.csv"), table(written, "items.csv")
    strata = {row["item_id"]: row["stratum"] for row in items}
    read = [row for row in rows if row["kind"] == "item" and row["preferred"]]

    def agrees(block, chosen):
        found = Counter(row["preferred"] for row in chosen)
        assert block["n"] == len(chosen)
        assert (block["a"]["count"], block["b"]["count"]) == (found["A"], found["B"])
        assert block["both"]["count"] == found["both"]
        assert block["neither"]["count"] == found["neither"]
        assert block["auto_tie"]["count"] == found["auto_tie"]
        assert block["a_decided"]["n"] == found["A"] + found["B"]

    agrees(numbers["overall"], read)
    ties = [row for row in rows if row["kind"] == "auto_tie"]
    assert len(ties) == 2 * numbers["auto_ties"] > 0
    agrees(numbers["with_auto_ties"], read + ties)
    assert {block["name"] for block in numbers["strata"]} == {strata[r["item_id"]] for r in read}
    for block in numbers["strata"]:
        agrees(block, [row for row in read if strata[row["item_id"]] == block["name"]])
    left = [row for row in read if row["answer"] in ("left", "right")]
    assert numbers["left"]["count"] == sum(row["answer"] == "left" for row in left)
    assert numbers["unanswered"] == sum(r["kind"] == "item" and not r["answer"] for r in rows)
    assert numbers["changed"] == sum(int(row["revisions"]) for row in rows) == 2
    assert numbers == {
        **json.loads(json.dumps(report.to_json(summary(load_unblinded(done))))),
        "study": numbers["study"],
    }


def test_preferred_follows_from_side_and_answer(written):
    for row in table(written, "ratings.csv"):
        if row["kind"] == "item" and row["answer"] in ("left", "right"):
            chosen = row["left_model"] if row["answer"] == "left" else {"A": "B", "B": "A"}[
                row["left_model"]
            ]  # fmt: skip
            assert row["preferred"] == chosen


def test_the_first_answer_of_a_changed_one_is_kept(written):
    changed = [row for row in table(written, "ratings.csv") if row["revisions"] == "1"]
    assert len(changed) == 2
    for row in changed:
        assert (row["answer"], row["confidence"], row["usefulness"]) == (
            "both", "2", '{"left1": 1}',
        )  # fmt: skip
        assert row["first_answer"] in ANSWERS


def test_one_row_per_presentation(written):
    rows = table(written, "ratings.csv")
    numbers = json.loads((written / "summary.json").read_text("utf-8"))
    assert sum(row["kind"] == "item" for row in rows) == 2 * numbers["items"]
    places = Counter((row["rater"], row["position"]) for row in rows if row["position"])
    assert set(places.values()) == {1}


def test_the_shares_table_holds_the_same_numbers(written):
    numbers = json.loads((written / "summary.json").read_text("utf-8"))
    rows = {(r["group"], r["answer"]): r for r in table(written, "shares.csv")}
    for name in ("a", "b", "tie", "a_decided"):
        row = rows["all", name]
        for key in ("count", "n", "share", "low", "high"):
            assert float(row[key]) == numbers["overall"][name][key]
    assert float(rows["all", "a_decided"]["p"]) == numbers["overall"]["p"]


def test_the_dictionary_names_every_column(written):
    listed = {(row["file"], row["column"]) for row in table(written, "dictionary.csv")}
    for name, columns in (("ratings.csv", RATINGS), ("items.csv", ITEMS)):
        assert list(table(written, name)[0]) == list(columns)
        assert {column for file, column in listed if file == name} == set(columns)


def test_comments_leave_only_when_asked_for(done, written, tmp_path):
    assert "quietname" not in "".join(
        path.read_text("utf-8", "replace") for path in written.iterdir()
    )
    export(done, tmp_path, comments="include")
    assert list(table(tmp_path, "ratings.csv")[0]) == [*RATINGS, *COMMENT]
    assert "quietname" in (tmp_path / "ratings.csv").read_text("utf-8")


def test_no_export_holds_a_path_or_a_candidate(done, written):
    secrets = (GOLD, "secretfolder", str(done), str(done.parents[2]), "quietpatient", ".png")
    for path in written.iterdir():
        content = path.read_bytes()
        assert [word for word in secrets if word.encode() in content] == [], path.name
        if path.suffix in (".svg", ".md", ".json", ".csv"):
            assert not re.search(r"(?<![<\w/])/(home|tmp|usr|Users|private)/", content.decode())


def test_models_and_hash_are_in_the_summary(done, written):
    numbers = json.loads((written / "summary.json").read_text("utf-8"))
    assert numbers["study"]["models"]["A"]["model_id"] == MODEL_A
    assert numbers["study"]["models"]["A"]["weights"] == "weights-0815-def"
    with open_study(done) as study:
        assert numbers["hash"] == study.row.hash
        assert numbers["study"]["order_seed"] == study.row.order_seed
    for text in (report.to_text, report.to_markdown):
        said = text(summary(load_unblinded(done)))
        assert numbers["hash"] in said
        assert "Veiled Title" in said


def test_equal_numbers_give_equal_files(done, written, tmp_path):
    export(done, tmp_path)
    for path in written.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
    with Image.open(written / "preference.png") as picture:
        picture.load()
        assert set(picture.info) <= {"dpi"}
        assert picture.getpixel((0, 0))[:3] == (255, 255, 255)
    assert (written / "preference.pdf").read_bytes().startswith(b"%PDF")


def test_the_figure_names_groups_shares_and_counts(done, written):
    drawn = (written / "preference.svg").read_text("utf-8")
    numbers = summary(load_unblinded(done))
    for block in (numbers.overall, *numbers.strata):
        assert block.title in drawn
        assert f"n = {block.n}" in drawn
    assert "Veiled Title" in drawn
    assert "Wilson 95 % intervals" in drawn
    for colour in ("#0072b2", "#e69f00"):
        assert colour in drawn


def test_one_rater_can_be_looked_at_alone(done):
    opened = load_unblinded(done)
    parts = [summary(opened, rater=name) for name in ("Ann", "Bob")]
    assert sum(part.overall.n for part in parts) == summary(opened).overall.n
    assert [part.raters for part in parts] == [("Ann",), ("Bob",)]


def test_a_blind_study_is_not_exported(tmp_path):
    built = small_study(tmp_path, per_task=2)
    with pytest.raises(StillBlind):
        export(built.path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_said(done, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotWritable):
        export(done, tmp_path / "file" / "out")
