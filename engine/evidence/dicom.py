"""One DICOM file as ``Evidence``: what object it is, how its picture is to be shown.

Owns the judgement of kind (image, volume, cine, report, document, other) and the notes of a
single file. Refuses to group files: that is the business of ``series``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydicom.dataset import Dataset

from engine.errors import EvidenceError
from engine.evidence import dicom_facts as facts
from engine.evidence.dicom_facts import Plane
from engine.evidence.dicom_read import PARSE_ERRORS, Header, read_header
from engine.evidence.failures import of_system, truncated
from engine.evidence.orient import letters
from engine.evidence.quiet import quiet
from engine.evidence.report import report_text
from engine.evidence.study import Evidence
from engine.evidence.terms import body_part_of, modality_of

CINE_MODALITIES = frozenset({"US", "IVUS", "XA", "RF", "ES", "GM", "OP", "XC", "DX", "CR"})
COLOR = frozenset(
    {"RGB", "PALETTE COLOR", "YBR_FULL", "YBR_FULL_422", "YBR_RCT", "YBR_ICT", "YBR_PARTIAL_422",
     "YBR_PARTIAL_420"}
)  # fmt: skip
LIMIT_VALUES = 6_000_000_000


@dataclass(frozen=True, eq=False)
class Instance:
    """One described DICOM file and what the grouping into series needs to know of it.

    Attributes:
        evidence: the file by itself.
        group: files with equal keys may form one series; None for those that never do.
        instance_uid: to find copies of one instance.
        plane: where it lies.
        order: numbers that tell apart files of one position (time, acquisition, instance).
    """

    evidence: Evidence
    group: tuple[object, ...] | None
    instance_uid: str
    plane: Plane | None
    order: tuple[float, ...]


def read_dicom(path: Path, *, salt: bytes = b"") -> Instance:
    """Describe one DICOM file from its header.

    Raises:
        EvidenceError: the file is not DICOM, damaged, cut short or absurdly large.
    """
    header = read_header(path)
    try:
        with quiet():
            return _describe(path, header, salt)
    except OSError as failure:
        raise of_system(path, failure) from failure
    except PARSE_ERRORS as failure:
        reason = "the DICOM header holds values that cannot be read; ask for the file again"
        raise EvidenceError(path, "damaged", reason) from failure


def _describe(path: Path, header: Header, salt: bytes) -> Instance:
    """Describe a parsed header; pydicom turns raw values into numbers only here."""
    dataset = header.dataset
    if header.pixel_tag is None:
        return Instance(_without_pixels(path, header, salt), None, "", None, ())
    evidence = _picture(path, header, salt)
    plane = facts.plane_of(dataset)
    order = tuple(
        (facts.numbers(dataset.get(keyword)) or [0.0])[0]
        for keyword in ("TemporalPositionIdentifier", "AcquisitionNumber", "InstanceNumber")
    )
    return Instance(
        evidence, _group_key(dataset, evidence, plane), facts.word(dataset, "SOPInstanceUID"),
        plane, (order[2], order[0], order[1]),
    )  # fmt: skip


def _group_key(
    dataset: Dataset, evidence: Evidence, plane: Plane | None
) -> tuple[object, ...] | None:
    """Series, size and kind of picture (not yet orientation); None if it stands alone."""
    series = facts.word(dataset, "SeriesInstanceUID")
    if not series or evidence.kind != "image":
        return None
    if plane is None and evidence.modality not in ("CT", "MR", "PT"):
        return None
    spacing = None if evidence.spacing_mm is None else evidence.spacing_mm[1:]
    return (series, plane is None, evidence.shape, evidence.photometric, evidence.dtype, spacing)


def _source(dataset: Dataset, header: Header) -> dict[str, str]:
    """The transfer syntax and the object's name."""
    name = facts.object_name(dataset)
    return {"transfer_syntax": str(header.syntax), "object": name, "format": "DICOM"}


