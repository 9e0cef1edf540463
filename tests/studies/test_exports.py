"""Exports are judged by other programs; imports give back what was exported."""

import csv
import json
import shutil
from itertools import pairwise

import numpy as np
import pytest
import pytrec_eval
from typer.testing import CliRunner

from db.home import Home
from db.runs import query_ranks
from db.session import open_store
from studies.cli import app
from studies.errors import BadRequest, BadTaskFile, NoRun
from studies.exports.export import export_results
from studies.medheb.imported import counts_of, named_as_in_paper, read_imported, stated_means
from studies.medheb.scores import histogram, release_metrics
from studies.medheb.tasks import load_tasks
from studies.queries import task_queries
from studies.results import load_results, to_json, to_text
from studies.results_compare import compare_models
from studies.results_graded import graded_section, load_graded
from studies.results_import import import_results
from tests.studies.results_home import OTHER, Ran, authors_folder, run_once


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return run_once(tmp_path_factory.mktemp("exports"))


@pytest.fixture(scope="module")
def results(ran):
    return ran.results()


def read_trec(path, value):
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = line.split(" ")
        found.setdefault(parts[0], {})[parts[2]] = value(parts)
    return found


def test_trec_files_give_our_scores_to_trec_eval(ran, results, tmp_path):
    written = export_results(ran.home, results, "trec", tmp_path)
    assert len(written.files) == 10 * (2 + 2)
    assert written.left_out == ()
    measures = {"success.1,5", "recip_rank", "ndcg_cut.5,10"}
    for line in results.tasks:
        name = line.task.release_name
        judged = read_trec(tmp_path / "qrels" / f"{name}.qrels", lambda p: int(p[3]))
        for run in sorted((tmp_path / "runs").glob(f"*/{name}.run")):
            model = run.read_text(encoding="utf-8").split()[5]
            assert run.parent.name == model
            scores = read_trec(run, lambda p: float(p[4]))
            for ranked in scores.values():
                falling = list(ranked.values())
                assert all(a > b for a, b in pairwise(falling))
            found = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(scores)
            ours = next(
                cell for key, cell in line.scores.items() if run.parent.name.startswith(key[:6])
                and (("@" in key) == (run.parent.name != "random"))
            )  # fmt: skip
            values = ours.score.values
            for metric, theirs in (("hit@1", "success_1"), ("hit@5", "success_5")):
                mean = 100 * np.mean([row[theirs] for row in found.values()])
                assert values[metric] == pytest.approx(mean, abs=1e-12), (name, metric)
            within = [row["recip_rank"] * row["success_5"] for row in found.values()]
            assert values["mrr@5"] == pytest.approx(100 * np.mean(within), abs=1e-12)


@pytest.fixture
def damaged(ran, tmp_path):
    """A copy of the run: one file of rankings cut at a line, one no JSON, one gone."""
    home = Home(shutil.copytree(ran.home.root, tmp_path / "home"))
    (cut,) = home.runs.rglob("random/2d/skin_i2i_pred.jsonl")
    cut.write_bytes(b"".join(cut.read_bytes().splitlines(keepends=True)[:-1]))
    (broken,) = home.runs.rglob("random/2d/organamnist_i2i_pred.jsonl")
    broken.write_bytes(broken.read_bytes()[:-40])
    (gone,) = home.runs.rglob("random/text/notes_t2t_pred.jsonl")
    gone.unlink()
    return Ran(home, ran.root)


def test_trec_names_the_rankings_that_cannot_be_read(damaged, tmp_path):
    words = ["bench", "export", "--to", "trec", "--json", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["--home", str(damaged.home.root), *words])
    assert done.exit_code == 1, done.output
    document = json.loads(done.stdout)
    assert len(document["files"]) == 10 * (2 + 2) - 3
    told = sorted(document["left_out"])
    assert [one.split(":")[0] for one in told] == [
        "notes/t2t, random", "organamnist/i2i, random", "skin/i2i, random",
    ]  # fmt: skip
    assert "gone; run the task again" in told[0]
    assert "damaged" in told[1]
    assert "11 of 12 rankings are left" in told[2]


def test_nothing_left_to_export_says_why(damaged, tmp_path):
    for path in damaged.home.runs.rglob("*_pred.jsonl"):
        path.write_bytes(b"{")
    with pytest.raises(NoRun, match=r"can be written as trec\. .*random: .*damaged"):
        export_results(damaged.home, damaged.results(), "trec", tmp_path / "out")


