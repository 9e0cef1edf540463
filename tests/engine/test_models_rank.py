"""Ranks with ties, missing vectors and large pools; neighbours; random vectors."""

from __future__ import annotations

import numpy as np
import pytest

from engine import index as index_module
from engine import rank as rank_module
from engine.evidence.item import ModelInput
from engine.index import ExactIndex
from engine.models.random_encoder import RandomEncoder
from engine.rank import (
    TIE,
    Candidates,
    order_candidates,
    order_rows,
    rank_of,
    rank_rows,
    unit,
)

RNG = np.random.default_rng(3)


def vectors(count: int, dim: int = 16) -> np.ndarray:
    return RNG.standard_normal((count, dim)).astype(np.float32)


def rank_pool(query: np.ndarray, pool: np.ndarray, gold: list[int]) -> list[int]:
    """Ranks over a shared pool."""
    scores = Candidates(pool).all(query)
    return [rank_of(score, positive) for score, positive in zip(scores, gold, strict=True)]


def test_a_constant_model_ranks_the_positive_last():
    same = np.ones((5, 8), np.float32)
    assert rank_pool(same[:2], same, [0, 3]) == [5, 5]
    assert rank_of(Candidates(same).among(same[0], np.array([1, 0, 4])), 0) == 3


def test_equal_vectors_tie_wherever_they_stand(monkeypatch: pytest.MonkeyPatch):
    pool = vectors(300)
    pool[[7, 120, 299]] = pool[50]
    query = pool[50:51] + 0.01 * vectors(1)
    for block in (16 * 13, 10**9):
        monkeypatch.setattr(rank_module, "BLOCK_NUMBERS", block)
        assert [rank_pool(query, pool, [gold])[0] for gold in (7, 50, 120, 299)] == [4] * 4


def test_ranks_equal_a_plain_count():
    query, pool = vectors(40), vectors(700)
    gold = RNG.integers(0, 700, 40).tolist()
    scores = unit(query) @ unit(pool).T
    wanted = [
        1 + sum(scores[row, other] >= scores[row, g] for other in range(700) if other != g)
        for row, g in enumerate(gold)
    ]
    assert rank_pool(query, pool, gold) == wanted


def test_some_candidates_score_as_they_do_among_all():
    query, pool = vectors(3), vectors(90)
    members = np.array([80, 3, 41])
    whole = Candidates(pool).all(query)
    for row in range(3):
        some = Candidates(pool).among(query[row], members)
        assert some == pytest.approx(whole[row][members], abs=1e-12)


def test_a_missing_vector_loses_against_all():
    pool = vectors(6)
    query = pool[2:4].copy()
    pool[5] = np.nan
    assert rank_pool(query, pool, [2, 5]) == [1, 6]
    query[0] = np.nan
    assert rank_pool(query, pool, [2, 5]) == [6, 6]
    zero = np.zeros((1, 16), np.float32)
    assert rank_pool(zero, pool, [0]) == [6]


def test_blocks_bound_the_memory_and_change_no_rank(monkeypatch: pytest.MonkeyPatch):
    pool = vectors(1500, 4)
    whole = Candidates(pool).all(pool[:64])
    monkeypatch.setattr(rank_module, "BLOCK_NUMBERS", 4 * 100)
    assert np.abs(Candidates(pool).all(pool[:64]) - whole).max() < 1e-12
    assert Candidates(pool).queries_at_once == 1
    assert rank_pool(pool, pool, list(range(1500))) == [1] * 1500


def test_the_first_of_the_order_are_the_first_of_the_whole_order():
    scores = RNG.integers(0, 40, 500) / 40
    for gold in range(0, 500, 37):
        whole = order_candidates(scores, gold)
        for keep in (1, 5, 30, 499, 500, 900):
            assert order_candidates(scores, gold, keep=keep) == whole[:keep]


