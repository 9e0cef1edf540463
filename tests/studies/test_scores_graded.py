"""Graded relevance: NDCG against two libraries, chance by simulation, the table and its weights."""

from dataclasses import replace
from math import lcm

import numpy as np
import pytest
import pytrec_eval

from studies.errors import BadTaskFile
from studies.medheb.builders.catalogue import source_cards
from studies.medheb.gains import chance_hit, chance_ndcg, hit, interval, ndcg, worst_ndcg
from studies.medheb.graded import RELATIONS, as_set, jaccard, key, load_scales
from studies.medheb.graded_scores import classes, graded_task, put_together
from studies.medheb.paper import printed
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks
from studies.medheb.writer import Prediction
from tests.studies.medheb_tree import task_row, write_index, write_picture, write_registry

QUARTERS = (0.0, 0.0, 0.25, 0.5, 1.0)


def pools(seed, queries=200, size=19, worths=QUARTERS):
    random = np.random.default_rng(seed)
    found = [random.choice(worths, random.integers(1, size + 1)) for _ in range(queries)]
    return [pool for pool in found if pool.any()]


def trec(pool, cut, scale):
    """NDCG by trec_eval, whose relevance is whole numbers and whose gain is linear."""
    judged = {f"d{place}": round(gain * scale) for place, gain in enumerate(pool)}
    run = {f"d{place}": float(len(pool) - place) for place in range(len(pool))}
    measure = f"ndcg_cut.{cut}"
    found = pytrec_eval.RelevanceEvaluator({"q": judged}, {measure}).evaluate({"q": run})
    return found["q"][measure.replace(".", "_")]


@pytest.mark.parametrize("cut", [5, 10])
def test_ndcg_equals_trec_eval(cut):
    for pool in pools(1):
        assert ndcg(pool, cut) == pytest.approx(trec(pool, cut, 4), abs=1e-12)


@pytest.mark.parametrize("cut", [5, 10])
def test_ndcg_of_overlaps_equals_trec_eval_and_sklearn(cut):
    sklearn = pytest.importorskip("sklearn.metrics")
    overlaps = [a / b for b in range(1, 15) for a in range(b + 1)]
    scale = lcm(*range(1, 15))
    for pool in pools(2, queries=60, worths=overlaps):
        assert ndcg(pool, cut) == pytest.approx(trec(pool, cut, scale), abs=1e-12)
        if len(pool) > 1:
            falling = np.arange(len(pool), 0, -1)[None]
            theirs = sklearn.ndcg_score(pool[None], falling, k=cut)
            assert ndcg(pool, cut) == pytest.approx(theirs, abs=1e-12)


def test_a_pool_worth_nothing_is_refused():
    with pytest.raises(ValueError, match="worth anything"):
        ndcg([0.0, 0.0], 5)


def test_chance_and_floor_are_exact():
    random = np.random.default_rng(3)
    gains = np.array([1, 0.5, 0.5, 0.25, 0, 0, 0, 0.25])
    orders = [random.permutation(gains) for _ in range(20_000)]
    drawn = [ndcg(order, 5) for order in orders]
    assert chance_ndcg(gains, 5) == pytest.approx(np.mean(drawn), abs=0.005)
    assert min(drawn) == pytest.approx(worst_ndcg(gains, 5), abs=1e-12)
    good = lambda gain: gain >= 0.5  # noqa: E731
    found = np.mean([hit(order, 2, good) for order in orders])
    assert chance_hit(gains, 2, good) == pytest.approx(found, abs=0.012)
    assert chance_hit(gains, 1, good) == pytest.approx(3 / 8)
    assert chance_hit([0.0, 1.0], 5, good) == 1


def test_the_interval_covers_the_normal_one():
    values = np.random.default_rng(4).uniform(0, 1, 400)
    low, high = interval([values])
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.006)
    assert high == pytest.approx(values.mean() + half, abs=0.006)


