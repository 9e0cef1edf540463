"""The graded task across two sources, from the miniature's files to Table 6."""

import json
from math import lcm

import numpy as np
import pytest
import pytrec_eval

from db.home import Home
from engine.control import Control
from studies.errors import StudyError
from studies.jobs import load_job
from studies.medheb.builders.built import read_built
from studies.medheb.builders.record import Picture
from studies.medheb.cross_scores import RULES, cross_scores
from studies.medheb.cross_source import SETTINGS, TASK, Side, build_cross
from studies.medheb.graded import as_set, jaccard
from studies.medheb.mini.catalogue import writer
from studies.medheb.mini.job import MARK
from studies.medheb.release import read_task
from studies.medheb.sources.fourteen import StudyLabels
from studies.medheb.tasks import load_tasks
from studies.medheb.writer import Prediction, result_folder
from studies.results import load_results
from studies.results_cross import cross_section
from studies.results_import import import_results
from studies.results_sections import section_text
from studies.run import bench_job
from tests.studies.medheb_tree import task_row, write_picture, write_registry

WORDS = ("Edema", "Fracture", "Pneumonia", "Support Devices", "No Finding")


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cross")
    for source in ("mimic_cxr", "chexpert_plus"):
        writer(source)(folder / source, seed=7)
    (folder / MARK).write_text("{}", encoding="utf-8")
    home = Home(folder / "home").make()
    arguments = {
        "queries": str(folder / "mimic_cxr"),
        "candidates": str(folder / "chexpert_plus"),
        "data": str(folder / "data"),
        "settings": {"pool": "6"},
    }
    document = load_job("bench-cross")(home, arguments, Control())
    return home, folder / "data", document


def test_the_miniature_becomes_the_task_and_is_scored(mini):
    home, root, document = mini
    assert document["rows"] > 0, document
    assert [task.id for task in load_tasks(root)] == [TASK.id]
    built = read_built(root)[TASK.id]
    assert built.settings["pool"] == 6
    assert built.settings["uncertain"] == "absent"
    assert "mimic_cxr.labels_file" in built.settings
    assert any("Support Devices" in note for note in built.notes), "prevalence on both sides"
    bench_job(home, {"data": str(root), "models": ["random"], "device": "cpu"}, Control())
    section = cross_section(home, load_results(home, root), paper=True)
    assert section is not None
    names = [row[0] for row in section.rows]
    assert names[:2] == ["chance", "random"]
    assert "random, no devices" in names
    assert ("MedEmb-8B (paper)", "0.566", "0.694", "0.637", "0.940", "", "") in section.rows
    assert set(section.document["rules"]) == set(RULES)
    text = section_text(section)
    assert "overlap of at least a half" in text
    assert "generated miniature" in text, "the mark of the sources' folder came along"
    json.dumps(section.document)
    assert section.document["differences"] == {}


def test_a_model_of_the_paper_gets_its_difference(mini, tmp_path):
    home, root, _ = mini
    bench_job(home, {"data": str(root), "models": ["random"], "device": "cpu"}, Control())
    results = load_results(home, root)
    (line,) = results.tasks
    folder = result_folder(home.runs, results.digest, "random", line.task)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for path in folder.glob("*.json*"):
        (theirs / path.name).write_bytes(path.read_bytes())
    import_results(home, theirs, "MedEmb-8B", data=root)
    (root / MARK).unlink()
    section = cross_section(home, load_results(home, root), paper=True)
    (root / MARK).write_text("{}", encoding="utf-8")
    ours = section.document["rules"]["half"]["MedEmb-8B@imported"]["ndcg@5"]
    assert ours == section.document["rules"]["half"]["random"]["ndcg@5"]
    gap = section.document["differences"]["MedEmb-8B@imported"]["ndcg@5"]
    assert gap == pytest.approx(ours - 0.566, abs=1e-4)


def test_rankings_that_are_gone_are_named(mini, tmp_path):
    _, root, _ = mini
    home = Home(tmp_path / "home").make()
    bench_job(home, {"data": str(root), "models": ["random"], "device": "cpu"}, Control())
    next(home.runs.rglob("*_pred.jsonl")).unlink()
    section = cross_section(home, load_results(home, root), paper=False)
    assert section.rows == (("no rankings left", *[""] * 6),), "else the section is not shown"
    assert "gone; run the task again" in " ".join(section_text(section).split())
    assert len(section.document["lost"]) == 1


def test_rows_say_the_instruction_and_hold_no_identifier(mini):
    _, root, document = mini
    task = load_tasks(root)[0]
    data = read_task(task, root)
    assert len(data.queries) == document["rows"]
    assert data.failures == ()
    for query in data.queries:
        assert query.item.instruction == TASK.qry_inst
        assert not query.item.text
        assert all(not c.item.text for c in query.candidates)
        asked = as_set(query.label)
        overlaps = [jaccard(asked, as_set(data.labels[c.name])) for c in query.candidates]
        assert asked
        assert overlaps[0] == max(overlaps) > 0, "the first shares most"
        assert len(query.candidates) <= 6


def study(root, source, place, findings, unsure=()):
    row = task_row("x/x", "I-I", "image_i2i", image_root=source)
    write_picture(root, row, f"{place}.png")
    picture = Picture(f"{place}.png", root / source / f"{place}.png")
    return StudyLabels(
        f"{source}{place}", f"{source}p{place}", picture, frozenset(findings), frozenset(unsure)
    )


