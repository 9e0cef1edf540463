"""De-identified copies of DICOM files and folders, and a report of what could not be claimed.

Owns reading whole files, writing valid Part 10 files under names made of tokens, and the report.
Refuses to write over its sources, to copy what it cannot de-identify (other formats, indexes of
discs), and to leave half a file behind.
"""

from __future__ import annotations

import filecmp
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydicom import dcmread
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.filewriter import dcmwrite
from pydicom.uid import UID

from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence.archives import archive
from engine.evidence.dicom.facts import integer, word
from engine.evidence.dicom.read import PARSE_ERRORS, read_header, syntax_of
from engine.evidence.failures import of_system
from engine.evidence.files import open_file
from engine.evidence.identity import profile
from engine.evidence.identity.cleaning import new_uid
from engine.evidence.identity.deidentify import deidentify
from engine.evidence.identity.risks import NEVER_CLEAN, SENTENCES, warnings_of
from engine.evidence.identity.tokens import pseudonym, series_token, study_token, token
from engine.evidence.quiet import quiet
from engine.evidence.terms import body_part_of, modality_of

SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
DIRECTORY = "1.2.840.10008.1.3.10"
REASONS = {"not_dicom": "no DICOM file: other formats are not de-identified here"}
IMPLEMENTATION = "2.25.303871549824673316279312345278861012337"


@dataclass(frozen=True)
class Copy:
    """One file that was written.

    Attributes:
        source: the file it was made of.
        target: where it lies.
        warnings: words of ``risks.SENTENCES`` that still hold for it.
        known: it lay there already, bit by bit the same; nothing was written.
    """

    source: Path
    target: Path
    warnings: tuple[str, ...] = ()
    known: bool = False


@dataclass
class FolderReport:
    """What became of a folder.

    Attributes:
        options: names of the options that were carried out.
        copies: files that were written.
        left_out: files that were not, with the reason as a sentence.
    """

    options: tuple[str, ...] = ()
    copies: list[Copy] = field(default_factory=list)
    left_out: list[tuple[Path, str]] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The report in sentences: what was done, what was left out, what must be looked at."""
        known = sum(copy.known for copy in self.copies)
        told = [f"{len(self.copies) - known} files written, {len(self.left_out)} left out"]
        told += [f"{known} copies were there already"] if known else []
        told.append("Basic Profile; options: " + (", ".join(self.options) or "none"))
        told.append(NEVER_CLEAN)
        counts = Counter(warning for copy in self.copies for warning in copy.warnings)
        for warning, count in sorted(counts.items()):
            told.append(f"{count} files: {SENTENCES[warning]}")
            names = [copy.target.name for copy in self.copies if warning in copy.warnings]
            told.extend(f"  {name}" for name in names)
        told.extend(f"left out: {path.name}: {reason}" for path, reason in self.left_out)
        return told


def deidentify_file(
    source: Path, target: Path, *, options: frozenset[str], salt: bytes
) -> Copy:  # fmt: skip
    """Write a de-identified copy of one DICOM file; pixel data stay as they are, bit by bit.

    Args:
        source: a DICOM file or a member of an archive.
        target: the file to write; its folder must be there, and it must not.
        options: names of ``profile.OPTIONS``.
        salt: secret key, see ``deidentify``.

    Raises:
        EvidenceError: the source is not DICOM, damaged, an index of a disc, or the target cannot
            be written.
        ValueError: options or salt are not usable.
    """
    _checked(options, salt)
    if target.exists():
        raise EvidenceError(target, "exists", "a file of that name is there; choose another")
    dataset = _read(source)
    return _write(source, dataset, target, options, salt, set())


def deidentify_folder(
    sources: Sequence[Path],
    target: Path,
    *,
    options: frozenset[str],
    salt: bytes,
    control: Control | None = None,
) -> FolderReport:
    """Write de-identified copies of all DICOM files in folders, files and archives.

    Args:
        sources: files and folders.
        target: an empty or new folder: ``patient/study/series/instance.dcm``, all of them tokens.
        options: names of ``profile.OPTIONS``.
        salt: secret key; with the same key more files can be added to the same folder.
        control: asked before every file, told after it.

    Raises:
        Cancelled: the user asked to stop.
        ValueError: options or salt are not usable.
        EvidenceError: the target lies inside a source.
    """
    control = control or Control()
    report = FolderReport(options=tuple(one.name for one in _checked(options, salt)))
    _check_apart(sources, target)
    paths = [path for source in sources for path in _files(Path(source))]
    control.begin(len(paths), unit="files", phase="de-identifying")
    made: set[Path] = set()
    for path in paths:
        control.check()
        try:
            dataset = _read(path)
            with _told(path):
                place = _place(dataset, target, salt)
            report.copies.append(_write(path, dataset, place, options, salt, made))
            made.add(report.copies[-1].target)
        except EvidenceError as error:
            report.left_out.append((path, REASONS.get(error.code, error.reason)))
        control.step()
    return report


def _checked(options: frozenset[str], salt: bytes) -> tuple[profile.Option, ...]:
    """The options, before any file is touched."""
    if not salt:
        raise ValueError("de-identification needs a secret key (salt)")
    return profile.checked(options)


def _check_apart(sources: Sequence[Path], target: Path) -> None:
    """Copies must not lie among their sources, where they would be taken for new ones."""
    for source in sources:
        if target.resolve().is_relative_to(Path(source).resolve()):
            reason = "the folder for the copies lies inside the source; choose another one"
            raise EvidenceError(target, "inside_source", reason)


def _files(source: Path) -> Iterator[Path]:
    """The files of a folder, recursively; members in place of an archive."""
    if source.is_dir():
        for one in sorted(source.iterdir()):
            if not one.name.startswith(".") and not (one.is_dir() and one.is_symlink()):
                yield from _files(one)
        return
    try:
        with open_file(source) as stream:
            packed = archive.is_archive(stream.read(352))
        members = list(archive.members(source)) if packed else [source]
    except (OSError, EvidenceError):
        members = [source]  # the reason is found, and told, when it is read
    yield from members


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What a library says about a file or its values, as a sentence of our own."""
    try:
        with quiet():
            yield
    except OSError as failure:
        raise of_system(path, failure) from failure
    except PARSE_ERRORS as failure:
        reason = "the DICOM file holds values that cannot be read; ask for it again"
        raise EvidenceError(path, "damaged", reason) from failure


