"""What a model sees: items turned into 8-bit RGB arrays, and the digest that names their content.

Owns sampling of slices, crops, conversion to RGB and content hashing. Refuses to know models:
the pixel budget of a family is the business of its adapter.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import EvidenceError
from engine.evidence.digest import digest
from engine.evidence.item import ImageRef, Item, ModelInput, VolumeRef
from engine.evidence.open import is_series, load_pixels, read_file, read_series
from engine.evidence.orient import upright
from engine.evidence.raster import SUFFIXES, opened, page_rgb, picture_rgb, read_page
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import show_slice

__all__ = ["digest", "item_of", "prepare", "sample_indices", "thumbnail"]


def sample_indices(count: int, limit: int) -> list[int]:
    """Indices of at most ``limit`` of ``count`` slices, evenly spread, both ends included.

    The rule is the truncating ``linspace(0, count - 1, limit)`` of the models' own samplers
    (models.md 2.5); with no more slices than the limit all are taken.
    """
    if count <= limit:
        return list(range(count))
    return [int(value) for value in np.linspace(0, count - 1, limit)]


def prepare(item: Item, *, max_slices: int = 64) -> ModelInput:
    """Decode everything an item names, exactly as a model is to see it.

    Pictures become 8-bit RGB (alpha on white, deep values windowed), crops are cut from the
    upright picture, volumes are windowed by their header or a derived window, sampled to
    ``max_slices`` and brought to the size of their first slice (bicubic). A volume shown as
    ``images`` is handed on among the images, after the item's own.

    Args:
        item: references to evidence.
        max_slices: most slices of one volume.

    Returns:
        Arrays [H, W, 3] and [S, H, W, 3], uint8.

    Raises:
        EvidenceError: something cannot be read, or a crop lies outside its picture.
    """
    images = [image_rgb(ref) for ref in item.images]
    volumes = []
    for ref in item.volumes:
        stack = volume_rgb(ref, max_slices=max_slices)
        if ref.shown_as == "images":
            images.extend(stack)
        else:
            volumes.append(stack)
    texts = () if item.text is None else (item.text,)
    return ModelInput(item.instruction, texts, tuple(images), tuple(volumes))


def image_rgb(ref: ImageRef) -> NDArray[np.uint8]:
    """One picture or crop as [H, W, 3] uint8."""
    path = Path(ref.path)
    if path.suffix.lower() in SUFFIXES:
        whole = picture_rgb(path, frame=ref.frame)
    else:
        pixels = upright(load_pixels(_readable(read_file(path))))
        if ref.frame >= len(pixels.array):
            reason = f"there is no frame {ref.frame + 1} in this file; ask for an earlier one"
            raise EvidenceError(path, "no_frame", reason)
        whole = _as_rgb(show_slice(pixels, ref.frame))
    return whole if ref.box is None else _cut(whole, ref.box, path)


def _readable(evidence: Evidence) -> Evidence:
    """The evidence itself, or its error raised."""
    if evidence.error is not None:
        raise evidence.error
    return evidence


def _cut(whole: NDArray[np.uint8], box: tuple[int, int, int, int], path: Path) -> NDArray[np.uint8]:
    """A crop (left, top, right, bottom), clipped to the picture."""
    height, width = whole.shape[:2]
    left, top = max(0, box[0]), max(0, box[1])
    right, bottom = min(width, box[2]), min(height, box[3])
    if left >= right or top >= bottom:
        reason = f"the crop {list(box)} lies outside the {width} x {height} picture; check the task"
        raise EvidenceError(path, "bad_box", reason)
    return np.ascontiguousarray(whole[top:bottom, left:right])


def _as_rgb(shown: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Grey [H, W] repeated to [H, W, 3]; colour as it is."""
    return np.repeat(shown[..., None], 3, axis=2) if shown.ndim == 2 else shown


