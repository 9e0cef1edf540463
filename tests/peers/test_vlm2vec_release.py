"""VLM2Vec under ``@release`` against the steps of the benchmark's wrapper.

The recorded vectors are transformers' and peft's, called as the wrapper calls them
(``golden/make_vlm2vec_release.py``); the wrapper itself could not be checked out. Real weights
were never run.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.encoder import Encoder
from engine.errors import ItemRefused
from engine.models.load import load_encoder
from tests.peers import tally
from tests.peers.rzen_cases import picture
from tests.peers.test_vlm2vec import CLOSE, DIFFERENT, item
from tests.peers.vlm2vec_cases import ADAPTER, BASE, RELEASE_CASES, Case
from tests.peers.vlm2vec_tiny import make_vlm2vec
from tests.peers.weights import digest_of

MODEL = "VLM2Vec-V2.0@release"
GOLDEN = json.loads((Path(__file__).parent / "golden" / "vlm2vec_release.json").read_text("utf-8"))
REFERENCE = f"the wrapper's steps, {', '.join(GOLDEN['environment'][:2])}"


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_vlm2vec(tmp_path_factory.mktemp("released"))


def load(adapter: Path, name: str = "@release", **settings: object) -> Encoder:
    there = adapter.parent
    return load_encoder(
        f"{adapter}{name}", weights_dir=there, shipped_dir=there, device="cpu", settings=settings
    )


@pytest.fixture(scope="module")
def encoder(adapter: Path) -> Encoder:
    return load(adapter)


def test_the_golden_belongs_to_this_checkpoint(adapter: Path):
    base = adapter.parent / BASE
    assert digest_of(base, also=("vocab.json", "merges.txt")) == GOLDEN["checkpoint"]
    assert digest_of(adapter) == GOLDEN["adapter digest"]


@pytest.mark.parametrize("name", RELEASE_CASES)
def test_the_wrappers_vectors(encoder: Encoder, name: str):
    ours, theirs = encoder.encode([item(RELEASE_CASES[name])])[0], GOLDEN["cases"][name]
    tally.compare(MODEL, REFERENCE, name, ours, theirs, within=CLOSE)


def test_a_batch_padded_on_the_left(encoder: Encoder):
    texts = [case for case in RELEASE_CASES.values() if not (case.images or case.volumes)]
    rows = encoder.encode([item(case) for case in texts])
    tally.compare(MODEL, REFERENCE, "batch of texts", rows, GOLDEN["batch of texts"], within=CLOSE)
    every = encoder.encode([item(case) for case in RELEASE_CASES.values()])
    theirs = np.array(list(GOLDEN["cases"].values()))
    tally.compare(MODEL, REFERENCE, "batch of everything", every, theirs, within=CLOSE)


@pytest.mark.parametrize(
    ("what", "name", "settings"),
    [
        ("positions in a line", "image resized", {"positions": "linear"}),
        ("no vision markers", "image resized", {"video_wrap": "stripped"}),
        ("slices not shrunk first", "large slices", {"slice_shrink_pixels": 0}),
        ("one resize within 360 x 420", "large slices",
         {"slice_shrink_pixels": 0, "slice_max_pixels": 360 * 420}),
        ("Pillow's resize", "slices resized", {"resize_with": "pillow"}),
        ("an empty item as blanks", "nothing", {"empty_text": "kept"}),
        ("blanks around kept", "instruction and text", {"newline_style": "demo"}),
    ],
)  # fmt: skip
def test_the_wrong_ways_differ(
    adapter: Path, encoder: Encoder, what: str, name: str, settings: dict[str, object]
):
    one = [item(RELEASE_CASES[name])]
    wrong = load(adapter, **settings).encode(one)
    beyond = 1e-4 if "Pillow" in what else DIFFERENT
    tally.differs(MODEL, what, encoder.encode(one), wrong, beyond=beyond, case=name)


def test_the_release_is_another_model_in_every_record(adapter: Path, encoder: Encoder):
    plain = load(adapter, name="")
    assert (encoder.model_id, plain.model_id) == (f"{ADAPTER}@release", ADAPTER)
    assert encoder.fingerprint != plain.fingerprint
    origins = {one.name: one.origin for one in encoder.record.settings}
    assert origins["positions"] == origins["slice_shrink_pixels"] == "release"
    one = [item(RELEASE_CASES["image resized"])]
    what = "the authors' own way"
    tally.differs(MODEL, what, encoder.encode(one), plain.encode(one), beyond=DIFFERENT)


def test_what_the_wrapper_fails_on_is_refused(encoder: Encoder):
    with pytest.raises(ItemRefused, match="longer than wide"):
        encoder.encode([item(Case(images=(picture(29, 5900, 6),)))])
