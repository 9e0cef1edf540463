"""BLIP-2 against LAVIS, the authors' library: features recorded by ``golden/make_blip2.py``.

Never run on the published weights.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.models.load import load_encoder
from tests.peers.blip2_cases import PAIRS, REPORT, SIZES, TEXTS, shown
from tests.peers.blip2_plain import mean, unit
from tests.peers.cases import make
from tests.peers.pictures import volume
from tests.peers.tally import compare, differs
from tests.peers.tiny_blip2 import make_blip2
from tests.peers.weights import digest_of

GOLDEN = json.loads(
    Path(__file__).with_name("golden").joinpath("blip2.json").read_text(encoding="utf-8")
)
CASES = GOLDEN["cases"]
MODEL, LAVIS = "BLIP-2", GOLDEN["code"][:24] + ", " + GOLDEN["environment"][0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_blip2(tmp_path_factory.mktemp("lavis") / "blip2-tiny")


def load(folder: Path, **settings: object) -> Any:
    return load_encoder(
        str(folder), weights_dir=folder.parent, shipped_dir=folder, device="cpu", settings=settings
    )


def test_the_features_belong_to_this_checkpoint(folder: Path) -> None:
    assert digest_of(folder, also=("vocab.txt",)) == GOLDEN["checkpoint"]


@pytest.mark.parametrize(("length", "kind"), [(512, "text"), (32, "text cut")])
def test_texts(folder: Path, length: int, kind: str) -> None:
    encoder = load(folder, max_tokens=length)
    found = encoder.encode([make(text) for text in TEXTS.values()])
    for name, row in zip(TEXTS, found, strict=True):
        compare(MODEL, LAVIS, f"{kind}: {name}", row, CASES[f"{kind}, {name}"])


def test_pictures(folder: Path) -> None:
    items = [make(images=(shown(name),)) for name in SIZES]
    for name, row in zip(SIZES, load(folder).encode(items), strict=True):
        compare(MODEL, LAVIS, f"picture: {name}", row, unit(CASES[f"mean of queries, {name}"]))
    first = load(folder, query_pool="first").encode(items)[0]
    compare(MODEL, LAVIS, "query 0", first, CASES["query 0, wide"])


def test_raw_states(folder: Path) -> None:
    encoder = load(folder, query_pool="lavis768")
    assert encoder.dim == 24  # the Q-Former's width, 768 in the published model
    wide = make(images=(shown("wide"),))
    picture, text = encoder.encode([wide, make(REPORT)])
    compare(MODEL, LAVIS, "raw query 0", picture, unit(CASES["raw query 0, wide"]))
    compare(MODEL, LAVIS, "raw text", text, unit(CASES["raw text, a report"]))


@pytest.mark.parametrize("name", PAIRS)
def test_a_picture_read_with_its_text(folder: Path, name: str) -> None:
    picture, text = PAIRS[name]
    encoder = load(folder, query_pool="lavis768")
    alone = encoder.encode([make(images=(shown(picture),)), make(text)])
    both = encoder.encode([make(text, images=(shown(picture),))])[0]
    compare(MODEL, LAVIS, f"multimodal: {name}", both, unit(CASES[f"multimodal, {name}"]))
    differs(MODEL, "lavis768: fields averaged, not read together", both, mean(*alone), beyond=1e-3,
            case=name)  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_the_score_of_a_pair(folder: Path, name: str) -> None:
    picture, text = PAIRS[name]
    encoder = load(folder)
    with torch.inference_mode():
        states = encoder.towers.query_states(encoder.towers.patch(shown(picture))[None])
        queries = unit(encoder.model.vision_projection(states)[0])
    best = float((queries @ encoder.encode([make(text)])[0]).max())
    compare(MODEL, LAVIS, f"score: {name}", [best], CASES[f"score, {name}"])


def test_slices_are_each_read_with_the_text_and_an_instruction_is_a_field(folder: Path) -> None:
    """LAVIS does not say; this project's choice holds together."""
    encoder = load(folder, query_pool="lavis768", instruction_slot="field")
    stack = volume(3, 30, 20)
    each = encoder.encode([make(REPORT, images=(one,)) for one in stack])
    told = encoder.encode([make("find the mass")])[0]
    found = encoder.encode([make(REPORT, volumes=(stack,), instruction="find the mass")])[0]
    compare(MODEL, "itself", "lavis768: slices and instruction", found, mean(mean(*each), told))
    only = encoder.encode([make(volumes=(stack,), instruction="find the mass")])[0]
    seen = encoder.encode([make(images=(one,)) for one in stack])
    compare(MODEL, "itself", "lavis768: instruction alone", only, mean(mean(*seen), told))
    prefix = load(folder, query_pool="lavis768", instruction_slot="prefix")
    joined = prefix.encode([make(REPORT, volumes=(stack,), instruction="find the mass")])[0]
    apart = encoder.encode([make(f"find the mass {REPORT}", images=(one,)) for one in stack])
    compare(MODEL, "itself", "lavis768: instruction in front", joined, mean(*apart))
    assert np.isfinite(found).all()
