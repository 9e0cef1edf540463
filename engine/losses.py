"""The training losses. Owns the arithmetic only: no model, no batching, no data.

Shape letters: Q queries of a batch, T targets of a batch (Q = T = B when paired), D dimensions.
Row i of the queries belongs to row i of the targets; the other targets are its negatives.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

COMPARISONS = ("cosine", "phi")


def cosines(query_QD: Tensor, target_TD: Tensor) -> Tensor:
    """Cosine of every query with every target, float32 [Q, T]."""
    query_QD = functional.normalize(query_QD.float(), dim=-1)
    target_TD = functional.normalize(target_TD.float(), dim=-1)
    return query_QD @ target_TD.T


def false_negatives(
    cosine_BB: Tensor, *, temperature: float, margin: float, compare: str = "cosine"
) -> Tensor:
    """Which targets score above the query's own target by the margin.

    MedHEB paper, equation 2. Its formula compares phi = exp(cos / temperature), its text speaks of
    the similarity; on phi a margin of 0.1 means almost nothing, so cosines are the default and the
    literal reading is ``compare="phi"``.

    Args:
        cosine_BB: cosines of paired queries and targets [B, B].
        temperature: tau, above 0.
        margin: delta, in cosine or in phi, as ``compare`` says.
        compare: ``cosine`` or ``phi``.

    Returns:
        bool [B, B]; never True on the diagonal.

    Raises:
        ValueError: an unknown comparison.
    """
    if compare not in COMPARISONS:
        raise ValueError(f"compare is {compare!r}; it must be one of {', '.join(COMPARISONS)}")
    own_B1 = cosine_BB.diagonal().unsqueeze(1)
    if compare == "cosine":
        above_BB = cosine_BB > own_B1 + margin
    else:  # exp(a) > exp(b) + margin, in logarithms, since exp(1 / 0.01) leaves float32
        log_margin = torch.tensor(math.log(margin) if margin > 0 else -math.inf)
        above_BB = cosine_BB / temperature > torch.logaddexp(own_B1 / temperature, log_margin)
    return above_BB & ~torch.eye(len(cosine_BB), dtype=torch.bool, device=cosine_BB.device)


def masked_info_nce(
    query_BD: Tensor,
    target_BD: Tensor,
    *,
    temperature: float = 0.01,
    margin: float = 0.1,
    compare: str = "cosine",
    same_BB: Tensor | None = None,
) -> Tensor:
    """The MedEmb loss: InfoNCE without the likely false negatives (paper, equation 3).

    Args:
        query_BD: query vectors, any length.
        target_BD: their targets, row by row.
        temperature: tau.
        margin: delta of ``false_negatives``.
        compare: what the margin is measured on.
        same_BB: optional bool [B, B], True where target j equals target i in content (two rows of
            a batch may carry one label); those are no negatives. The paper has no such rule: pass
            None for its exact loss.

    Returns:
        The mean loss over the batch, a scalar.
    """
    cosine_BB = cosines(query_BD, target_BD)
    dropped_BB = false_negatives(
        cosine_BB.detach(), temperature=temperature, margin=margin, compare=compare
    )
    if same_BB is not None:
        dropped_BB = dropped_BB | same_BB
    dropped_BB = dropped_BB & ~torch.eye(len(cosine_BB), dtype=torch.bool, device=cosine_BB.device)
    logit_BB = cosine_BB / temperature
    kept_BB = logit_BB.masked_fill(dropped_BB, -math.inf)
    return (kept_BB.logsumexp(dim=1) - logit_BB.diagonal()).mean()


def pairwise_sigmoid(
    image_BD: Tensor,
    text_BD: Tensor,
    *,
    log_scale: Tensor,
    bias: Tensor,
    same_BB: Tensor | None = None,
) -> Tensor:
    """SigLIP's loss: every image and text of a batch is a yes-or-no question (arXiv 2303.15343).

    Args:
        image_BD: image vectors, any length.
        text_BD: their texts, row by row.
        log_scale: logarithm of the scale, as ``SiglipModel.logit_scale`` keeps it.
        bias: ``SiglipModel.logit_bias``.
        same_BB: optional bool [B, B] of pairs that match besides the diagonal.

    Returns:
        The sum over texts, mean over images, a scalar.
    """
    logit_BB = cosines(image_BD, text_BD) * log_scale.exp() + bias
    match_BB = torch.eye(len(logit_BB), dtype=torch.bool, device=logit_BB.device)
    if same_BB is not None:
        match_BB = match_BB | same_BB
    sign_BB = torch.where(match_BB, 1.0, -1.0)
    return -functional.logsigmoid(sign_BB * logit_BB).sum(dim=1).mean()
