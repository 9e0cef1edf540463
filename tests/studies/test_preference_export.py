"""What is published of a real study: it can be counted anew, and holds nothing it must not."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections import Counter
from itertools import pairwise

import pytest
from PIL import Image

from db.errors import NotWritable
from db.ratings import ANSWERS
from studies.errors import BadRequest, StillBlind
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.gather import tables_of
from studies.preference.kit.columns import COMMENT, columns_of
from studies.preference.kit.publish import contents_of, gathered, publish
from studies.preference.kit.summary import document_of
from studies.preference.study import open_study
from studies.preference.unblind import load_unblinded, unblind
from tests.studies.preference_material import GOLD, MODEL_A, PASSPHRASE, small_study

DRAWS = 200
FIGURES = {
    f"{name}.{form}"
    for name in ("preference", "forest", "checks", "flow")
    for form in ("png", "svg", "pdf")
}
FILES = {
    "README.md", "ratings.csv", "items.csv", "guesses.csv", "raters.csv", "study.csv",
    "numbers.csv", "dictionary.csv", "summary.json", "report.md", "methods.md", "tables.tex",
    "tables.xlsx", "imrmc.imrmc", "trec_run_A.txt", "trec_run_B.txt", "trec_qrels.txt",
    "analysis.py", "analysis.R", "mixed.R", "checksums.txt",
} | FIGURES  # fmt: skip
NAMES = ("Ann Quietrater", "Bob Hushrater")
WORDS = "a mass in quietpatient"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A study read by two raters, with changes of mind and a place left open."""
    built = small_study(tmp_path_factory.mktemp("export"), per_task=18, total=40)
    with open_study(built.path) as study:
        for shift, name in enumerate(NAMES):
            session = study.session(name)
            while (now := session.current()) is not None and now.position < now.total - shift:
                answer = ANSWERS[(3 * int(now.item_id, 16) + shift) % 5]
                reason = WORDS if answer == "cannot" else None
                seen = {"window": 400, "/home/quietuser/x": "/home/quietuser/scan.nii"}
                session.answer(answer, answer_ms=1000 + now.position, comment=WORDS, reason=reason,
                               viewer_state=seen)  # fmt: skip
                if now.position == 4:
                    session.undo()
                    session.answer("both", confidence=2, usefulness={"left1": 1})
    unblind(built.path, PASSPHRASE, "finished, see /home/quietuser/notes.txt")
    return built.path


