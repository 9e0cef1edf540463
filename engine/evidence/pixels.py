"""What a model sees: items turned into 8-bit RGB arrays, by the rule of their source.

Owns sampling of slices, crops and conversion to RGB; ``prepare`` (for models) and
``as_model_sees`` (for a reader who wants to check) are one code. Refuses to know models: the pixel
budget of a family is the business of its adapter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import EvidenceError
from engine.evidence.dicom.volume import delivered_shape, delivered_slice
from engine.evidence.digest import digest
from engine.evidence.failures import of_system
from engine.evidence.files import open_file
from engine.evidence.item import ImageRef, Item, ModelInput, VolumeRef, item_of, readable
from engine.evidence.open import load_pixels, read_file, read_series
from engine.evidence.orient import upright
from engine.evidence.pictures.raster import SUFFIXES, page_of, page_rgb, picture_rgb
from engine.evidence.rules import (
    DERIVED,
    FIXED,
    MAX_SLICES,
    STORED,
    Rule,
    is_plain_picture,
    named_rule,
    rule_for,
    sentence_of,
)
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window, function_of, show_array, show_slice

__all__ = [
    "Rule",
    "Seen",
    "as_model_sees",
    "digest",
    "item_of",
    "prepare",
    "rule_of",
    "sample_indices",
    "seen_slices",
    "thumbnail",
]

AS_STORED = (128.0, 256.0)  # the window that leaves 8-bit values alone


@dataclass(frozen=True, eq=False)
class Seen:
    """What a model sees of one piece of evidence, and why.

    Attributes:
        array: [S, H, W, 3] uint8, exactly as a model's adapter receives it.
        indices: which slices of the upright picture they are, from 0.
        window: (center, width) that made 8 bits of the values; None for stored 8 bits, colour and
            a table of the file.
        rule: the rule that was followed.
        sentence: what was done, for a reader.
    """

    array: NDArray[np.uint8]
    indices: tuple[int, ...]
    window: tuple[float, float] | None
    rule: Rule
    sentence: str


def sample_indices(count: int, limit: int) -> list[int]:
    """Indices of at most ``limit`` of ``count`` slices, evenly spread, both ends included.

    The rule is the truncating ``linspace(0, count - 1, limit)`` of the models' own samplers
    (models.md 2.5); with no more slices than the limit all are taken.
    """
    if count <= limit:
        return list(range(count))
    return [int(value) for value in np.linspace(0, count - 1, limit)]


def seen_slices(source: Evidence | int, max_slices: int = MAX_SLICES) -> tuple[int, ...]:
    """Which slices of something a model sees, from 0: by a count, or by the evidence's header."""
    if isinstance(source, int):
        return tuple(sample_indices(source, max_slices))
    if not rule_for(source).several:
        return (0,)
    return tuple(sample_indices((source.shape or (0,))[0], max_slices))


def rule_of(source: Evidence | ImageRef | VolumeRef, *, max_slices: int = MAX_SLICES) -> Rule:
    """How something becomes pixels; of a reference the header is read.

    Raises:
        EvidenceError: it cannot be read.
    """
    if isinstance(source, VolumeRef) and source.kind == "slices":
        return named_rule("release slices", window=STORED, limit=max_slices)
    if isinstance(source, ImageRef):
        found = rule_for(readable(read_file(Path(source.path))), limit=max_slices)
        return found if source.box is None else named_rule("region", window=found.window)
    evidence = source if isinstance(source, Evidence) else _read_volume(source)
    return rule_for(readable(evidence), limit=max_slices)


def as_model_sees(
    evidence: Evidence, *, max_slices: int = MAX_SLICES, window: tuple[float, float] | None = None
) -> Seen:
    """Exactly what ``prepare`` hands to a model for this evidence.

    Args:
        evidence: a picture, volume or cine.
        max_slices: most slices.
        window: a fixed (center, width) in place of the rule's own; colour has none.

    Raises:
        EvidenceError: it holds no picture or cannot be read.
    """
    evidence = readable(evidence)
    if item_of(evidence).text is not None:
        reason = "a model sees the words of a report; there is no picture"
        raise EvidenceError(evidence.path, "no_picture", reason)
    return _see(evidence, max_slices=max_slices, fixed=None if evidence.color else window)


def _see(evidence: Evidence, *, max_slices: int, fixed: tuple[float, float] | None = None) -> Seen:
    """Decode and convert by the rule of the source; slices that no model sees stay undecoded."""
    rule = rule_for(evidence, limit=max_slices)
    if fixed is not None:
        rule = replace(rule, window=FIXED, fixed=fixed)
    if rule.name == "picture" and fixed is None:
        return _see_picture(evidence, rule)
    chosen = seen_slices(evidence, max_slices)
    pixels = _some(evidence, rule, chosen)
    places: Sequence[int] = range(len(chosen))
    if pixels is None:
        pixels = _by_values(upright(load_pixels(evidence)), rule)
        chosen = places = seen_slices(len(pixels.array), max_slices if rule.several else 1)
    if rule.window == DERIVED and pixels.array.dtype == np.uint8 and pixels.window == AS_STORED:
        rule = replace(rule, window=STORED)
    array = _shown(pixels, places, fixed)
    used = fixed or _window_used(pixels, rule)
    return Seen(array, chosen, used, rule, sentence_of(evidence, rule, len(chosen), used))


def _shown(
    pixels: Pixels, places: Sequence[int], window: tuple[float, float] | None
) -> NDArray[np.uint8]:
    """Slices as [S, H, W, 3], each made in its place."""
    stack = np.empty((len(places), *pixels.array.shape[1:3], 3), np.uint8)
    for index, place in enumerate(places):
        layer = show_slice(pixels, place, window=window)
        stack[index] = layer if layer.ndim == 3 else layer[..., None]
    return stack


