"""The benchmark job from files to tables, with the random encoder, and its stops and starts."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import studies.medheb.lines
import studies.run
from db.home import Home
from db.runs import TaskResult, query_results, save_task_result, task_results
from db.session import open_store
from engine.control import Control
from engine.errors import Cancelled, WeightsMissing
from engine.models.random_encoder import RandomEncoder
from studies.errors import BadTaskFile, NoRun, StudyError, UnknownTask
from studies.medheb.tasks import load_tasks
from studies.medheb.writer import model_folder, read_predictions, result_folder
from studies.plan import plan_run
from studies.queries import task_queries
from studies.results import load_results, to_json, to_markdown, to_text
from studies.run import bench_job
from tests.studies.medheb_killed import Counting
from tests.studies.medheb_tree import small_root, task_row, write_index

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def root(tmp_path):
    return small_root(tmp_path / "data", queries=10)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home").make()


def bench(home, root, *models, control=None, **arguments):
    given = {"data": str(root), "models": list(models or ["random"]), **arguments}
    return bench_job(home, given, control or Control())


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A finished run that tests only read."""
    folder = tmp_path_factory.mktemp("done")
    root = small_root(folder / "data", queries=60)
    home = Home(folder / "home").make()
    return home, root, bench(home, root)


def test_the_random_encoder_lies_at_chance(done):
    home, _, report = done
    assert report["computed"] == 9
    assert report["saved"] == ("run",)
    results = load_results(home)
    (line,) = results.models
    for column, chance in results.chance.columns.items():
        for metric, (low, high) in chance.interval.items():
            value = line.columns[column].values[metric]
            expected = chance.values[metric]
            assert abs(value - expected) <= 4.5 * (high - low) / 3.92 + 1e-9, (column, metric)
    low, high = line.columns["All"].interval["mrr@5"]
    assert high - low < 10


def test_the_document_is_the_agreed_one(done):
    home, root, _ = done
    document = to_json(load_results(home, root))
    assert len(document["tasks"]) == 9
    metrics = {"hit@1", "hit@5", "mrr@5"}
    for task in document["tasks"]:
        assert {"task", "family", "form", "split", "n", "chance", "scores"} <= set(task)
        assert set(task["chance"]) == metrics
        assert metrics | {"interval"} <= set(task["scores"]["random"])
        assert task["n"] == 60
    (model,) = document["models"]
    assert {"model", "all", "id", "held_out", "families", "cv"} <= set(model)
    assert list(model["families"]) == ["I-I", "MB-VR", "I-Lab", "I-Rep", "T-I", "VQA", "VG", "T-T"]
    for cell in (model["all"], model["id"], model["held_out"], *model["families"].values()):
        assert metrics <= set(cell)
        assert all(0 <= cell[name] <= 100 for name in metrics)
    hits = [model["families"][name]["hit@1"] for name in model["families"]]
    assert model["cv"] == pytest.approx(np.std(hits) / np.mean(hits), abs=1e-4)
    mean = np.mean([task["scores"]["random"]["hit@1"] for task in document["tasks"]])
    assert model["all"]["hit@1"] == pytest.approx(mean, abs=1e-3)
    assert model["held_out"]["tasks"] == 1
    json.dumps(document)


def test_the_tables_fit_and_name_things(done):
    home, _, _ = done
    results = load_results(home)
    text = to_text(results, compare_paper=True)
    assert max(len(line) for line in text.splitlines()) <= 100
    for word in ("Held-out*", "chance", "CV", "random", "Qwen3-VL-", "in common 0", "skin/i2i"):
        assert word in text
    markdown = to_markdown(results, compare_paper=True)
    tables = [line for line in markdown.splitlines() if line.startswith("|")]
    assert "| MedEmb-8B (paper) |" in markdown
    assert all(line.endswith(" |") for line in tables)