def test_the_order_puts_the_positive_after_its_ties():
    scores = np.array([0.5, 0.9, 0.5, np.nan, 0.5, 0.1])
    assert order_candidates(scores, 0) == [1, 2, 4, 0, 5, 3]
    assert order_candidates(scores, 3) == [1, 0, 2, 4, 5, 3]
    for gold in range(6):
        order = order_candidates(scores, gold)
        assert sorted(order) == list(range(6))
        assert order.index(gold) + 1 == rank_of(scores, gold)


@pytest.mark.parametrize("block", [1, 450, 10**9])
def test_neighbours_are_exact(monkeypatch: pytest.MonkeyPatch, block: int):
    monkeypatch.setattr(index_module, "BLOCK_SCORES", block)
    pool, query = vectors(200), vectors(5)
    pool[17] = np.nan
    found = ExactIndex(pool).search_many(query, 10)
    scores = Candidates(pool).all(query)
    for row, hits in enumerate(found):
        wanted = np.argsort(-scores[row], kind="stable")[:10]
        assert [hit[0] for hit in hits] == wanted.tolist()
        assert [hit[1] for hit in hits] == pytest.approx(scores[row][wanted].tolist(), abs=1e-6)


def test_neighbours_of_few_none_and_missing():
    pool = vectors(3)
    assert len(ExactIndex(pool).search(pool[0], 10)) == 3
    assert ExactIndex(pool).search(np.full(16, np.nan), 2) == []
    assert ExactIndex(np.empty((0, 16), np.float32)).search(pool[0], 2) == []
    assert ExactIndex(pool).search(pool[1], 1)[0] == (1, pytest.approx(1.0, abs=1e-6))
    ties = np.repeat(pool[:1], 4, axis=0)
    assert [row for row, _ in ExactIndex(ties).search(pool[0], 2)] == [0, 1]


def test_random_vectors_follow_content_and_seed():
    picture = RNG.integers(0, 256, (4, 4, 3), dtype=np.uint8)
    items = [
        ModelInput(None, ("a",), (), ()),
        ModelInput("i", ("a",), (), ()),
        ModelInput(None, (), (picture,), ()),
        ModelInput(None, (), (), (picture[None],)),
        ModelInput(None, (), (picture[::-1],), ()),
        ModelInput(None, (), (), ()),
    ]
    encoder = RandomEncoder()
    first = encoder.encode(items)
    assert first.shape == (6, 64)
    assert first.dtype == np.float32
    assert np.linalg.norm(first, axis=1) == pytest.approx(np.ones(6), abs=1e-6)
    assert np.array_equal(first[::-1], encoder.encode(items[::-1]))
    assert np.abs(first @ first.T - np.eye(6)).max() < 0.6
    other = RandomEncoder(seed=2)
    assert other.fingerprint != encoder.fingerprint
    assert not np.allclose(other.encode(items), first)


@pytest.mark.parametrize("keep", [1, 7, 40, 1000])
def test_rows_are_ranked_and_ordered_as_one_by_one(keep: int):
    scores = RNG.integers(0, 25, (30, 400)) / 25 + 0.0
    scores[3, 10:200] = -np.inf
    gold = RNG.integers(200, 400, 30)
    ranks, tied = rank_rows(scores, gold)
    orders = order_rows(scores, gold, ranks, keep=keep)
    for row in range(30):
        assert ranks[row] == rank_of(scores[row], gold[row])
        near = np.abs(np.maximum(scores[row], -1) - scores[row][gold[row]]) <= TIE
        assert tied[row] == (near.sum() > 1)
        assert orders[row].tolist() == order_candidates(scores[row], gold[row], keep=keep)


def test_rows_without_any_tie_are_untied():
    scores = np.arange(12.0).reshape(2, 6)
    ranks, tied = rank_rows(scores, np.array([5, 0]))
    assert ranks.tolist() == [1, 6]
    assert tied.tolist() == [False, False]
