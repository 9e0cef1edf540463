"""What the sources over MIMIC-CXR share: where its pictures and reports lie, in any arrangement.

Paths run ``files/p10/p10000032/s50414267/<dicom>.jpg``; mirrors leave out ``files`` or put pictures
and reports into one tree. Patient folders are never listed: only asked for by name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from engine.errors import EvidenceError
from studies.medheb.sources.packed import Packed
from studies.medheb.sources.words import read_text
from studies.medheb.tasks import stays_inside

_TENS = re.compile(r"p1\d")
REPORTS = "mimic-cxr-reports.zip"
PICTURES = (".jpg", ".png", ".dcm")


@dataclass(frozen=True)
class MimicFiles:
    """Where parts of MIMIC-CXR lie.

    Attributes:
        bases: folders below which the ``p1x`` folders are.
        archives: of reports.
    """

    bases: tuple[Path, ...]
    archives: tuple[Packed, ...] = ()

    def find(self, path: str, endings: Sequence[str] = ("",)) -> Path | None:
        """The file of a path as the tables write it, in the first base that has it.

        Args:
            path: with or without ``files/`` in front; tables write ``.dcm`` for every picture.
            endings: taken in place of the path's own, in this order; an empty one keeps it.
        """
        plain = PurePosixPath(path.strip().removeprefix("files/"))
        if not stays_inside(str(plain)):
            return None
        names = [plain.with_suffix(ending) if ending else plain for ending in endings]
        places = (base / name for name in names for base in self.bases)
        return next((place for place in places if place.is_file()), None)

    def report(self, path: str) -> str | None:
        """The words of a report by its path (``files/p10/.../s....txt``), None if it is not there.

        Raises:
            EvidenceError: it is there and cannot be read.
        """
        file = self.find(path)
        if file is not None:
            return read_text(file)
        for archive in self.archives:
            if path in archive:
                try:
                    return archive.read(path).decode("utf-8-sig")
                except UnicodeDecodeError as error:
                    where = archive.path / path
                    raise EvidenceError(where, "damaged", "is no text in UTF-8") from error
        return None


def mimic_files(folder: Path, *, depth: int = 4) -> MimicFiles:
    """Everything in a folder that holds the ``p1x`` folders of MIMIC-CXR, or packed reports.

    Raises:
        EvidenceError: an archive of reports is there and damaged.
    """
    bases: list[Path] = []
    archives: list[Packed] = []
    level = [folder]
    for _ in range(depth + 1):
        inner: list[Path] = []
        for place in level:
            folders, packed = _inside(place)
            if any(_TENS.fullmatch(one.name) for one in folders):
                bases.append(place)
            else:
                archives += map(Packed, packed)
                inner += folders
        level = inner
    return MimicFiles(tuple(bases), tuple(archives))


def _inside(place: Path) -> tuple[list[Path], list[Path]]:
    """The folders in a folder, and the archives of reports; other files are not looked at."""
    try:
        with os.scandir(place) as entries:
            found = [
                (Path(one), one.is_dir()) for one in entries if one.is_dir() or one.name == REPORTS
            ]
    except OSError:
        return [], []
    found.sort()
    folders = [path for path, is_folder in found if is_folder]
    return folders, [path for path, is_folder in found if not is_folder]


def study_path(subject: str, study: str) -> str:
    """The folder of a study, as MIMIC-CXR names it (numbers without their letters)."""
    return f"files/p{subject[:2]}/p{subject}/s{study}"