def _read(path: Path) -> FileDataset:
    """A whole data set, judged first: damaged and cut files are not copied."""
    header = read_header(path)
    with _told(path):
        known = word(header.dataset, "SOPClassUID")
        if (known or _meta(header.dataset, "MediaStorageSOPClassUID")) == DIRECTORY:
            reason = "an index of a disc names patients and is not copied; make a new one"
            raise EvidenceError(path, "directory", reason)
        with open_file(path) as stream:
            return dcmread(stream, force=True)


def _meta(dataset: Dataset, keyword: str) -> str:
    return str(getattr(dataset, "file_meta", {}).get(keyword, "") or "")


def _place(dataset: Dataset, target: Path, salt: bytes) -> Path:
    """The name of a copy: tokens of patient, study, series and instance."""
    patient = pseudonym(dataset, salt)
    names = [
        token(patient or "", salt, purpose="deidentified patient") or "unnamed",
        study_token(dataset, salt) or "unnamed",
        series_token(dataset, salt) or "unnamed",
    ]
    uid = word(dataset, "SOPInstanceUID") or _content(dataset)
    name = token(uid, salt, purpose="instance") or "unnamed"
    return target.joinpath(*(name[:16] for name in names), f"{name[:24]}.dcm")


def _content(dataset: Dataset) -> str:
    """Something that tells apart files without an identifier of their own."""
    raw = dataset.get("PixelData") or b""
    return f"{integer(dataset, 'InstanceNumber')} {hashlib.sha256(raw).hexdigest()}"


def _write(
    source: Path, dataset: FileDataset, target: Path, options: frozenset[str], salt: bytes,
    made: set[Path],
) -> Copy:  # fmt: skip
    """Write one copy beside its name first, so that no half file has the real name.

    Where a file of that name is an earlier run's copy of the same, it is left as it is; where it
    is another, the copy gets a number. ``made`` are the copies of this run.
    """
    with _told(source):
        syntax = syntax_of(dataset)
        implicit, little = dataset.original_encoding
        own = {"implicit_vr": implicit, "little_endian": little} if syntax.is_private else {}
        out = deidentify(dataset, options=options, salt=salt)
        out.file_meta = _file_meta(dataset, out, syntax, salt)
        warnings = _warnings(dataset)
    half = target.with_name(f"{target.name}.part")
    try:
        with _told(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            dcmwrite(half, out, enforce_file_format=True, **own)
            target, known = _free(target, half, made)
            if not known:
                half.replace(target)
    finally:
        half.unlink(missing_ok=True)
    return Copy(source, target, warnings, known)


def _free(target: Path, half: Path, made: set[Path]) -> tuple[Path, bool]:
    """The first name that is free, or that an equal copy of an earlier run has (True)."""
    found, number = target, 1
    while found.exists():
        if found not in made and filecmp.cmp(half, found, shallow=False):
            return found, True
        number += 1
        found = target.with_name(f"{target.stem}-{number}.dcm")
    return found, False


def _file_meta(dataset: Dataset, out: Dataset, syntax: UID, salt: bytes) -> FileMetaDataset:
    """A new group 2: what a file must have, and nothing of the old one (PS3.10 7.1)."""
    if not word(out, "SOPClassUID"):
        named = _meta(dataset, "MediaStorageSOPClassUID")
        out.SOPClassUID = named if re.fullmatch(r"[0-9.]{1,64}", named) else SECONDARY_CAPTURE
    if not word(out, "SOPInstanceUID"):
        old = _meta(dataset, "MediaStorageSOPInstanceUID") or _content(dataset)
        out.SOPInstanceUID = new_uid(old, salt)
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = word(out, "SOPClassUID")
    meta.MediaStorageSOPInstanceUID = word(out, "SOPInstanceUID")
    meta.TransferSyntaxUID = syntax
    meta.ImplementationClassUID = IMPLEMENTATION
    meta.ImplementationVersionName = "TRIPTYCH"
    return meta


def _warnings(dataset: Dataset) -> tuple[str, ...]:
    """What still has to be looked at in a copy: its pixels are those of the source."""
    rows, columns = integer(dataset, "Rows"), integer(dataset, "Columns")
    shape = (max(1, integer(dataset, "NumberOfFrames", 1)), rows, columns)
    return warnings_of(
        dataset, kind="image" if rows and columns else "other",
        modality=modality_of(word(dataset, "Modality")),
        body_part=body_part_of(word(dataset, "BodyPartExamined")), shape=shape,
    )  # fmt: skip
