"""Scores against a reference program, chance against simulation, and the paper's own tables."""

from dataclasses import replace
from math import isclose

import numpy as np
import pytest
import pytrec_eval

from engine.rank import order_candidates
from studies.medheb.evaluate import evaluate, items_of
from studies.medheb.paper import (
    COLUMNS,
    ILAB,
    column_tasks,
    compare,
    load_paper,
    printed,
)
from studies.medheb.pools import build_pools, chance_level, chance_shares, without
from studies.medheb.release import read_task
from studies.medheb.scores import (
    chance_score,
    coefficient_of_variation,
    drop,
    histogram,
    hit_at_k,
    macro_score,
    mrr_at_k,
    ndcg_at_k,
    regime,
    release_metrics,
    task_score,
)
from studies.medheb.tasks import FAMILIES, load_tasks
from tests.studies.medheb_tree import small_root

MEASURES = {"success", "recip_rank", "ndcg_cut", "P", "recall", "map_cut"}


def scores_with_ties(seed: int, queries: int = 300, pool: int = 23) -> np.ndarray:
    """Coarse scores, so that many tie with the positive at place 0."""
    return np.random.default_rng(seed).integers(0, 9, (queries, pool)).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_scores_equal_pytrec_eval(seed):
    score_QP = scores_with_ties(seed)
    orders = [order_candidates(row, 0) for row in score_QP]
    ranks = [order.index(0) + 1 for order in orders]
    # pytrec_eval breaks ties by document name; our pessimistic order is handed over as strictly
    # falling scores instead.
    run = {
        f"q{q}": {f"d{doc}": float(len(order) - place) for place, doc in enumerate(order)}
        for q, order in enumerate(orders)
    }
    judge = pytrec_eval.RelevanceEvaluator({q: {"d0": 1} for q in run}, MEASURES)
    judged = judge.evaluate(run)
    ours = release_metrics(ranks)
    pairs = {"hit": "success", "ndcg_linear": "ndcg_cut", "ndcg_exponential": "ndcg_cut"}
    pairs |= {"precision": "P", "recall": "recall", "map": "map_cut"}
    for name, theirs in pairs.items():
        for k in (5, 10):
            expected = np.mean([row[f"{theirs}_{k}"] for row in judged.values()])
            assert ours[f"{name}@{k}"] == pytest.approx(expected, abs=1e-12), f"{name}@{k}"
    within = [row["recip_rank"] * (row["success_5"] > 0) for row in judged.values()]
    assert ours["mrr@5"] == pytest.approx(np.mean(within), abs=1e-12)
    assert ours["hit@1"] == pytest.approx(
        np.mean([r["success_1"] for r in judged.values()]), abs=1e-12
    )


def test_ranks_are_pessimistic():
    score_QP = scores_with_ties(9)
    for row in score_QP:
        rank = order_candidates(row, 0).index(0) + 1
        assert rank == 1 + sum(row[1:] >= row[0])


def test_small_cases_by_hand():
    ranks = [1, 2, 5, 6, 11]
    assert hit_at_k(ranks, 1) == pytest.approx(0.2)
    assert hit_at_k(ranks, 5) == pytest.approx(0.6)
    assert mrr_at_k(ranks, 5) == pytest.approx((1 + 1 / 2 + 1 / 5) / 5)
    assert ndcg_at_k([1, 3], 5) == pytest.approx((1 + 1 / 2) / 2)
    assert histogram(ranks) == (1, 1, 0, 0, 1, 2)
    assert release_metrics([1])["f1@5"] == pytest.approx(2 * (1 / 5) * 1 / (1 / 5 + 1))
    values = task_score(histogram(ranks), "t").values
    assert values["hit@1"] == pytest.approx(20)
    assert values["mrr@5"] == pytest.approx(100 * mrr_at_k(ranks, 5))


def test_chance_is_exact():
    random = np.random.default_rng(4)
    sizes = [1, 2, 3, 4, 5, 6, 17, 40]
    draws = 40_000
    hits1 = hits5 = mrr = 0.0
    for size in sizes:
        ranks = random.integers(1, size + 1, draws)
        hits1 += hit_at_k(ranks, 1)
        hits5 += hit_at_k(ranks, 5)
        mrr += mrr_at_k(ranks, 5)
    found = np.array(list(chance_level(sizes).values()))
    simulated = 100 * np.array([hits1, hits5, mrr]) / len(sizes)
    assert np.abs(found - simulated).max() < 0.25
    assert chance_level([4])["hit@1"] == pytest.approx(25)
    assert chance_level([15])["mrr@5"] == pytest.approx(15.222, abs=0.001), "benchmark.md"
    assert chance_level([15])["hit@5"] == pytest.approx(33.333, abs=0.001)
    assert chance_level([])["hit@1"] == 0
    assert sum(chance_shares(sizes)) == pytest.approx(1)


