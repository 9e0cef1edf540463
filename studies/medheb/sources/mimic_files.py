"""What the sources over MIMIC-CXR share: where its pictures and reports lie, in any arrangement.

Paths run ``files/p10/p10000032/s50414267/<dicom>.jpg``; mirrors leave out ``files`` or put pictures
and reports into one tree. Patient folders are never listed: only asked for by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from engine.evidence.files import exists
from studies.medheb.tasks import stays_inside

_TENS = re.compile(r"p1\d")
REPORTS = "mimic-cxr-reports.zip"
PICTURES = (".jpg", ".png", ".dcm")


@dataclass(frozen=True)
class MimicFiles:
    """Where parts of MIMIC-CXR lie.

    Attributes:
        bases: folders (or the archive of reports) below which the ``p1x`` folders are.
    """

    bases: tuple[Path, ...]

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
        return next((place for place in places if exists(place)), None)


def mimic_files(folder: Path, *, depth: int = 4) -> MimicFiles:
    """Everything in a folder that holds the ``p1x`` folders of MIMIC-CXR."""
    bases: list[Path] = []
    level = [folder]
    for _ in range(depth + 1):
        inner: list[Path] = []
        for place in level:
            found = _entries(place)
            if any(_TENS.fullmatch(path.name) for path in found if path.is_dir()):
                bases.append(place)
                continue
            bases += [path / "files" for path in found if path.name == REPORTS]
            inner += [path for path in found if path.is_dir()]
        level = inner
    return MimicFiles(tuple(bases))


def _entries(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir())
    except OSError:
        return []


def study_path(subject: str, study: str) -> str:
    """The folder of a study, as MIMIC-CXR names it (numbers without their letters)."""
    return f"files/p{subject[:2]}/p{subject}/s{study}"
