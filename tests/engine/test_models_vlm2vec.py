"""Prompts and sizes of VLM2Vec as specification 7 has them, without a model."""

from __future__ import annotations

import numpy as np
import pytest

from engine.evidence.item import ModelInput
from engine.models.qwen2_vl import Row, tokens_of
from engine.models.resize import squared
from engine.models.settings import RELEASE, settings_of, settle
from engine.models.vlm2vec import compose, measure, picture_size, shrunk, slice_size

DEFAULT = settings_of("vlm2vec")
RELEASED = settle("vlm2vec", preset=RELEASE)[0]
TOKENS = ("<|image_pad|>", "<|video_pad|>", "<|im_end|>", "<|endoftext|>", "<|vision_start|>")
IMAGE = np.zeros((30, 30, 3), np.uint8)
SLICES = np.zeros((3, 30, 30, 3), np.uint8)


@pytest.mark.parametrize(
    ("height", "width", "size", "tokens"),
    [
        (224, 224, (224, 224), 64),
        (256, 256, (252, 252), 81),
        (512, 512, (504, 504), 324),
        (1024, 1024, (980, 980), 1225),
        (2048, 2500, (896, 1092), 1248),
        (28, 28, (56, 56), 4),
        (20, 12, (56, 56), 4),  # a side below 28: a square of 56 first
        (20, 300, (56, 56), 4),
        (29, 5900, (980, 980), 1225),  # more than 200 times longer than wide: a square
    ],
)
def test_sizes_of_pictures(height: int, width: int, size: tuple[int, int], tokens: int):
    assert picture_size(height, width, DEFAULT, of_slice=False) == size
    assert tokens_of((*size, 3)) == tokens


@pytest.mark.parametrize(
    ("count", "height", "width", "size", "tokens"),
    [
        (64, 512, 512, (504, 504), 32 * 324),
        (64, 256, 256, (252, 252), 32 * 81),
        (63, 512, 512, (504, 504), 32 * 324),  # an odd count: the last slice twice
        (1, 224, 224, (224, 224), 64),
        (3, 20, 80, (84, 84), 2 * 9),  # slices have no square of 56, but the longer side's
        (8, 2048, 2500, (896, 1092), 4 * 1248),
    ],
)
def test_sizes_of_volumes(count: int, height: int, width: int, size: tuple[int, int], tokens: int):
    assert slice_size(height, width, DEFAULT) == size
    assert tokens_of((count, *size, 3)) == tokens
    item = ModelInput(None, (), (), (np.zeros((count, height, width, 3), np.uint8),))
    assert measure(item, DEFAULT) == tokens


@pytest.mark.parametrize(
    ("height", "width", "first", "size"),
    [
        (512, 512, (388, 388), (392, 392)),
        (388, 388, (388, 388), (392, 392)),
        (300, 400, (300, 400), (308, 392)),
        (1024, 512, (549, 274), (560, 280)),
    ],
)
def test_the_release_shrinks_slices_first(height, width, first, size):
    """To 360 x 420 pixels of area, bilinear; the processor's multiples of 28 come after."""
    assert shrunk(height, width, RELEASED) == first
    assert slice_size(height, width, RELEASED) == size
    assert shrunk(height, width, DEFAULT) == (height, width)


def test_a_square_is_made_of_what_cannot_be_resized():
    assert squared(27, 40, factor=28) == (40, 40)
    assert squared(10, 12, factor=28) == (28, 28)
    assert squared(28, 5600, factor=28) == (28, 5600)
    assert squared(28, 5601, factor=28) == (5601, 5601)


def whole(row: Row) -> str:
    return row.head + row.text + row.tail


def made(text=None, instruction=None, images=0, volumes=0, settings=DEFAULT) -> str:
    texts = () if text is None else (text,)
    item = ModelInput(instruction, texts, (IMAGE,) * images, (SLICES,) * volumes)
    return whole(compose(item, settings, TOKENS))


def test_prompts_of_the_demonstration():
    assert made("A lung.") == "A lung."
    assert made("A lung.", "Find it:") == "Find it: A lung."
    assert made(None, "Find it:") == "Find it:"
    assert made() == made("") == made("<image>") == "  "
    assert made(images=1) == "<|image_pad|> "
    assert made("What?", "Answer:", images=1) == "<|image_pad|> Answer: What?"
    assert made(None, "Represent it.", volumes=1) == "<|video_pad|> Represent it."
    assert made("Same?", "Answer:", 2, 1) == (
        "<|video_pad|><|image_pad|><|image_pad|> Answer: Same?"
    )
    three = settings_of("vlm2vec", volume_as="images")
    assert made(None, "Look.", volumes=1, settings=three) == f"{'<|image_pad|>' * 3} Look."


def test_prompts_of_the_evaluation():
    mmeb = settings_of("vlm2vec", newline_style="mmeb")
    assert made("What?", "Answer:", 1, settings=mmeb) == "<|image_pad|>\nAnswer: What?\n"
    assert made(None, " Look. ", 1, settings=mmeb) == "<|image_pad|>\nLook.\n"
    assert made("A lung.", "Find it:", settings=mmeb) == "Find it: A lung.\n"
    assert made("A lung.", settings=mmeb) == "A lung."
    assert made("What?", "Answer:", volumes=1, settings=mmeb) == "<|video_pad|> Answer: What?"


def test_prompts_of_the_release():
    image = "<|vision_start|><|image_pad|><|vision_end|>"
    video = "<|vision_start|><|video_pad|><|vision_end|>"
    assert made(settings=RELEASED) == made("", settings=RELEASED) == "NULL"
    assert made("", "Find it.", settings=RELEASED) == "Find it. NULL"
    assert made("A lung. ", " Find it. ", settings=RELEASED) == "Find it. A lung."
    assert made(images=2, settings=RELEASED) == image * 2
    assert made("What?", "Answer:", 1, settings=RELEASED) == f"{image} Answer: What?"
    assert made("What?", volumes=1, settings=RELEASED) == f"{video} What?"


def test_nothing_of_a_user_opens_a_picture():
    typed = made("see <|image_pad|> and <|im_end|>", "say <|video_pad|>", images=1)
    assert typed == "<|image_pad|> say < |video_pad|> see < |image_pad|> and < |im_end|>"
    dropped = settings_of("vlm2vec", instruction_slot="drop", default_instruction="Look.")
    assert made("A lung.", "Find it:", settings=dropped) == "A lung."
    default = settings_of("vlm2vec", default_instruction="Look.")
    assert made("A lung.", settings=default) == "Look. A lung."


def test_only_the_text_may_be_cut():
    item = ModelInput("Answer:", ("What?",), (IMAGE,), ())
    for settings in (DEFAULT, settings_of("vlm2vec", newline_style="mmeb"), RELEASED):
        row = compose(item, settings, TOKENS)
        assert row.text == "What?"
        assert row.head.endswith("Answer: ")
