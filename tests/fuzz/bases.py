"""What is mutated: the handed files and small synthetic ones of every other kind.

A base is a few files that lie together; one of them, the target, is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.fuzz import makers, makers_dicom
from tests.shared import SHARED

ROOT = SHARED / "data/files"
FOLDERS = (
    "dicom", "nifti", "nrrd", "mha", "raster", "report", "charset", "nonimage", "broken", "series",
)  # fmt: skip
# header and data that lie in two files
TOGETHER = {
    "nifti/pair.hdr": ("nifti/pair.img",),
    "nrrd/ball_detached.nhdr": ("nrrd/BallBinary30x30x30.raw",),
    "mha/anat_float.mhd": ("mha/anat_float.zraw",),
}
LARGEST = 2_000_000
# cut short by a number's last digit it is still a whole file: nothing can tell
OPEN_ENDED = frozenset({"made:nrrd_ascii"})
MADE: dict[str, Callable[[], dict[str, bytes]]] = {**makers.MADE, **makers_dicom.MADE}


@dataclass(frozen=True)
class Base:
    """Files by name; ``target`` is the one to change."""

    files: dict[str, bytes]
    target: str

    @property
    def raw(self) -> bytes:
        """The bytes of the target."""
        return self.files[self.target]


def names(*, handed: bool = True) -> list[str]:
    """All bases; without the handed ones where they are not there or not wanted."""
    found = [f"made:{name}" for name in sorted(MADE)]
    return [*found, *_handed()] if handed else found


def _handed() -> Iterator[str]:
    """Paths below data/files; a pair is mutated from either side."""
    seconds = {second: first for first, many in TOGETHER.items() for second in many}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and 0 < path.stat().st_size <= LARGEST:
                name = path.relative_to(ROOT).as_posix()
                yield f"{seconds[name]}+{name}" if name in seconds else name


@cache
def load(name: str) -> Base:
    """The bytes of a base.

    ``made:x`` is synthetic; ``a`` is a handed file with its companions; ``a+b`` the same files
    with ``b`` as the target.
    """
    if name.startswith("made:"):
        files = MADE[name.removeprefix("made:")]()
        return Base(files, next(iter(files)))
    first, _, second = name.partition("+")
    parts = [first, *TOGETHER.get(first, ())]
    files = {Path(part).name: (ROOT / part).read_bytes() for part in parts}
    return Base(files, Path(second or first).name)
