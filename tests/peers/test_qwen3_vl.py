"""The Qwen3-VL adapter against two references, and the wrong ways shown to be wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.encoder import Encoder
from engine.models.common import quiet
from engine.models.load import load_encoder
from tests.peers.cases import MIXED, TEXT, VOLUMES, make
from tests.peers.qwen_reference import Reference, pillow_processor
from tests.peers.tiny import picture, volume

CLOSE = 1e-5
DIFFERENT = 1e-3
ALL = MIXED | VOLUMES


def load(folder: Path, **settings: object) -> Encoder:
    return load_encoder(
        str(folder), weights_dir=folder.parent, shipped_dir=folder, device="cpu", settings=settings
    )


@pytest.fixture(scope="module")
def encoder(qwen: Path) -> Encoder:
    return load(qwen)


@pytest.fixture(scope="module")
def reference(qwen: Path) -> Reference:
    return Reference(qwen)


def apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max())


@pytest.mark.parametrize("name", ALL)
def test_equals_plain_transformers(encoder: Encoder, reference: Reference, name: str):
    vector = encoder.encode([ALL[name]])[0]
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert apart(vector, reference.vector(ALL[name])) < CLOSE


@pytest.mark.parametrize("wrap", ["stripped", "outer"])
def test_64_slices_equal_the_official_frame_list(qwen: Path, reference: Reference, wrap: str):
    item = make(volumes=(volume(64, 32, 32),), instruction="Find the same scan")
    vector = load(qwen, video_wrap=wrap).encode([item])[0]
    assert apart(vector, reference.vector(item, wrap=wrap)) < CLOSE


def test_prompts_equal_the_checkpoints_own_template(encoder: Encoder, reference: Reference):
    from engine.models.qwen3_prompt import prompt

    outer = replace(encoder.settings, video_wrap="outer")
    for item in ALL.values():
        assert prompt(item, outer, tokens=()) == reference.text(item)


def test_equals_sentence_transformers(qwen: Path, encoder: Encoder):
    peer = sentence_transformer(qwen)
    for name, item in MIXED.items():
        if name in ("empty text", "empty item"):
            continue  # it takes neither
        given = {"image": [as_pil(image) for image in item.images], "text": "".join(item.texts)}
        given = {key: value for key, value in given.items() if value}
        system = {
            "Find it": "Find it.",
            "Compare: ": "Compare:",
            "  Find the finding  ": "Find the finding.",
        }.get(item.instruction or "", item.instruction or "Represent the user's input.")
        with quiet():
            theirs = peer.encode([given], prompt=system, show_progress_bar=False)[0]
        assert apart(encoder.encode([item])[0], theirs) < CLOSE, name


def sentence_transformer(folder: Path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules.normalize import Normalize
    from sentence_transformers.base.modules.transformer import Transformer
    from sentence_transformers.sentence_transformer.modules.pooling import Pooling

    with quiet():
        body = Transformer(
            str(folder),
            processing_kwargs={"chat_template": {"add_generation_prompt": True}},
        )
        body.processor.image_processor = pillow_processor(folder)
        return SentenceTransformer(
            modules=[body, Pooling(64, pooling_mode="lasttoken"), Normalize()], device="cpu"
        )


def as_pil(pixels: np.ndarray):
    from PIL import Image

    return Image.fromarray(pixels)


def test_a_mixed_batch_equals_one_by_one(encoder: Encoder):
    items = list(ALL.values())
    together = encoder.encode(items)
    alone = np.concatenate([encoder.encode([item]) for item in items])
    assert apart(together, alone) < CLOSE


def test_padding_side_changes_nothing(qwen: Path, encoder: Encoder):
    items = [MIXED["text"], MIXED["image and text"], VOLUMES["five slices"], make("x")]
    assert apart(load(qwen, padding_side="left").encode(items), encoder.encode(items)) < CLOSE


def test_the_wrong_ways_differ(encoder: Encoder, reference: Reference):
    video, text = VOLUMES["five slices"], MIXED["text"]
    right = encoder.encode([video])[0]
    assert apart(right, reference.vector(video, wrap="outer")) > DIFFERENT
    assert apart(right, reference.vector(video, fps=24.0)) > DIFFERENT
    assert apart(right, reference.vector(video, first_factor=32)) > CLOSE
    assert apart(encoder.encode([text])[0], reference.vector(text, template=False)) > DIFFERENT


def test_resampling_by_frame_rate_differs(encoder: Encoder, reference: Reference):
    # with the true 2 frames a second it would keep all; a checkpoint's fps of 1 drops half
    reference.processor.video_processor.fps = 1
    try:
        item = make(volumes=(volume(12, 32, 32),))
        wrong = reference.vector(item, sample_again=True)
    finally:
        reference.processor.video_processor.fps = 2
    assert apart(encoder.encode([item])[0], wrong) > DIFFERENT


def test_slices_as_images_are_another_reading(qwen: Path, reference: Reference):
    slices = volume(3, 64, 64)
    as_images = load(qwen, volume_as="images").encode([make(volumes=(slices,))])[0]
    assert apart(as_images, reference.vector(make(images=tuple(slices)))) < CLOSE
    assert apart(as_images, reference.vector(make(volumes=(slices,)))) > DIFFERENT


def test_end_of_text_is_probed(qwen_open: Path, qwen: Path):
    bare = load(qwen_open)
    assert any("does not end a text" in note for note in bare.notes)
    ended = load(qwen_open, append_eot="always")
    closing = load(qwen)
    item = [make(TEXT)]
    assert apart(ended.encode(item), closing.encode(item)) < CLOSE
    assert apart(bare.encode(item), closing.encode(item)) > DIFFERENT
    never = load(qwen, append_eot="never")
    assert apart(never.encode(item), bare.encode(item)) < CLOSE
    # exactly one: a tokenizer that ends texts itself is not helped twice
    assert apart(load(qwen, append_eot="always").encode(item), closing.encode(item)) < CLOSE


def test_matryoshka_keeps_a_prefix_of_unit_length(qwen: Path, encoder: Encoder):
    whole, short = encoder.encode([make(TEXT)])[0], load(qwen, truncate_dim=16).encode([make(TEXT)])
    assert short.shape == (1, 16)
    assert apart(short[0], whole[:16] / np.linalg.norm(whole[:16])) < CLOSE


def test_the_picture_matters(encoder: Encoder):
    first, second = (make(images=(picture(96, 96, seed),)) for seed in (1, 2))
    assert apart(encoder.encode([first]), encoder.encode([second])) > DIFFERENT
