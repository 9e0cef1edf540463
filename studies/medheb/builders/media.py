"""Puts a task's pictures below the data root: files copied, pixels written as PNG, crops cut.

Every file appears whole or not at all, and what is there already is left as it is, unless it is
older than the settings of the build or a copy of another length. Names are made such that every
system can hold them. Refuses names that leave the image root, and pictures that are not whole.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from db.errors import NotWritable
from engine.errors import EvidenceError
from engine.evidence.files import open_file
from engine.evidence.item import ImageRef, Item
from engine.evidence.pixels import prepare
from studies.medheb.builders.names import portable
from studies.medheb.builders.pictures import whole
from studies.medheb.builders.record import Box, Picture, Pixels, Record, Volume
from studies.medheb.tasks import stays_inside

COPIED = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
GZIP = b"\x1f\x8b"
SLICE = "slice_{:03d}.png"  # the release's own names


class Media:
    """Writes below one image root.

    Args:
        root: the task's image root.
        since: nanoseconds on the disk's clock; files that are not newer are written anew.
    """

    def __init__(self, root: Path, *, since: int = 0) -> None:
        self.root = root
        self.written = 0
        self._since = since
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
        name = portable(picture.name)
        if name not in self._done:
            target = self._target(name)
            if not self._there(target) or _another_length(picture, target):
                content = _content(picture)
                if content is None:
                    self._png(self._pixels(picture), target)
                else:
                    self._write(target, whole(content, name, partial(self._pixels, picture)))
            self._done[name] = [name]
        return name

    def volume(self, volume: Volume) -> list[str]:
        """Put the slices of a volume there.

        Returns:
            Their names below the image root, in order.

        Raises:
            EvidenceError: it cannot be read.
            NotWritable: the folder cannot be written.
        """
        name = portable(volume.name)
        if name not in self._done:
            names = self._slices_there(name)
            if not names:
                slices = volume.slices()
                names = [f"{name}/{SLICE.format(place)}" for place in range(len(slices))]
                # the first comes last: a folder that has it is whole
                for place in reversed(range(len(slices))):
                    self._png(slices[place], self._target(names[place]))
            self._done[name] = names
        return self._done[name]

    def crop(self, record: Record, box: Box, name: str) -> str:
        """Put a crop of the record's first picture there, under a name of its own.

        Raises:
            EvidenceError: the picture cannot be read, or the box lies outside it.
            NotWritable: the folder cannot be written.
        """
        name = portable(name)
        if name not in self._done:
            target = self._target(name)
            if not self._there(target):
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

    def _there(self, target: Path) -> bool:
        """Whether a file is there that was made under the settings of the build."""
        return target.is_file() and (not self._since or target.stat().st_mtime_ns > self._since)

    def _slices_there(self, name: str) -> list[str]:
        folder = self._target(name)
        if not self._there(folder / SLICE.format(0)):
            return []
        paths = sorted(folder.glob("slice_*.png"))
        return [f"{name}/{path.name}" for path in paths if self._there(path)]

    def _target(self, name: str) -> Path:
        if not stays_inside(name):
            raise NotWritable(f"{name} lies outside {self.root}; the source's names are damaged.")
        return self.root / name

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


def _content(picture: Picture) -> bytes | None:
    """The bytes of a picture that is taken as it is; None for one whose pixels are made."""
    if picture.content is not None:
        return picture.content()
    if picture.file is None or Path(picture.name).suffix.lower() != picture.file.suffix.lower():
        return None
    with open_file(picture.file) as stream:
        return stream.read()


def _another_length(picture: Picture, target: Path) -> bool:
    """Whether a file on the disk was copied when it was another, a half download for one."""
    path = picture.file
    if path is None or target.suffix.lower() != path.suffix.lower() or not path.is_file():
        return False
    with path.open("rb") as stream:
        packed = stream.read(2) == GZIP
    return not packed and path.stat().st_size != target.stat().st_size


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


def names_of(media: Media, pictures: Sequence[Picture]) -> list[str]:
    """All of a record's pictures, put there."""
    return [media.picture(picture) for picture in pictures]
