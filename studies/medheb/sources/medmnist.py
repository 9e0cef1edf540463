"""MedMNIST, nine flat sets: one ``.npz`` a set and size, with parts ``train``, ``val``, ``test``.

Every edition is read: 28 pixels (no suffix), 64, 128, 224, and the names of version 1. The test
part alone makes records; equal pictures are one group. Refuses arrays of another shape than the
set's. No patient is named in these files, so only equal pictures are known to belong together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Pixels, Record
from studies.medheb.sources.arrays import Array, digest, npz_part, part_shape
from studies.medheb.sources.folders import find_inside

SIZES = ("224", "128", "64", "28")
ORGANS = (
    "bladder", "femur-left", "femur-right", "heart", "kidney-left", "kidney-right", "liver",
    "lung-left", "lung-right", "pancreas", "spleen",
)  # fmt: skip


@dataclass(frozen=True)
class Flat:
    """One set.

    Attributes:
        flag: name of its files.
        title: its own name.
        modality: in words.
        anatomy: one of the benchmark's regions.
        labels: by index.
        licence: of the data.
        first: name of its file in version 1, where it was another.
        train_copies: what is done with test pictures that stand in the training part too.
    """

    flag: str
    title: str
    modality: str
    anatomy: str
    labels: tuple[str, ...]
    licence: str = "CC BY 4.0"
    first: str = ""
    train_copies: str = "keep"


SETS = (
    Flat(
        "bloodmnist", "BloodMNIST", "blood cell microscopy", "pathology",
        ("basophil", "eosinophil", "erythroblast",
         "immature granulocytes(myelocytes, metamyelocytes and promyelocytes)", "lymphocyte",
         "monocyte", "neutrophil", "platelet"),
    ),
    Flat(
        "chestmnist", "ChestMNIST", "chest X-ray", "chest_thorax",
        ("atelectasis", "cardiomegaly", "effusion", "infiltration", "mass", "nodule", "pneumonia",
         "pneumothorax", "consolidation", "edema", "emphysema", "fibrosis", "pleural", "hernia"),
    ),
    Flat(
        "dermamnist", "DermaMNIST", "dermoscopy", "dermatology",
        ("actinic keratoses and intraepithelial carcinoma", "basal cell carcinoma",
         "benign keratosis-like lesions", "dermatofibroma", "melanoma", "melanocytic nevi",
         "vascular lesions"),
        licence="CC BY-NC 4.0", train_copies="drop",
    ),
    Flat(
        "octmnist", "OCTMNIST", "retinal OCT", "ophthalmology",
        ("choroidal neovascularization", "diabetic macular edema", "drusen", "normal"),
    ),
    Flat(
        "organamnist", "OrganAMNIST", "abdominal CT slices (axial)", "abdomen_pelvis", ORGANS,
        first="organmnist_axial",
    ),
    Flat(
        "organcmnist", "OrganCMNIST", "abdominal CT slices (coronal)", "abdomen_pelvis", ORGANS,
        first="organmnist_coronal",
    ),
    Flat(
        "organsmnist", "OrganSMNIST", "abdominal CT slices (sagittal)", "abdomen_pelvis", ORGANS,
        first="organmnist_sagittal",
    ),
    Flat(
        "pathmnist", "PathMNIST", "colorectal H&E patches", "pathology",
        ("adipose", "background", "debris", "lymphocytes", "mucus", "smooth muscle",
         "normal colon mucosa", "cancer-associated stroma",
         "colorectal adenocarcinoma epithelium"),
    ),
    Flat(
        "tissuemnist", "TissueMNIST", "kidney cortex microscopy", "pathology",
        ("Collecting Duct, Connecting Tubule", "Distal Convoluted Tubule",
         "Glomerular endothelial cells", "Interstitial endothelial cells", "Leukocytes",
         "Podocytes", "Proximal Tubule Segments", "Thick Ascending Limb"),
    ),
)  # fmt: skip


def find_edition(one: Flat, folder: Path, size: str) -> Path | None:
    """The file of one size, or of the largest there is; None if it is not there."""
    for name in SIZES if size == "largest" else (size,):
        stems = [f"{one.flag}_{name}"] if name != "28" else [one.flag, one.first]
        for stem in filter(None, stems):
            found = find_inside(folder, f"{stem}.npz", depth=2)
            if found is not None:
                return found
    return None


def read(one: Flat, folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The pictures of the test part."""
    path = find_edition(one, folder, str(settings["size"]))
    if path is None:
        yield Fault(str(folder), f"there is no {one.flag} of {settings['size']} pixels in it")
        return
    try:
        yield from read_edition(path, one.labels, drop=settings["train_copies"] == "drop")
    except EvidenceError as error:
        yield Fault(path.name, error.reason)