def test_the_graded_table_names_the_rankings_that_cannot_be_read(damaged):
    graded = load_graded(damaged.home, damaged.results())
    section = graded_section(graded, paper=False)
    assert set(graded.models) == {OTHER}
    (note,) = [note for note in section.notes if note.startswith("Left out: ")]
    assert "organamnist/i2i, random: " in note
    assert len(section.document["tasks"][0]["lost"]) == 1
    for path in damaged.home.runs.rglob("organamnist_i2i_pred.jsonl"):
        path.unlink(missing_ok=True)
    section = graded_section(load_graded(damaged.home, damaged.results()), paper=False)
    assert "none of its rankings can be read" in " ".join(section.notes)
    assert sum(note.startswith("Left out: ") for note in section.notes) == 2


def test_trec_names_are_listed_and_shared_by_the_models(ran, results, tmp_path):
    export_results(ran.home, results, "trec", tmp_path)
    docs = (tmp_path / "docs" / "notes_t2t.tsv").read_text(encoding="utf-8").splitlines()
    names = {key: json.loads(text) for key, text in (line.split("\t") for line in docs)}
    assert len(names) == 12
    assert "Impression 3: stable." in names.values()
    runs = sorted((tmp_path / "runs").glob("*/notes_t2t.run"))
    assert len(runs) == 2
    sets = [{line.split()[2] for line in run.read_text().splitlines()} for run in runs]
    assert sets[0] == sets[1] == set(names)


def test_mteb_files_hold_its_keys_and_our_numbers(ran, results, tmp_path):
    export_results(ran.home, results, "mteb", tmp_path, models=["random"])
    (meta,) = tmp_path.rglob("model_meta.json")
    assert meta.parent.parent.name == "random"
    files = sorted(set(meta.parent.glob("*.json")) - {meta})
    assert len(files) == 10
    for path in files:
        document = json.loads(path.read_text(encoding="utf-8"))
        assert set(document) == {
            "dataset_revision", "task_name", "mteb_version", "scores", "evaluation_time",
            "kg_co2_emissions",
        }  # fmt: skip
        (scores,) = document["scores"]["test"]
        line = next(t for t in results.tasks if t.task.release_name == document["task_name"])
        values = line.scores["random"].score.values
        assert scores["main_score"] == scores["hit_rate_at_1"]
        assert 100 * scores["hit_rate_at_1"] == pytest.approx(values["hit@1"], abs=1e-4)
        assert 100 * scores["mrr_at_5"] == pytest.approx(values["mrr@5"], abs=1e-4)
        assert scores["recall_at_5"] == scores["hit_rate_at_5"]


def test_our_table_and_what_export_refuses(ran, results, tmp_path):
    (path,) = export_results(ran.home, results, "csv", tmp_path).files
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["model"] for row in rows} >= {"random", OTHER, "chance", "MedEmb-8B"}
    with pytest.raises(BadRequest, match="trec, mteb, csv"):
        export_results(ran.home, results, "xlsx", tmp_path)
    with pytest.raises(NoRun, match="there are: random"):
        export_results(ran.home, results, "trec", tmp_path, models=["siglip-nano"])


def test_the_authors_files_stand_beside_ours(ran, tmp_path):
    folder = authors_folder(ran, tmp_path / "theirs")
    document = import_results(ran.home, folder, "Theirs", data=ran.root)
    assert len(document["tasks"]) == 10
    assert document["refused"] == []
    assert document["before"] == []
    results = load_results(ran.home, ran.root)
    line = next(one for one in results.models if one.model == "Theirs@imported")
    assert line.columns["All"].values["hit@1"] == 100
    assert results.models[0] is line
    cell = next(t for t in results.tasks if t.task.id == "skin/i2i").scores["Theirs@imported"]
    assert cell.imported["same_queries"]
    assert "Theirs@imported was imported from" in " ".join(to_text(results).split())
    rows = to_json(results)["tasks"]
    assert rows[0]["scores"]["Theirs@imported"]["imported"]["per_query"]
    pair = compare_models(ran.home, results, "Theirs@imported", "random")
    assert len(pair.tasks) == 10
    assert pair.splits["All"].value > 0
    assert pair.splits["All"].p < 0.001
    graded = load_graded(ran.home, results)
    assert graded.models["Theirs@imported"]["Laterality"].tasks == 1
    (first, *_) = task_queries(ran.home, ran.root, "skin/i2i", ["Theirs@imported", "random"])
    assert first.rankings["Theirs@imported"].rank == 1
    assert first.rankings["Theirs@imported"].top[0].is_gold