def volume_rgb(ref: VolumeRef, *, max_slices: int = 64) -> NDArray[np.uint8]:
    """A volume as [S, H, W, 3] uint8, S at most ``max_slices``."""
    if not ref.paths:
        raise EvidenceError("volume", "missing", "the volume names no files; check the task")
    if ref.kind == "slices":
        chosen = [Path(ref.paths[i]) for i in sample_indices(len(ref.paths), max_slices)]
        return _stack([_slice_rgb(path) for path in chosen])
    paths = [Path(path) for path in ref.paths]
    evidence = _readable(read_file(paths[0]) if ref.kind == "file" else read_series(paths))
    if is_series(evidence) and evidence.window_source == "header":
        # the window is known from the headers, so slices that no model sees need no decoding
        chosen_members = sample_indices(len(evidence.members), max_slices)
        evidence = replace(evidence, members=tuple(evidence.members[i] for i in chosen_members))
    return pixels_rgb(load_pixels(evidence), max_slices=max_slices)


def pixels_rgb(pixels: Pixels, *, max_slices: int = 64) -> NDArray[np.uint8]:
    """Decoded values as a model sees them: upright, sampled, windowed, [S, H, W, 3]."""
    turned = upright(pixels)
    chosen = sample_indices(len(turned.array), max_slices)
    return np.stack([_as_rgb(show_slice(turned, index)) for index in chosen])


def _slice_rgb(path: Path) -> NDArray[np.uint8]:
    """One slice picture; grey stays [H, W] until the stack is made, which saves a copy."""
    if path.suffix.lower() not in SUFFIXES:
        return image_rgb(ImageRef(path))
    with opened(path) as picture:
        page = read_page(picture)
        if page.values.ndim == 2 and page.values.dtype == np.uint8 and page.alpha is None:
            return page.values.astype(np.uint8, copy=False)
        return page_rgb(page)


def _stack(slices: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Slices in one array, all brought to the first one's size."""
    height, width = slices[0].shape[:2]
    stack = np.empty((len(slices), height, width, 3), np.uint8)
    for index, layer in enumerate(slices):
        if layer.shape[:2] != (height, width):
            resized = Image.fromarray(layer).resize((width, height), Image.Resampling.BICUBIC)
            layer = np.asarray(resized)
        stack[index] = layer if layer.ndim == 3 else layer[..., None]
    return stack


def thumbnail(source: Evidence | ImageRef | VolumeRef, size: int) -> NDArray[np.uint8]:
    """A small picture of something: the middle slice, fitted into ``size`` x ``size``.

    Pixel aspect is respected.

    Returns:
        [H, W, 3] uint8, the longer side ``size``.

    Raises:
        EvidenceError: it has no picture or cannot be read.
    """
    shown, aspect = _middle(source)
    height, width = shown.shape[0] * aspect, float(shown.shape[1])
    scale = size / max(height, width)
    target = (max(1, round(width * scale)), max(1, round(height * scale)))
    fitted = Image.fromarray(shown).resize(target, Image.Resampling.BILINEAR, reducing_gap=2.0)
    return np.asarray(fitted)


def _middle(source: Evidence | ImageRef | VolumeRef) -> tuple[NDArray[np.uint8], float]:
    """The middle slice as RGB and the height of a pixel over its width."""
    if isinstance(source, ImageRef):
        return image_rgb(source), 1.0
    if isinstance(source, VolumeRef):
        if source.kind == "slices":
            return image_rgb(ImageRef(Path(source.paths[len(source.paths) // 2]))), 1.0
        paths = [Path(path) for path in source.paths]
        source = read_file(paths[0]) if source.kind == "file" else read_series(paths)
    source = _readable(source)
    if is_series(source):  # one slice is enough, and its volume may be large
        source = replace(source, members=(source.members[len(source.members) // 2],))
    pixels = upright(load_pixels(source))
    return _as_rgb(show_slice(pixels, len(pixels.array) // 2)), pixels.aspect


def item_of(evidence: Evidence) -> Item:
    """The item that stands for one piece of evidence in a search.

    Raises:
        EvidenceError: the evidence has neither picture nor text.
    """
    evidence = _readable(evidence)
    if evidence.kind == "report":
        return Item(text=evidence.text or "")
    if evidence.kind == "image":
        return Item(images=(ImageRef(evidence.path),))
    if evidence.kind in ("volume", "cine"):
        if is_series(evidence):
            return Item(volumes=(VolumeRef(evidence.members, kind="series"),))
        return Item(volumes=(VolumeRef((evidence.path,), kind="file"),))
    reason = f"this is a {evidence.source.get('object', evidence.kind)}; it holds no picture"
    raise EvidenceError(evidence.path, "no_picture", reason)