def test_the_interval_of_a_mean_over_many_small_tasks_holds_the_truth():
    """Chance lies in it about 19 times in 20, and is missed on either side, not always below."""
    random, sizes = np.random.default_rng(11), [5 + place % 12 for place in range(60)]
    shares, covered, above = chance_shares([10]), 0, 0
    for _ in range(200):
        counts = {str(n): tuple(random.multinomial(q, shares)) for n, q in enumerate(sizes)}
        low, high = macro_score(counts).interval["hit@1"]
        covered += low <= 10 <= high
        above += low > 10
    assert covered >= 180
    assert above <= 14


def test_chance_has_the_interval_of_a_random_ranking():
    score = chance_score({"a": chance_shares([60] * 60)}, {"a": 60})
    assert score.values["hit@1"] == pytest.approx(100 / 60)
    low, high = score.interval["hit@1"]
    assert low == 0, "no hit at all is one of three random rankings here"
    assert high == pytest.approx(100 * 4 / 60, abs=1.7)
    assert chance_score({"a": chance_shares([1])}, {"a": 1}).interval["hit@1"] == (100, 100)


def test_no_hit_in_twenty_is_no_proof():
    low, high = task_score((0, 0, 0, 0, 0, 20), "t").interval["hit@1"]
    assert (low, high) == (0, 10)
    low, high = task_score((20, 0, 0, 0, 0, 0), "t").interval["hit@1"]
    assert (low, high) == (90, 100)


@pytest.mark.parametrize("task_id", ["chest/i2l", "cxr/t2r", "notes/t2t", "skin/i2i"])
def test_a_constant_embedding_never_scores_above_chance(tmp_path, task_id):
    root = small_root(tmp_path, queries=9)
    task = next(task for task in load_tasks(root) if task.id == task_id)
    data = read_task(task, root)
    pools = build_pools(data)
    rng = np.random.default_rng(0)
    vector = rng.normal(size=2048).astype(np.float32)
    vectors = np.tile(vector / np.linalg.norm(vector), (len(items_of(data, pools)), 1))
    outcome = evaluate(data, pools, vectors, {})
    assert [one.rank for one in outcome.ranked] == list(pools.sizes)
    assert outcome.ties == len(outcome.ranked)
    score = task_score(histogram(outcome.ranks), task_id).values
    assert all(score[name] <= pools.chance[name] + 1e-9 for name in score)


def test_pools_local_and_global(tmp_path):
    root = small_root(tmp_path, queries=6)
    pools = {task.id: build_pools(read_task(task, root)) for task in load_tasks(root)}
    names = {task_id: pool.name for task_id, pool in pools.items()}
    assert names["cxr/t2r"] == "regions"
    assert names["brain/t1-t2"] == names["ct/t2i"] == "split"
    assert {names[n] for n in ("skin/i2i", "chest/i2l", "path/vqa", "notes/t2t")} == {"rows"}
    assert list(pools["skin/i2i"].sizes) == [4] * 6
    assert list(pools["path/vqa"].sizes) == [3] * 6, "a repeated answer is one candidate"
    assert list(pools["cxr/t2r"].sizes) == [6] * 6
    assert pools["cxr/t2r"].chance["hit@1"] == pytest.approx(100 / 6)
    assert len(pools["chest/i2l"].candidates) == 3
    for pool in pools.values():
        for member in pool.members:
            assert len(set(member.tolist())) == len(member)


def test_lost_candidates_shrink_shared_pools_and_fell_local_rows(tmp_path):
    root = small_root(tmp_path, queries=6)
    by_id = {task.id: build_pools(read_task(task, root)) for task in load_tasks(root)}
    members, lost = without(by_id["cxr/t2r"], {2})
    assert [m is None for m in members] == [False, False, True, False, False, False]
    assert {len(m) for m in members if m is not None} == {5}
    assert lost == 1
    members, _ = without(by_id["skin/i2i"], {6})
    assert [m is None for m in members] == [False, True, False, False, False, False]


def test_failures_keep_their_reason_and_row(tmp_path):
    root = small_root(tmp_path, queries=6)
    task = next(task for task in load_tasks(root) if task.id == "skin/i2i")
    data = read_task(task, root)
    pools = build_pools(data)
    vectors = np.random.default_rng(1).normal(size=(30, 8)).astype(np.float32)
    vectors[[1, 6 + 8]] = np.nan
    outcome = evaluate(data, pools, vectors, {1: "the query is damaged", 6 + 8: "2_0.png is cut"})
    assert [one.row for one in outcome.ranked] == [0, 3, 4, 5]
    assert [row for row, _ in outcome.failures] == [1, 2]
    assert "the query is damaged" in outcome.failures[0][1]
    assert "2_0.png is cut" in outcome.failures[1][1]


