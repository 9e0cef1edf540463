"""What several sources share: archives of hundreds of thousands of small files.

Two sources hand out their texts as one zip with more files than the door to archives takes. Owns
a directory read once and members read by name. Refuses large members: no report and no scene graph
is one, so a bomb is not unpacked.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from engine.errors import EvidenceError
from studies.medheb.builders.pictures import is_pointer

LARGEST = 16 * 2**20  # bytes of a member


class Packed:
    """A zip archive whose members are asked for by name.

    Args:
        path: of the archive.

    Raises:
        EvidenceError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            if is_pointer(path):
                says = "this is a Git LFS pointer, not the archive; download the archive itself"
                raise EvidenceError(path, "missing", says) from error
            raise EvidenceError(path, "damaged", f"is no archive that opens ({error})") from error
        self._names = frozenset(self._archive.NameToInfo)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def read(self, name: str) -> bytes:
        """The bytes of a member.

        Raises:
            EvidenceError: there is none of that name, it is too large, encrypted or damaged.
        """
        try:
            if self._archive.getinfo(name).file_size > LARGEST:
                raise EvidenceError(self.path / name, "too_large", "is too large for what it is")
            with self._archive.open(name) as stream:
                return stream.read(LARGEST)
        except KeyError as error:
            raise EvidenceError(self.path / name, "missing", "is not in the archive") from error
        except (
            OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError,
        ) as error:  # fmt: skip
            raise EvidenceError(self.path / name, "damaged", f"cannot be unpacked ({error})") from (
                error
            )
