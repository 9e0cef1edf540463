"""What a reader should know of a DICOM picture, in fixed sentences without free text.

Owns the collection of such sentences from all that the display pipeline looks at. Refuses to
decode: everything is found in the header and in the first bytes of the first frame.
"""

from __future__ import annotations

from pydicom.dataset import Dataset

from engine.evidence.dicom import facts
from engine.evidence.dicom.calibration import spacing_notes
from engine.evidence.dicom.codestream import read_stream
from engine.evidence.dicom.color import contradiction
from engine.evidence.dicom.layout import Layout, as_long_as
from engine.evidence.dicom.overlay import overlay_notes
from engine.evidence.dicom.presentation import presentation_notes
from engine.evidence.dicom.segmentation import segmentation_notes


def picture_notes(dataset: Dataset, layout: Layout) -> tuple[str, ...]:
    """Sentences that the header tells of one picture.

    Args:
        dataset: the header.
        layout: the form of its pixels.
    """
    notes = overlay_notes(dataset, layout.frames)
    if not layout.color:
        notes += presentation_notes(dataset) + _window_note(dataset, layout.frames)
    notes += _color_notes(dataset, layout) + spacing_notes(dataset) + _loss_note(dataset)
    notes += segmentation_notes(dataset, layout.frames)
    return tuple(notes + _scale_notes(dataset))


def _scale_notes(dataset: Dataset) -> list[str]:
    """Scales to physical units that are told and not applied."""
    notes = []
    dose = facts.numbers(dataset.get("DoseGridScaling"))
    if dose:
        notes.append(f"stored values; one unit is {dose[0]:g} of the dose unit")
    mapping = facts.item(dataset, "RealWorldValueMappingSequence") or facts.grouped(
        dataset, "RealWorldValueMappingSequence"
    )
    slope = facts.numbers(mapping.get("RealWorldValueSlope")) if mapping is not None else []
    shift = facts.numbers(mapping.get("RealWorldValueIntercept")) if mapping is not None else []
    scale = (slope[0], shift[0] if shift else 0.0) if slope else (1.0, 0.0)
    if scale not in ((1.0, 0.0), facts.rescale_of(dataset)):
        added = f" {'-' if scale[1] < 0 else '+'} {abs(scale[1]):g}" if scale[1] else ""
        notes.append(f"real world value: stored value x {scale[0]:g}{added}, not applied")
    return notes


def _window_note(dataset: Dataset, frames: int) -> list[str]:
    """Frames that ask for windows of their own."""
    if frames < 2 or "PerFrameFunctionalGroupsSequence" not in dataset:
        return []
    asked = {facts.window_of(dataset, frame) for frame in range(frames)}
    return ["frames have different windows; the first frame's is used"] if len(asked) > 1 else []


def _color_notes(dataset: Dataset, layout: Layout) -> list[str]:
    """Palettes that are not applied, and profiles."""
    notes = []
    if layout.samples == 3 and layout.stored > 8:
        notes.append(f"{layout.dtype.name} colour, shown with 8 bits")
    supplemental = "RedPaletteColorLookupTableDescriptor" in dataset and not layout.color
    if facts.word(dataset, "PixelPresentation") == "MIXED" or supplemental:
        notes.append("supplemental palette present, shown as grey")
    path = facts.item(dataset, "OpticalPathSequence")
    if layout.color and ("ICCProfile" in dataset or (path is not None and "ICCProfile" in path)):
        notes.append("colour profile (ICC) present, not applied")
    return notes


def stream_notes(layout: Layout, codestream: bytes) -> tuple[str, ...]:
    """Where the first frame's codestream says something else than the header.

    Args:
        layout: the form of the pixels by the header.
        codestream: the first bytes of the first frame, empty if it is not compressed.
    """
    stream = read_stream(codestream) if codestream else None
    if stream is None:
        return ()
    notes = []
    colors = contradiction(layout.photometric, stream, layout.samples)
    if colors is not None:
        notes.append(colors)
    grey = stream.components == 1 and stream.process == 0
    if grey and stream.signed != layout.signed:
        said = "signed" if stream.signed else "unsigned"
        notes.append(
            f"the codestream is {said}, the header says otherwise; shown is the reading that fits"
        )
    return tuple(notes)


def surplus_notes(layout: Layout, *, begun: int, length: int | None) -> tuple[str, ...]:
    """What a file holds beyond what its header announces.

    Args:
        layout: the form of the pixels by the header.
        begun: compressed frames that begin in it, 0 if it is not compressed.
        length: bytes of plain pixels, None if they are compressed or deflated.
    """
    if length is not None:
        layout = as_long_as(layout, length)
        begun = 8 * length // layout.bits
        row = layout.bits // layout.rows
        if begun == layout.frames and 8 * length - layout.bits * layout.frames >= max(row, 1024):
            return ("the pixels are more than the header announces; the rest is not shown",)
    if begun <= layout.frames:
        return ()
    return (f"the file holds {begun} frames, its header announces {layout.frames}",)


def _loss_note(dataset: Dataset) -> list[str]:
    """Compression that changed values, by how much if the file knows."""
    if facts.word(dataset, "LossyImageCompression") != "01":
        return []
    ratio = facts.numbers(dataset.get("LossyImageCompressionRatio"))
    return [f"compressed with loss{f', {ratio[-1]:g} to 1' if ratio and ratio[-1] > 0 else ''}"]
