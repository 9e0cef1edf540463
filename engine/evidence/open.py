"""From paths to evidence: finds what lies in files and folders, and loads its pixels.

Owns the walk through folders, the look at a file's first bytes, and the rule that one bad file is
one piece of evidence with an error while the rest goes on. Refuses to trust a file's name where
its content says what it is.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence import grid, nifti, raster, report
from engine.evidence.dicom import Instance, read_dicom
from engine.evidence.dicom_pixels import decode_file
from engine.evidence.digest import companions
from engine.evidence.failures import of_system
from engine.evidence.series import group_series
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window

HEAD = 352
IGNORED = frozenset({"thumbs.db", "desktop.ini"})
PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"BM", b"GIF8")
DICOM_SUFFIXES = frozenset({".dcm", ".dicom", ".ima", ".img"})


def find_evidence(
    paths: Sequence[Path], *, salt: bytes = b"", control: Control | None = None
) -> Iterator[Evidence]:
    """Find everything in files and folders, recursively.

    Files of one folder are grouped into series together; files named one by one likewise.

    Args:
        paths: files and folders.
        salt: key of the pseudonyms; without it ``subject`` stays None.
        control: asked before every file, told after it.

    Yields:
        Evidence; what cannot be read has kind ``error`` and says why.

    Raises:
        Cancelled: the user asked to stop.
    """
    control = control or Control()
    batches = list(_batches([Path(path) for path in paths]))
    control.begin(
        sum(len(batch.files) for batch in batches), unit="files", phase="looking at files"
    )
    for batch in batches:
        yield from batch.errors
        yield from _read_batch(batch.files, salt, control)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Files that may form series together, and folders that could not be read."""

    files: list[Path]
    errors: list[Evidence]


def _batches(paths: list[Path]) -> Iterator[_Batch]:
    """The named files as one batch, then each folder as one, in order of name."""
    named = [path for path in paths if not _is_folder(path)]
    if named:
        yield _Batch(_without_companions(named), [])
    for path in paths:
        if _is_folder(path):
            yield from _walk(path)


def _walk(folder: Path) -> Iterator[_Batch]:
    """A folder and those below it; links to folders are not followed, hidden names left out."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        reason = "the folder cannot be opened; check its rights"
        yield _Batch([], [failed(folder, EvidenceError(folder, "denied", reason))])
        return
    visible = [one for one in entries if not _hidden(one)]
    files = [one for one in visible if not _is_folder(one)]
    if files:
        yield _Batch(_without_companions(files), [])
    for one in visible:
        if _is_folder(one) and not one.is_symlink():
            yield from _walk(one)


def _is_folder(path: Path) -> bool:
    """True for a folder; False, not an error, where looking is not allowed."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _hidden(path: Path) -> bool:
    return path.name.startswith(".") or path.name.lower() in IGNORED


def _without_companions(files: list[Path]) -> list[Path]:
    """Leave out data files that a header file in the same batch names."""
    owned = {part for path in files for part in companions(path)}
    return [path for path in files if path not in owned]


def _read_batch(files: list[Path], salt: bytes, control: Control) -> Iterator[Evidence]:
    """Everything but DICOM as it is met; DICOM at the end, grouped."""
    instances: list[Instance] = []
    for path in files:
        control.check()
        try:
            found = _look(path, salt)
        except EvidenceError as error:
            found = failed(path, error)
        control.step()
        if isinstance(found, Instance):
            instances.append(found)
        else:
            yield found
    yield from group_series(instances)


def failed(path: Path, error: EvidenceError) -> Evidence:
    """Evidence that says why it is none."""
    return Evidence(path=path, members=(path,), kind="error", error=error)


def _head(path: Path) -> bytes:
    """The first bytes of a file, unzipped if it is gzip."""
    try:
        if path.exists() and not path.is_file():
            raise EvidenceError(path, "not_a_file", "this is no ordinary file; leave it out")
        with nifti.open_stream(path) as stream:
            return stream.read(HEAD)
    except (EOFError, zlib.error, gzip.BadGzipFile) as failure:
        reason = "the file cannot be unzipped; copy it again"
        raise EvidenceError(path, "damaged", reason) from failure
    except OSError as failure:
        raise of_system(path, failure) from failure


