"""From paths to evidence: finds what lies in files and folders, and loads its pixels.

Owns the table of readers by a file's first bytes, the parts of containers, and the rule that one
bad file is one piece of evidence with an error while the rest goes on. Refuses to trust a file's
name where its content says what it is.
"""

from __future__ import annotations

import gzip
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import archive
from engine.evidence.dicom import volume as dicom_volume
from engine.evidence.dicom.instance import Instance, describe, read_dicom
from engine.evidence.dicom.lean import FIRST
from engine.evidence.dicom.read import header_of
from engine.evidence.dicom.recall import Recall
from engine.evidence.dicom.series import group_series
from engine.evidence.failures import of_system
from engine.evidence.grids import grid, nifti
from engine.evidence.pictures import arrays, medmnist, raster
from engine.evidence.study import Evidence, Pixels
from engine.evidence.walk import IGNORED, batches, hidden, without_companions
from engine.evidence.words import hl7, pdf, report, rtf, tables

__all__ = [
    "IGNORED", "failed", "find_evidence", "load_pixels", "read_file", "read_series",
]  # fmt: skip
HEAD = 352
GZIP = b"\x1f\x8b"
UNZIPPED = "the file cannot be unzipped; copy it again"
# what a file must hold whose name ends so; text formats may be anything and say so themselves
PROMISED = {
    ".nii": "NIfTI", ".nii.gz": "NIfTI", ".hdr": "NIfTI or Analyze", ".zip": "ZIP", ".npz": "NumPy",
    ".npy": "NumPy", ".hl7": "HL7", ".oru": "HL7", ".er7": "HL7", ".tar": "tar", ".tgz": "tar",
    ".tar.gz": "tar",
}  # fmt: skip
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
        lambda path, head, suffix: raster.is_picture(head, path),
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
    Reader(lambda path, head, suffix: tables.suffix_of(path) in tables.SUFFIXES, tables.find),
    Reader(
        lambda path, head, suffix: suffix == ".xml" or b"<ClinicalDocument" in head,
        lambda path, salt: report.name_document(path),
    ),
)
# Parts of a file that are no files (rows of a table, pictures of an array): ``x.npz/train/17``.
# By the suffix of the file that holds them: (path of the part, salt) to evidence.
PARTS: dict[str, Callable[[Path, bytes], Evidence]] = {
    ".npz": lambda path, salt: medmnist.describe(path),
    **dict.fromkeys((*tables.SUFFIXES, ".gz"), tables.read_part),
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
    paths: Sequence[Path],
    *,
    salt: bytes = b"",
    control: Control | None = None,
    follow: bool = True,
) -> Iterator[Evidence]:
    """Find everything in files and folders, recursively.

    Files of one folder are grouped into series together; files named one by one likewise, and
    the files that the index of a disc (DICOMDIR) names, wherever they lie below it.

    Args:
        paths: files and folders.
        salt: key of the pseudonyms; without it ``subject`` stays None.
        control: asked before every file, told after it.
        follow: False reads the index of a disc without the files that it names, for callers
            that go through all folders themselves.

    Yields:
        Evidence; what cannot be read has kind ``error`` and says why.

    Raises:
        Cancelled: the user asked to stop.
    """
    control = control or Control()
    found = list(batches([Path(path) for path in paths], follow=follow))
    control.begin(sum(len(batch.files) for batch in found), unit="files", phase="looking at files")
    recall = Recall()
    for batch in found:
        yield from (failed(path, error) for path, error in batch.errors)
        yield from _read_batch(batch.files, salt, control, recall)


def _read_batch(
    batch: list[Path], salt: bytes, control: Control, recall: Recall
) -> Iterator[Evidence]:
    """Everything but DICOM as it is met; DICOM at the end, grouped."""
    instances: list[Instance] = []
    for path in batch:
        control.check()
        try:
            found = _look(path, salt, recall)
        except EvidenceError as error:
            found = failed(path, error)
        control.step()
        if isinstance(found, Instance):
            instances.append(found)
        elif isinstance(found, Evidence):
            yield found
        else:
            yield from _read_container(path, found, salt, control, recall)
    yield from group_series(instances)


