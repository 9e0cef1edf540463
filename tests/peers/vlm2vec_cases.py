"""What is embedded by VLM2Vec's authors' code and by ours: plain data, numpy alone.

Imported by ``golden/make_vlm2vec.py`` under another transformers, so nothing of the engine and
none of the heavier helpers may be imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.peers.rzen_cases import HOSTILE_BROKEN, Pixels, picture, sampled, stack

TEXT = "No acute cardiopulmonary process; heart size normal."
QUERY = "Find the report that fits:"
QUESTION = "Represent the given image with the following question: "


@dataclass(frozen=True)
class Case:
    """One query or candidate.

    Attributes:
        text: None for no text.
        instruction: None for none.
        images: pictures [H, W, 3].
        volumes: stacks of slices.
        mmeb: put together as in the authors' image evaluation, not as in their demonstration.
    """

    text: str | None = None
    instruction: str | None = None
    images: tuple[Pixels, ...] = ()
    volumes: tuple[tuple[Pixels, ...], ...] = ()
    mmeb: bool = False


def slices(volume: tuple[Pixels, ...], most: int) -> tuple[Pixels, ...]:
    """At most so many, as the authors take frames."""
    return tuple(volume[i] for i in sampled(len(volume), most)) if len(volume) > most else volume


HUNDRED = stack(100, 30, 30, 300)
CASES: dict[str, Case] = {
    "text": Case(TEXT),
    "one token": Case("a"),
    "63 tokens": Case("a" * 63),
    "64 tokens": Case("a" * 64),
    "200 tokens": Case("ab" * 100),
    "other letters": Case("Größe 3 µm, кость, 心臓, e\u0301 \U0001f9b4"),
    "nothing": Case(),
    "instruction and text": Case(TEXT, QUERY),
    "instruction with blanks": Case(TEXT, "  Find the finding  "),
    "instruction alone": Case(None, QUERY),
    "image": Case(images=(picture(96, 128),)),
    "image and instruction": Case(None, QUESTION, (picture(512, 300, 1),)),
    "image, instruction, text": Case("What is in the image", QUESTION, (picture(70, 50, 2),)),
    "image and text": Case("Which organ?", None, (picture(56, 84, 3),)),
    "image under the minimum": Case("Which organ?", QUESTION, (picture(20, 12, 4),)),
    "narrow image": Case(None, QUESTION, (picture(20, 300, 5),)),
    "elongated image": Case(None, QUESTION, (picture(29, 5900, 6),)),
    "two images": Case("Compare them.", QUESTION, (picture(64, 64, 7), picture(100, 40, 8))),
    "one slice": Case(volumes=(stack(1, 40, 48, 10),)),
    "five slices": Case(None, "Represent the given video.", volumes=(stack(5, 40, 48, 20),)),
    "six slices and text": Case("Left lung?", "Answer: ", volumes=(stack(6, 65, 33, 30),)),
    "narrow slices": Case(None, QUERY, volumes=(stack(3, 20, 70, 40),)),
    "64 slices": Case(None, QUERY, volumes=(stack(64, 30, 44, 50),)),
    "100 slices": Case(None, QUERY, volumes=(slices(HUNDRED, 64),)),
    "two volumes": Case("The same?", QUERY, volumes=(stack(3, 33, 65, 60), stack(4, 40, 40, 70))),
    "volume, image, text": Case("Same?", QUERY, (picture(64, 96, 9),), (stack(2, 32, 32, 80),)),
    "hostile text, broken up": Case(HOSTILE_BROKEN, QUERY, (picture(56, 56, 11),)),
    "marks taken out": Case("Which organ is this?", QUERY, (picture(56, 56, 11),)),
    "evaluation: image": Case(
        None, "Represent the given image.", (picture(60, 90, 12),), mmeb=True
    ),
    "evaluation: image and text": Case(
        "Which \norgan?", "Answer it.", (picture(60, 90, 12),), mmeb=True
    ),
    "evaluation: text": Case("A lung.", "Find me an image that matches:", mmeb=True),
}
# One batch of the authors' own call, which takes pictures or slices in one item, not both.
BATCH: tuple[str, ...] = (
    "text", "image, instruction, text", "six slices and text", "one token", "two images",
    "image under the minimum",
)  # fmt: skip
# Between vision markers their position routine finds pictures: the three-axis positions.
MARKED: tuple[str, ...] = (
    "image, instruction, text", "two images", "six slices and text", "two volumes",
    "volume, image, text",
)  # fmt: skip
# What the benchmark's wrapper is asked; it takes pictures or one volume in one item, not both.
RELEASE_CASES: dict[str, Case] = {
    "text": Case(TEXT),
    "nothing": Case(),
    "instruction and text": Case(TEXT + " ", " " + QUERY + " "),
    "instruction alone": Case(None, QUERY),
    "image": Case(images=(picture(56, 84, 12),)),
    "image at its size": Case("Which organ?", QUESTION, (picture(84, 112, 13),)),
    "image resized": Case("Which organ?", QUESTION, (picture(70, 50, 2),)),
    "large image": Case("Which organ?", QUESTION, (picture(300, 512, 1),)),
    "thin image": Case(None, QUERY, (picture(12, 400, 14),)),
    "small image": Case(None, QUERY, (picture(20, 12, 4),)),
    "two images": Case("Compare.", QUERY, (picture(56, 84, 12), picture(84, 112, 13))),
    "slices at their size": Case(None, QUERY, volumes=(stack(5, 56, 84, 20),)),
    "slices resized": Case("Left?", QUERY, volumes=(stack(6, 65, 33, 30),)),
    "large slices": Case("Left?", QUERY, volumes=(stack(3, 420, 600, 90),)),
}
# What differs where the adapter is lost.
PROBES: tuple[str, ...] = ("text", "image, instruction, text", "five slices")

BASE, ADAPTER = "Qwen2-VL-2B-Instruct", "VLM2Vec-V2.0"  # folders, named as the repositories
# Adapters of further kinds: what is laid over ``tiny_qwen2.make_adapter`` for each.
KINDS: Mapping[str, Mapping[str, Any]] = {
    "lora": {"dora": False},
    "rank-stabilised": {"use_rslora": True},
    "patterns": {
        "dora": False,
        "ranks": {"q_proj": 2, ".1.mlp.down_proj": 8},
        "rank_pattern": {"q_proj": 2, r"model\.layers\.1\.mlp\.down_proj": 8},
        "alpha_pattern": {"v_proj": 3, r".*\.0\.mlp\.(gate|up)_proj": 5},
    },
    "regex": {
        "modules": ("self_attn.q_proj", "mlp.down_proj"),
        "target_modules": r"model\.layers\.\d+\.(self_attn\.q_proj|mlp\.down_proj)",
    },
}


def array(volume: tuple[Pixels, ...]) -> Pixels:
    """Slices as one array [S, H, W, 3]."""
    return np.stack(volume)
