"""VLM2Vec-V2.0: a DoRA adapter on Qwen2-VL-2B, or the two merged (specification 7).

Owns its prompt, which knows no chat template, and the sizes of its pictures. Refuses nothing of
its own: the authors' code makes a square of what cannot be resized, and so does this. The preset
``release`` repeats the benchmark's wrapper: other separators, vision markers and with them
three-axis positions, slices shrunk first, torchvision's resize.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as vision

from engine.evidence.item import ModelInput
from engine.models import qwen2_vl
from engine.models.marks import clean
from engine.models.qwen2_vl import FACTOR, IMAGE, VIDEO, Qwen2VLEncoder, Row, tokens_of
from engine.models.record import Loading
from engine.models.resize import bicubic, smart_resize, squared
from engine.models.settings import Settings

SMALL = 56  # a picture with a side below 28 becomes a square of this side first
BLANK = "  "  # what stands for an item without text and pictures
NOTHING = "NULL"  # the same in the benchmark's release
WRAP = "<|vision_start|>{}<|vision_end|>"


def load(order: Loading) -> Qwen2VLEncoder:
    """Load VLM2Vec; the adapter is merged by hand where the weights are one.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
    """
    return qwen2_vl.load_encoder(order, compose=compose, measure=measure)


def compose(item: ModelInput, settings: Settings, tokens: Collection[str]) -> Row:
    """Prompt and pixels of one item; volumes first, then pictures, then instruction and text.

    Args:
        item: decoded.
        settings: sizes, separators, slots.
        tokens: control tokens that a user's text must not contain.
    """
    said = settings.default_instruction if item.instruction is None else item.instruction
    instruction = "" if settings.instruction_slot == "drop" else clean(said, tokens)
    text = " ".join(filter(None, (clean(one, tokens) for one in item.texts)))
    images = tuple(_images(item, settings))
    videos = tuple(_videos(item, settings))
    marks = _mark(VIDEO, settings) * len(videos) + _mark(IMAGE, settings) * len(images)
    if settings.empty_text == "null" and not marks:
        text = text or NOTHING
    head, text, tail = _prompt(marks, instruction, text, settings.newline_style, bool(videos))
    if not head + text + tail:
        text = BLANK
    return Row(head, text, tail, images, videos)


def _mark(placeholder: str, settings: Settings) -> str:
    return WRAP.format(placeholder) if settings.video_wrap == "outer" else placeholder


def _prompt(
    marks: str, instruction: str, text: str, style: str, has_video: bool
) -> tuple[str, str, str]:
    """Head, text and tail (7.2), as the authors' ``process_input_text`` puts them together."""
    if style == "joined":
        return _joined(marks, instruction, text)
    if style == "mmeb" and not has_video:
        return _mmeb(marks, instruction, text)
    if not marks:
        return (
            (f"{instruction} ", text, "") if instruction and text else ("", instruction + text, "")
        )
    head = f"{marks} {instruction}"
    return (f"{head} ", text, "") if text else (head, "", "")


def _mmeb(marks: str, instruction: str, text: str) -> tuple[str, str, str]:
    """The separators of their image evaluation: line breaks behind placeholder and query."""
    if marks:
        gap = " " if text else ""
        return f"{marks}\n{instruction.strip()}{gap}", text.replace(" \n", "\n"), "\n"
    return (f"{instruction} ", text, "\n") if instruction else ("", text, "")


def _joined(marks: str, instruction: str, text: str) -> tuple[str, str, str]:
    """The benchmark's wrapper: one blank between what is there, none around it."""
    head = " ".join(filter(None, (marks, instruction.strip())))
    text = text.rstrip() if head else text.strip()
    return (f"{head} " if head and text else head), text, ""


def picture_size(height: int, width: int, settings: Settings, *, of_slice: bool) -> tuple[int, int]:
    """Size of a picture, or of a slice shown as a picture, after its resize (7.4)."""
    if _is_small(height, width, settings):
        height = width = SMALL
    return _fit(height, width, settings, of_slice=of_slice)