def test_an_earlier_import_of_the_name_is_told(ran, tmp_path):
    folder = authors_folder(ran, tmp_path / "whole")
    import_results(ran.home, folder, "Twice", data=ran.root)
    (folder / "2D" / "skin_i2i_pred.jsonl").unlink()
    document = import_results(ran.home, folder, "Twice", data=ran.root)
    assert document["before"] == ["skin/i2i"]


def test_importing_our_own_ranking_gives_our_scores_back(ran, tmp_path):
    folder = authors_folder(ran, tmp_path / "same", best=False)
    import_results(ran.home, folder, "Same", data=ran.root)
    results = load_results(ran.home, ran.root)
    for line in results.tasks:
        assert line.scores["Same@imported"].ranks == line.scores["random"].ranks


def test_scores_alone_are_enough_for_the_tables(ran, results, tmp_path):
    folder = tmp_path / "bare"
    folder.mkdir()
    for line in results.tasks:
        ranks = []
        with open_store(ran.home) as store:
            ranks = [r for _, r, _ in query_ranks(store, line.scores["random"].result_id)]
        scores = {**release_metrics(ranks), "num_pred": len(ranks), "num_data": len(ranks)}
        path = folder / f"{line.task.release_name}_score.json"
        path.write_text(json.dumps(scores), encoding="utf-8")
    document = import_results(ran.home, folder, "Bare", data=ran.root)
    assert not any(one["per_query"] for one in document["tasks"].values())
    found = load_results(ran.home, ran.root)
    for line in found.tasks:
        cell = line.scores["Bare@imported"]
        assert cell.ranks == line.scores["random"].ranks
        assert cell.score == line.scores["random"].score, "with the same interval"
        assert cell.imported["exact"]
    with pytest.raises(NoRun, match="scores alone"):
        compare_models(ran.home, found, "Bare@imported", "random")


def test_counts_follow_from_scores():
    random = np.random.default_rng(0)
    for total in (1, 7, 60, 400):
        for _ in range(10):
            ranks = random.integers(1, 12, total)
            scores = {**release_metrics(ranks), "num_pred": total}
            assert counts_of(scores, None) == (histogram(ranks), True)
            rounded = {name: round(value, 4) for name, value in scores.items()}
            counts, _ = counts_of(rounded, None)
            again = release_metrics([r for r, n in enumerate(counts, 1) for _ in range(n)])
            assert again["hit@1"] == pytest.approx(scores["hit@1"], abs=1e-9)
            assert again["mrr@5"] == pytest.approx(scores["mrr@5"], abs=2e-3)


def test_counts_follow_without_ndcg_and_at_any_size():
    random = np.random.default_rng(1)
    for total in (3, 50, 900, 100_000):
        ranks = random.integers(1, 9, total)
        scores = {**release_metrics(ranks), "num_pred": total}
        assert counts_of(scores, None) == (histogram(ranks), True)
        bare = {name: scores[name] for name in ("hit@1", "hit@5", "mrr@5", "num_pred")}
        counts, exact = counts_of(bare, None)
        assert not exact, "several sets of counts have these scores"
        found = release_metrics([r for r, n in enumerate(counts, 1) for _ in range(n)])
        for name in ("hit@1", "hit@5", "mrr@5"):
            assert found[name] == pytest.approx(scores[name], abs=1e-9)


@pytest.mark.parametrize(
    "line",
    [
        "[1, 2]",
        '{"prediction": ["a"]}',
        '{"prediction": ["a"], "label": []}',
        '{"prediction": 3, "label": ["a"]}',
        '{"prediction": ["a"], "label": ["b"], "rank": "first"}',
        "{",
        "[" * 20_000,
    ],
)
def test_damaged_rankings_are_refused_with_their_file(line, tmp_path):
    path = tmp_path / "Kvasir_cls_pred.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    task = next(task for task in load_tasks() if task.release_name == "Kvasir_cls")
    with pytest.raises(BadTaskFile, match="no rankings"):
        read_imported(task, [path], tmp_path)