def _without_pixels(path: Path, header: Header, salt: bytes) -> Evidence:
    """A DICOM object that holds no picture: a report, a document or something else."""
    dataset = header.dataset
    source = _source(dataset, header)
    name = source["object"]
    if "Rows" in dataset and "Columns" in dataset and "Image Storage" in name:
        reason = "the header announces a picture that the file does not hold; ask for it again"
        raise EvidenceError(path, "no_pixels", reason)
    modality = modality_of(facts.word(dataset, "Modality"))
    subject = facts.pseudonym(dataset, salt)
    if "ContentSequence" in dataset and modality == "SR":
        kind, form, text = "report", "text", report_text(dataset)
    elif name.startswith("Encapsulated"):
        kind, form, text = "document", None, None
    else:
        kind, form, text = "other", None, None
    if name.startswith("DICOM object of") and kind == "other" and modality is None:
        raise EvidenceError(path, "no_picture", "the file holds no picture; copy it again")
    notes = () if kind == "report" else (f"{name}: holds no picture",)
    return Evidence(
        path=path, members=(path,), kind=kind, form=form, modality=modality, text=text,
        notes=notes, source=source, subject=subject,
    )  # fmt: skip


def _picture(path: Path, header: Header, salt: bytes) -> Evidence:
    """A DICOM object with pixels."""
    dataset = header.dataset
    shape, color = _shape(path, dataset)
    _check_length(path, header, shape)
    found = facts.in_plane_spacing(dataset)
    planes = _planes(dataset, shape[0])
    spacing, spacing_source = _spacing(dataset, found, planes)
    window, source, function = _window(dataset, color)
    photometric = facts.word(dataset, "PhotometricInterpretation") or "MONOCHROME2"
    kind = _kind(dataset, shape[0], planes)
    return Evidence(
        path=path,
        members=(path,),
        kind=kind,
        form="3d" if kind == "volume" else "2d",
        modality=modality_of(facts.word(dataset, "Modality")),
        shape=shape,
        color=color,
        dtype=_dtype(dataset, header),
        window=window,
        window_source=source,
        display_inverted=photometric == "MONOCHROME1",
        spacing_mm=spacing,
        spacing_source=spacing_source,
        orientation=_orientation(planes),
        notes=_notes(dataset, planes, color=color),
        source=_source(dataset, header),
        subject=facts.pseudonym(dataset, salt),
        photometric=photometric,
        window_function=function,
        aspect=facts.pixel_aspect(dataset, None if found is None else found[0]),
        body_part=body_part_of(facts.word(dataset, "BodyPartExamined")),
    )


def _shape(path: Path, dataset: Dataset) -> tuple[tuple[int, ...], bool]:
    """[frames, rows, columns] with a last 3 for colour, and if it is colour."""
    rows, columns = facts.integer(dataset, "Rows"), facts.integer(dataset, "Columns")
    frames = max(1, facts.integer(dataset, "NumberOfFrames", 1))
    samples = facts.integer(dataset, "SamplesPerPixel", 1)
    if rows <= 0 or columns <= 0:
        raise EvidenceError(path, "damaged", "the header names no picture size; copy it again")
    if rows * columns * frames * samples > LIMIT_VALUES:
        reason = f"the header claims {frames} x {rows} x {columns} values, more than can be opened"
        raise EvidenceError(path, "too_large", reason)
    color = facts.word(dataset, "PhotometricInterpretation") in COLOR
    return ((frames, rows, columns, 3) if color else (frames, rows, columns)), color


def _check_length(path: Path, header: Header, shape: tuple[int, ...]) -> None:
    """Uncompressed pixels must be as many as the header claims."""
    if header.pixel_length is None:
        return
    dataset = header.dataset
    bits = facts.integer(dataset, "BitsAllocated", 16)
    if header.pixel_tag == 0x7FE00008:
        bits = 32
    elif header.pixel_tag == 0x7FE00009:
        bits = 64
    samples = float(facts.integer(dataset, "SamplesPerPixel", 1))
    if facts.word(dataset, "PhotometricInterpretation") == "YBR_FULL_422":
        samples = 2.0
    expected = int(shape[0] * shape[1] * shape[2] * samples * bits) // 8
    if header.pixel_length < expected:
        raise truncated(path)


def _dtype(dataset: Dataset, header: Header) -> str:
    """Number format of the stored values."""
    if header.pixel_tag == 0x7FE00008:
        return "float32"
    if header.pixel_tag == 0x7FE00009:
        return "float64"
    bits = max(8, facts.integer(dataset, "BitsAllocated", 16))
    return f"{'int' if facts.integer(dataset, 'PixelRepresentation') == 1 else 'uint'}{bits}"


