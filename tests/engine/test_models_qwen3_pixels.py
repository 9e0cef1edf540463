"""The golden sizes of specification 2.4 and 2.5, and what hostile texts become."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.errors import ItemRefused
from engine.evidence.item import ModelInput
from engine.models.marks import clean, neutralise, strip_marks
from engine.models.qwen3_pixels import (
    image_size,
    image_tokens,
    resize_image,
    resize_volume,
    smart_resize,
    video_size,
    video_tokens,
)
from engine.models.qwen3_prompt import prompt, punctuate
from engine.models.settings import Settings, settings_of


def qwen(**values: object) -> Settings:
    return settings_of("qwen3-vl-embedding", **values)


RULES = qwen()
# height, width, slices: rows, columns, tokens per pair, tokens of all
GOLDEN = {
    **{
        (side, side, count): (384, 384, 144, 72 * count)
        for side in (28, 128, 224, 256, 320, 384)
        for count in (64, 32, 16)
    },
    (512, 512, 64): (480, 480, 225, 7200),
    (512, 512, 32): (512, 512, 256, 4096),
    (512, 512, 16): (512, 512, 256, 2048),
    (768, 768, 64): (480, 480, 225, 7200),
    (768, 768, 32): (672, 672, 441, 7056),
    (768, 768, 16): (768, 768, 576, 4608),
    (1024, 1024, 64): (480, 480, 225, 7200),
    (1024, 1024, 32): (672, 672, 441, 7056),
    (1024, 1024, 16): (864, 864, 729, 5832),
    (512, 666, 64): (416, 544, 221, 7072),
    (512, 666, 32): (512, 640, 320, 5120),
    (512, 400, 64): (512, 384, 192, 6144),
    (512, 400, 32): (512, 384, 192, 3072),
    # odd counts repeat the last slice
    (256, 256, 7): (384, 384, 144, 4 * 144),
    (256, 256, 1): (384, 384, 144, 144),
}


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: "{}x{} n{}".format(*case))
def test_golden_video_sizes(case: tuple[int, int, int]):
    height, width, count = case
    rows, columns, per_pair, total = GOLDEN[case]
    assert video_size(count, height, width, RULES) == (rows, columns)
    assert rows // 32 * (columns // 32) == per_pair
    assert video_tokens(count, height, width, RULES) == total


@pytest.mark.parametrize("count", [1, 5, 7, 16])
def test_resized_slices_have_the_promised_shape(count: int):
    volume = np.random.default_rng(0).integers(0, 256, (count, 40, 56, 3), dtype=np.uint8)
    video = resize_volume(volume, RULES)
    rows, columns = video_size(count, 40, 56, RULES)
    assert video.shape == (count + count % 2, 3, rows, columns)
    assert video.dtype == torch.float32
    assert torch.equal(video, video.round())
    assert (count % 2 == 0) or torch.equal(video[-1], video[-2])


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ((512, 512), (512, 512)),
        ((20, 12), (96, 64)),  # up to the smallest area
        ((2048, 2500), (1216, 1472)),  # down to the largest
        ((1000, 10), (992, 32)),
        ((48, 80), (64, 64)),  # halves go to the even multiple
    ],
)
def test_picture_sizes(size: tuple[int, int], wanted: tuple[int, int]):
    assert image_size(*size, RULES, of_slice=False) == wanted
    assert image_tokens(*size, RULES) == wanted[0] * wanted[1] // 1024
    assert resize_image(np.zeros((*size, 3), np.uint8), RULES).shape == (*wanted, 3)


def test_the_limits_are_settings():
    nano = qwen(
        min_pixels=96 * 96, max_pixels=96 * 96, video_min_pixels=64 * 64, video_max_pixels=96 * 96
    )
    assert image_size(512, 512, nano, of_slice=False) == (96, 96)
    assert video_size(64, 96, 96, nano) == (96, 96)
    assert video_tokens(64, 96, 96, nano) == 32 * 9


def test_a_needle_is_refused():
    with pytest.raises(ItemRefused, match="200 times"):
        smart_resize(1, 201, factor=32, min_pixels=1, max_pixels=10**6)
    assert smart_resize(1, 200, factor=32, min_pixels=1, max_pixels=10**6) == (32, 192)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("Find it", "Find it."),
        ("  Find it\n", "Find it."),
        ("Find it.", "Find it."),
        ("Find it:", "Find it:"),
        ("Finde es。", "Finde es。"),
        ("cost in $", "cost in $."),  # a currency sign is a symbol, not punctuation
        ("   ", ""),
    ],
)
def test_instructions_end_in_punctuation(given: str, wanted: str):
    assert punctuate(given) == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("<image>", ""),
        ("<image>\nWhich organ?", "Which organ?"),
        ("<|image_1|>\n", ""),
        ("before <|image_12|> after", "before after"),
        ("<im<image>age>", "<im age>"),
        ("  spaces stay  ", "  spaces stay  "),
        ("<IMAGE> x", "x"),
    ],
)
def test_picture_marks_go(given: str, wanted: str):
    assert strip_marks(given) == wanted


TOKENS = ("<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|image_pad|>", "<|video_pad|>")


@pytest.mark.parametrize("token", TOKENS)
def test_typed_control_tokens_are_broken_up(token: str):
    for text in (token, f"a{token}b", token * 3, f"{token[:4]}<image>{token[4:]}", f"<{token}"):
        cleaned = clean(text, TOKENS)
        assert not any(other in cleaned for other in TOKENS)
    assert neutralise("a < b | c > d", TOKENS) == "a < b | c > d"


def item(*texts: str, images: int = 0, volumes: int = 0, instruction: str | None = None):
    picture = np.zeros((32, 32, 3), np.uint8)
    return ModelInput(instruction, texts, (picture,) * images, (picture[None],) * volumes)


def test_the_prompt_is_exact():
    whole = prompt(item("q", images=1, volumes=1, instruction="Find it"), RULES, tokens=TOKENS)
    assert whole == (
        "<|im_start|>system\nFind it.<|im_end|>\n<|im_start|>user\n<|video_pad|>"
        "<|vision_start|><|image_pad|><|vision_end|>q<|im_end|>\n<|im_start|>assistant\n"
    )
    bare = prompt(item(), RULES, tokens=TOKENS)
    assert bare == (
        "<|im_start|>system\nRepresent the user's input.<|im_end|>\n"
        "<|im_start|>user\nNULL<|im_end|>\n<|im_start|>assistant\n"
    )


def test_an_empty_text_is_a_field_and_a_mark_leaves_none_behind():
    assert "user\n<|im_end|>" in prompt(item(""), RULES, tokens=TOKENS)
    assert "user\n<|im_end|>" in prompt(item("<image>"), RULES, tokens=TOKENS)
    assert "pad|><|vision_end|><|im_end|>" in prompt(item("<image>", images=1), RULES, tokens=())


def test_slots_of_the_instruction():
    asked = item("q", instruction="<|image_1|>\nFind it")
    prefix = prompt(asked, qwen(instruction_slot="prefix"), tokens=TOKENS)
    assert "system\nRepresent the user's input.<|im_end|>" in prefix
    assert "user\nFind it. q<|im_end|>" in prefix
    dropped = prompt(asked, qwen(instruction_slot="drop"), tokens=TOKENS)
    assert "Find" not in dropped
    assert "system\nFind it.<|im_end|>" in prompt(asked, RULES, tokens=TOKENS)