def _read_container(
    path: Path, parts: Iterable[Evidence | Path], salt: bytes, control: Control, recall: Recall
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
    visible = [one for one in members if not any(map(hidden, one.relative_to(path).parts))]
    for _, group in groupby(sorted(visible), key=lambda one: one.parent):
        yield from _read_batch(without_companions(list(group)), salt, Control(), recall)


def failed(path: Path, error: EvidenceError) -> Evidence:
    """Evidence that says why it is none."""
    return Evidence(path=path, members=(path,), kind="error", error=error)


def _start(path: Path, salt: bytes, recall: Recall) -> Instance | bytes:
    """A DICOM file with its mark, described in one opening; else a file's first bytes."""
    stamp = _stamp(path)
    try:
        with files.open_file(path) if stamp is None else path.open("rb", buffering=0) as stream:
            data = stream.read(FIRST)
            if data[128:132] == b"DICM":
                size = files.facts_of(path).size if stamp is None else stamp[0]
                header = header_of(path, data, stream, size)
                return describe(path, header, salt=salt, recall=recall, stamp=stamp)
    except (EOFError, zlib.error, gzip.BadGzipFile) as failure:
        raise EvidenceError(path, "damaged", UNZIPPED) from failure
    except OSError as failure:
        raise of_system(path, failure) from failure
    return _head(path) if data[:2] == GZIP else data[:HEAD]


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and time of a file on disk; None for what lies inside a container, or is not there."""
    try:
        facts = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(facts.st_mode):
        raise EvidenceError(path, "not_a_file", "this is no ordinary file; leave it out")
    if facts.st_size == 0:  # not even opened: a system's own files have no size and may block
        raise EvidenceError(path, "empty", "the file has no content; copy it again")
    return facts.st_size, facts.st_mtime_ns


def _head(path: Path) -> bytes:
    """The first bytes of a file, unzipped if it is gzip."""
    try:
        with files.open_file(path) as stream:
            return stream.read(HEAD)
    except (EOFError, zlib.error, gzip.BadGzipFile) as failure:
        raise EvidenceError(path, "damaged", UNZIPPED) from failure
    except OSError as failure:
        raise of_system(path, failure) from failure


def _look(path: Path, salt: bytes, recall: Recall) -> Found:
    """Describe one file by what its content is."""
    holder = _holder(path)
    try:
        if holder is not None:
            return PARTS[holder.suffix.lower()](path, salt)
        head = _start(path, salt, recall)
    except EvidenceError as error:
        found = _part(path, salt) if error.code == "missing" else None
        if found is None:
            raise
        return found
    if isinstance(head, Instance):
        return head
    if not head:
        raise EvidenceError(path, "empty", "the file has no content; copy it again")
    suffix = path.suffix.lower()
    for reader in READERS:
        if reader.matches(path, head, suffix):
            return reader.read(path, salt)
    return _guess(path, salt)


def _holder(path: Path) -> Path | None:
    """The file that a part of a file lies in, None for a path of its own."""
    folders = str(path.parent).lower()
    if not any(suffix in folders for suffix in PARTS):
        return None
    found = next((one for one in path.parents if one.suffix.lower() in PARTS), None)
    return found if found is not None and files.exists(found) else None


def _part(path: Path, salt: bytes) -> Evidence | None:
    """A part of a file whose name does not say that it has any; None if it has none."""
    try:
        held, rest = files.split(path)
    except OSError:
        return None
    if rest and arrays.is_arrays(_head(held)):
        return medmnist.describe(path)
    return hl7.read_part(path, salt) if rest and hl7.is_hl7(_head(held)) else None


def _guess(path: Path, salt: bytes) -> Evidence | Instance:
    """A file without any mark: DICOM without preamble, or nothing that is read here."""
    try:
        return read_dicom(path, salt=salt)
    except EvidenceError as error:
        if error.code != "not_dicom" or path.suffix.lower() in DICOM_SUFFIXES:
            raise
    promised = next((kind for end, kind in PROMISED.items() if path.name.lower().endswith(end)), "")
    if not promised and path.suffix.lower() == ".gz":  # packed it may hold anything
        with files.open_raw(path) as stream:
            promised = "" if stream.read(2) == GZIP else "gzip"
    if promised:
        reason = f"the content is not {promised}, as its name says; copy it again"
        raise EvidenceError(path, "damaged", reason)
    note = "not a kind of file that is read as evidence"
    source = {"object": "unknown file"}
    return Evidence(path=path, members=(path,), kind="other", notes=(note,), source=source)


def read_file(path: Path, *, salt: bytes = b"") -> Evidence:
    """Describe one file; see ``read_series`` for several.

    Raises:
        EvidenceError: it cannot be read.
    """
    found = _look(Path(path), salt, Recall())
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
    recall = Recall()
    found = group_series([_dicom(Path(path), salt, recall) for path in paths])
    return max(found, key=lambda one: len(one.members))


def _dicom(path: Path, salt: bytes, recall: Recall) -> Instance:
    """A file that must be DICOM."""
    found = _start(path, salt, recall)
    if isinstance(found, Instance):
        return found
    return read_dicom(path, salt=salt, recall=recall)


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
    loaded = raster.load_picture(evidence.path) if loader is None else loader(evidence)
    if loaded.array.shape != evidence.shape:
        reason = "the file holds another picture than its header said when it was found; copy or"
        raise EvidenceError(evidence.path, "changed", f"{reason} open it again")
    return loaded