def read_edition(path: Path, labels: Sequence[str], *, drop: bool) -> Iterator[Record | Fault]:
    """The records of one file.

    Args:
        path: of the ``.npz``.
        labels: by index.
        drop: leave out test pictures that stand in the training part too.

    Raises:
        EvidenceError: an array is missing, damaged or of another shape.
    """
    images, codes = npz_part(path, "test_images"), npz_part(path, "test_labels")
    _fits(path, images, codes, labels)
    trained = {digest(image) for image in npz_part(path, "train_images")} if drop else set()
    for row, code in enumerate(np.asarray(codes).reshape(len(codes), -1)):
        where, name = f"{path.name}, test row {row}", digest(images[row])
        if name in trained:
            yield Fault(where, "the same picture stands in the training part: not tested")
            continue
        positive = _positive(code, labels)
        if positive is None:
            yield Fault(where, f"class {code.tolist()} is none of {len(labels)}")
            continue
        picture = Picture(
            f"{images.shape[1]}/{row:06d}.png", pixels=partial(_pixels, images, row)
        )  # the size is in the name, so that editions do not mix below one image root
        yield Record(f"test/{row:06d}", name, "test", positive, (picture,))


def _fits(path: Path, images: Array, codes: Array, labels: Sequence[str]) -> None:
    flat = images.ndim == 3 or (images.ndim == 4 and images.shape[3] == 3)
    if not flat or images.dtype != np.uint8:
        raise EvidenceError(
            path, "unsupported", f"test_images are {images.dtype} {images.shape}, not pictures"
        )
    width = codes.shape[1] if codes.ndim == 2 else 1
    if len(codes) != len(images) or width not in (1, len(labels)):
        raise EvidenceError(
            path, "unsupported",
            f"test_labels are {codes.shape} for {len(images)} pictures of {len(labels)} classes",
        )  # fmt: skip


def _positive(code: Array, labels: Sequence[str]) -> tuple[str, ...] | None:
    """The positive classes: of an index, or of a row with one column a class (maybe none)."""
    if len(code) == 1:
        return (labels[int(code[0])],) if 0 <= int(code[0]) < len(labels) else None
    if not np.isin(code, (0, 1)).all():
        return None
    return tuple(label for label, there in zip(labels, code, strict=True) if there)


def _pixels(images: Array, row: int) -> Pixels:
    return np.array(images[row])


def found(one: Flat, folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which file was read."""
    path = find_edition(one, folder, str(settings["size"]))
    if path is None:
        return ()
    count, side = part_shape(path, "test_images")[:2]
    return (f"Edition {path.name}: {count} test pictures of {side} x {side} pixels.",)


def _card(one: Flat) -> SourceCard:
    names = [one.flag, f"{one.flag}_*", *([one.first] if one.first else [])]
    return SourceCard(
        id=one.flag,
        title=one.title,
        form="2d",
        modality=one.modality,
        anatomy=one.anatomy,
        access="open",
        licence=one.licence,
        url="https://medmnist.com/",
        obtain=f"Download {one.flag}.npz, or a larger edition ({one.flag}_64, _128, _224), from "
        "Zenodo record 10519652; no account is needed.",
        files=(Remote("zenodo", "10519652", (f"{one.flag}.npz",)),),
        expects=tuple(f"{way}{name}.npz" for way in ("", "*/", "*/*/") for name in names),
        read=partial(read, one),
        plans=tuple(
            TaskPlan(f"{one.flag}/{kind}", make)
            for kind, make in (("i2l", "label"), ("i2i", "exemplars"), ("t2i", "text-exemplars"))
        ),
        labels=one.labels,
        settings=(
            Choice(
                "size", "largest", ("largest", *SIZES),
                "pixels a side; the authors used the edition with all sizes and do not say which",
            ),
            Choice(
                "train_copies", one.train_copies, ("keep", "drop"),
                "test pictures that stand, pixel by pixel, in the training part too; other "
                "pictures of one lesion or patient cannot be told from these files",
            ),
        ),
        found=partial(found, one),
    )  # fmt: skip


CARDS = tuple(_card(one) for one in SETS)
