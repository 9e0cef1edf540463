"""The SigLIP adapter against transformers' own model, called as the authors call it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoImageProcessor
from transformers.models.siglip import SiglipModel, SiglipTokenizer

from engine.encoder import Encoder
from engine.models.common import quiet
from engine.models.load import load_encoder
from tests.peers.cases import make
from tests.peers.tiny import picture, volume

CLOSE = 1e-5
DIFFERENT = 1e-3
WORDS = "lung nodule of 3 mm left upper lobe "
TEXTS = {"1 token": "", "short": "lung mass", "long": WORDS * 2, "200 words": WORDS * 25}


def load(folder: Path, **settings: object) -> Encoder:
    return load_encoder(
        str(folder), weights_dir=folder.parent, shipped_dir=folder, device="cpu", settings=settings
    )


@pytest.fixture(scope="module")
def encoder(siglip: Path) -> Encoder:
    return load(siglip)


class Plain:
    """transformers and nothing else."""

    def __init__(self, folder: Path) -> None:
        with quiet():
            self.model = SiglipModel.from_pretrained(folder, dtype=torch.float32).eval()
            self.tokenizer = SiglipTokenizer.from_pretrained(folder)
            self.images = AutoImageProcessor.from_pretrained(folder, backend="pil")

    def text(self, text: str, *, padding: str = "max_length", mask: bool = False) -> np.ndarray:
        made = self.tokenizer(
            [text, WORDS], padding=padding, max_length=64, truncation=True, return_tensors="pt"
        )
        options = {"attention_mask": made["input_ids"] != 1} if mask else {}
        with torch.no_grad():
            found = self.model.get_text_features(input_ids=made["input_ids"], **options)
        return unit(found.pooler_output[0].numpy())

    def image(self, pixels: np.ndarray, **options: object) -> np.ndarray:
        with torch.no_grad():
            made = self.images(Image.fromarray(pixels), return_tensors="pt", **options)
            found = self.model.get_image_features(pixel_values=made["pixel_values"])
        return unit(found.pooler_output[0].numpy())


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def mean(*vectors: np.ndarray) -> np.ndarray:
    return unit(np.mean(vectors, axis=0))


def apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max())


@pytest.fixture(scope="module")
def plain(siglip: Path) -> Plain:
    return Plain(siglip)


@pytest.mark.parametrize("name", TEXTS)
def test_texts(encoder: Encoder, plain: Plain, name: str):
    assert apart(encoder.encode([make(TEXTS[name])])[0], plain.text(TEXTS[name])) < CLOSE


def test_texts_end_at_the_last_position(siglip: Path):
    from engine.models.settings import settings_of
    from engine.models.siglip import build_batch, load_processor

    items = [make("lung"), make(WORDS * 2), make(WORDS * 25)]
    batch = build_batch(load_processor(siglip), items, settings_of("siglip"))
    assert batch["input_ids"].shape == (3, 64)
    assert (batch["input_ids"][:, 63] == 1).all()  # the end token or its twin, the padding
    assert "attention_mask" not in batch


@pytest.mark.parametrize("shape", [(28, 28), (56, 84), (20, 11), (200, 150), (3, 5)])
def test_pictures(encoder: Encoder, plain: Plain, shape: tuple[int, int]):
    pixels = picture(*shape)
    assert apart(encoder.encode([make(images=(pixels,))])[0], plain.image(pixels)) < CLOSE


def test_fields_are_unit_before_their_mean_and_slices_pooled_first(encoder: Encoder, plain: Plain):
    slices, image = volume(6, 30, 40), picture(50, 60, 9)
    item = make("lung mass", images=(image,), volumes=(slices,), instruction="Find it")
    pooled = mean(*(plain.image(one) for one in slices))
    wanted = mean(plain.text("lung mass"), plain.image(image), pooled)
    assert apart(encoder.encode([item])[0], wanted) < CLOSE
    flat = mean(plain.text("lung mass"), plain.image(image), *map(plain.image, slices))
    assert apart(encoder.encode([item])[0], flat) > DIFFERENT


def test_the_instruction_is_dropped_prefixed_or_a_field(siglip: Path, plain: Plain):
    item = make("lung mass", instruction="liver tear")
    text, instruction = plain.text("lung mass"), plain.text("liver tear")
    found = {
        mode: load(siglip, instruction_slot=mode).encode([item])[0]
        for mode in ("drop", "prefix", "field")
    }
    assert apart(found["drop"], text) < CLOSE
    assert apart(found["prefix"], plain.text("liver tear lung mass")) < CLOSE
    assert apart(found["field"], mean(text, instruction)) < CLOSE


def test_a_picture_mark_is_no_word_and_no_field(encoder: Encoder, plain: Plain):
    image = picture(40, 40)
    assert apart(encoder.encode([make("<image>", images=(image,))])[0], plain.image(image)) < CLOSE
    marked = encoder.encode([make("<image>\nlung mass")])[0]
    assert apart(marked, plain.text("lung mass")) < CLOSE
    assert apart(marked, plain.text("image lung mass")) > DIFFERENT


def test_the_wrong_ways_of_padding_differ(encoder: Encoder, plain: Plain):
    right = encoder.encode([make("lung mass")])[0]
    assert apart(right, plain.text("lung mass", padding="longest")) > DIFFERENT
    assert apart(right, plain.text("lung mass", mask=True)) > DIFFERENT


@pytest.mark.parametrize("shape", [(20, 10), (10, 20), (20, 11), (24, 24)])
def test_pad_square(siglip: Path, plain: Plain, shape: tuple[int, int]):
    pixels = picture(*shape)
    side, (height, width) = max(shape), shape
    before = ((side - height) // 2, (side - width) // 2)
    around = [(before[0], side - height - before[0]), (before[1], side - width - before[1]), (0, 0)]
    wanted = plain.image(np.pad(pixels, around))
    padded = load(siglip, preprocess="pad_square").encode([make(images=(pixels,))])[0]
    assert apart(padded, wanted) < CLOSE
    if height != width:
        assert apart(padded, plain.image(pixels)) > DIFFERENT


def test_tf_bilinear_cuts_to_8_bit_without_antialias(siglip: Path, plain: Plain):
    pixels = picture(90, 70)
    stack = torch.from_numpy(pixels).permute(2, 0, 1)[None].float()
    resized = torch.nn.functional.interpolate(stack, (28, 28), mode="bilinear")
    cut = np.floor(resized[0].permute(1, 2, 0).numpy()).astype(np.uint8)
    found = load(siglip, preprocess="tf_bilinear").encode([make(images=(pixels,))])[0]
    assert apart(found, plain.image(cut, do_resize=False)) < CLOSE
    assert apart(found, plain.image(pixels)) > DIFFERENT


def test_a_batch_equals_one_by_one_and_order_of_slices_is_irrelevant(encoder: Encoder):
    slices = volume(5, 30, 30)
    items = [
        make("lung"),
        make(),
        make(images=(picture(30, 44),)),
        make("knee tear", images=(picture(64, 64), picture(20, 30))),
        make(volumes=(slices,)),
        make(volumes=(slices[::-1],)),
    ]
    together = encoder.encode(items)
    alone = np.concatenate([encoder.encode([item]) for item in items])
    assert apart(together, alone) < CLOSE
    assert apart(together[4], together[5]) < CLOSE


def test_the_raw_mean_is_the_release_way(siglip: Path):
    item = make("lung mass", images=(picture(40, 60),))
    raw, unit_first = load(siglip, fuse="mean_raw").encode([item]), load(siglip).encode([item])
    assert apart(raw, unit_first) > CLOSE


def test_texts_cut_at_64_tokens_are_counted(siglip: Path):
    encoder = load(siglip)
    encoder.encode([make(TEXTS["200 words"]), make("lung"), make(TEXTS["short"])])
    assert encoder.shortened == (True, False, False)


def test_a_typed_end_token_is_neutralised(encoder: Encoder, plain: Plain):
    typed = encoder.encode([make("lung</s> mass")])[0]
    assert apart(typed, plain.text("lung< /s> mass")) < CLOSE
