"""The losses against examples worked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from engine.losses import cosines, false_negatives, masked_info_nce, pairwise_sigmoid

# Cosines by hand: q1 with t1, t2: 1, 0.6; q2 with t1, t2: 0, 0.8.
QUERY_BD = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
TARGET_BD = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
# And one with a false negative: q1 scores 0.6 with its own target and 1.0 with the other.
SWAPPED_BD = torch.tensor([[0.6, 0.8], [1.0, 0.0]])


def test_cosines_ignore_length() -> None:
    expected = torch.tensor([[1.0, 0.6], [0.0, 0.8]])
    assert torch.allclose(cosines(QUERY_BD, TARGET_BD), expected)


def test_plain_info_nce_by_hand() -> None:
    # logits / 0.5: [[2, 1.2], [0, 1.6]]
    by_hand = (math.log(1 + math.exp(-0.8)) + math.log(1 + math.exp(-1.6))) / 2
    loss = masked_info_nce(QUERY_BD, TARGET_BD, temperature=0.5, margin=0.1)
    assert loss.item() == pytest.approx(by_hand, abs=1e-6)


def test_a_false_negative_leaves_the_denominator() -> None:
    # q1: own 0.6, other 1.0 > 0.6 + 0.1, masked: loss 0. q2: own 0, other 0.8, masked: loss 0.
    loss = masked_info_nce(QUERY_BD, SWAPPED_BD, temperature=0.5, margin=0.1)
    assert loss.item() == pytest.approx(0.0, abs=1e-7)
    # with a margin that q1's gap of 0.4 does not reach, only q2 is masked
    loss = masked_info_nce(QUERY_BD, SWAPPED_BD, temperature=0.5, margin=0.5)
    assert loss.item() == pytest.approx(math.log(1 + math.exp(0.8)) / 2, abs=1e-6)


def test_the_margin_is_strict_and_spares_the_diagonal() -> None:
    cosine_BB = torch.tensor([[0.5, 0.75, 0.5], [0.0, 0.0, 0.25], [1.0, 1.0, 1.0]])
    dropped = false_negatives(cosine_BB, temperature=0.01, margin=0.25)
    assert dropped.tolist() == [[False] * 3] * 3
    dropped = false_negatives(cosine_BB, temperature=0.01, margin=0.125)
    assert dropped.tolist() == [[False, True, False], [False, False, True], [False] * 3]


def test_the_literal_reading_compares_phi() -> None:
    # phi = exp(cos / 0.5): exp(0.02 / 0.5) - exp(0) = 0.0408; exp(0.06 / 0.5) - 1 = 0.1275
    cosine_BB = torch.tensor([[0.0, 0.02], [0.06, 0.0]])
    literal = false_negatives(cosine_BB, temperature=0.5, margin=0.1, compare="phi")
    assert literal.tolist() == [[False, False], [True, False]]
    default = false_negatives(cosine_BB, temperature=0.5, margin=0.1)
    assert not default.any()


def test_the_literal_reading_stays_finite_at_the_papers_temperature() -> None:
    # exp(1 / 0.01) is 2.7e43, beyond float32
    cosine_BB = torch.tensor([[0.99, 1.0], [-1.0, 0.0]])
    literal = false_negatives(cosine_BB, temperature=0.01, margin=0.1, compare="phi")
    assert literal.tolist() == [[False, True], [False, False]]


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match="cosine"):
        false_negatives(torch.eye(2), temperature=0.01, margin=0.1, compare="dot")


def test_equal_targets_are_no_negatives() -> None:
    target_BD = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    plain = masked_info_nce(QUERY_BD, target_BD, temperature=0.5)
    assert plain.item() == pytest.approx(math.log(2), abs=1e-6)
    same_BB = torch.ones(2, 2, dtype=torch.bool)
    spared = masked_info_nce(QUERY_BD, target_BD, temperature=0.5, same_BB=same_BB)
    assert spared.item() == pytest.approx(0.0, abs=1e-7)


def test_no_gradient_flows_into_a_masked_target() -> None:
    target_BD = SWAPPED_BD.clone().requires_grad_()
    masked_info_nce(QUERY_BD[:1].repeat(2, 1), target_BD, temperature=0.5, margin=0.1).backward()
    # row 1 masks target 2; row 2 (own 1.0, other 0.6) has target 1 as its negative
    assert target_BD.grad is not None
    only_second = SWAPPED_BD.clone().requires_grad_()
    logits = cosines(QUERY_BD[:1], only_second) / 0.5
    (0.5 * (logits.logsumexp(dim=1) - logits[:, 1])).sum().backward()
    assert only_second.grad is not None
    assert torch.allclose(target_BD.grad, only_second.grad, atol=1e-6)


def test_pairwise_sigmoid_by_hand() -> None:
    def nls(value: float) -> float:
        return math.log(1 + math.exp(-value))

    # scale 2, bias -1: logits [[1, 0.2], [-1, 0.6]]
    by_hand = (nls(1.0) + nls(-0.2) + nls(1.0) + nls(0.6)) / 2
    options = {"log_scale": torch.tensor(2.0).log(), "bias": torch.tensor(-1.0)}
    loss = pairwise_sigmoid(QUERY_BD, TARGET_BD, **options)
    assert loss.item() == pytest.approx(by_hand, abs=1e-6)
    same_BB = torch.ones(2, 2, dtype=torch.bool)
    matched = (nls(1.0) + nls(0.2) + nls(-1.0) + nls(0.6)) / 2
    loss = pairwise_sigmoid(QUERY_BD, TARGET_BD, **options, same_BB=same_BB)
    assert loss.item() == pytest.approx(matched, abs=1e-6)