def test_intervals_are_seeded_and_cover():
    counts = (30, 10, 5, 5, 0, 50)
    one, again = task_score(counts, "t"), task_score(counts, "t")
    assert one == again
    low, high = one.interval["hit@1"]
    # The normal approximation of 30 of 100.
    assert isclose(low, 30 - 1.96 * 4.58, abs_tol=1.5)
    assert isclose(high, 30 + 1.96 * 4.58, abs_tol=1.5)
    assert macro_score({"t": counts, "u": counts}).interval["hit@1"] != one.interval["hit@1"]
    inside = 0
    random = np.random.default_rng(2)
    for trial in range(200):
        hits = int(random.binomial(80, 0.3))
        low, high = task_score((hits, 0, 0, 0, 0, 80 - hits), str(trial)).interval["hit@1"]
        inside += low <= 30 <= high
    assert 0.88 <= inside / 200 <= 0.99


def test_a_macro_mean_is_over_tasks():
    score = macro_score({"a": (10, 0, 0, 0, 0, 0), "b": (0, 0, 0, 0, 0, 1000)})
    assert score.values["hit@1"] == pytest.approx(50), "a mean over tasks, not over queries"
    assert score.tasks == 2


def test_regimes_and_drop():
    assert [regime(x) for x in (0, 2.99, 3, 9.9, 10, 29.9, 30, 100)] == [
        *["Collapse"] * 2,
        *["Weak"] * 2,
        *["Medium"] * 2,
        *["Tractable"] * 2,
    ]
    assert drop(dict.fromkeys(FAMILIES, 20.0) | {"VG": 0.0}) == pytest.approx(10)
    assert drop({"I-I": 1.0}) is None
    assert coefficient_of_variation([0.0, 0.0]) is None


COUNTS = dict(zip(FAMILIES, (20, 10, 22, 7, 23, 11, 7, 7), strict=True))


@pytest.mark.parametrize(
    ("table", "metric"), [("table4", "hit@1"), ("table4", "mrr@5"), ("table8", "hit@5")]
)
def test_the_papers_all_column_follows_from_its_families(table, metric):
    rows = printed(table, metric)
    assert len(rows) == 10
    for model, row in rows.items():
        again = sum(COUNTS[family] * row[family] for family in FAMILIES) / 107
        assert again == pytest.approx(row["All"], abs=0.0101), model


@pytest.mark.parametrize(
    ("table", "metric"), [("table4", "hit@1"), ("table4", "mrr@5"), ("table8", "hit@5")]
)
def test_the_papers_all_column_follows_from_its_splits(table, metric):
    for model, row in printed(table, metric).items():
        again = (96 * row["ID"] + 11 * row["Held-out"]) / 107
        assert again == pytest.approx(row["All"], abs=0.0101), model


def test_the_papers_cv_follows_from_its_own_families():
    rows = printed("table7", "hit@1")
    assert len(rows) == 10
    for model, row in rows.items():
        values = [row[family] for family in FAMILIES]
        assert np.mean(values) == pytest.approx(row["mean"], abs=0.0101), model
        assert np.std(values) == pytest.approx(row["std"], abs=0.0101), model
        assert coefficient_of_variation(values) == pytest.approx(row["cv"], abs=0.00101), model


def test_the_registrys_columns_have_the_papers_sizes():
    sizes = {name: len(ids) for name, ids in column_tasks(load_tasks()).items()}
    assert sizes == COUNTS | {"ID": 96, "Held-out": 11, "All": 107}


def test_a_comparison_marks_what_differs():
    tasks = load_tasks()
    whole = compare(tasks, ["medsiglip-448", "qwen3-vl-embedding-2b", "medemb-nano"])
    assert whole.marks == {"I-Lab": ILAB}, "its printed pools are in no release"
    assert whole.same_as == {
        "medsiglip-448": "MedSigLIP",
        "qwen3-vl-embedding-2b": "Qwen3-VL-Embed-2B",
    }
    assert whole.rows["MedEmb-8B"]["All"].keys() == {"hit@1", "hit@5", "mrr@5"}
    part = compare([task for task in tasks if task.family != "VQA"], [])
    assert set(part.marks) == {"VQA", "ID", "Held-out", "All", "I-Lab"}
    assert part.marks["VQA"] == "tasks: ours 0, the paper's 11, in common 0"
    assert set(compare([], []).marks) == set(COLUMNS)
    vqa = next(task for task in load_tasks() if task.family == "VQA")
    short = compare(load_tasks(), [], lost={vqa.id: 3}).marks
    assert set(short) == {"VQA", "ID", "All", "I-Lab"}, "all tasks are there, not all their rows"
    assert short["VQA"] == "3 rows in 1 of the tasks were not scored"
    first = [replace(task, row_limit=5) if task == vqa else task for task in load_tasks()]
    assert "first rows only" in compare(first, []).marks["VQA"]


def test_every_printed_number_is_read():
    assert len(load_paper()) == 506
