"""Where M3D's volumes lie: folders of slices as shipped, or arrays of the authors' preparation.

Owns the two layouts and the way from a path of a table to either. Slices are ordered by number,
never as text, and those of another size than most are left out, as the authors do. Refuses to read
objects from arrays.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item
from engine.evidence.pixels import prepare
from studies.medheb.builders import volumes
from studies.medheb.builders.record import Pixels, Volume
from studies.medheb.sources.arrays import map_npy
from studies.medheb.sources.folders import find_inside

PARTS = ("ct_case", "ct_quizze")
ENDINGS = (".jpeg", ".jpg", ".png")
FEW = 5  # letters; what is shorter is no finding
TEXT = "text.txt"


@dataclass(frozen=True)
class Series:
    """One series of a case.

    Attributes:
        part: ``ct_case`` or ``ct_quizze``.
        case: its number, zeros kept.
        name: of the series.
        path: folder of slices, or array.
    """

    part: str
    case: str
    name: str
    path: Path

    def volume(self, frames: int) -> Volume:
        """The series as slices, at most so many; 0 for all."""
        name = f"{self.part}/{self.case}/{_plain(self.name)}"
        name += "" if self.path.is_dir() else "-prepared"  # not to be taken for the slices
        make = partial(_slices if self.path.is_dir() else _array, self.path, frames)
        return Volume(f"{name}{f'-{frames}' if frames != volumes.SLICES else ''}", make)


def _plain(name: str) -> str:
    """Without diacritics, which the prepared edition has lost, and safe as a folder's name."""
    letters = unicodedata.normalize("NFD", name)
    bare = "".join(one for one in letters if unicodedata.category(one) != "Mn")
    return re.sub(r"[^\w.()+-]", "_", bare).strip(".") or "series"


class Cases:
    """The cases of both layouts below a folder, raw slices before prepared arrays."""

    def __init__(self, root: Path) -> None:
        places = [find_inside(root, name) for name in ("M3D_Cap", "M3D_Cap_npy")]
        known = [place for place in places if place is not None]
        self._bases = [*known, root]

    def folder(self, part: str, case: str) -> list[Path]:
        """The folders of a case, the raw one first."""
        found = [base / part / case for base in self._bases]
        return [path for path in found if path.is_dir()]

    def listed(self, part: str) -> list[str]:
        """All cases of a part."""
        found = {
            path.name
            for base in self._bases
            if (base / part).is_dir()
            for path in (base / part).iterdir()
            if path.is_dir()
        }
        return sorted(found)

    def series(self, part: str, case: str) -> list[Series]:
        """The series of a case, axial first, from the first layout that has any."""
        for folder in self.folder(part, case):
            paths = [
                path for path in folder.iterdir()
                if path.suffix.lower() == ".npy" or (path.is_dir() and _pictures(path))
            ]  # fmt: skip
            if paths:
                made = [Series(part, case, _name(path), path) for path in paths]
                return sorted(made, key=lambda one: (not _axial(one.name), one.name))
        return []

    def named(self, words: str) -> Series | None:
        """The series that a path of a table means, in whichever layout it lies."""
        told = place_of(words)
        if told is None:
            return None
        part, case, name = told
        for series in self.series(part, case):
            if _plain(series.name) == _plain(name):
                return series
        return None

    def text(self, part: str, case: str) -> str:
        """The findings of a case.

        Raises:
            EvidenceError: there is none, or it cannot be read.
        """
        for folder in self.folder(part, case):
            if (folder / TEXT).is_file():
                return findings((folder / TEXT).read_text("utf-8", errors="replace"))
        raise EvidenceError(f"{case}/{TEXT}", "missing", "there is no text of this case")


def place_of(words: str) -> tuple[str, str, str] | None:
    """Part, case and series (or text file) of a path as a table writes it."""
    parts = PurePosixPath(words.replace("\\", "/")).parts
    for part in PARTS:
        if part in parts:
            rest = parts[parts.index(part) + 1 :]
            return (part, rest[0], rest[1].removesuffix(".npy")) if len(rest) > 1 else None
    return None


def _name(path: Path) -> str:
    return path.name if path.is_dir() else path.stem


def _axial(name: str) -> bool:
    return name.lower().startswith("axial")


def _pictures(folder: Path) -> list[Path]:
    """The slices of a folder by number."""
    found = [
        path for path in folder.iterdir()
        if path.suffix.lower() in ENDINGS and path.stem.isdecimal()
    ]  # fmt: skip
    return sorted(found, key=lambda path: int(path.stem))


def findings(text: str) -> str:
    """The section of findings, else the discussion, else all of the text."""
    parts = re.split(r"(study_findings:|discussion:)", text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    for heading in ("study_findings:", "discussion:"):
        section = " ".join(sections.get(heading, "").split())
        if len(section.replace(" ", "")) >= FEW:
            return section
    return " ".join(text.split())


def _chosen(paths: Sequence[Path], frames: int) -> list[Path]:
    places = volumes.evenly(len(paths), frames) if frames else range(len(paths))
    return [paths[place] for place in places]


def _slices(folder: Path, frames: int) -> Pixels:
    """The pictures of a folder, of the size that most have: [S, H, W] or [S, H, W, 3]."""
    paths = _pictures(folder)
    sizes = [_size(path) for path in paths]
    known = Counter(size for size in sizes if size is not None)
    if not known:
        raise EvidenceError(folder, "damaged", "holds no slice that can be read")
    most = min(known, key=lambda size: (-known[size], size))
    kept = [path for path, size in zip(paths, sizes, strict=True) if size == most]
    stack = np.stack([_picture(path) for path in _chosen(kept, frames)])
    grey = (stack[..., 0] == stack[..., 1]).all() and (stack[..., 1] == stack[..., 2]).all()
    return np.ascontiguousarray(stack[..., 0]) if grey else stack


def _size(path: Path) -> tuple[int, int] | None:
    from PIL import Image

    try:
        with Image.open(path) as picture:
            return picture.size
    except (OSError, ValueError, Image.DecompressionBombError):
        return None


def _picture(path: Path) -> Pixels:
    return prepare(Item(images=(ImageRef(path),))).images[0]


def _array(path: Path, frames: int) -> Pixels:
    """A prepared volume [1, S, H, W] of numbers 0..1."""
    values = map_npy(path)
    values = values[0] if values.ndim == 4 and len(values) == 1 else values
    if values.ndim != 3:
        raise EvidenceError(path, "unsupported", f"is no volume but {values.shape}")
    places = volumes.evenly(len(values), frames) if frames else list(range(len(values)))
    return volumes.between(np.nan_to_num(values[places]), 0.0, 1.0)