def test_files_are_the_releases(done):
    home, root, report = done
    task = next(t for t in load_tasks(root) if t.id == "chest/i2l")
    folder = result_folder(home.runs, report["data_digest"], "random", task)
    assert folder.name == "2d"
    score = json.loads((folder / "chest_i2l_score.json").read_text())
    names = ("hit", "mrr", "ndcg_linear", "ndcg_exponential", "precision", "recall", "f1", "map")
    assert set(score) == {f"{n}@{k}" for n in names for k in (1, 5, 10)} | {"num_pred", "num_data"}
    assert (score["num_pred"], score["num_data"]) == (60, 60)
    assert score["hit@5"] == 1.0, "three labels are always within five"
    lines = (folder / "chest_i2l_pred.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    assert sorted(first["prediction"]) == ["effusion", "no finding", "pneumonia"]
    assert first["label"] == ["effusion"]
    info = json.loads((folder / "chest_i2l_info.jsonl").read_text().splitlines()[1])
    assert info["cand_names"][0] == info["label_name"] == "pneumonia"
    kinds = {path.name.partition(".")[2] for path in home.runs.rglob("*") if path.is_file()}
    assert kinds == {"json", "jsonl"}, "no pickles, no leftovers"


def test_stored_queries_and_predictions_agree(done):
    home, root, report = done
    with open_store(home) as store:
        rows = task_results(store, report["data_digest"], task_id="skin/i2i")
        stored = query_results(store, rows[0].id)
    assert sum(rows[0].details["ranks"]) == rows[0].n == len(stored) == 60
    task = next(t for t in load_tasks(root) if t.id == "skin/i2i")
    predictions = read_predictions(
        result_folder(home.runs, report["data_digest"], "random", task), task
    )
    for kept, line in zip(stored, predictions, strict=True):
        assert kept.rank == line.rank == line.names.index(line.gold) + 1
        assert kept.ordered == line.names[:10]
        assert list(line.scores) == sorted(line.scores, reverse=True)


def test_queries_open_with_each_models_list(done):
    home, root, _ = done
    queries = task_queries(home, root, "cxr/t2r", ["random"], k=3)
    assert len(queries) == 60
    one = queries[0]
    assert one.item.text == "nodule"
    assert len(one.gold.item.images) == 2
    ranking = one.rankings["random"]
    assert [candidate.place for candidate in ranking.top] == [1, 2, 3]
    assert all(candidate.item.images[0].path.is_file() for candidate in ranking.top)
    assert any(c.is_gold for c in ranking.top) == (ranking.rank <= 3)
    assert one.pool == 60
    with pytest.raises(UnknownTask):
        task_queries(home, root, "nothing", ["random"])
    with pytest.raises(NoRun, match="medemb-nano has no result"):
        task_queries(home, root, "cxr/t2r", ["random", "medemb-nano"])


def seen(log):
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def use(monkeypatch, encoder):
    monkeypatch.setattr(studies.run, "load_encoder", lambda *args, **options: encoder)


def test_a_killed_run_goes_on_and_computes_nothing_twice(tmp_path, root, home, monkeypatch):
    log = tmp_path / "seen.txt"
    words = [str(home.root), str(root), str(log), "5"]
    killed = subprocess.run(
        [sys.executable, "-m", "tests.studies.medheb_killed", *words], cwd=REPOSITORY, check=False
    )
    assert killed.returncode == 9
    before = seen(log)
    assert before
    use(monkeypatch, Counting(log, 0))
    report = bench(home, root)
    assert report["already"] >= 1
    assert report["already"] + report["computed"] == 9
    everything = seen(log)
    assert len(set(everything)) == len(everything), "an item was embedded twice"
    # A run that is never disturbed sees exactly as many.
    straight = Counting(tmp_path / "straight.txt", 0)
    use(monkeypatch, straight)
    bench(Home(tmp_path / "other").make(), root)
    assert sorted(seen(straight.log)) == sorted(everything)
    bench(home, root)
    assert len(seen(log)) == len(everything)


def test_a_cancelled_run_keeps_what_it_has(root, home):
    phases = []
    wish = []

    def report(number, total, unit, phase):
        phases.append((number, total, phase))
        if phase.startswith("random") and number > total // 2:
            wish.append(True)

    with pytest.raises(Cancelled):
        bench(home, root, control=Control(cancelled=lambda: bool(wish), report=report))
    kept = load_results(home)
    assert 0 < 9 - len(kept.missing) < 9
    assert all("not run yet" in line.missing for line in kept.missing)
    again = bench(home, root)
    assert again["already"] == 9 - len(kept.missing)
    assert again["computed"] == len(kept.missing)
    running = [number for number, _, phase in phases if phase.startswith("random (1 of 1)")]
    assert running == sorted(running)


def test_another_fingerprint_or_content_is_computed_again(root, home, monkeypatch):
    assert bench(home, root)["computed"] == 9
    use(monkeypatch, RandomEncoder(seed=2))
    assert bench(home, root)["computed"] == 9
    assert bench(home, root)["already"] == 9
    folder = result_folder(
        home.runs, bench(home, root)["data_digest"], "random", load_tasks(root)[0]
    )
    next(folder.glob("*_pred.jsonl")).unlink()
    assert bench(home, root)["computed"] == 1


def test_a_picture_replaced_by_one_of_the_same_size_is_ranked_again(root, home):
    bench(home, root)
    skin = next(task for task in load_tasks(root) if task.id == "skin/i2i")
    picture = root / skin.image_root / "0_q.png"
    seen = picture.stat()
    os.utime(picture, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1_000_000))
    again = bench(home, root)
    assert (again["already"], again["computed"]) == (8, 1)


