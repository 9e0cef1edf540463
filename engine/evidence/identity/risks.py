"""What in a picture may still name a person: burned-in text, and a head whose face can be rebuilt.

Owns the rules that read a header for both and the sentences that go with them. Refuses to look
at pixels, and never says that pixels are clean: no warning means that nothing was noticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pydicom.dataset import Dataset
from pydicom.multival import MultiValue

from engine.evidence.dicom.facts import groups, in_plane_spacing, numbers, word

SENTENCES: Mapping[str, str] = MappingProxyType({
    "burned_in_text": "burned-in text is possible: look at the picture before it leaves this place",
    "head": "a head may be in it, from which a face can be rebuilt: deface it before it leaves",
    "head_unknown": "the file does not say which part of the body it shows: it may hold a face",
})  # fmt: skip
NEVER_CLEAN = "pixels are not claimed clean: only header fields were treated"
PICTURES = frozenset({"image", "volume", "cine"})
# ultrasound, endoscopy, screens, cameras and scanners, which write words into the picture
TEXT_MODALITIES = frozenset(
    {"US", "IVUS", "BDUS", "ES", "OT", "SC", "XC", "DOC", "SCR", "BMD", "OPT", "OPV", "OPR", "IOL",
     "AR", "LEN", "KER", "SRF", "VA", "HD", "ECG", "EEG", "RG", "DF", "VF"}
)  # fmt: skip
CAPTURES = ("1.2.840.10008.5.1.4.1.1.7", "1.2.840.10008.5.1.4.1.1.7.")
SCREEN_WORDS = re.compile(
    r"SCREEN|DOSE.?INFO|DOSE.?REPORT|CAPTURE|PATIENT.?PROTOCOL|SCANNED|SECONDARY.?CAPTURE"
)
VOLUMES = frozenset({"CT", "MR", "PT", "NM"})
HEAD_PARTS = frozenset(
    {"HEAD", "BRAIN", "FACE", "SINUS", "NECK", "HEADNECK", "SKULL", "ORBIT", "EYE", "EYELID", "EAR",
     "IAC", "JAW", "MANDIBLE", "MAXILLA", "MOUTH", "NOSE", "SELLA", "SCALP", "ZYGOMA", "CHEEK",
     "TONGUE", "PAROTID", "SUBMANDIBULAR", "PHARYNX", "LARYNX", "CEREBELLUM", "CAROTID", "CSPINE",
     "WHOLEBODY", "NECKCHEST", "NECKCHESTABDOMEN", "NECKCHESTABDPELV", "CTSPINE", "CORNEA",
     "SCLERA"}
)  # fmt: skip
# Anatomic Region Sequence, PS3.16 CID 4031: SNOMED CT codes and the older SRT codes
_HEAD_CODES = """
    69536005 12738006 89545001 45048000 774007 89546000 91397008 2095001 363654007 81745001
    40638003 117590005 661005 70925003 91609006 45206002 74386004 123851003 74262004 53620006
    42575006 361078006 54066008 4596009 122494005 38266002 113305005
    T-D1100 T-A0100 T-D1200 T-D1600 T-D1000 T-11100 T-11196 T-22000 T-D0801 T-AA000 T-D0300
    T-AB000 T-D1213 T-11170 T-11180 T-21000 T-15770 T-A0193 T-11501 T-D0010 T-A6000
