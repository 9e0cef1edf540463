"""One DICOM file as ``Evidence``: what object it is, how its picture is to be shown.

Owns the judgement of kind (image, volume, cine, report, document, other) and the notes of a
single file. Refuses to group files: that is the business of ``series``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydicom.dataset import Dataset

from engine.errors import EvidenceError
from engine.evidence import dicom_facts as facts
from engine.evidence.arrange import Spot
from engine.evidence.dicom_read import PARSE_ERRORS, Header, read_header
from engine.evidence.failures import of_system, truncated
from engine.evidence.multiframe import frames_of
from engine.evidence.pdf import enclosed_text
from engine.evidence.quiet import quiet
from engine.evidence.sr import is_report, report_text
from engine.evidence.study import Evidence
from engine.evidence.technique import directions_of, projection_of, side_of, technique_of
from engine.evidence.terms import body_part_of, modality_of

SLICED = frozenset({"CT", "MR", "PT"})
SINGLE = frozenset({"CR", "DX", "MG", "IO", "PX", "RG", "XA", "RF", "US", "ES", "XC", "GM", "SM"})
COLOR = frozenset(
    {"RGB", "PALETTE COLOR", "YBR_FULL", "YBR_FULL_422", "YBR_RCT", "YBR_ICT", "YBR_PARTIAL_422",
     "YBR_PARTIAL_420"}
)  # fmt: skip
LIMIT_VALUES = 6_000_000_000
# Names and elements that tell pictures of one place apart, the most telling first.
LABELS = (
    ("temporal position", ("TemporalPositionIdentifier", "TemporalPositionIndex")),
    ("trigger time", ("TriggerTime",)),
    ("frame reference time", ("FrameReferenceTime",)),
    ("b-value", ("DiffusionBValue",)),
    ("gradient direction", ("DiffusionGradientOrientation",)),
    ("echo time", ("EchoTime",)),
    ("echo number", ("EchoNumbers",)),
    ("inversion time", ("InversionTime",)),
    ("flip angle", ("FlipAngle",)),
    ("acquisition number", ("AcquisitionNumber",)),
    ("acquisition time", ("AcquisitionDateTime", "AcquisitionTime")),
    ("content time", ("ContentTime",)),
)


@dataclass(frozen=True, eq=False)
class Instance:
    """One described DICOM file and what the grouping into series needs to know of it.

    Attributes:
        evidence: the file by itself.
        group: files with equal keys may form one series; None for those that never do.
        instance_uid: to find copies of one instance.
        spot: where it lies and what tells it apart from others of the same place.
    """

    evidence: Evidence
    group: tuple[object, ...] | None
    instance_uid: str
    spot: Spot


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
        evidence = _without_pixels(path, header, salt)
        return Instance(evidence, None, "", Spot(None, None, {}, 0.0))
    evidence = _picture(path, header, salt)
    spot = Spot(
        plane=facts.plane_of(dataset),
        along=_first(dataset, "SliceLocation"),
        labels=_labels(dataset),
        number=_first(dataset, "InstanceNumber") or 0.0,
    )
    group = _group_key(dataset, evidence, spot)
    return Instance(evidence, group, facts.word(dataset, "SOPInstanceUID"), spot)


def _first(dataset: Dataset, keyword: str) -> float | None:
    """The first number of an element."""
    found = facts.numbers(dataset.get(keyword))
    return found[0] if found else None


def _group_key(dataset: Dataset, evidence: Evidence, spot: Spot) -> tuple[object, ...] | None:
    """Series, space, size and kind of picture (not yet direction); None if it stands alone."""
    series = facts.word(dataset, "SeriesInstanceUID")
    if not series or evidence.kind != "image" or evidence.modality in SINGLE:
        return None
    placed = spot.plane is not None and spot.plane.position is not None
    sliced = "Secondary" not in evidence.source["object"] and evidence.modality in SLICED
    if not placed and not sliced:
        return None
    frame = frame_token(dataset)
    return (series, placed, frame, evidence.shape, evidence.photometric, _localizer(dataset))


def _localizer(dataset: Dataset) -> bool:
    """True for a scout picture, which never belongs to the slices planned on it."""
    return "LOCALIZER" in [str(one) for one in dataset.get("ImageType") or []]


def frame_token(dataset: Dataset) -> str | None:
    """A hash of the frame of reference: equal for pictures of one space, None if unnamed."""
    named = facts.word(dataset, "FrameOfReferenceUID")
    return hashlib.sha256(named.encode()).hexdigest()[:16] if named else None


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
    text, told = None, ""
    if is_report(dataset):
        kind, text = "report", report_text(dataset)
    elif name.startswith("Encapsulated"):
        enclosed = enclosed_text(dataset)
        kind, text, told = "document", enclosed.text, enclosed.sentence
    else:
        kind = "other"
    if name.startswith("DICOM object of") and kind == "other" and modality is None:
        raise EvidenceError(path, "no_picture", "the file holds no picture; copy it again")
    form = None if text is None else "text"
    notes = () if kind == "report" else tuple(filter(None, (f"{name}: holds no picture", told)))
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
    in_plane = None if found is None else found[0]
    frames = frames_of(dataset, shape[0], in_plane, frame_token(dataset))
    between = facts.slice_spacing(dataset) if frames.between is None else frames.between
    window, source, function = _window(dataset, color)
    photometric = facts.word(dataset, "PhotometricInterpretation") or "MONOCHROME2"
    return Evidence(
        path=path,
        members=(path,),
        kind=frames.kind,
        form="3d" if frames.kind == "volume" else "2d",
        modality=modality_of(facts.word(dataset, "Modality")),
        shape=(frames.slices, *shape[1:]),
        color=color,
        dtype=_dtype(dataset, header),
        window=window,
        window_source=source,
        display_inverted=photometric == "MONOCHROME1",
        spacing_mm=None if in_plane is None else (between, *in_plane),
        spacing_source=None if found is None else found[1],
        orientation=frames.orientation,
        notes=(*_notes(dataset, color=color), *frames.notes),
        source=_source(dataset, header),
        subject=facts.pseudonym(dataset, salt),
        photometric=photometric,
        window_function=function,
        aspect=facts.pixel_aspect(dataset, in_plane),
        body_part=body_part_of(facts.word(dataset, "BodyPartExamined")),
        laterality=side_of(dataset),
        view=projection_of(dataset),
        directions=None if frames.orientation else directions_of(dataset),
        technique=technique_of(dataset),
        times=frames.times,
        order=frames.order,
        geometry=frames.geometry,
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


def _labels(dataset: Dataset) -> dict[str, object]:
    """What may tell pictures of one place apart, by name, in order of trust."""
    found: dict[str, object] = {}
    for name, keywords in LABELS:
        for keyword in keywords:
            values = facts.numbers(dataset.get(keyword))
            if values:
                found[name] = tuple(values)
                break
    kind = dataset.get("ImageType")
    if kind:
        found["image type"] = tuple(str(one) for one in kind)
    return found


def _notes(dataset: Dataset, *, color: bool) -> tuple[str, ...]:
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
    dose = facts.numbers(dataset.get("DoseGridScaling"))
    if dose:
        notes.append(f"stored values; one unit is {dose[0]:g} of the dose unit")
    return tuple(notes)
