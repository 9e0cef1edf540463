"""From paths to evidence: finds what lies in files and folders, and loads its pixels.

Owns the walk through folders and containers, the table of readers by a file's first bytes, and
the rule that one bad file is one piece of evidence with an error while the rest goes on. Refuses
to trust a file's name where its content says what it is.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence import (
    archive,
    arrays,
    dicom_volume,
    files,
    grid,
    hl7,
    medmnist,
    nifti,
    pdf,
    raster,
    report,
    rtf,
    tables,
)
from engine.evidence.dicom import Instance, read_dicom
from engine.evidence.digest import companions
from engine.evidence.failures import of_system
from engine.evidence.series import group_series
from engine.evidence.study import Evidence, Pixels

HEAD = 352
IGNORED = frozenset({"thumbs.db", "desktop.ini"})
PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"BM", b"GIF8")
DICOM_SUFFIXES = frozenset({".dcm", ".dicom", ".ima", ".img"})

# What a reader makes of one file: evidence, a DICOM file still to be grouped, or, for a container,
# its parts: evidence, and paths of members that are looked at as if they lay in folders.
Found = Evidence | Instance | Iterable["Evidence | Path"]


@dataclass(frozen=True)
class Reader:
    """One row of the table of readers.

    Attributes:
        matches: (path, first bytes, lower-case suffix) to True if this reader is the one.
        read: (path, salt) to what it is.
    """

    matches: Callable[[Path, bytes, str], bool]
    read: Callable[[Path, bytes], Found]


# The first row that matches decides; content comes before names. Containers hand out their parts.
READERS: tuple[Reader, ...] = (
    Reader(
        lambda path, head, suffix: head[128:132] == b"DICM",
        lambda path, salt: read_dicom(path, salt=salt),
    ),
    Reader(
        lambda path, head, suffix: nifti.is_nifti(head, path),
        lambda path, salt: nifti.describe_nifti(path),
    ),
    Reader(
        lambda path, head, suffix: grid.is_grid(head, path),
        lambda path, salt: grid.describe_grid(path),
    ),
    Reader(
        lambda path, head, suffix: (
            head.startswith(PICTURES) or suffix in raster.SUFFIXES or head[8:12] == b"WEBP"
        ),
        lambda path, salt: raster.describe_picture(path),
    ),
    Reader(
        lambda path, head, suffix: archive.is_archive(head),
        lambda path, salt: archive.members(path),
    ),
    Reader(
        lambda path, head, suffix: arrays.is_arrays(head),
        lambda path, salt: medmnist.read(path),
    ),
    Reader(
        lambda path, head, suffix: head.startswith(b"%PDF-") or suffix == ".pdf",
        lambda path, salt: pdf.read_pdf(path),
    ),
    Reader(lambda path, head, suffix: hl7.is_hl7(head), hl7.find),
    Reader(
        lambda path, head, suffix: suffix in report.SUFFIXES or rtf.is_rtf(head),
        lambda path, salt: report.read_text(path),
    ),
    Reader(lambda path, head, suffix: suffix in tables.SUFFIXES, tables.find),
    Reader(
        lambda path, head, suffix: suffix == ".xml" or b"<ClinicalDocument" in head,
        lambda path, salt: report.name_document(path),
    ),
)
# Parts of a file that are no files (rows of a table, pictures of an array): ``x.npz/train/17``.
# By the suffix of the file that holds them: (path of the part, salt) to evidence.
PARTS: dict[str, Callable[[Path, bytes], Evidence]] = {
    ".npz": lambda path, salt: medmnist.describe(path),
    **dict.fromkeys(tables.SUFFIXES, tables.read_part),
    **dict.fromkeys((*hl7.SUFFIXES, ".txt", ".dat"), hl7.read_part),
}
# By ``source["format"]``: evidence to pixels.
LOADERS: dict[str, Callable[[Evidence], Pixels]] = {
    "DICOM": lambda evidence: dicom_volume.load(evidence),
    "NIfTI": lambda evidence: nifti.load_nifti(evidence.path),
    "NRRD": lambda evidence: grid.load_grid(evidence.path),
    "MetaImage": lambda evidence: grid.load_grid(evidence.path),
    medmnist.FORMAT: medmnist.load,
}


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
    plain = [one for one in visible if not _is_folder(one)]
    if plain:
        yield _Batch(_without_companions(plain), [])
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


def _without_companions(batch: list[Path]) -> list[Path]:
    """Leave out data files that a header file in the same batch names."""
    owned = {part for path in batch for part in companions(path)}
    return [path for path in batch if path not in owned]


def _read_batch(batch: list[Path], salt: bytes, control: Control) -> Iterator[Evidence]:
    """Everything but DICOM as it is met; DICOM at the end, grouped."""
    instances: list[Instance] = []
    for path in batch:
        control.check()
        try:
            found = _look(path, salt)
        except EvidenceError as error:
            found = failed(path, error)
        control.step()
        if isinstance(found, Instance):
            instances.append(found)
        elif isinstance(found, Evidence):
            yield found
        else:
            yield from _read_container(path, found, salt, control)
    yield from group_series(instances)


def _read_container(
    path: Path, parts: Iterable[Evidence | Path], salt: bytes, control: Control
) -> Iterator[Evidence]:
    """The parts of a container: evidence as it comes, members folder by folder."""
    members: list[Path] = []
    try:
        for part in parts:
            control.check()
            if isinstance(part, Evidence):
                yield part
            else:
                members.append(part)
    except EvidenceError as error:
        yield failed(path, error)
    visible = [one for one in members if not any(map(_hidden, _inside(one, path)))]
    for _, group in groupby(sorted(visible), key=lambda one: one.parent):
        yield from _read_batch(_without_companions(list(group)), salt, Control())


def _inside(member: Path, container: Path) -> list[Path]:
    """The names on the way from a container to its member."""
    return [Path(name) for name in member.relative_to(container).parts]


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


def _look(path: Path, salt: bytes) -> Found:
    """Describe one file by what its content is."""
    holder = next((one for one in path.parents if one.suffix.lower() in PARTS), None)
    if holder is not None and files.exists(holder):
        return PARTS[holder.suffix.lower()](path, salt)
    head = _head(path)
    if not head:
        raise EvidenceError(path, "empty", "the file has no content; copy it again")
    suffix = path.suffix.lower()
    for reader in READERS:
        if reader.matches(path, head, suffix):
            return reader.read(path, salt)
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
    if isinstance(found, Instance):
        return found.evidence
    if isinstance(found, Evidence):
        return found
    reason = "this file holds several pieces of evidence; name one of them"
    raise EvidenceError(Path(path), "container", reason)


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
    loader = LOADERS.get(evidence.source.get("format", ""))
    return raster.load_picture(evidence.path) if loader is None else loader(evidence)
