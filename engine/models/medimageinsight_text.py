"""MedImageInsight's text: its tokenizer with the text repair of its authors, and its tower.

The authors' tokenizer mends texts before it splits them (curled quotes, ligatures, broken
encodings), which the fast tokenizer of today's transformers leaves out; here it is done again with
the same library. A token sees all of the text's other tokens and no padding; the vector is that of
the first end token (specification 6.3). Refuses nothing: what is too long is cut and said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import ftfy
import torch
from tokenizers import normalizers
from torch import nn
from transformers.models.clip import CLIPTokenizer

from engine.errors import WeightsRefused
from engine.models.common import quiet
from engine.models.marks import neutralise

EPS = 1e-12


class ClipTexts:
    """The folder's tokenizer.

    Args:
        folder: holds ``vocab.json`` and ``merges.txt``.
        length: most tokens of a text, the two control tokens included.

    Raises:
        WeightsRefused: a file is missing or broken.
    """

    def __init__(self, folder: Path, *, length: int) -> None:
        try:
            with quiet():
                self.tokenizer = CLIPTokenizer.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            first = str(error).split("\n")[0]
            raise WeightsRefused(
                f"The tokenizer in {folder.name} cannot be loaded: {first} "
                "Fetch the whole folder of the model again."
            ) from error
        # ``normalise`` does all of it, in the authors' order
        self.tokenizer.backend_tokenizer.normalizer = normalizers.Sequence([])
        self.length = length
        self.end = int(self.tokenizer.eos_token_id)
        self.control = (self.tokenizer.bos_token, self.tokenizer.eos_token)

    @property
    def words(self) -> int:
        """Rows of the table of tokens."""
        return len(self.tokenizer)

    def normalise(self, text: str) -> str:
        """Mended, white space made one blank, small letters; no control token comes out of it."""
        text = re.sub(r"\s+", " ", ftfy.fix_text(text)).strip().lower()
        return neutralise(text, self.control)

    def tokenise(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        """Ids and mask [N, L], L up to ``length``, padded with the end token; which were cut."""
        with quiet():
            rows = self.tokenizer([self.normalise(text) for text in texts])["input_ids"]
        cut = [len(row) > self.length for row in rows]
        rows = [[*row[: self.length - 1], self.end] if long else row
                for row, long in zip(rows, cut, strict=True)]  # fmt: skip
        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self.end)
        mask = torch.zeros(len(rows), longest, dtype=torch.long)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        return {"input_ids": ids, "attention_mask": mask}, cut


class WideNorm(nn.Module):
    """A layer norm in float32, whatever the weights are, with a tiny epsilon."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Normalise the last axis."""
        normed = nn.functional.layer_norm(states.float(), self.weight.shape, eps=EPS)
        return normed.to(states.dtype) * self.weight + self.bias


class Attention(nn.Module):
    """Self-attention under the parameter names of ``torch.nn.MultiheadAttention``."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.zeros(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, states: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        """States [N, L, W]; ``seen`` is true where a query (row) sees a key (column)."""
        count, length, width = states.shape
        joint = nn.functional.linear(states, self.in_proj_weight, self.in_proj_bias)
        parts = joint.view(count, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        return self.out_proj(mixed.transpose(1, 2).reshape(count, length, width))


class QuickGelu(nn.Module):
    """x times sigmoid of 1.702 x."""

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Element by element."""
        return states * torch.sigmoid(1.702 * states)


class Block(nn.Module):
    """Norm before attention, norm before the two-layer network, both added to the stream."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = WideNorm(width), WideNorm(width)
        self.attn = Attention(width, heads)
        self.mlp = nn.ModuleDict(
            {"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)}
        )
        self.gelu = QuickGelu()

    def forward(self, states: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        """States [N, L, W]."""
        states = states + self.attn(self.ln_1(states), seen)
        inner = self.gelu(self.mlp["c_fc"](self.ln_2(states)))
        return states + self.mlp["c_proj"](inner)


class TextTower(nn.Module):
    """From tokens to one state of each text.

    Args:
        words: rows of the table of tokens.
        length: positions.
        width: of a state (W).
        heads: of attention.
        layers: how many.
        causal: a token sees only those before it, and padding is not masked. As published: no.
    """

    def __init__(
        self, words: int, *, length: int, width: int, heads: int, layers: int, causal: bool
    ) -> None:
        super().__init__()
        self.causal = causal
        self.token_embedding = nn.Embedding(words, width)
        self.positional_embedding = nn.Parameter(torch.zeros(length, width))
        self.resblocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_final = WideNorm(width)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """States [N, W] at the first end token, whose id is the largest there is.

        Args:
            input_ids: [N, L].
            attention_mask: [N, L], 1 where a text is.
        """
        length = input_ids.shape[1]
        states = self.token_embedding(input_ids) + self.positional_embedding[:length]
        seen = attention_mask.bool()[:, None, None, :]
        if self.causal:
            seen = torch.ones(length, length, dtype=torch.bool, device=states.device).tril()
        for block in self.resblocks:
            states = block(states, seen)
        rows = torch.arange(len(states), device=states.device)
        return self.ln_final(states[rows, input_ids.argmax(dim=-1)])