def _is_small(height: int, width: int, settings: Settings) -> bool:
    return min(height, width) < FACTOR and settings.resize_with == "pillow"


def slice_size(height: int, width: int, settings: Settings) -> tuple[int, int]:
    """Size of the slices of a volume shown as a video, by its first slice."""
    return _fit(*shrunk(height, width, settings), settings, of_slice=True)


def shrunk(height: int, width: int, settings: Settings) -> tuple[int, int]:
    """Size of a slice after the release's first, bilinear resize; itself without one."""
    most = settings.slice_shrink_pixels
    if not most or height * width <= most:
        return height, width
    scale = (most / (width * height)) ** 0.5
    return max(1, int(height * scale)), max(1, int(width * scale))


def _fit(height: int, width: int, settings: Settings, *, of_slice: bool) -> tuple[int, int]:
    """By the authors' processor, which makes squares, or by that of the release."""
    limits = {
        "factor": FACTOR,
        "min_pixels": settings.min_pixels,
        "max_pixels": settings.slice_max_pixels if of_slice else settings.max_pixels,
    }
    if settings.resize_with == "torchvision":
        return smart_resize(height, width, least=0, **limits)
    return smart_resize(*squared(height, width, factor=FACTOR), **limits)


def _images(item: ModelInput, settings: Settings) -> Iterator[NDArray[np.uint8]]:
    """Slices shown as pictures, then the pictures."""
    if settings.volume_as == "images":
        for volume in item.volumes:
            for one in volume:
                yield _picture(_shrink(one, settings), settings, of_slice=True)
    for image in item.images:
        yield _picture(image, settings, of_slice=False)


def _videos(item: ModelInput, settings: Settings) -> Iterator[NDArray[np.uint8]]:
    if settings.volume_as != "video":
        return
    for volume in item.volumes:
        rows, columns = slice_size(volume.shape[1], volume.shape[2], settings)
        shown = (_shrink(one, settings) for one in volume)
        yield np.stack([_resize(one, rows, columns, settings) for one in shown])


def _picture(pixels: NDArray[np.uint8], settings: Settings, *, of_slice: bool) -> NDArray[np.uint8]:
    height, width = pixels.shape[:2]
    size = picture_size(height, width, settings, of_slice=of_slice)
    if _is_small(height, width, settings):
        pixels = bicubic(pixels, SMALL, SMALL)
    return _resize(pixels, *size, settings)


def _resize(
    pixels: NDArray[np.uint8], rows: int, columns: int, settings: Settings
) -> NDArray[np.uint8]:
    if settings.resize_with == "pillow" or (rows, columns) == pixels.shape[:2]:
        return bicubic(pixels, rows, columns)
    picture = torch.from_numpy(np.ascontiguousarray(pixels)).permute(2, 0, 1)
    way = InterpolationMode.BICUBIC
    resized = vision.resize(picture, [rows, columns], interpolation=way, antialias=True)
    return resized.permute(1, 2, 0).contiguous().numpy()


def _shrink(pixels: NDArray[np.uint8], settings: Settings) -> NDArray[np.uint8]:
    rows, columns = shrunk(pixels.shape[0], pixels.shape[1], settings)
    if (rows, columns) == pixels.shape[:2]:
        return pixels
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    return np.asarray(picture.resize((columns, rows), resample=Image.Resampling.BILINEAR))


def measure(item: ModelInput, settings: Settings) -> int:
    """Tokens of an item's pictures and slices."""
    total = 0
    for image in item.images:
        height, width = image.shape[:2]
        total += tokens_of((*picture_size(height, width, settings, of_slice=False), 3))
    for volume in item.volumes:
        count, height, width = volume.shape[:3]
        if settings.volume_as == "video":
            total += tokens_of((count, *slice_size(height, width, settings), 3))
            continue
        height, width = shrunk(height, width, settings)
        total += count * tokens_of((*picture_size(height, width, settings, of_slice=True), 3))
    return total
