"""What several sources share: pictures in one folder per class, and finding a nested copy.

Owns nothing of a single source. Pictures are listed by name, never opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from studies.medheb.builders.record import Fault, Picture, Record

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff")


def find_inside(root: Path, name: str, *, depth: int = 3) -> Path | None:
    """A folder or file of that relative name in ``root`` or in a folder nested around it.

    Mirrors of a data set often add outer folders; the first hit of the shallowest level wins.
    """
    level = [root]
    for _ in range(depth + 1):
        for place in level:
            if (place / name).exists():
                return place / name
        level = [inner for place in level for inner in _folders(place)]
    return None


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(inner for inner in place.iterdir() if inner.is_dir())
    except OSError:
        return []


def pictures_in(folder: Path) -> list[Path]:
    """The pictures directly in a folder, by name, without what an operating system adds."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in PICTURES and not path.name.startswith(".")
    )


def class_folders(
    root: Path, codes: Mapping[str, str], *, split: str = "", below: str = ""
) -> Iterator[Record | Fault]:
    """One record per picture in one folder per class.

    Args:
        root: holds the class folders.
        codes: folder name to label.
        split: of all these records.
        below: put in front of names and keys, for example the official part.
    """
    for code, label in codes.items():
        folder = root / code
        if not folder.is_dir():
            yield Fault(code, f"there is no folder {code} in {root}; this class is empty")
            continue
        for path in pictures_in(folder):
            name = f"{below}{code}/{path.name}"
            yield Record(name, name, split, (label,), (Picture(name, path),))