def _look(path: Path, salt: bytes) -> Evidence | Instance:
    """Describe one file by what its content is."""
    head = _head(path)
    suffix = path.suffix.lower()
    if not head:
        raise EvidenceError(path, "empty", "the file has no content; copy it again")
    if head[128:132] == b"DICM":
        return read_dicom(path, salt=salt)
    if nifti.is_nifti(head, path):
        return nifti.describe_nifti(path)
    if head.startswith(b"NRRD") or suffix in grid.SUFFIXES:
        return grid.describe_grid(path)
    if head.startswith(PICTURES) or suffix in raster.SUFFIXES or head[8:12] == b"WEBP":
        return raster.describe_picture(path)
    if head.startswith(b"%PDF-"):
        source = {"object": "PDF document", "format": "PDF"}
        return Evidence(path=path, members=(path,), kind="document", source=source)
    if suffix in report.SUFFIXES:
        return report.read_text(path)
    return _guess(path, salt)


def _guess(path: Path, salt: bytes) -> Evidence | Instance:
    """A file without any mark: DICOM without preamble, or nothing that is read here."""
    try:
        return read_dicom(path, salt=salt)
    except EvidenceError as error:
        if error.code != "not_dicom" or path.suffix.lower() in DICOM_SUFFIXES:
            raise
    note = "not a kind of file that is read as evidence"
    source = {"object": "unknown file"}
    return Evidence(path=path, members=(path,), kind="other", notes=(note,), source=source)


def read_file(path: Path, *, salt: bytes = b"") -> Evidence:
    """Describe one file; see ``read_series`` for several.

    Raises:
        EvidenceError: it cannot be read.
    """
    found = _look(Path(path), salt)
    return found.evidence if isinstance(found, Instance) else found


def read_series(paths: Sequence[Path], *, salt: bytes = b"") -> Evidence:
    """Describe the DICOM files of one series, in any order; the largest group if they are several.

    Raises:
        EvidenceError: a file cannot be read, or none is a DICOM picture.
    """
    found = group_series([read_dicom(Path(path), salt=salt) for path in paths])
    return max(found, key=lambda one: len(one.members))


def load_pixels(evidence: Evidence) -> Pixels:
    """Decode what an ``Evidence`` describes.

    Returns:
        Values after the modality transform, with all that a viewer needs.

    Raises:
        EvidenceError: it holds no picture, is damaged, or cannot be decoded.
    """
    if evidence.error is not None:
        raise evidence.error
    if evidence.shape is None:
        name = evidence.source.get("object", evidence.kind)
        reason = f"this is {name}; it holds no picture"
        raise EvidenceError(evidence.path, "no_picture", reason)
    kind = evidence.source.get("format", "")
    if kind == "DICOM":
        return _load_dicom(evidence)
    if kind == "NIfTI":
        return nifti.load_nifti(evidence.path)
    if kind in ("NRRD", "MetaImage"):
        return grid.load_grid(evidence.path)
    return raster.load_picture(evidence.path)


def is_series(evidence: Evidence) -> bool:
    """True for a DICOM series of several files (a header with its data file is none)."""
    return evidence.source.get("format") == "DICOM" and len(evidence.members) > 1


def _load_dicom(evidence: Evidence) -> Pixels:
    """Decode every member of a DICOM object and stack them."""
    parts = [decode_file(path) for path in evidence.members]
    array = parts[0].values if len(parts) == 1 else np.concatenate([one.values for one in parts])
    middle = parts[len(parts) // 2]
    padding = middle.padding
    return Pixels(
        array=array,
        spacing_mm=evidence.spacing_mm,
        orientation=evidence.orientation,
        window=evidence.window or derive_window(array, padding=padding),
        window_source=evidence.window_source or "derived",
        display_inverted=evidence.display_inverted,
        aspect=evidence.aspect,
        window_function=evidence.window_function,
        lut=middle.lut if evidence.window_source == "lut" else None,
        padding=padding,
    )
