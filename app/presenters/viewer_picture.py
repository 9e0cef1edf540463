"""From decoded values to what a canvas shows, and what is said of them: titles, notes, problems.

Plain functions, no Qt. Owns the words; says nothing that names a patient.
"""

from __future__ import annotations

from dataclasses import replace

from app.failures import sentence
from app.widgets.content import Picture, eight_bit
from app.widgets.series_strip import SeriesRow
from engine.evidence.geometry import Geometry
from engine.evidence.identity.risks import SENTENCES
from engine.evidence.orient import stored_index, upright
from engine.evidence.pixels import MAX_SLICES, Seen, seen_slices
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import show_array

PICTURES = ("image", "volume", "cine")
WORDS = {"report": "Report", "document": "Document", "other": "Other", "error": "Cannot be read"}
PLANES = {"S": "axial", "I": "axial", "A": "coronal", "P": "coronal", "L": "sagittal",
          "R": "sagittal"}  # fmt: skip
SHORT_WARNINGS = {"burned_in_text": "burned-in text?", "head": "may show a face",
                  "head_unknown": "may show a face"}  # fmt: skip
TELLING = ("series ", "kernel ", "echo ", "contrast", "TE ")
FRAME_MS = 1000 / 15  # where a cine does not say its rate
DETECTOR = "ImagerPixelSpacing"  # also what Pixel Spacing repeats where nobody calibrated it
SAID_TWICE = "burned-in text possible"  # the warning says it at length
READ_BESIDE = "This object holds words only; they stand in the report beside."
NO_PICTURE = "This object holds nothing that can be shown."


def pictured(evidence: Evidence) -> bool:
    """True if it has a picture that can be read, as far as its header tells."""
    return evidence.kind in PICTURES and evidence.error is None


def picture_of(evidence: Evidence, pixels: Pixels, *, ready: object = None) -> Picture:
    """What a canvas shows of decoded values, the right way up.

    Args:
        evidence: what was found.
        pixels: its values, all or so far.
        ready: which slices are decoded, bool [Z] that another thread fills; None for all.
    """
    turned = upright(pixels)
    # Only the array may change hands: the rendering needs window, table and inversion alone.
    shown = replace(turned, times=None)
    spacing = turned.spacing_mm
    return Picture(
        array=turned.array,
        window=turned.window,
        render=lambda values, window: show_array(shown, values, window=window),
        aspect=turned.aspect,
        orientation=turned.orientation or evidence.directions,
        hounsfield=evidence.modality == "CT" and not turned.color,
        geometry=turned.geometry,
        overlays=turned.overlays,
        windows=turned.windows,
        marks=marks_of(evidence, len(turned.array)),
        ready=ready,  # type: ignore[arg-type]
        frame_ms=(evidence.frame_ms or FRAME_MS) if evidence.kind == "cine" else None,
        spacing_mm=None if spacing is None else (spacing[1], spacing[2]),
        spacing_source=DETECTOR if evidence.at_detector else evidence.spacing_source,
        unit="HU" if evidence.modality == "CT" and not turned.color else "",
        times=turned.times,
        token=evidence.series or str(evidence.members[0]),
        kind=evidence.kind,
        calibrated=turned.calibrated,
        padding=turned.padding,
        stored=stored_index(evidence, pixels),
    )


def marks_of(evidence: Evidence, slices: int) -> tuple[int, ...]:
    """The slices that a model sees; none for a single one."""
    if slices < 2:
        return ()
    several = len(seen_slices(evidence)) > 1
    return seen_slices(slices, MAX_SLICES if several else 1)


def model_picture(seen: Seen, picture: Picture | None) -> Picture:
    """Exactly what a model sees, in the place of the picture."""
    shown = eight_bit(seen.array)
    if picture is None:
        return shown
    rows, columns = picture.array.shape[1:3]
    ratio = (rows / columns) / (seen.array.shape[1] / seen.array.shape[2])
    return replace(
        shown,
        orientation=picture.orientation,
        aspect=picture.aspect * ratio,
        kind="model",
        geometry=_places_of(seen, picture),
    )


def _places_of(seen: Seen, picture: Picture) -> Geometry | None:
    """Where the slices that a model sees lie: those of the stored ones, unless it sees a part."""
    places = picture.geometry
    if places is None or seen.array.shape[1:3] != picture.array.shape[1:3]:
        return None
    if len(places.origin_Z3) != picture.slices or max(seen.indices) >= picture.slices:
        return None
    return replace(places, origin_Z3=places.origin_Z3[list(seen.indices)])


