"""MedMNIST, three sets of volumes: one ``.npz`` a set and size, with parts train, val and test.

Both editions are read, 28 voxels (no suffix) and 64; the latter fits 64 slices exactly. The order
of OrganMNIST3D's classes is its own, not that of the flat organ sets. Nothing is turned or
mirrored: sides rest on the orientation alone. Equal volumes are one group; no patient is named.
Refuses arrays of another shape than the set's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders import volumes
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Pixels, Record, Volume
from studies.medheb.sources.arrays import Array, digest, npz_part, part_shape
from studies.medheb.sources.folders import find_inside

SIZES = ("64", "28")
AXES = ("2", "1", "0")


@dataclass(frozen=True)
class Deep:
    """One set.

    Attributes:
        flag: name of its files.
        title: its own name.
        modality: in words.
        anatomy: one of the benchmark's regions.
        wordings: setting to labels by index; the first is the default.
        plans: task kind to maker.
    """

    flag: str
    title: str
    modality: str
    anatomy: str
    wordings: Mapping[str, tuple[str, ...]]
    plans: Mapping[str, str] = field(default_factory=lambda: {"i2l": "label"})

    @property
    def labels(self) -> tuple[str, ...]:
        """By index, in the default wording."""
        return next(iter(self.wordings.values()))


SETS = (
    Deep(
        "organmnist3d", "OrganMNIST3D", "abdominal CT, crops of organs", "abdomen_pelvis",
        {"names": ("liver", "kidney-right", "kidney-left", "femur-right", "femur-left", "bladder",
                   "heart", "lung-right", "lung-left", "spleen", "pancreas")},
        {"i2l": "label", "i2i": "exemplars", "t2i": "text-exemplars"},
    ),
    Deep(
        "nodulemnist3d", "NoduleMNIST3D", "chest CT, crops of nodules", "chest_thorax",
        {"names": ("benign", "malignant"), "nouns": ("benign nodule", "malignant nodule")},
    ),
    Deep(
        "synapsemnist3d", "SynapseMNIST3D", "electron microscopy of rat cortex", "neuro_head_neck",
        {"names": ("inhibitory synapse", "excitatory synapse")},
    ),
)  # fmt: skip


def find_edition(one: Deep, folder: Path, size: str) -> Path | None:
    """The file of one size, or of the largest there is; None if it is not there."""
    for name in SIZES if size == "largest" else (size,):
        stem = one.flag if name == "28" else f"{one.flag}_{name}"
        found = find_inside(folder, f"{stem}.npz", depth=2)
        if found is not None:
            return found
    return None


def read(one: Deep, folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The volumes of the test part."""
    path = find_edition(one, folder, str(settings["size"]))
    if path is None:
        yield Fault(str(folder), f"there is no {one.flag} of {settings['size']} voxels in it")
        return
    labels = one.wordings[str(settings.get("wording", next(iter(one.wordings))))]
    try:
        yield from _edition(path, labels, int(settings["axis"]))
    except EvidenceError as error:
        yield Fault(path.name, error.reason)


def _edition(path: Path, labels: Sequence[str], axis: int) -> Iterator[Record | Fault]:
    images, codes = npz_part(path, "test_images"), npz_part(path, "test_labels")
    if images.ndim != 4 or images.dtype != np.uint8:
        raise EvidenceError(
            path, "unsupported", f"test_images are {images.dtype} {images.shape}, not volumes"
        )
    if codes.size != len(images):
        raise EvidenceError(
            path, "unsupported", f"test_labels are {codes.shape} for {len(images)} volumes"
        )
    for row, code in enumerate(np.asarray(codes).reshape(-1).tolist()):
        if not 0 <= code < len(labels):
            yield Fault(f"{path.name}, test row {row}", f"class {code} is none of {len(labels)}")
            continue
        # the edition is in the name, so that two do not mix below one image root
        name = f"{images.shape[1]}{'' if axis == 2 else f'-{axis}'}/{row:06d}"
        volume = Volume(name, partial(_slices, images, row, axis))
        group = digest(images[row])
        yield Record(f"test/{row:06d}", group, "test", (labels[code],), volumes={"volume": volume})


def _slices(images: Array, row: int, axis: int) -> Pixels:
    """[S, H, W] along one axis of the stored volume."""
    stack = np.moveaxis(np.asarray(images[row]), axis, 0)
    return np.ascontiguousarray(stack[volumes.evenly(len(stack))])


def found(one: Deep, folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which file was read."""
    path = find_edition(one, folder, str(settings["size"]))
    if path is None:
        return ()
    try:
        count, side = part_shape(path, "test_images")[:2]
    except EvidenceError:
        return ()  # reading the records says why
    return (f"Edition {path.name}: {count} test volumes of {side} voxels a side.",)


def _choices(one: Deep) -> tuple[Choice, ...]:
    always = (
        Choice(
            "size", "largest", ("largest", *SIZES),
            "voxels a side; the authors used the edition with all sizes and do not say which",
        ),
        Choice(
            "axis", "2", AXES,
            "which axis of the stored array is the slice axis; the authors' script is unknown, "
            "their other volumes are cut along axis 2",
        ),
    )  # fmt: skip
    if len(one.wordings) == 1:
        return always
    names = tuple(one.wordings)
    return (*always, Choice("wording", names[0], names, "the authors' labels are unknown"))


def _card(one: Deep) -> SourceCard:
    return SourceCard(
        id=one.flag,
        title=one.title,
        form="3d",
        modality=one.modality,
        anatomy=one.anatomy,
        access="open",
        licence="CC BY 4.0",
        url="https://medmnist.com/",
        obtain=f"Download {one.flag}_64.npz, or {one.flag}.npz with 28 voxels, from Zenodo record "
        "10519652; no account is needed.",
        files=(Remote("zenodo", "10519652", (f"{one.flag}_64.npz",)),),
        expects=tuple(
            f"{way}{name}.npz" for way in ("", "*/", "*/*/") for name in (one.flag, f"{one.flag}_*")
        ),
        read=partial(read, one),
        stable=True,
        plans=tuple(TaskPlan(f"{one.flag}/{kind}", make) for kind, make in one.plans.items()),
        labels=one.labels,
        settings=_choices(one),
        found=partial(found, one),
    )


CARDS = tuple(_card(one) for one in SETS)
