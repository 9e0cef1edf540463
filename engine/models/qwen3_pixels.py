"""Sizes and resizes of Qwen3-VL-Embedding: pictures (2.4) and slice lists as video (2.5).

Refuses pictures more than 200 times longer than wide. The slices of one volume have one size.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as vision

from engine.models.resize import bicubic, smart_resize
from engine.models.settings import Settings

FACTOR = 32  # patch 16, merged 2 by 2
FIRST_FACTOR = 64  # the reference hands the factor on as if it were a patch size
FIRST_MIN, FIRST_MAX = 4 * FIRST_FACTOR**2, 16384 * FIRST_FACTOR**2
PAIR = 2  # slices per temporal patch
FRAMES_PER_SECOND = 2.0


def image_size(height: int, width: int, settings: Settings, *, of_slice: bool) -> tuple[int, int]:
    """Size of a picture, or of a slice shown as a picture, after its resize."""
    limit = settings.slice_max_pixels if of_slice else settings.max_pixels
    return smart_resize(
        height, width, factor=FACTOR, min_pixels=settings.min_pixels, max_pixels=limit
    )


def video_size(count: int, height: int, width: int, settings: Settings) -> tuple[int, int]:
    """Size of ``count`` slices after both resizes (specification 2.5)."""
    first = first_size(height, width)
    frames = count + count % PAIR
    share = settings.video_total_pixels / frames * PAIR
    most = max(min(settings.video_max_pixels, share), int(settings.video_min_pixels * 1.05))
    return smart_resize(
        *first, factor=FACTOR, min_pixels=settings.video_min_pixels, max_pixels=most
    )


def first_size(height: int, width: int) -> tuple[int, int]:
    """Size of a slice after the first of the two resizes."""
    return smart_resize(
        height, width, factor=FIRST_FACTOR, min_pixels=FIRST_MIN, max_pixels=FIRST_MAX
    )


def image_tokens(height: int, width: int, settings: Settings, *, of_slice: bool = False) -> int:
    """Number of tokens of a picture."""
    rows, columns = image_size(height, width, settings, of_slice=of_slice)
    return rows // FACTOR * (columns // FACTOR)


def video_tokens(count: int, height: int, width: int, settings: Settings) -> int:
    """Number of pixel tokens of a volume, without timestamps and markers."""
    rows, columns = video_size(count, height, width, settings)
    return math.ceil(count / PAIR) * (rows // FACTOR) * (columns // FACTOR)


def timestamps(count: int) -> tuple[float, ...]:
    """Seconds of each pair of slices: the mean of its two, at two slices a second."""
    return tuple(
        (first / FRAMES_PER_SECOND + (first + 1) / FRAMES_PER_SECOND) / PAIR
        for first in range(0, count, PAIR)
    )


def resize_image(
    pixels: NDArray[np.uint8], settings: Settings, *, of_slice: bool = False
) -> NDArray[np.uint8]:
    """A picture [H, W, 3], uint8, at the model's size, bicubic by Pillow."""
    height, width = pixels.shape[:2]
    rows, columns = image_size(height, width, settings, of_slice=of_slice)
    return bicubic(pixels, rows, columns)


def resize_volume(volume: NDArray[np.uint8], settings: Settings) -> torch.Tensor:
    """Slices [S, H, W, 3], uint8, as a video [T, 3, H', W'], float 0..255, T even.

    Two resizes as the reference does them: Pillow per slice, then torchvision on the stack.
    """
    count, height, width = volume.shape[:3]
    rows, columns = first_size(height, width)
    slices = [bicubic(pixels, rows, columns) for pixels in volume]
    if count % PAIR:
        slices.append(slices[-1])
    video = torch.from_numpy(np.stack(slices)).permute(0, 3, 1, 2).contiguous()
    size = list(video_size(count, height, width, settings))
    return vision.resize(
        video, size, interpolation=InterpolationMode.BICUBIC, antialias=True
    ).float()
