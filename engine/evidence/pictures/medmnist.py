"""Pictures in NumPy files: the items of a MedMNIST set, and plain arrays.

Owns the names of parts (``x.npz/train/17``) and what the axes of an array mean. Refuses to guess
millimetres: arrays have none.

Source: Yang et al., "MedMNIST v2" (keys ``{train,val,test}_{images,labels}``, items first).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.failures import of_system
from engine.evidence.pictures import arrays
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window, function_of

SPLITS = ("train", "val", "test")
FORMAT = "NumPy"
NO_SPACING = "an array without spacing or orientation"


def read(path: Path) -> Evidence | Iterator[Evidence]:
    """What a NumPy file is: itself for a .npy, its parts for an .npz.

    Raises:
        EvidenceError: the file cannot be read.
    """
    try:
        single = arrays.names(path) == [""]
    except OSError as failure:
        raise of_system(path, failure) from failure
    return _raised(_plain(path, "")) if single else find(path)


def find(path: Path) -> Iterator[Evidence]:
    """Everything that a NumPy file holds: each item of a MedMNIST set, or each array.

    Raises:
        EvidenceError: the file cannot be read.
    """
    try:
        names = arrays.names(path)
        splits = [split for split in SPLITS if f"{split}_images" in names]
        for split in splits:
            yield from _items(path, split)
        if not splits:
            for name in names:
                yield _plain(path, name)
    except OSError as failure:
        raise of_system(path, failure) from failure


def describe(path: Path) -> Evidence:
    """Describe one part: ``x.npz/train/17``, ``x.npz/name``, or a .npy file itself.

    Raises:
        EvidenceError: there is no such part, or it cannot be read.
    """
    try:
        held, rest = files.split(path)
        if len(rest) == 2 and rest[0] in SPLITS:
            number = _number(path, rest[1])
            array = arrays.open_array(held, f"{rest[0]}_images")
            if number >= array.shape[0]:
                arrays.item(array, number)  # says how many there are
            labels, notes = _labels(held, rest[0], array.shape[0])
            return _item(held, rest[0], number, array, labels, notes)
        if len(rest) > 1:
            raise EvidenceError(path, "missing", "there is no such part in the file; name another")
        return _raised(_plain(held, rest[0] if rest else ""))
    except OSError as failure:
        raise of_system(path, failure) from failure


def _raised(evidence: Evidence) -> Evidence:
    """The evidence, or its error raised."""
    if evidence.error is not None:
        raise evidence.error
    return evidence


def load(evidence: Evidence) -> Pixels:
    """Decode one part.

    Raises:
        EvidenceError: it cannot be read.
    """
    series = _arranged(evidence.path, values_of(evidence.path))
    window = derive_window(series[0])
    return Pixels(
        array=series[0],
        window=window,
        window_function=function_of(window),
        times=series if len(series) > 1 else None,
    )


def values_of(path: Path) -> NDArray[np.generic]:
    """The values of one part, as stored.

    Raises:
        EvidenceError: it cannot be read.
    """
    try:
        held, rest = files.split(path)
        if len(rest) == 2 and rest[0] in SPLITS:
            array = arrays.open_array(held, f"{rest[0]}_images")
            return arrays.item(array, _number(path, rest[1]))
        return arrays.whole(arrays.open_array(held, rest[0] if rest else ""))
    except OSError as failure:
        raise of_system(path, failure) from failure


def part_digest(path: Path) -> bytes:
    """The sha256 that names one part by its values, whatever file they lie in."""
    return arrays.digest_of(values_of(path))


def _number(path: Path, word: str) -> int:
    """The number of an item."""
    if not word.isdecimal() or len(word) > 9:
        raise EvidenceError(path, "missing", "items are named by their number, from 0")
    return int(word)


def _items(path: Path, split: str) -> Iterator[Evidence]:
    """Every item of one split."""
    array = arrays.open_array(path, f"{split}_images")
    labels, notes = _labels(path, split, array.shape[0])
    for number in range(array.shape[0]):
        yield _item(path, split, number, array, labels, notes)


def _labels(
    path: Path, split: str, count: int
) -> tuple[NDArray[np.generic] | None, tuple[str, ...]]:
    """The labels of a split, [count, ...], or None and why."""
    try:
        found = arrays.whole(arrays.open_array(path, f"{split}_labels"))
    except EvidenceError as error:
        told = error.code == "objects"
        return None, ("its labels hold objects and are not read",) if told else ()
    return (found, ()) if found.ndim and len(found) == count else (None, ())


def _item(
    path: Path, split: str, number: int, array: arrays.Array,
    labels: NDArray[np.generic] | None, notes: tuple[str, ...],
) -> Evidence:  # fmt: skip
    """One item; its label stands in ``source`` only, where no rater sees it."""
    part = path / split / str(number)
    source = {"object": "MedMNIST item", "format": FORMAT, "split": split}
    if labels is not None:
        source["label"] = " ".join(f"{value:g}" for value in np.ravel(labels[number]))
    return _evidence(part, array.shape[1:], array.kind, source, notes)


def _plain(path: Path, name: str) -> Evidence:
    """An array by itself; one that is no picture is named as that."""
    part = path / name if name else path
    try:
        array = arrays.open_array(path, name)
    except EvidenceError as error:
        moved = EvidenceError(part, error.code, error.reason)
        return Evidence(path=part, members=(part,), kind="error", error=moved)
    source = {"object": "NumPy array", "format": FORMAT}
    if not 2 <= len(array.shape) <= 4 or 0 in array.shape:
        note = "an array that is no picture: it has not two to four axes"
        return Evidence(path=part, members=(part,), kind="other", notes=(note,), source=source)
    return _evidence(part, array.shape, array.kind, source, (NO_SPACING,))


def _evidence(
    path: Path, shape: tuple[int, ...], kind: np.dtype[np.generic], source: dict[str, str],
    notes: tuple[str, ...],
) -> Evidence:  # fmt: skip
    """A picture or volume by the shape of its array."""
    times, depth, height, width, color = axes_of(path, shape, kind)
    if times > 1:
        notes = (f"{times} time points; the first is shown", *notes)
    return Evidence(
        path=path,
        members=(path,),
        kind="volume" if depth > 1 else "image",
        form="3d" if depth > 1 else "2d",
        shape=(depth, height, width, 3) if color else (depth, height, width),
        color=color,
        dtype=kind.name,
        window_source=None if color else "derived",
        notes=notes,
        source=source,
        photometric="RGB" if color else "MONOCHROME2",
        times=times,
    )


def axes_of(
    path: Path, shape: tuple[int, ...], kind: np.dtype[np.generic]
) -> tuple[int, int, int, int, bool]:
    """Time points, slices, rows, columns, and if the last axis is RGB.

    Raises:
        EvidenceError: ``unsupported`` for a shape that is no picture.
    """
    color = len(shape) > 2 and shape[-1] == 3 and kind == np.uint8
    plain = shape[:-1] if color else shape
    if not 2 <= len(plain) <= 4 or 0 in plain:
        reason = "the items of this array are no pictures; they have not two to four axes"
        raise EvidenceError(path, "unsupported", reason)
    times, depth, height, width = (1,) * (4 - len(plain)) + plain
    return times, depth, height, width, color


def _arranged(path: Path, values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Values as [T, Z, Y, X] or [T, Z, Y, X, 3]."""
    times, depth, height, width, color = axes_of(path, values.shape, values.dtype)
    shape = (times, depth, height, width)
    return values.reshape((*shape, 3) if color else shape)
