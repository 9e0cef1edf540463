"""How a picture was taken, from its header: side, projection and plain numbers of the technique.

Owns which elements are read. Refuses free text: only defined terms, names of kernels and numbers
leave the header (PS3.3 C.7.3.1, C.8.3.1, C.8.7.1, C.8.11.5, C.8.11.7; PS3.16 CID 4014).
"""

from __future__ import annotations

import math
import re
from typing import Any

from pydicom.dataset import Dataset
from pydicom.multival import MultiValue

from engine.evidence.dicom import facts
from engine.evidence.terms import laterality_of, view_of

# Codes of mammographic views, in SNOMED's two spellings, as View Position writes them.
VIEW_CODES = {
    "R-10242": "CC", "399162004": "CC", "R-10226": "MLO", "399368009": "MLO",
    "R-10224": "ML", "399260004": "ML", "R-10228": "LM", "399352003": "LM",
}  # fmt: skip
SIDES = {"L": "L", "R": "R", "A": "A", "P": "P", "H": "S", "F": "I"}
AXES = {"L": "x", "R": "x", "A": "y", "P": "y", "S": "z", "I": "z"}
MOST_TESLA = 30.0
# element, words with the number in them
NUMBERS = (
    ("KVP", "{:g} kV"),
    ("XRayTubeCurrent", "{:g} mA"),
    ("Exposure", "{:g} mAs"),
    ("RepetitionTime", "TR {:g} ms"),
    ("EchoTime", "TE {:g} ms"),
    ("InversionTime", "TI {:g} ms"),
    ("FlipAngle", "flip {:g}°"),
    ("MagneticFieldStrength", "{:g} T"),
    ("SliceThickness", "{:g} mm thick"),
    ("GantryDetectorTilt", "tilt {:g}°"),
)
MOST_NUMBER = 99_999  # a series number beyond may be a date or an identifier
# Reconstruction kernels as makers name them. Words of letters alone are taken from this list
# only: any other could be a name.
KERNEL_WORDS = frozenset(
    ("A", "B", "C", "D", "E", "F", "L", "YA", "YB", "YC", "YD", "YE", "UA", "UB", "UC", "SOFT",
     "STANDARD", "STD", "BONE", "BONEPLUS", "LUNG", "DETAIL", "EDGE", "CHST", "CHEST", "SHARP",
     "SMOOTH", "ULTRA", "BRAIN", "HEAD", "BODY", "ABDOMEN")
)  # fmt: skip
KERNEL = re.compile(r"[A-Za-z]{1,3}[0-9]{1,3}[a-z]{0,2}")
LONGEST_KERNEL = 8
NO_CONTRAST = frozenset({"", "NO", "NONE", "N", "0", "NIL", "NA", "N/A", "NOCONTRAST", "WITHOUT"})


def taken(dataset: Dataset, *, kind: str, oriented: bool) -> dict[str, Any]:
    """Fields of ``Evidence`` on side, projection and rate.

    Args:
        dataset: the header.
        kind: of the evidence; only a cine has a rate.
        oriented: True if the geometry says the directions already.
    """
    return {
        "laterality": side_of(dataset),
        "view": projection_of(dataset),
        "directions": None if oriented else directions_of(dataset),
        "frame_ms": frame_ms_of(dataset) if kind == "cine" else None,
    }


def side_of(dataset: Dataset) -> str | None:
    """``L``, ``R``, ``B`` or ``U`` of the body part shown; None where the header says none."""
    for keyword in ("ImageLaterality", "Laterality", "FrameLaterality"):
        found = laterality_of(facts.word(dataset, keyword))
        if found is not None:
            return found
    return None


def projection_of(dataset: Dataset) -> str | None:
    """The view position (``PA``, ``LL``, ``CC``, ``MLO``, ...), by word or by code."""
    found = view_of(facts.word(dataset, "ViewPosition"))
    if found is not None:
        return found
    for item in dataset.get("ViewCodeSequence") or []:
        code = VIEW_CODES.get(facts.word(item, "CodeValue"))
        if code is not None:
            return code
    return None


def directions_of(dataset: Dataset) -> str | None:
    """Sides to which columns and rows of a projection run, ``LI`` (PS3.3 C.7.6.1.1.1).

    The standard's H and F are written S and I, as everywhere in this program; of an oblique
    direction (``PF``) the first letter counts. None unless two different axes are named.
    """
    value = dataset.get("PatientOrientation")
    words = [str(one).strip().upper() for one in value] if isinstance(value, MultiValue) else []
    letters = [SIDES.get(word[:1], "") for word in words]
    if len(letters) != 2 or len({AXES.get(letter, "") for letter in letters}) != 2:
        return None
    return "".join(letters) if all(letters) else None


def frame_ms_of(dataset: Dataset) -> float | None:
    """Milliseconds of one frame: its time, the mean of its vector, or the rates (PS3.3 C.7.6.5)."""
    for keyword in ("FrameTime", "FrameTimeVector"):
        values = [value for value in facts.numbers(dataset.get(keyword)) if value > 0]
        if values:
            return sum(values) / len(values)
    for keyword in ("RecommendedDisplayFrameRate", "CineRate"):
        values = facts.numbers(dataset.get(keyword))
        if values and values[0] > 0:
            return 1000.0 / values[0]
    return None


def technique_of(dataset: Dataset) -> tuple[str, ...]:
    """How the picture was taken: what tells series apart first, then numbers with their units.

    Zeros say nothing. Which series it is, its kernel, its echo and that a contrast agent was
    given are said; neither the agent nor any description is.
    """
    told = list(telling(dataset))
    for keyword, words in NUMBERS:
        values = facts.numbers(dataset.get(keyword))
        if not values or not math.isfinite(values[0]) or values[0] == 0:
            continue
        # Some old machines wrote gauss into a field of tesla; a wrong unit is worse than none.
        if keyword == "MagneticFieldStrength" and values[0] > MOST_TESLA:
            continue
        told.append(words.format(values[0]))
    return tuple(told)


def telling(dataset: Dataset) -> tuple[str, ...]:
    """What tells two series of one study apart: ``series 3``, ``kernel B70f``, ``echo 2``."""
    told = []
    for keyword, words in (("SeriesNumber", "series"), ("EchoNumbers", "echo")):
        values = facts.numbers(dataset.get(keyword))
        if values and values[0] == int(values[0]) and 0 <= values[0] <= MOST_NUMBER:
            told.append(f"{words} {int(values[0])}")
    kernel = kernel_of(facts.word(dataset, "ConvolutionKernel"))
    if kernel:
        told.append(f"kernel {kernel}")
    agent = facts.word(dataset, "ContrastBolusAgent").upper().replace(" ", "")
    if agent not in NO_CONTRAST:
        told.append("contrast agent")
    return tuple(told)


def kernel_of(word: str) -> str | None:
    """A reconstruction kernel that looks like one, None for anything else."""
    if len(word) > LONGEST_KERNEL:
        return None
    return word if word.upper() in KERNEL_WORDS or KERNEL.fullmatch(word) else None