def cut(home, report, task_id, name):
    """Take the last line off one of a task's files, and say what it held."""
    (path,) = (home.runs / report["data_digest"]).rglob(f"{task_id.replace('/', '_')}_{name}")
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    return path, whole


@pytest.mark.parametrize("name", ["pred.jsonl", "info.jsonl", "score.json"])
def test_a_cut_file_is_mended_by_running_again(root, home, name):
    path, whole = cut(home, bench(home, root), "skin/i2i", name)
    again = bench(home, root)
    assert (again["already"], again["computed"]) == (8, 1)
    assert path.read_bytes() == whole
    assert bench(home, root)["already"] == 9


def test_rows_from_before_sizes_were_kept_stay_valid(root, home):
    report = bench(home, root, tasks="skin/i2i")
    with open_store(home) as store:
        (row,) = task_results(store, report["data_digest"])
        kept = {name: getattr(row, name) for name in TaskResult.__dataclass_fields__}
        assert len(kept["details"].pop("file_bytes")) == 3
        save_task_result(store, TaskResult(**kept), query_results(store, row.id))
    path, whole = cut(home, report, "skin/i2i", "pred.jsonl")
    assert bench(home, root, tasks="skin/i2i")["already"] == 1
    path.unlink()
    assert bench(home, root, tasks="skin/i2i")["computed"] == 1
    assert path.read_bytes() == whole


def test_what_is_taken_over_is_whole(root, home):
    late = root / "2D_Task/chest_i2l/chest_i2l_test.json"
    aside = late.with_name("aside")
    late.rename(aside)
    first = bench(home, root)
    cut(home, first, "skin/i2i", "pred.jsonl")
    aside.rename(late)
    second = bench(home, root)
    assert (second["already"], second["computed"]) == (7, 2), "a cut file is not taken over"
    cut(home, second, "skin/t2i", "pred.jsonl")
    third = bench(home, root)
    assert (third["already"], third["computed"]) == (9, 0), "the older set is whole"
    assert bench(home, root)["already"] == 9
    assert len(task_queries(home, root, "skin/t2i", ["random"])) == 10


def test_a_task_that_joins_later_costs_only_itself(tmp_path, root, home, monkeypatch):
    late = root / "2D_Task/chest_i2l/chest_i2l_test.json"
    aside = late.with_name("aside")
    late.rename(aside)
    first = bench(home, root)
    assert [row["task"] for row in first["missing"]] == ["chest/i2l"]
    assert "there is no 2D_Task/chest_i2l" in first["missing"][0]["reason"]
    assert "chest/i2l" in to_text(load_results(home, root))
    aside.rename(late)
    with pytest.raises(NoRun, match="as it is now"):
        load_results(home, root)
    log = tmp_path / "seen.txt"
    use(monkeypatch, Counting(log, 0))
    second = bench(home, root)
    assert (second["already"], second["computed"]) == (8, 1)
    assert len(seen(log)) == 10 + 3
    results = load_results(home, root)
    assert not results.missing
    assert len(task_queries(home, root, "skin/i2i", ["random"])) == 10


