"""MedSigLIP-448 against Google's own serving code, recorded as a golden, and TensorFlow's resize.

The checkpoint is tiny in its widths only: class, files, 448 px in patches of 14, 64 positions.
Never run on the real weights, which are behind a gate.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.encoder import Encoder
from engine.models.load import load_encoder
from tests.peers import tally
from tests.peers.cases import make
from tests.peers.pictures import picture, volume
from tests.peers.siglip_cases import CUT, PICTURES, TEXTS
from tests.peers.siglip_reference import RELEASE, TRANSFORMERS, WRITTEN, Plain, Written
from tests.peers.tiny_siglip import make_siglip
from tests.peers.weights import digest_of

MODEL = "MedSigLIP"
FOLDER = Path(__file__).parent / "golden"
GOLDEN = json.loads((FOLDER / "medsiglip.json").read_text("utf-8"))
TF = json.loads((FOLDER / "tf_bilinear.json").read_text("utf-8"))
GOOGLE = f"{GOLDEN['code'][:34]} on {GOLDEN['environment'][0]}, golden"


def load(folder: Path, *, preset: str = "", **settings: object) -> Encoder:
    return load_encoder(
        f"{folder}{preset}",
        weights_dir=folder.parent,
        shipped_dir=folder,
        device="cpu",
        settings=settings,
    )


def one(encoder: Encoder, *texts: str, **more: Any) -> np.ndarray:
    return encoder.encode([make(*texts, **more)])[0]


@pytest.fixture(scope="module")
def medsiglip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_siglip(tmp_path_factory.mktemp("peers") / "medsiglip", image_size=448)


@pytest.fixture(scope="module")
def encoder(medsiglip: Path) -> Encoder:
    return load(medsiglip)


@pytest.fixture(scope="module")
def padded(medsiglip: Path) -> Encoder:
    return load(medsiglip, preprocess="pad_square")


@pytest.fixture(scope="module")
def plain(medsiglip: Path) -> Plain:
    return Plain(medsiglip)


@pytest.fixture(scope="module")
def written(medsiglip: Path) -> Written:
    return Written(medsiglip)


def test_the_golden_belongs_to_this_checkpoint(medsiglip: Path):
    assert digest_of(medsiglip, also=("spiece.model",)) == GOLDEN["checkpoint"]


@pytest.mark.parametrize("name", TEXTS)
def test_texts(written: Written, encoder: Encoder, name: str):
    ours = one(encoder, TEXTS[name])
    tally.compare(MODEL, GOOGLE, name, ours, GOLDEN["cases"][name])
    tally.compare(MODEL, WRITTEN, name, ours, written.text(TEXTS[name]))
    assert encoder.shortened == (name in CUT,)


def test_token_ids(medsiglip: Path):
    from engine.models.siglip import load_processor

    tensors, cut = load_processor(medsiglip).tokenise(list(TEXTS.values()))
    assert tensors["input_ids"].tolist() == list(GOLDEN["ids"].values())
    assert cut == [name in CUT for name in TEXTS]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_padded_to_a_square_are_those_of_googles_server(
    encoder: Encoder, padded: Encoder, name: str
):
    """Theirs scale to 0..1 and pad before the resize; the processor then resizes 8 bit again."""
    pixels = PICTURES[name]
    ours = one(padded, images=(pixels,))
    tally.compare(MODEL, GOOGLE, f"{name}, padded", ours, GOLDEN["cases"][name])
    if name != "square":
        tally.differs(
            MODEL, "squashed, where Google's server pads", one(encoder, images=(pixels,)),
            GOLDEN["cases"][name], beyond=1e-2, case=name,
        )  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_squashed_as_the_published_files_say(
    encoder: Encoder, plain: Plain, written: Written, name: str
):
    ours = one(encoder, images=(PICTURES[name],))
    tally.compare(MODEL, TRANSFORMERS, f"{name}, squashed", ours, plain.image(PICTURES[name]))
    if name in ("wide", "larger than the model's"):
        theirs = written.image(PICTURES[name], side=448)
        tally.compare(MODEL, WRITTEN, f"{name}, squashed", ours, theirs)


@pytest.mark.parametrize("shape", [(20, 10), (10, 20), (20, 11), (24, 24)])
def test_pad_square(padded: Encoder, plain: Plain, shape: tuple[int, int]):
    pixels = picture(*shape)
    side, (height, width) = max(shape), shape
    before = ((side - height) // 2, (side - width) // 2)
    around = [(before[0], side - height - before[0]), (before[1], side - width - before[1]), (0, 0)]
    wanted = plain.image(np.pad(pixels, around))
    ours = one(padded, images=(pixels,))
    tally.compare(MODEL, TRANSFORMERS, f"{height} x {width}, padded", ours, wanted)
    if height != width:
        tally.differs(
            MODEL, "squashed, where it is padded", ours, plain.image(pixels), beyond=1e-3,
            case=f"{height} x {width}",
        )  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_tf_bilinear_is_tensorflows_resize_to_the_last_grey(medsiglip: Path, name: str):
    from engine.models.siglip import load_processor

    found = load_processor(medsiglip, preprocess="tf_bilinear")
    found.images.size = {"height": TF["side"], "width": TF["side"]}
    made = found.patch(PICTURES[name]).numpy().transpose(1, 2, 0)
    greys = np.rint((made * 0.5 + 0.5) * 255).flatten()
    tally.compare(
        MODEL, f"{TF['environment'][0]} resize, golden", f"greys of {name}", greys,
        TF["cases"][name], within=0.0,
    )  # fmt: skip


def test_tf_bilinear_differs_from_an_antialiased_resize(medsiglip: Path, encoder: Encoder):
    pixels = PICTURES["larger than the model's"]
    ours = one(load(medsiglip, preprocess="tf_bilinear"), images=(pixels,))
    tally.differs(
        MODEL, "antialiased, where TensorFlow is not", ours, one(encoder, images=(pixels,)),
        beyond=1e-3,
    )  # fmt: skip
    smooth = np.asarray(Image.fromarray(pixels).resize((448, 448), Image.Resampling.BILINEAR))
    tally.differs(
        MODEL, "Pillow's bilinear for TensorFlow's", ours, one(encoder, images=(smooth,)),
        beyond=1e-3,
    )  # fmt: skip


def test_squares_need_no_padding(encoder: Encoder, padded: Encoder):
    slices = volume(5, 48, 48)
    ours = one(padded, volumes=(slices,))
    tally.compare(
        MODEL, "ours with the other preprocessing", "five square slices", ours,
        one(encoder, volumes=(slices,)),
    )  # fmt: skip


def test_the_release_preset(medsiglip: Path, plain: Plain):
    item = make("lung mass", images=(picture(40, 30),), instruction="find the tear")
    ours = load(medsiglip, preset="@release").encode([item])[0]
    tally.compare(MODEL, RELEASE, "all three", ours, plain.release(item))
