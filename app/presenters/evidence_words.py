"""An indexed object in words and as a reference to its picture. Plain functions, no Qt."""

from __future__ import annotations

from pathlib import Path

from app.shown import EvidenceShown, PreviewShown
from db.collections import EvidenceRow
from engine.evidence.item import ImageRef, VolumeRef

PICTURED = ("image", "volume", "cine")


def title_of(path: Path) -> str:
    """The last two parts of a path: the file alone often says too little."""
    return "/".join(path.parts[-2:]) if len(path.parts) > 2 else path.name


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
    """The reference whose thumbnail stands for an object; None if it has no picture."""
    if row.kind not in PICTURED:
        return None
    files = members_of(row)
    if row.kind == "image":
        return ImageRef(files[0])
    return VolumeRef(files, kind="series" if len(files) > 1 else "file")


def tile_of(row: EvidenceRow) -> EvidenceShown:
    """An object as a tile and a table row."""
    return EvidenceShown(
        key=str(row.id), title=title_of(row.path), kind=row.kind, form=row.form or "",
        modality=row.modality or "", size=size_of(row.shape), has_report=bool(row.text),
        problem=row.error_message or ("cannot be read" if row.kind == "error" else ""),
        snippet=" ".join((row.text or "")[:240].split()),
    )  # fmt: skip


def preview_of(row: EvidenceRow) -> PreviewShown:
    """An object with its facts."""
    return PreviewShown(
        key=str(row.id), title=title_of(row.path), facts=facts_of(row), text=row.text or "",
        notes=tuple(str(note) for note in row.details.get("notes") or ()),
        problem=row.error_message or "",
    )  # fmt: skip


def facts_of(row: EvidenceRow) -> tuple[tuple[str, str], ...]:
    """What is known about an object, without anything that names a patient."""
    details = row.details
    source = details.get("source") or {}
    facts = (
        ("Kind", row.kind),
        ("Modality", row.modality or ""),
        ("Body part", str(details.get("body_part") or "")),
        ("Size", size_of(row.shape)),
        ("Spacing", spacing_of(details.get("spacing_mm"))),
        ("Orientation", str(details.get("orientation") or "")),
        ("Window", window_of(details.get("window"), details.get("window_source"))),
        ("Object", str(source.get("object") or source.get("format") or "")),
        ("Files", str(len(row.files)) if len(row.files) > 1 else ""),
        ("Folder", str(row.path.parent)),
    )
    return tuple((name, value) for name, value in facts if value)


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