def row_of(evidence: Evidence) -> SeriesRow:
    """What the strip says of one object; never a patient's attribute."""
    problem = sentence(evidence.error) if evidence.error is not None else ""
    apart = apart_words(evidence)
    short = [SHORT_WARNINGS[word] for word in evidence.warnings if word in SHORT_WARNINGS]
    size = "  ".join(part for part in (window_words(evidence), size_words(evidence)) if part)
    return SeriesRow(
        title=name_of(evidence),
        detail=f"{size}  {evidence.path.name}".strip(),
        kind=evidence.kind,
        problem=problem.removeprefix(f"{evidence.path.name}: "),
        facts="  ".join(part for part in (*apart[:1], count_words(evidence), *apart[1:]) if part),
        technique="  ".join(evidence.technique),
        warning=", ".join(short) if not problem else "",
    )


def name_of(evidence: Evidence) -> str:
    """``CT, axial``; ``MG, L CC``; ``Report``."""
    if evidence.kind == "other" and evidence.source.get("object"):
        return evidence.source["object"].removesuffix(" Storage")
    if evidence.kind not in PICTURES:
        return WORDS.get(evidence.kind, evidence.kind)
    parts = [evidence.modality or {"image": "Picture", "cine": "Cine"}.get(evidence.kind, "Volume")]
    parts += [side_words(evidence), plane_of(evidence)]
    return ", ".join(part for part in parts if part)


def title_of(evidence: Evidence) -> str:
    """``CT, axial, 64 slices``."""
    count = count_words(evidence) if evidence.kind in PICTURES else ""
    return ", ".join(part for part in (name_of(evidence), count) if part)


def side_words(evidence: Evidence) -> str:
    """Laterality and view, ``L CC``; nothing for what is not a projection."""
    side = evidence.laterality if evidence.laterality in ("L", "R", "B") else None
    return " ".join(part for part in (side, evidence.view) if part)


def plane_of(evidence: Evidence) -> str:
    """``axial``, ``coronal`` or ``sagittal`` as slices run; empty where unknown or projected."""
    if evidence.orientation is None or len(evidence.orientation) < 3:
        return ""
    return PLANES.get(evidence.orientation[2].upper(), "")


def count_words(evidence: Evidence) -> str:
    """``64 slices``, ``30 frames``, with time points."""
    slices = evidence.shape[0] if evidence.shape else 1
    words = f"{slices} {'frames' if evidence.kind == 'cine' else 'slices'}" if slices > 1 else ""
    if evidence.times > 1:
        words = f"{words} x {evidence.times} times".strip()
    return words


def apart_words(evidence: Evidence) -> tuple[str, ...]:
    """What tells a series from the others of its study, short: ``series 3``, ``B70f``."""
    return tuple(
        one.removeprefix("kernel ").replace("contrast agent", "contrast")
        for one in evidence.technique
        if one.startswith(TELLING)
    )


def window_words(evidence: Evidence) -> str:
    """``W 1500 L -600`` where the header asks for it."""
    if evidence.window is None or evidence.window_source != "header" or evidence.color:
        return ""
    center, width = evidence.window
    return f"W {width:g} L {center:g}"


def size_words(evidence: Evidence) -> str:
    """``512 x 512``, columns first as screens are told."""
    return f"{evidence.shape[2]} x {evidence.shape[1]}" if evidence.shape else ""


def heading_of(evidence: Evidence) -> str:
    """A frame's title: what it is, what tells it apart, body part, technique, the file's name."""
    body = (evidence.body_part or "").capitalize()
    apart = "  ".join(apart_words(evidence))
    technique = "  ".join(one for one in evidence.technique if not one.startswith(TELLING))
    size = size_words(evidence)
    parts = (title_of(evidence), apart, body, size, technique, evidence.path.name)
    return "   ".join(part for part in parts if part)


def nothing_to_see(evidence: Evidence) -> str:
    """Why an object without a picture shows nothing, and what there is instead."""
    if evidence.text:
        return READ_BESIDE
    said = "; ".join(evidence.notes)
    return f"{NO_PICTURE} {said[:1].upper()}{said[1:]}." if said else NO_PICTURE


def warned(evidence: Evidence) -> tuple[str, ...]:
    """Sentences of what may still name a person."""
    return tuple(SENTENCES[word] for word in evidence.warnings if word in SENTENCES)


def notes_of(evidence: Evidence, pixels: Pixels | None = None) -> tuple[str, ...]:
    """Everything that a reader should know, warnings first, without doubles."""
    derived = pixels is not None and pixels.window_source == "derived" and not pixels.color
    known = ("window derived from the values: the file names none",) if derived else ()
    warns = tuple(f"▲ {words}" for words in warned(evidence))
    notes = [one for one in evidence.notes if not (warns and one == SAID_TWICE)]
    seen = () if pixels is None else pixels.notes
    return tuple(dict.fromkeys((*warns, *notes, *seen, *known)))