def _see_picture(evidence: Evidence, rule: Rule) -> Seen:
    """A plain picture of one page."""
    array = picture_rgb(evidence.path)[None]
    used = None if rule.window == STORED else load_pixels(evidence).window
    return Seen(array, (0,), used, rule, sentence_of(evidence, rule, 1, used))


def _some(evidence: Evidence, rule: Rule, chosen: Sequence[int]) -> Pixels | None:
    """Only the chosen slices; None where all are needed.

    A window that is not in the header needs the values of every slice, and a table of values may
    differ from slice to slice and is taken from the middle one.
    """
    count = (evidence.shape or (1,))[0]
    known = rule.window in (STORED, FIXED) or evidence.window_source == "header"
    if not known or not _slices_apart(evidence) or len(chosen) == count * evidence.times:
        return None
    pixels = load_pixels(_only(evidence, chosen))
    return pixels if pixels.lut is None else None


def _slices_apart(evidence: Evidence) -> bool:
    """True for a DICOM object of several slices: each is decoded by itself."""
    several = (evidence.shape or (1,))[0] * evidence.times > 1
    return several and evidence.source.get("format") == "DICOM"


def _only(evidence: Evidence, chosen: Sequence[int]) -> Evidence:
    """The same DICOM object with some slices of its first time point only."""
    where, order = evidence.geometry, evidence.order
    if where is not None:
        where = replace(where, origin_Z3=where.origin_Z3[list(chosen)])
    return replace(
        evidence,
        shape=(len(chosen), *(evidence.shape or ())[1:]),
        geometry=where,
        times=1,
        order=tuple(order[index] if order else index for index in chosen),
    )


def _by_values(pixels: Pixels, rule: Rule) -> Pixels:
    """With a window from the values where the rule asks for it, whatever the file says."""
    if rule.window != DERIVED or pixels.window_source == DERIVED or pixels.color:
        return pixels
    window = derive_window(pixels.array, padding=pixels.padding)
    function = function_of(window)
    return replace(pixels, window=window, window_source=DERIVED, window_function=function)


def _window_used(pixels: Pixels, rule: Rule) -> tuple[float, float] | None:
    """The window that was applied; None where none was."""
    plain = pixels.color or rule.window == STORED or pixels.lut is not None
    return None if plain else pixels.window


def prepare(item: Item, *, max_slices: int = MAX_SLICES) -> ModelInput:
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
    whole = _named_picture(path, ref.frame)
    if whole is None:
        whole = _frame_rgb(readable(read_file(path)), ref.frame)
    return whole if ref.box is None else _cut(whole, ref.box, path)


def _named_picture(path: Path, frame: int) -> NDArray[np.uint8] | None:
    """A page of a file named as a picture; None where it is something else, whatever its name."""
    if path.suffix.lower() not in SUFFIXES or _is_marked_dicom(path):
        return None
    try:
        return picture_rgb(path, frame=frame)
    except EvidenceError as error:
        if error.code in ("damaged", "unsupported") and not is_plain_picture(read_file(path)):
            return None
        raise


def _is_marked_dicom(path: Path) -> bool:
    """True for a DICOM file, even one that is a TIFF file as well."""
    try:
        with open_file(path) as stream:
            return stream.read(132)[128:] == b"DICM"
    except OSError as failure:
        raise of_system(path, failure) from failure


def _frame_rgb(evidence: Evidence, frame: int) -> NDArray[np.uint8]:
    """One frame of anything."""
    if is_plain_picture(evidence):
        return picture_rgb(evidence.path, frame=frame)
    if frame == 0 and not rule_for(evidence).several:
        return _see(evidence, max_slices=1).array[0]
    pixels = _by_values(upright(load_pixels(evidence)), rule_for(evidence))
    if frame >= delivered_shape(evidence, pixels.array.shape)[0]:
        reason = f"there is no frame {frame + 1} in this file; ask for an earlier one"
        raise EvidenceError(evidence.path, "no_frame", reason)
    stored = delivered_slice(evidence, pixels, frame)  # frames count as stored, not as sorted
    return _as_rgb(show_slice(pixels, frame) if stored is None else show_array(pixels, stored))


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


def volume_rgb(ref: VolumeRef, *, max_slices: int = MAX_SLICES) -> NDArray[np.uint8]:
    """A volume as [S, H, W, 3] uint8, S at most ``max_slices``."""
    if not ref.paths:
        raise EvidenceError("volume", "missing", "the volume names no files; check the task")
    if ref.kind == "slices":
        chosen = [Path(ref.paths[i]) for i in sample_indices(len(ref.paths), max_slices)]
        return _stack([_slice_rgb(path) for path in chosen])
    return _see(readable(_read_volume(ref)), max_slices=max_slices).array


def _read_volume(ref: VolumeRef) -> Evidence:
    """The evidence that a reference to a volume names."""
    paths = [Path(path) for path in ref.paths]
    return read_file(paths[0]) if ref.kind == "file" else read_series(paths)


def _slice_rgb(path: Path) -> NDArray[np.uint8]:
    """One slice picture; grey stays [H, W] until the stack is made, which saves a copy."""
    if path.suffix.lower() not in SUFFIXES:
        return image_rgb(ImageRef(path))
    page = page_of(path)
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
        source = _read_volume(source)
    source = readable(source)
    if _slices_apart(source):  # one slice is enough, and its volume may be large
        source = _only(source, ((source.shape or (1,))[0] // 2,))
    pixels = upright(load_pixels(source))
    return _as_rgb(show_slice(pixels, len(pixels.array) // 2)), pixels.aspect
