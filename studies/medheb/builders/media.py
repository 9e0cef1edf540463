"""Puts a task's pictures below the data root: files copied, pixels written as PNG, crops cut.

Every file appears whole or not at all, and what is there already is left as it is unless the build
was told to write anew. Refuses names that leave the image root.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from db.errors import NotWritable
from engine.errors import EvidenceError
from engine.evidence.files import open_file
from engine.evidence.item import ImageRef, Item
from engine.evidence.pixels import prepare
from studies.medheb.builders.record import Box, Picture, Pixels, Record, Volume
from studies.medheb.tasks import stays_inside

COPIED = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
SLICE = "slice_{:03d}.png"  # the release's own names


class Media:
    """Writes below one image root.

    Args:
        root: the task's image root.
        anew: write files that are there already.
    """

    def __init__(self, root: Path, *, anew: bool = False) -> None:
        self.root = root
        self.written = 0
        self._anew = anew
        self._done: dict[str, list[str]] = {}
        self._last: tuple[str, Pixels] | None = None  # several crops come from one picture

    def picture(self, picture: Picture) -> str:
        """Put one picture there.

        Returns:
            Its name below the image root.

        Raises:
            EvidenceError: it cannot be read.
            NotWritable: the folder cannot be written.
        """
        if picture.name in self._done:
            return picture.name
        target = self._target(picture.name)
        if self._anew or not target.is_file():
            if picture.content is not None:
                self._write(target, picture.content())
            elif picture.file is not None and target.suffix.lower() == picture.file.suffix.lower():
                self._copy(picture.file, target)
            else:
                self._png(self._pixels(picture), target)
        self._done[picture.name] = [picture.name]
        return picture.name

    def volume(self, volume: Volume) -> list[str]:
        """Put the slices of a volume there.

        Returns:
            Their names below the image root, in order.

        Raises:
            EvidenceError: it cannot be read.
            NotWritable: the folder cannot be written.
        """
        if volume.name not in self._done:
            names = [] if self._anew else self._slices_there(volume.name)
            if not names:
                slices = volume.slices()
                names = [f"{volume.name}/{SLICE.format(place)}" for place in range(len(slices))]
                # the first comes last: a folder that has it is whole
                for place in reversed(range(len(slices))):
                    self._png(slices[place], self._target(names[place]))
            self._done[volume.name] = names
        return self._done[volume.name]

    def crop(self, record: Record, box: Box, name: str) -> str:
        """Put a crop of the record's first picture there, under a name of its own.

        Raises:
            EvidenceError: the picture cannot be read, or the box lies outside it.
            NotWritable: the folder cannot be written.
        """
        if name not in self._done:
            target = self._target(name)
            if self._anew or not target.is_file():
                left, top, right, bottom = box
                piece = self._pixels(record.pictures[0])[top:bottom, left:right]
                if piece.shape[:2] != (bottom - top, right - left) or not piece.size:
                    reason = f"the box {list(box)} lies outside its picture"
                    raise EvidenceError(record.pictures[0].name, "bad_box", reason)
                self._png(piece, target)
            self._done[name] = [name]
        return name

    def _pixels(self, picture: Picture) -> Pixels:
        if self._last is None or self._last[0] != picture.name:
            self._last = (picture.name, pixels_of(picture))
        return self._last[1]

    def _slices_there(self, name: str) -> list[str]:
        folder = self._target(name)
        if not (folder / SLICE.format(0)).is_file():
            return []
        return [f"{name}/{path.name}" for path in sorted(folder.glob("slice_*.png"))]

    def _target(self, name: str) -> Path:
        if not stays_inside(name):
            raise NotWritable(f"{name} lies outside {self.root}; the source's names are damaged.")
        return self.root / name

    def _copy(self, source: Path, target: Path) -> None:
        with open_file(source) as stream:
            self._write(target, stream.read())

    def _png(self, pixels: Pixels, target: Path) -> None:
        stream = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(pixels)).save(stream, "PNG", compress_level=1)
        self._write(target, stream.getvalue())

    def _write(self, target: Path, content: bytes) -> None:
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(content)
            part.replace(target)
        except PermissionError as error:
            raise NotWritable(
                f"{target.parent} cannot be written ({error.strerror}). Choose another data root."
            ) from error
        finally:
            part.unlink(missing_ok=True)
        self.written += 1


def pixels_of(picture: Picture) -> Pixels:
    """The pixels of a picture, 8 bits, as a model would see them.

    Raises:
        EvidenceError: it cannot be read.
    """
    if picture.pixels is not None:
        return picture.pixels()
    if picture.content is not None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            copy = Path(folder) / Path(picture.name).name
            copy.write_bytes(picture.content())
            return prepare(Item(images=(ImageRef(copy),))).images[0]
    if picture.file is None:
        raise EvidenceError(picture.name, "missing", "the record has neither file nor pixels")
    return prepare(Item(images=(ImageRef(picture.file),))).images[0]


def free_bytes(folder: Path) -> int:
    """Free room on the disk that holds a folder, which need not exist yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def names_of(media: Media, pictures: Sequence[Picture]) -> list[str]:
    """All of a record's pictures, put there."""
    return [media.picture(picture) for picture in pictures]