@pytest.fixture(scope="module")
def written(done, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out") / "new"
    paths = publish(done, folder, draws=DRAWS)
    assert {path.name for path in paths} == FILES == {path.name for path in folder.iterdir()}
    return folder


def table(folder, name):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def contents(folder):
    """Name to everything a file holds, archives opened."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    with zipfile.ZipFile(folder / "tables.xlsx") as archive:
        found["tables.xlsx"] = b"".join(map(archive.read, archive.namelist()))
    return found


def test_counting_the_table_gives_the_summary(written):
    numbers = json.loads((written / "summary.json").read_text("utf-8"))
    pair = numbers["pairs"][0]
    rows, items = table(written, "ratings.csv"), table(written, "items.csv")
    strata = {row["item_id"]: row["stratum"] for row in items}
    judged = [row for row in rows if row["preferred"] not in ("", "cannot")]
    read = [row for row in judged if row["kind"] == "item"]

    def agrees(block, chosen):
        found = Counter(row["preferred"] for row in chosen)
        assert block["n"] == len(chosen)
        assert (block["first"]["count"], block["second"]["count"]) == (found["A"], found["B"])
        for word in ("both", "neither", "auto_tie"):
            assert block[word]["count"] == found[word]
        assert block["first_decided"]["n"] == found["A"] + found["B"]

    agrees(pair["overall"], read)
    ties = [row for row in rows if row["kind"] == "auto_tie"]
    assert len(ties) > 0
    agrees(pair["with_auto_ties"], read + ties)
    by_stratum = next(one for one in pair["tables"] if one["group"] == "stratum")["blocks"]
    assert {block["name"] for block in by_stratum} == {strata[row["item_id"]] for row in read}
    for block in by_stratum:
        agrees(block, [row for row in read if strata[row["item_id"]] == block["name"]])
    left = [row for row in read if row["answer"] in ("left", "right")]
    assert pair["side"]["left"]["count"] == sum(row["answer"] == "left" for row in left)
    asked = [row for row in rows if row["kind"] in ("item", "repeat")]
    assert numbers["missing"]["unanswered"] == sum(not row["answer"] for row in asked) > 0
    assert sum(int(row["revisions"]) for row in rows) == 2


def test_the_summary_is_the_analysis_with_codes_for_names(done, written):
    numbers = json.loads((written / "summary.json").read_text("utf-8"))
    plain = document_of(analyse(tables_of(load_unblinded(done)), draws=DRAWS))
    assert numbers["raters"] == ["R1", "R2"]
    for part in ("davidson", "side", "criterion", "correctness", "overall"):
        assert numbers["pairs"][0][part] == plain["pairs"][0][part]
    assert numbers["flow"] == plain["flow"]


def test_the_dictionary_names_every_column_of_every_table(written):
    listed = [(row["file"], row["column"]) for row in table(written, "dictionary.csv")]
    assert len(set(listed)) == len(listed)
    for name in ("ratings", "items", "guesses", "raters", "study", "numbers"):
        with (written / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file))
        assert columns == [column for file, column in listed if file == f"{name}.csv"]
    assert all(row["meaning"] for row in table(written, "dictionary.csv"))


def texts_of(path, folder, **chosen):
    """The kit without its figures, in a folder."""
    usual = {"comments": "leave out", "names": "codes", "candidates": "codes", "rater": None}
    for name, content in contents_of(*gathered(path, **{**usual, **chosen}, draws=20)).items():
        (folder / name).write_bytes(content)


def test_nothing_private_is_in_any_file(done, written):
    secrets = (
        GOLD,
        "secretfolder",
        str(done),
        str(done.parents[2]),
        "quiet",
        "Hushrater",
        "/home/",
    )
    for name, content in contents(written).items():
        found = [word for word in secrets if word.encode() in content]
        assert found == [], name
        if name.endswith((".svg", ".md", ".json", ".csv", ".tex")):
            assert not re.search(r"(?<![<\w/])/(home|tmp|usr|Users|private)/", content.decode())


def test_the_state_of_the_viewer_is_told_without_paths(written):
    told = {row["viewer_state"] for row in table(written, "ratings.csv")}
    assert '{"...": "...", "window": 400}' in told


def test_what_is_asked_for_is_there(done, tmp_path):
    texts_of(done, tmp_path, comments="include", names="names", candidates="names")
    rows = table(tmp_path, "ratings.csv")
    assert list(rows[0]) == list(columns_of("ratings.csv", comments="include"))
    assert list(rows[0])[-1] == next(iter(COMMENT))
    assert {row["rater"] for row in rows} == set(NAMES)
    assert {row["comment"] for row in rows} == {WORDS, ""}
    assert {row["reason"] for row in rows if row["answer"] == "cannot"} == {WORDS}
    assert GOLD in (tmp_path / "trec_qrels.txt").read_text("utf-8")
    assert NAMES[0] in (tmp_path / "report.md").read_text("utf-8")


def test_one_rater_alone(done, tmp_path):
    texts_of(done, tmp_path, rater=NAMES[1])
    numbers = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    rows = table(tmp_path, "ratings.csv")
    own = [r for r in rows if r["rater"] == "R2" and r["kind"] == "item"]
    assert numbers["rater"] == "R2"
    assert numbers["pairs"][0]["overall"]["n"] == sum(
        row["preferred"] not in ("", "cannot") for row in own
    )
    assert {row["rater"] for row in rows} == {"R1", "R2"}
    with pytest.raises(BadRequest, match="Nobody"):
        publish(done, tmp_path, rater="Nobody")


def test_models_and_hash_are_in_every_file(done, written):
    with open_study(done) as study:
        told = study.row.hash
    study_facts = {row["name"]: row["value"] for row in table(written, "study.csv")}
    assert study_facts["models/A/model_id"] == MODEL_A
    assert study_facts["models/A/weights"] == "weights-0815-def"
    # judgements of trec_eval have no room for it; their run has it in every line
    for name, content in contents(written).items():
        if name not in ("trec_qrels.txt", "guesses.csv"):  # the latter has no rows here
            assert told.encode() in content, name
    methods = (written / "methods.md").read_text("utf-8")
    assert "weights-0815-def" in methods
    assert "____ (to be filled: approval" in methods


def test_equal_numbers_give_equal_files(done, written, tmp_path):
    publish(done, tmp_path, draws=DRAWS)
    for path in written.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
    with Image.open(written / "preference.png") as picture:
        picture.load()
        assert set(picture.info) <= {"dpi", "Description"}
        assert picture.getpixel((0, 0))[:3] == (255, 255, 255)
    assert (written / "preference.pdf").read_bytes().startswith(b"%PDF")


def test_the_figures_name_groups_shares_and_counts(written):
    numbers = json.loads((written / "summary.json").read_text("utf-8"))
    pair = numbers["pairs"][0]
    strata = next(one for one in pair["tables"] if one["group"] == "stratum")["blocks"]
    for name in ("preference", "forest"):
        drawn = (written / f"{name}.svg").read_text("utf-8")
        for block in strata:
            assert block["title"] in drawn
            assert f"n = {block['n']}" in drawn
        assert "Veiled Title" in drawn
        assert "Wilson 95 % intervals" in drawn
    bars = (written / "preference.svg").read_text("utf-8")
    assert all(colour in bars for colour in ("#0072b2", "#e69f00"))


def test_the_runs_fall_strictly_and_hold_the_gold_places(written):
    items = {row["item_id"]: row for row in table(written, "items.csv")}
    gold = {}
    for line in (written / "trec_qrels.txt").read_text("utf-8").splitlines():
        query, zero, document, grade = line.split()
        assert (zero, grade) == ("0", "1")
        gold[query] = document
    assert set(gold) == set(items)
    for letter, column in (("A", "gold_place_first"), ("B", "gold_place_second")):
        runs = {}
        for line in (written / f"trec_run_{letter}.txt").read_text("utf-8").splitlines():
            query, q0, document, rank, score, tag = line.split()
            assert q0 == "Q0"
            assert tag.startswith(f"{letter}-")
            runs.setdefault(query, []).append((document, int(rank), float(score)))
        for query, listed in runs.items():
            assert [rank for _, rank, _ in listed] == list(range(1, len(listed) + 1))
            scores = [score for _, _, score in listed]
            assert all(a > b for a, b in pairwise(scores))
            place = {document: rank for document, rank, _ in listed}.get(gold[query], "")
            assert str(place) == items[query][column]


def test_trec_eval_finds_the_same_first_places(written):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    gold: dict[str, dict[str, int]] = {}
    for line in (written / "trec_qrels.txt").read_text("utf-8").splitlines():
        query, _, document, grade = line.split()
        gold.setdefault(query, {})[document] = int(grade)
    numbers = json.loads((written / "summary.json").read_text("utf-8"))
    hits = numbers["pairs"][0]["correctness"]
    for letter, name in (("A", "hit_first"), ("B", "hit_second")):
        run: dict[str, dict[str, float]] = {}
        for line in (written / f"trec_run_{letter}.txt").read_text("utf-8").splitlines():
            query, _, document, _, score, _ = line.split()
            run.setdefault(query, {})[document] = float(score)
        found = pytrec_eval.RelevanceEvaluator(gold, {"success_1"}).evaluate(run)
        assert sum(one["success_1"] for one in found.values()) == hits[name]["count"]
        assert len(found) == hits["n"]


def test_a_blind_study_is_not_published(tmp_path):
    built = small_study(tmp_path, per_task=2)
    with pytest.raises(StillBlind):
        publish(built.path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_said(done, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotWritable):
        publish(done, tmp_path / "file" / "out", draws=20)


def test_an_unknown_choice_is_said(done, tmp_path):
    with pytest.raises(BadRequest, match="comments can be"):
        publish(done, tmp_path, comments="yes")