"""
HEAD_CODES = frozenset(_HEAD_CODES.split())
HEAD_WORDS = re.compile(
    r"HEAD|BRAIN|FACE|FACIAL|SINUS|NECK|SKULL|CRANI|CEREB|ORBIT|NEURO|STROKE|CRANE|TETE|TÊTE|CRÂNE"
    r"|KOPF|SCH(Ä|AE)DEL|HIRN|HALS|NNH|\bCCT\b|\bCCTA\b|CABEZA|CUELLO|CR(Á|A)NEO|TESTA|CRANIO"
    r"|ENCEFAL|MPRAGE|BRAVO|WHOLE.?BODY|\bWB\b|GANZK|TEMPORAL|PITUIT|MANDIB|DENTAL|\bEYE|\bFACE"
)
OTHER_WORDS = re.compile(
    r"KNEE|KNIE|GENOU|ABDOM|THORA|CHEST|LUNG|LIVER|LEBER|PELVI|BECKEN|PROSTAT|LUMB|\bLWS\b|\bBWS\b"
    r"|SPINE|HIP|H(Ü|UE)FT|FOOT|FUSS|ANKLE|HAND|WRIST|ELBOW|SHOULDER|SCHULTER|CARDIAC|HEART|HERZ"
    r"|BREAST|MAMM|KIDNEY|RENAL|COLON|CORONAR|FEMUR|TIBIA|PHANTOM|UTER|PANCREA|HEPAT|EXTREMIT"
)
DESCRIPTIONS = (
    "BodyPartExamined", "SeriesDescription", "ProtocolName", "StudyDescription",
    "RequestedProcedureDescription", "PerformedProcedureStepDescription", "ReceiveCoilName",
    "TransmitCoilName",
)  # fmt: skip
FIELD_MM = (140.0, 330.0)  # in-plane sizes of a field of view made for a head
LONG_MM = 700.0  # a scan this long reaches the head in most bodies


def warnings_of(
    dataset: Dataset | None,
    *,
    kind: str,
    modality: str | None,
    body_part: str | None,
    shape: tuple[int, ...] | None,
) -> tuple[str, ...]:
    """What a program must ask about before this evidence leaves the house.

    Args:
        dataset: the DICOM header; None for formats whose header names no body part.
        kind: ``image``, ``volume``, ``cine``, ``document``; all others hold no picture.
        modality: defined term or None.
        body_part: defined term or None.
        shape: [slices or frames, rows, columns, ...] or None.

    Returns:
        Words that are keys of ``SENTENCES``; empty means only that nothing was noticed.
    """
    if dataset is None:
        deep = kind == "volume" and shape is not None and shape[0] > 1
        return ("head_unknown",) if deep else ()
    if kind == "document":
        return () if word(dataset, "BurnedInAnnotation") == "NO" else ("burned_in_text",)
    if kind not in PICTURES:
        return ()
    found = []
    if _text_possible(dataset, modality):
        found.append("burned_in_text")
    if _face_possible(dataset, modality, body_part, shape):
        found.append("head")
    return tuple(found)


def _text_possible(dataset: Dataset, modality: str | None) -> bool:
    """True if words may stand in the picture: said so, or not denied by a device that writes."""
    said = word(dataset, "BurnedInAnnotation").upper()
    if said in ("YES", "NO"):
        return said == "YES"
    if _claims(dataset, "113101"):
        return False
    raw = modality or word(dataset, "Modality").upper()
    sop_class = word(dataset, "SOPClassUID")
    captured = sop_class == CAPTURES[0] or sop_class.startswith(CAPTURES[1])
    screen = any(SCREEN_WORDS.search(one) for one in _words(dataset, "ImageType"))
    # Conversion Type is an element of captured pictures only (PS3.3 C.8.6.1)
    return captured or screen or raw in TEXT_MODALITIES or bool(word(dataset, "ConversionType"))


def _face_possible(
    dataset: Dataset, modality: str | None, body_part: str | None, shape: tuple[int, ...] | None
) -> bool:
    """True if a face may be seen or rebuilt, unless the file says that it was taken out."""
    said = word(dataset, "RecognizableVisualFeatures").upper()
    if said in ("YES", "NO"):
        return said == "YES"
    if _claims(dataset, "113102"):
        return False
    if modality == "XC":
        return body_part is None or body_part in HEAD_PARTS | {"SKIN"}
    if modality not in VOLUMES:
        return False
    if body_part in HEAD_PARTS or any(code in HEAD_CODES for code in _regions(dataset)):
        return True
    words = " ".join(one for keyword in DESCRIPTIONS for one in _words(dataset, keyword))
    if HEAD_WORDS.search(words) or _length_mm(dataset, shape) >= LONG_MM:
        return True
    if body_part is not None or OTHER_WORDS.search(words):
        return False
    return modality == "PT" or _field_of_head(dataset, shape)


def _claims(dataset: Dataset, code: str) -> bool:
    """True if the file says that an option of PS3.15 Annex E was carried out."""
    methods = dataset.get("DeidentificationMethodCodeSequence") or []
    return any(word(method, "CodeValue") == code for method in methods)


def _words(dataset: Dataset, keyword: str) -> list[str]:
    """All values of an element in capitals; read here, never handed on."""
    value = dataset.get(keyword)
    many = value if isinstance(value, (MultiValue, list)) else [value]
    return [str(one).upper() for one in many if one]


def _regions(dataset: Dataset) -> Iterator[str]:
    """Codes of the anatomic regions, of the object and of its frames."""
    holders = [dataset]
    for group in groups(dataset):
        holders.extend(group.get("FrameAnatomySequence") or [])
    for holder in holders:
        for region in holder.get("AnatomicRegionSequence") or []:
            yield word(region, "CodeValue")


def _length_mm(dataset: Dataset, shape: tuple[int, ...] | None) -> float:
    """How far the slices reach, as far as one header tells; 0 if it does not."""
    if shape is None:
        return 0.0
    steps = numbers(dataset.get("SpacingBetweenSlices")) or numbers(dataset.get("SliceThickness"))
    return abs(steps[0]) * shape[0] if steps else 0.0


def _field_of_head(dataset: Dataset, shape: tuple[int, ...] | None) -> bool:
    """True if rows and columns span what a head needs and a trunk does not."""
    found = in_plane_spacing(dataset)
    if found is None or shape is None or len(shape) < 3:
        return False
    sizes = (shape[1] * found[0][0], shape[2] * found[0][1])
    return all(FIELD_MM[0] <= size <= FIELD_MM[1] for size in sizes)
