"""An indexed object in words and as a reference to its picture. Plain functions, no Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from app.shown import EvidenceShown, KinShown, PreviewShown
from db.collections import EvidenceRow
from engine.evidence.item import ImageRef, VolumeRef
from engine.evidence.words.sections import sections

PICTURED = ("image", "volume", "cine")
# the reader's words: short for a tile, and as a sentence with what to do
WARNINGS: Mapping[str, tuple[str, str]] = {
    "burned_in_text": ("text?", "Burned-in text possible: look at it before it leaves this place."),
    "head": ("face?", "May show a face: deface it before it leaves this place."),
    "head_unknown": ("face?", "May show a face: the file does not say which part of the body it "
                              "shows."),
}  # fmt: skip
BURNED_IN = ("burned-in text possible",)  # the note that says the same
KINDS = {"image": "Picture", "volume": "Volume", "cine": "Cine", "report": "Report",
         "document": "Document", "other": "Other", "error": "Cannot be read"}  # fmt: skip
SIDES = {"L": "left", "R": "right", "B": "both sides", "U": "unpaired"}
ARRAYS = ".npz"


def title_of(path: Path) -> str:
    """The last two parts of a path: the file alone often says too little."""
    parts = path.parts
    if len(parts) > 3 and parts[-3].lower().endswith(ARRAYS):  # x.npz/train/17
        return f"{parts[-3]}/{parts[-2]} {parts[-1]}"
    return "/".join(parts[-2:]) if len(parts) > 2 else path.name


def size_of(shape: tuple[int, ...] | None) -> str:
    """A shape in words: ``64 × 256 × 256``; one slice is not said."""
    if not shape:
        return ""
    sides = shape[:-1] if len(shape) == 4 else shape
    if len(sides) == 3 and sides[0] == 1:
        sides = sides[1:]
    return " × ".join(f"{side}" for side in sides)


def members_of(row: EvidenceRow) -> tuple[Path, ...]:
    """The files of an object."""
    return tuple(file.path for file in row.files) or (row.path,)


def picture_of_row(row: EvidenceRow) -> ImageRef | VolumeRef | None:
    """The reference whose thumbnail stands for an object; None if it has no picture.

    Of a series the middle file is enough, and reading the others would take its time.
    """
    if row.kind not in PICTURED:
        return None
    files = members_of(row)
    source = row.details.get("source") or {}
    if row.kind == "image" or (max(row.file_count, len(files)) > 1 and _dicom(source)):
        return ImageRef(files[len(files) // 2])
    return VolumeRef((row.path,), kind="file")


def _dicom(source: Mapping[str, object]) -> bool:
    return source.get("format") == "DICOM"


def warnings_of(row: EvidenceRow) -> tuple[str, ...]:
    """What an object's pixels may tell of a person, as sentences."""
    return tuple(WARNINGS.get(word, (word, word))[1] for word in row.warnings)


def tile_of(row: EvidenceRow, *, kin: int = 0) -> EvidenceShown:
    """An object as a tile and a table row.

    Args:
        row: the object.
        kin: how many objects its patient has in the collection, itself included.
    """
    source = row.details.get("source") or {}
    words = row.text or ("" if row.kind in PICTURED else str(source.get("object") or ""))
    short = dict.fromkeys(WARNINGS.get(word, (word, word))[0] for word in row.warnings)
    return EvidenceShown(
        key=str(row.id), title=title_of(row.path), kind=row.kind, form=row.form or "",
        modality=row.modality or "", size=size_of(row.shape), has_report=row.has_report,
        problem=row.error_message or ("cannot be read" if row.kind == "error" else ""),
        snippet=" ".join(words[:240].split()), body_part=row.body_part or "",
        warnings=tuple(short), kin=kin if kin > 1 else 0, tip=tip_of(row, kin=kin),
    )  # fmt: skip


def tip_of(row: EvidenceRow, *, kin: int) -> str:
    """Everything that a tile has no room for."""
    facts = [KINDS.get(row.kind, row.kind), row.modality, row.body_part, size_of(row.shape)]
    lines = [str(row.path), " · ".join(fact for fact in facts if fact)]
    if row.error_message:
        lines.append(row.error_message)
    if kin > 1:
        lines.append(f"{kin} objects of the same patient")
    if row.has_report and not row.text:
        lines.append("With a report in its study or folder")
    return "\n".join([*lines, *warnings_of(row)])


def preview_of(row: EvidenceRow) -> PreviewShown:
    """An object with its facts and the sections of its text."""
    notes = (str(note) for note in row.details.get("notes") or ())
    told = {row.error_message, *(BURNED_IN if "burned_in_text" in row.warnings else ())}
    return PreviewShown(
        key=str(row.id), title=title_of(row.path), facts=facts_of(row), text=row.text or "",
        notes=tuple(note for note in notes if note not in told),
        problem=row.error_message or "", warnings=warnings_of(row),
        pictured=row.kind in PICTURED,
        sections=parts_of(row.text or ""),
    )  # fmt: skip


def parts_of(text: str) -> tuple[tuple[str, str, str], ...]:
    """The sections of a report as (name, heading, words)."""
    return tuple((one.name, one.heading, one.text) for one in sections(text)) if text else ()


def kin_of(row: EvidenceRow, others: Sequence[EvidenceRow]) -> KinShown | None:
    """What else there is of an object's patient; None if nothing is known."""
    if not others:
        return None
    study = sum(row.study is not None and other.study == row.study for other in others)
    patient = sum(row.subject is not None and other.subject == row.subject for other in others)
    objects = "object" if max(patient, study) == 1 else "objects"
    if not patient:
        return KinShown(f"{study} other {objects} of the same study", can_filter=False)
    inside = "" if not study else f", {study} in the same study"
    return KinShown(f"{patient} other {objects} of the same patient{inside}")


def facts_of(row: EvidenceRow) -> tuple[tuple[str, str], ...]:
    """What is known about an object, without anything that names a patient."""
    details = row.details
    source = details.get("source") or {}
    count = max(row.file_count, len(row.files))
    facts = (
        ("Kind", row.kind),
        ("Modality", row.modality or ""),
        ("Body part", part_of(row)),
        ("Size", size_of(row.shape)),
        ("Time points", str(row.times) if row.times > 1 else ""),
        ("Spacing", spacing_of(details.get("spacing_mm"))),
        ("Orientation", str(details.get("orientation") or "")),
        ("Window", window_of(details.get("window"), details.get("window_source"))),
        ("Object", str(source.get("object") or source.get("format") or "")),
        ("Files", f"{count:,}" if count > 1 else ""),
        ("Folder", str(row.path.parent)),
    )
    return tuple((name, value) for name, value in facts if value)


def part_of(row: EvidenceRow) -> str:
    """Body part, side and projection in words: ``breast, left, MLO``."""
    side = SIDES.get(row.laterality or "", "")
    parts = [(row.body_part or "").lower(), side, row.view or ""]
    return ", ".join(part for part in parts if part)


def spacing_of(spacing: object) -> str:
    """Distances in millimetres, slices first; an unknown one is left out."""
    if not isinstance(spacing, (list, tuple)):
        return ""
    told = [f"{float(side):.3g}" for side in spacing if side]
    return f"{' × '.join(told)} mm" if told else ""


def window_of(window: object, source: object) -> str:
    """Center and width with where they come from."""
    if not isinstance(window, (list, tuple)) or len(window) != 2:
        return ""
    where = {"header": ", from the header", "derived": ", derived"}.get(str(source), "")
    return f"{float(window[0]):g} / {float(window[1]):g}{where}"