def test_the_table_has_the_shape_that_the_paper_implies():
    scales = load_scales()
    assert len(scales) == len({scale.source for scale in scales}) == 12
    count = {name: sum(len(s.tasks) for s in scales if s.relation == name) for name in RELATIONS}
    assert count == {"Severity": 4, "Laterality": 2, "Diagnosis": 8, "Cell/tissue": 4}
    registry = {task.id: task for task in load_tasks()}
    for scale in load_scales(unused=True):
        assert {registry[task].source for task in scale.tasks} == {scale.source}
    rows = printed("table5", "ndcg@5")
    assert len(rows) == 10
    for model, row in rows.items():
        again = sum(count[name] * row[name] for name in RELATIONS) / 18
        assert again == pytest.approx(row["All"], abs=0.0101), model


def test_every_class_of_a_graded_source_has_its_place():
    cards = {name: card for card in source_cards() for name in (card.id, *card.aliases)}
    for scale in load_scales(unused=True):
        labels = cards[scale.source].labels
        assert {key(label) for label in labels} <= set(scale.classes), scale.source
        extra = set(scale.classes) - {key(label) for label in labels}
        assert extra <= {"headneck"}, scale.source
        for label in labels:
            assert scale.gain(label, label) == 1
            for other in labels:
                assert scale.gain(label, other) == scale.gain(other, label) <= 1


def expected(scale):
    """(chance, floor) in percent with one picture of each class in every list."""
    classes = [name for name in scale.classes if name != "headneck"]
    pools = [[scale.gain(own, one) for one in classes] for own in classes if scale.asks(own)]
    chances, floors = ([f(pool, 5) for pool in pools] for f in (chance_ndcg, worst_ndcg))
    return 100 * np.mean(chances), 100 * np.mean(floors)


def test_the_numbers_in_the_tables_words_are_true():
    scales = load_scales(unused=True)
    used = {scale.source for scale in load_scales()}
    means = {
        name: np.mean([expected(s)[0] for s in scales if s.relation == name and s.source in used])
        for name in RELATIONS
    }
    assert means["Laterality"] == pytest.approx(30.6, abs=0.05)
    assert means["Diagnosis"] == pytest.approx(52.2, abs=0.05)
    assert means["Cell/tissue"] == pytest.approx(37.3, abs=0.1)
    assert means["Severity"] == pytest.approx(86, abs=0.5)
    other = [s for s in scales if s.source in {"isic2019", "octmnist", "kvasir", "lc25000"}]
    assert np.mean([expected(s)[0] for s in other]) == pytest.approx(57.0, abs=0.05)
    severity = [s for s in scales if s.relation == "Severity"]
    assert np.mean([expected(s)[1] for s in severity]) == pytest.approx(71.3, abs=0.1)
    strict = [replace(s, credit="steps", steps=(1.0, 0.25)) for s in severity]
    assert np.mean([expected(s)[0] for s in strict]) == pytest.approx(69.4, abs=0.1)
    (organs,) = [s for s in scales if s.source == "organamnist"]
    assert expected(replace(organs, paired=False))[0] == pytest.approx(28.9, abs=0.05)


def test_gains_by_hand():
    scales = {scale.source: scale for scale in load_scales(unused=True)}
    assert scales["aptos2019"].gain("No DR", "moderate") == 0.5
    assert scales["aptos2019"].gain("No DR", "Proliferative DR") == 0
    assert scales["organamnist"].gain("kidney-left", "kidney-right") == 0.5
    assert scales["organamnist"].gain("kidney-left", "femur-left") == 0
    assert scales["organamnist"].asks("kidney-left")
    assert not scales["organamnist"].asks("liver")
    assert scales["lc25000"].gain("lung adenocarcinoma", "lung squamous cell carcinoma") == 0.5
    assert scales["lc25000"].gain("lung adenocarcinoma", "benign lung tissue") == 0.25
    assert scales["lc25000"].gain("lung adenocarcinoma", "colon adenocarcinoma") == 0
    assert scales["bloodmnist"].gain("monocyte", "neutrophil") == 0.25
    assert scales["bloodmnist"].gain("lymphocyte", "platelet") == 0
    assert scales["pathmnist"].gain("mucus", "debris") == 0
    with pytest.raises(KeyError):
        scales["kvasir"].gain("polyps", "appendix")
    assert jaccard(as_set("Edema|Fracture"), as_set("Edema")) == 0.5
    assert jaccard((), ()) == 0