def test_bad_input_is_named_and_the_rest_goes_on(root, home):
    tasks = {task.id: task for task in load_tasks(root)}
    index = root / tasks["path/vqa"].data_path
    rows = json.loads(index.read_text())
    rows[3] = {"qry_text": "broken"}
    index.write_text(json.dumps(rows))
    (root / tasks["notes/t2t"].data_path).write_text("{", encoding="utf-8")
    picture = root / tasks["skin/t2i"].image_root / "4_1.png"
    picture.write_bytes(picture.read_bytes()[:40])
    report = bench(home, root)
    assert [row["task"] for row in report["missing"]] == ["notes/t2t"]
    failures = {(row["task"], row["row"]): row["reason"] for row in report["failures"]}
    assert set(failures) == {("path/vqa", 3), ("skin/t2i", 4)}
    assert "no qry_img_path" in failures["path/vqa", 3]
    assert "4_1.png" in failures["skin/t2i", 4]
    assert bench(home, root)["failures"] == report["failures"], "named again, though stored"
    results = load_results(home)
    assert [line.task.id for line in results.missing] == ["notes/t2t"]
    assert {line.task.id: line.n for line in results.tasks}["skin/t2i"] == 9
    text = to_text(results)
    assert "Missing, 1 of 9 tasks: notes/t2t" in text
    assert "skin/t2i, random: 1 rows not scored" in text
    (line,) = results.models
    assert line.cv is None, "a family is missing"
    assert line.missing == ("notes/t2t",)


def test_a_model_that_cannot_be_loaded_stops_nobody(root, home, monkeypatch):
    def load(name, **options):
        if name != "random":
            raise WeightsMissing(f"{name} is not on this machine.")
        return RandomEncoder()

    monkeypatch.setattr(studies.run, "load_encoder", load)
    report = bench(home, root, "medemb-2b", "nonsense", "random")
    assert report["computed"] == 9
    assert {row["model"] for row in report["refused"]} == {"medemb-2b", "nonsense"}
    with pytest.raises(StudyError, match="medemb-2b is not on this machine"):
        bench(home, root, "medemb-2b")


def test_patterns_narrow_a_run(root, home):
    report = bench(home, root, tasks="*/i2i,VG")
    assert report["computed"] == 2
    assert report["missing"] == []
    results = load_results(home, root)
    assert len(results.missing) == 7
    with pytest.raises(UnknownTask):
        bench(home, root, tasks="x*")


def test_nothing_to_read_and_nothing_run(tmp_path, home):
    with pytest.raises(NoRun, match="triptych bench run"):
        load_results(home)
    with pytest.raises(BadTaskFile, match="no such folder"):
        bench(home, tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadTaskFile, match="None of the tasks"):
        bench(home, tmp_path / "empty")


def test_the_plan_counts_before_anything_runs(root, home):
    with open_store(home) as store:
        plan = plan_run(home, store, data=root, models=["random", "other"])
        assert len(plan.pending) == 18
        bench(home, root)
        after = plan_run(home, store, data=root, models=["random", "other"])
    assert {model for model, _ in after.pending} == {"other"}
    assert not plan.missing


def test_folders_for_any_model_id():
    assert model_folder("medemb-nano") == "medemb-nano"
    odd = [model_folder(name) for name in ("a/b", "a_b/", "../x", "C:\\m", "x" * 200, "ü")]
    assert len(set(odd)) == len(odd)
    assert all(Path(name).name == name and name[0] != "." for name in odd)