def sides(root, source, count, seed):
    random = np.random.default_rng(seed)
    found = []
    for place in range(count):
        findings = [word for word in WORDS if random.random() < 0.4] or ["Edema"]
        one = study(root, source, place, findings)
        found.append(Side(one, one.positive))
    return sorted(found, key=lambda side: side.study.key)


def settings(**changes):
    return {choice.name: choice.default for choice in SETTINGS} | changes


@pytest.fixture
def made(tmp_path):
    asking, answering = sides(tmp_path, "m", 20, 0), sides(tmp_path, "c", 30, 1)
    root = tmp_path / "data"
    built = build_cross(asking, answering, root, settings(queries=12, pool=8))
    return root, built, read_task(load_tasks(root)[0], root)


def test_scores_equal_trec_eval_on_the_same_lists(made):
    _, built, data = made
    assert built.rows == len(data.queries) == 12
    random = np.random.default_rng(3)
    lines, run, judged = [], {}, {}
    scale = lcm(*range(1, 15))
    for query in data.queries:
        names = [c.name for c in query.candidates]
        order = random.permutation(len(names))
        ranked = tuple(names[place] for place in order)
        lines.append(Prediction(query.row, 1, len(names), query.gold, ranked, ()))
        key = f"q{query.row}"
        run[key] = {name: float(len(names) - place) for place, name in enumerate(ranked)}
        asked = as_set(query.label)
        judged[key] = {n: round(jaccard(asked, as_set(data.labels[n])) * scale) for n in names}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.5,10"}).evaluate(run)
    half = {q: {n: int(2 * g >= scale) for n, g in docs.items()} for q, docs in judged.items()}
    hits = pytrec_eval.RelevanceEvaluator(half, {"success.1,5"}).evaluate(run)
    ours = cross_scores(data, {"m": lines})["m"].values
    for k in (5, 10):
        mean = np.mean([row[f"ndcg_cut_{k}"] for row in theirs.values()])
        assert ours[f"ndcg@{k}"] == pytest.approx(mean, abs=1e-12)
    for k in (1, 5):
        mean = np.mean([row[f"success_{k}"] for row in hits.values()])
        assert ours[f"hit@{k}"] == pytest.approx(mean, abs=1e-12)


def test_rules_are_nested_and_devices_can_be_left_out(made):
    *_, data = made
    lines = [
        Prediction(q.row, 1, len(q.candidates), q.gold, tuple(c.name for c in q.candidates), ())
        for q in data.queries
    ]
    found = {rule: cross_scores(data, {"m": lines}, rule=rule) for rule in RULES}
    one = {rule: scores["m"].values["hit@1"] for rule, scores in found.items()}
    assert one["strict"] <= one["half"] <= one["loose"] == 1
    chance = {rule: scores["chance"].values["hit@5"] for rule, scores in found.items()}
    assert chance["strict"] <= chance["half"] <= chance["loose"]
    assert found["half"]["chance"].pool == 8
    bare = cross_scores(data, {"m": lines}, without=("Support Devices",))
    assert bare["m"].queries <= 12
    assert bare["m"].values != found["half"]["m"].values


def test_lists_depend_on_the_seed_alone_and_fit_the_pool(made, tmp_path):
    root, _, data = made
    asking, answering = sides(tmp_path, "m", 20, 0), sides(tmp_path, "c", 30, 1)
    again = tmp_path / "again"
    build_cross(asking[::-1], answering, again, settings(queries=12, pool=8))
    path = root / TASK.data_path
    assert path.read_bytes() == (again / TASK.data_path).read_bytes()
    other = tmp_path / "other"
    build_cross(asking, answering, other, settings(queries=12, pool=8, seed=1))
    assert path.read_bytes() != (other / TASK.data_path).read_bytes()
    whole = tmp_path / "whole"
    build_cross(asking, answering, whole, settings(queries=3, pool=0))
    read = read_task(load_tasks(whole)[0], whole)
    assert {len(query.candidates) for query in read.queries} == {30}
    assert all(len({c.name for c in q.candidates}) == len(q.candidates) for q in data.queries)


def test_uncertain_findings_count_when_asked(tmp_path):
    from studies.medheb.cross_source import _taking_part

    one = study(tmp_path, "m", 0, ["Edema"], ["Pneumonia"])
    empty = study(tmp_path, "m", 1, [], ["Fracture"])
    absent = _taking_part([one, empty], "absent", [], Control())
    present = _taking_part([one, empty], "present", [], Control())
    assert [side.label for side in absent] == ["Edema"]
    assert [side.label for side in present] == ["Edema|Pneumonia", "Fracture"]


def test_a_folder_with_other_tasks_is_refused(tmp_path):
    write_registry(tmp_path / "data", [task_row("skin/i2i", "I-I", "image_i2i")])
    asking, answering = sides(tmp_path, "m", 3, 0), sides(tmp_path, "c", 3, 1)
    with pytest.raises(StudyError, match="its own folder"):
        build_cross(asking, answering, tmp_path / "data", settings())
    with pytest.raises(StudyError, match="no frontal study"):
        build_cross([], answering, tmp_path / "new", settings())
    with pytest.raises(StudyError, match="no setting 'pools'"):
        load_job("bench-cross")(
            Home(tmp_path),
            {"queries": "a", "candidates": "b", "data": "c", "settings": {"pools": 3}},
            Control(),
        )