def test_a_table_at_the_data_root_wins_and_a_broken_one_is_named(tmp_path):
    (tmp_path / "graded.toml").write_text(
        '[gain]\nsame = 1.0\nparent = 0.5\ngrandparent = 0.25\n[[source]]\nid = "x"\n'
        'relation = "Severity"\ntasks = ["x/i2i"]\ncredit = "steps"\nsteps = [1.0, 0.25]\n'
        'levels = ["low", "middle", "high"]\n',
        encoding="utf-8",
    )
    (scale,) = load_scales(tmp_path)
    assert [scale.gain("low", other) for other in ("low", "middle", "high")] == [1, 0.25, 0]
    (tmp_path / "graded.toml").write_text("[gain]\nsame = 1.0\n", encoding="utf-8")
    with pytest.raises(BadTaskFile, match="graded relevance"):
        load_scales(tmp_path)


ORGANS = ("kidney-left", "kidney-right", "liver", "spleen")


def organ_task(root, *, told=True):
    row = task_row("organamnist/i2i", "I-I", "image_i2i_vg")
    index = []
    for place, organ in enumerate(ORGANS):
        others = [one for one in ORGANS if one != organ]
        names = [write_picture(root, row, f"{place}_{one}.png") for one in (organ, *others)]
        entry = {
            "qry_inst": "Find:",
            "qry_text": "",
            "qry_img_path": write_picture(root, row, f"q{place}.png"),
            "tgt_text": [""] * 4,
            "tgt_img_path": names,
        }
        if told:
            entry |= {"qry_label": organ, "tgt_label": [organ, *others]}
        index.append(entry)
    write_index(root, row, index)
    write_registry(root, [row])
    (task,) = load_tasks(root)
    return read_task(task, root)


def line(query, order):
    names = tuple(query.candidates[place].name for place in order)
    return Prediction(query.row, order.index(0) + 1, len(names), query.gold, names, ())


def test_a_task_is_scored_from_its_stored_ranking(tmp_path):
    data = organ_task(tmp_path)
    scale = next(scale for scale in load_scales() if scale.source == "organamnist")
    best = [line(query, [0, 1, 2, 3]) for query in data.queries]
    worst = [line(query, [3, 2, 1, 0]) for query in data.queries]
    found = graded_task(scale, data, {"best": best, "worst": worst})
    assert found.queries == 2, "only kidneys have sides"
    assert found.left_out == 2
    assert list(found.values["best"]) == [1.0, 1.0]
    assert np.mean(found.values["worst"]) == pytest.approx(found.floor)
    assert found.floor < found.chance < 1
    assert found.chance == pytest.approx(chance_ndcg([1, 0.5, 0, 0], 5))
    whole = put_together([found])
    assert whole.of == {
        "Severity": 0, "Laterality": 1, "Diagnosis": 0, "Cell/tissue": 0, "All": 1,
    }  # fmt: skip
    assert whole.models["best"]["Laterality"].value == 100
    assert whole.models["best"]["All"].tasks == 1
    assert "Severity" not in whole.models["best"]
    assert whole.chance["All"] == pytest.approx(100 * found.chance)


def test_without_classes_a_task_is_missing_with_its_reason(tmp_path):
    data = organ_task(tmp_path, told=False)
    scale = next(scale for scale in load_scales() if scale.source == "organamnist")
    assert classes(data) == {}
    found = graded_task(scale, data, {"m": [line(q, [0, 1, 2, 3]) for q in data.queries]})
    assert found.missing is not None
    assert "classes" in found.missing
    assert put_together([found]).models == {}