def test_the_whole_registry_reads_as_missing(tmp_path, home):
    row = next(t for t in load_tasks() if t.id == "medmcqa/t2t")
    written = task_row(row.id, row.family, row.parser, data_path=row.data_path)
    texts = [f"answer {i}" for i in range(4)]
    rows = [
        {"qry_inst": "", "qry_text": f"q{i}", "tgt_text": [t, *(x for x in texts if x != t)]}
        for i, t in enumerate(texts)
    ]
    write_index(tmp_path / "data", written, rows)
    report = bench(home, tmp_path / "data")
    assert (report["computed"], len(report["missing"])) == (1, 106)
    text = to_text(load_results(home))
    assert "Missing, 106 of 107 tasks" in text
    assert "1/107" in text


def test_a_full_disk_loses_nothing_stored(root, home, monkeypatch):
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 8:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(studies.medheb.lines.os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            bench(home, root)
    assert not list(home.runs.rglob("*.part"))
    kept = [line for line in load_results(home).tasks if line.missing is None]
    assert len(kept) == 2
    assert bench(home, root)["already"] == 2


def test_one_model_after_another_with_progress_of_its_own(root, home, monkeypatch):
    monkeypatch.setattr(
        studies.run, "load_encoder", lambda name, **options: RandomEncoder(model_id=name)
    )
    last = {}

    def report(number, total, unit, phase):
        last[phase] = (number, total, unit)

    bench(home, root, "random", "siglip-nano", control=Control(report=report))
    for phase in ("random (1 of 2)", "siglip-nano (2 of 2)"):
        number, total, unit = last[phase]
        assert number == total > 100
        assert unit == "items"
    assert last["Reading tasks"] == (9, 9, "tasks")
    results = load_results(home)
    assert {line.model for line in results.models} == {"random", "siglip-nano"}
    assert sum(count for count, _ in results.regime_summary().values()) == 9
    assert "Tasks by mean baseline Hit@1" in to_text(results)
    both = task_queries(home, root, "skin/i2i", ["random", "siglip-nano"], k=3)
    assert set(both[0].rankings) == {"random", "siglip-nano"}


def test_every_result_says_how_its_model_was_loaded(done, tmp_path):
    home, root, _ = done
    results = load_results(home, root)
    for line in results.tasks:
        settings = line.scores["random"].record["settings"]
        assert {"name": "seed", "value": 1, "origin": "ours"} in settings
        assert line.scores["random"].shortened == 0
    assert "random: default settings" in to_text(results)
    (way,) = to_json(results)["encoders"]["random"]
    assert (way["preset"], way["tasks"], way["shortened"]) == ("default", 9, 0)
    beside = home.runs / results.digest / model_folder("random") / "encoder.json"
    assert json.loads(beside.read_text("utf-8"))["family"] == "random"


def test_a_variant_is_a_model_of_its_own(home, root):
    bench(home, root, "random", "random@seed=7")
    results = load_results(home, root)
    assert {line.model for line in results.models} == {"random", "random@seed=7"}
    ways = to_json(results)["encoders"]
    assert {"name": "seed", "value": 7, "origin": "user"} in ways["random@seed=7"][0]["settings"]
    refused = bench(home, root, "random", "random@seed=none")["refused"]
    assert refused == [
        {"model": "random@seed=none", "reason": "The setting seed must be of type int, not 'none'."}
    ]


def test_tasks_computed_in_two_ways_are_told(home, root, monkeypatch):
    bench(home, root, "random", tasks="*/i2l")
    load = studies.run.load_encoder

    def otherwise(*names, **options):
        return load(*names, **options, settings={"max_slices": 8})

    monkeypatch.setattr(studies.run, "load_encoder", otherwise)
    bench(home, root, "random", tasks="*/i2i")
    text = " ".join(to_text(load_results(home, root)).split())
    assert "Caution: the tasks of random were computed in 2 ways" in text


def test_the_folder_that_was_named_is_the_one_shown(done, tmp_path):
    import shutil

    home, root, _ = done
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    assert load_results(home, copy).root == str(copy)
    assert load_results(home, copy).digest == load_results(home, root).digest