def _window(dataset: Dataset, color: bool) -> tuple[tuple[float, float] | None, str | None, str]:
    """(center, width), where it comes from, and its function."""
    if color:
        return None, None, "linear"
    found = facts.window_of(dataset)
    if found is not None:
        return found[0], "header", found[1]
    lut = facts.voi_lut_of(dataset)
    if lut is not None:
        last = lut.first + len(lut.table) - 1
        return ((lut.first + last + 1.0) / 2.0, last - lut.first + 1.0), "lut", "linear"
    return None, "derived", "linear"


def _planes(dataset: Dataset, frames: int) -> list[Plane]:
    """The planes of all frames that have one."""
    found = (facts.plane_of(dataset, frame) for frame in range(frames))
    planes = [plane for plane in found if plane is not None]
    if frames > 1 and "PerFrameFunctionalGroupsSequence" not in dataset:
        return planes[:1]
    return planes


def _distances(planes: list[Plane]) -> list[float]:
    """Positions of frames along the normal of the first, in stored order."""
    if not planes:
        return []
    normal = planes[0].normal
    return [float(normal @ np.array(p.position)) for p in planes if p.position is not None]


def _spacing(
    dataset: Dataset, found: tuple[tuple[float, float], str] | None, planes: list[Plane]
) -> tuple[tuple[float, float, float] | None, str | None]:
    """(slice, row, column) distances; the first is 0 where a file knows none."""
    if found is None:
        return None, None
    (row, column), source = found
    between = facts.slice_spacing(dataset)
    steps = np.abs(np.diff(_distances(planes)))
    steps = steps[steps > 1e-3]
    if steps.size:
        between = float(np.median(steps))
    offsets = facts.numbers(dataset.get("GridFrameOffsetVector"))
    if len(offsets) > 1:
        between = float(np.median(np.abs(np.diff(offsets))))
    return (between, row, column), source


def _orientation(planes: list[Plane]) -> str | None:
    """Letters of columns, rows and slices; slices as the frames are stored."""
    if not planes:
        return None
    first = planes[0]
    along = _distances(planes)
    sign = -1.0 if len(along) > 1 and along[-1] < along[0] else 1.0
    return letters(np.array(first.columns), np.array(first.rows), sign * first.normal)


def _kind(dataset: Dataset, frames: int, planes: list[Plane]) -> str:
    """image, volume or cine."""
    if frames == 1:
        return "image"
    along = _distances(planes)
    if len({round(value, 3) for value in along}) > 1 or "GridFrameOffsetVector" in dataset:
        return "volume"
    modality = facts.word(dataset, "Modality")
    timed = bool(facts.numbers(dataset.get("FrameTime"))) or "FrameTimeVector" in dataset
    if timed or modality in CINE_MODALITIES:
        return "cine"
    return "volume" if modality in ("CT", "MR", "PT", "NM", "SEG", "RTDOSE") else "cine"


def _notes(dataset: Dataset, planes: list[Plane], *, color: bool) -> tuple[str, ...]:
    """What a reader should know, in fixed sentences without any value of free text."""
    notes = []
    modality = facts.word(dataset, "Modality")
    burned = facts.word(dataset, "BurnedInAnnotation")
    if burned == "YES" or (burned != "NO" and modality in ("US", "ES", "OT", "SC")):
        notes.append("burned-in text possible")
    if any(tag >> 24 == 0x60 and tag & 0xFFFF == 0x3000 for tag in map(int, dataset.keys())):
        notes.append("overlay graphics present, not shown")
    if facts.invalid_window(dataset) and not color:
        notes.append("the window in the header is not valid")
    if facts.word(dataset, "PixelPresentation") == "MIXED" or (
        "RedPaletteColorLookupTableDescriptor" in dataset and not color
    ):
        notes.append("supplemental palette present, shown as grey")
    along = _distances(planes)
    if along != sorted(along):
        notes.append("frames are stored against the slice normal or unsorted")
    dose = facts.numbers(dataset.get("DoseGridScaling"))
    if dose:
        notes.append(f"stored values; one unit is {dose[0]:g} of the dose unit")
    return tuple(notes)