def test_a_rank_that_its_own_list_denies_does_not_count(tmp_path):
    path = tmp_path / "Kvasir_cls_pred.jsonl"
    lines = [
        {"prediction": ["a", "b"], "label": ["b"], "rank": 1},
        {"prediction": ["a", "b"], "label": ["c"], "rank": -4, "pool": 40},
        {"prediction": ["a", "b"], "label": "a"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    task = next(task for task in load_tasks() if task.release_name == "Kvasir_cls")
    found = read_imported(task, [path], tmp_path)
    assert [one.rank for one in found.ranked] == [2, 3, 1]
    assert [one.pool for one in found.ranked] == [2, 40, 2]


@pytest.mark.parametrize(
    "scores",
    [
        {"hit@1": 0.5, "hit@5": 0.6, "mrr@5": 0.55, "num_pred": float("inf")},
        {"hit@1": 0.5, "hit@5": float("nan"), "mrr@5": 0.55, "num_pred": 10},
        {"hit@1": 0.5, "hit@5": 0.4, "mrr@5": 0.5, "num_pred": 10},
        {"hit@1": 0.5, "hit@5": 1.4, "mrr@5": 0.6, "num_pred": 10},
        {"hit@1": 0.5, "hit@5": 0.6, "mrr@5": 0.55},
        {"hit@1": 0.5, "num_pred": 3},
    ],
)
def test_scores_that_contradict_each_other_are_refused(scores, tmp_path):
    with pytest.raises(BadTaskFile):
        counts_of(scores, tmp_path / "x_score.json")


def test_results_without_data_stand_beside_the_paper_alone(tmp_path):
    home = Home(tmp_path / "home").make()
    folder = tmp_path / "8B"
    (folder / "2D").mkdir(parents=True)
    scores = {**release_metrics([1, 2, 7]), "num_pred": 3}
    (folder / "2D" / "Kvasir_cls_score.json").write_text(json.dumps(scores), encoding="utf-8")
    (folder / "2D" / "Kvasir_cls_qry").write_bytes(b"\x80\x04never opened")
    document = import_results(home, folder, "Qwen3-VL-Embed-8B")
    assert document["data"]["root"] == ""
    results = load_results(home)
    (line,) = [t for t in results.tasks if t.missing is None]
    assert (line.task.id, line.pool) == ("kvasir/i2l", "unknown")
    assert results.chance.columns == {}, "nobody knows those lists"
    assert results.paper().same_as == {"Qwen3-VL-Embed-8B@imported": "Qwen3-VL-Embed-8B"}
    text = to_text(results, compare_paper=True)
    assert "1/107" in text
    assert "Missing, 106 of 107 tasks" in " ".join(text.split())


def test_what_an_import_refuses(ran, tmp_path):
    with pytest.raises(BadRequest, match="no @"):
        import_results(ran.home, tmp_path, "a@b", data=ran.root)
    with pytest.raises(BadTaskFile, match="no file that ends in"):
        import_results(ran.home, tmp_path, "a", data=ran.root)
    for name in ("2B", "8B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "skin_i2i_score.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadTaskFile, match="several models"):
        import_results(ran.home, tmp_path, "a", data=ran.root)
    with pytest.raises(BadTaskFile, match="no queries"):
        import_results(ran.home, tmp_path / "2B", "a", data=ran.root)
    (tmp_path / "8B" / "skin_i2i_score.json").unlink()
    (tmp_path / "8B" / "Strange_score.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadTaskFile, match=r"Strange_score\.json is not"):
        import_results(ran.home, tmp_path / "8B", "a", data=ran.root)


def test_both_namings_of_the_averages_are_understood(tmp_path):
    theirs = named_as_in_paper(["2D", "ALL", "ALL+OOD", "OOD"])
    assert theirs == {"ALL": "ID", "ALL+OOD": "All", "OOD": "Held-out"}
    assert named_as_in_paper(["ID", "Held-out", "All"]) == {
        "ID": "ID", "Held-out": "Held-out", "All": "All",
    }  # fmt: skip
    assert named_as_in_paper(["ALL"]) == {}, "alone it could be either"
    (tmp_path / "med_summary.tsv").write_text(
        "group\thit@1\nALL\t24.32\nALL+OOD\t24.64\nOOD\t27.41\n", encoding="utf-8"
    )
    assert stated_means(tmp_path) == {"ID": 24.32, "All": 24.64, "Held-out": 27.41}
    (tmp_path / "med_summary.tsv").write_text(
        "model\tID\tAll\nours\t24.32\t24.64\n", encoding="utf-8"
    )
    assert stated_means(tmp_path) == {"ID": 24.32, "All": 24.64}
    (tmp_path / "med_summary.tsv").write_text(
        "level\tname\thit@1\thit@5\nsummary\tALL\t24.32\t56.1\nsummary\tALL+OOD\t24.64\t56.7\n",
        encoding="utf-8",
    )
    assert stated_means(tmp_path) == {"ID": 24.32, "All": 24.64}
