"""What stands in place of values that are taken out, and what is left of values that are cleaned.

Owns dummies, new identifiers, the vocabulary of descriptions and the rules for graphics. Refuses
to judge free text: a word stays only if it is on a closed list of terms.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import re
import uuid
from typing import Any

from pydicom.dataset import Dataset
from pydicom.sequence import Sequence
from pydicom.uid import UID

from engine.evidence.dicom.facts import word
from engine.evidence.identity.scrub import MARK, Scrubber
from engine.evidence.identity.tokens import date_of
from engine.evidence.terms import BODY_PARTS, MODALITIES

REMOVED = "REMOVED"  # where only capitals may stand; words have the mark of cleaned text
STANDARD_ROOT = "1.2.840.10008."
DUMMIES: dict[str, Any] = {
    "AE": REMOVED, "AS": "000Y", "CS": REMOVED, "DA": "19000101", "DS": "0",
    "DT": "19000101000000", "IS": "0", "LO": MARK, "LT": MARK, "PN": MARK, "SH": MARK,
    "ST": MARK, "TM": "000000", "UC": MARK, "UT": MARK, "UR": "urn:removed",
    "FL": 0.0, "FD": 0.0, "SL": 0, "SS": 0, "UL": 0, "US": 0, "SV": 0, "UV": 0, "AT": 0,
}  # fmt: skip
_WORDS = """
    A ABD ABDOMINAL ACQ ADC ANGIO ANGIOGRAPHY ANKLE ANT ANTERIOR AP ARTERIAL ARTERY ASL AX AXIAL B
    BASE BIOPSY BLADE BODY BOLD BOLUS BONE BREATH BREATHHOLD BRIDGE C CARDIAC CC CE CECT CERVICAL
    CINE CIRCLE COIL COLLIMATION CONT CONTRAST COR CORONAL CORR CORRECTED CRANIAL CTA DELAYED DIFF
    DIFFUSION DIXON DOPPLER DUAL DWI DYN DYNAMIC EARLY ECHO ENHANCED EPI EXAM EXPIRATION FAST FAT
    FFE FIESTA FIRST FLAIR FLASH FLOW FOV FRFSE FRONTAL FS FSE FSPGR FULL GATED GRADIENT GRAY GRE
    GREY HASTE HELICAL HIGH HR HRCT IMAGE IMAGES IN INFERIOR INSPIRATION INTERNAL INV INVERSION IR
    ISO ISOTROPIC IV KERNEL L LAT LATE LATERAL LAVA LEFT LOC LOCALIZER LOW LPO LS LUMBAR LUNG MAG
    MAGNITUDE MAP MAX MEAN MEDIUM MIN MINIP MIP ML MLO MM MPR MPRAGE MRA MRCP MRV NATIVE NATIV
    NECT NON NONE NORMAL OBL OBLIQUE OF ON OPP ORBITS OUT PA PARENCHYMA PC PD PDW PELVIC PERFUSION
    PHASE PLAIN PLANE PORTAL PORTALVENOUS POST POSTCONTRAST POSTERIOR PRE PRECONTRAST PRONE PROP
    PROPELLER PROTON PULMONARY R RAO RAPID REAL RECON RECONSTRUCTION REFORMAT REPEAT RESOLUTION
    RESTRICTED RIGHT ROUTINE RPO SAG SAGITTAL SCAN SCOUT SE SENSE SEQUENCE SERIES SHARP SHORT
    SLICE SLICES SMOOTH SOFT SPACE SPAIR SPGR SPIN SPIRAL STANDARD STIR STUDY SUB SUBTRACTION
    SUPERIOR SUPINE SURVEY SUSCEPTIBILITY SWI T T1 T1W T2 T2W TE TECHNIQUE TFE TFL THICK THIN
    THORACIC TI TIME TIRM TISSUE TOF TOMO TOPOGRAM TR TRA TRACE TRANSVERSE TRIGGERED TRUFI TSE
    TURBO UNENHANCED UPRIGHT VENOUS VIBE VIEW VIEWS VOLUME W WATER WEIGHTED WHOLE WINDOW WITH
    WITHOUT WO X XRAY
"""
VOCABULARY = frozenset(_WORDS.split()) | MODALITIES | BODY_PARTS
NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,2})?(?:MM|CM|ML|KV|KVP|MA|MAS|HU|S|SEC|MIN|T|D|X)?")
SCHEMES = frozenset({"DCM", "SCT", "SRT", "SNM3", "LN", "UCUM", "RADLEX", "FMA", "NCIT", "I9C",
                     "I10", "ICD10", "UMLS", "MA", "RADELEMENT", "IBSI"})  # fmt: skip
DEVICES = ("DeviceSerialNumber", "DetectorID", "PlateID", "CassetteID", "GeneratorID", "GantryID",
           "XRayDetectorID")  # fmt: skip
SERIAL = re.compile(
    r"(?i)\b((?:s\s?[/.]?\s?n|ser(?:ial|ien)?\.?(?:[\s-]?(?:number|nummer|no|nr|num|#))?)"
    r"(?:\s*[:=#.]\s*|\s+))"
    r"(?=[\w\-./]*\d)[^\W_][\w\-./]{2,}"
)
CODES = ("CodeValue", "LongCodeValue", "CodingSchemeDesignator", "CodingSchemeVersion",
         "CodeMeaning")  # fmt: skip


def new_uid(uid: str, salt: bytes) -> str:
    """The identifier that stands for another, equal each time; the standard's own names are kept.

    Returns:
        A UID below 2.25 (PS3.5 B.2), made of a salted hash.
    """
    plain = uid.strip("\0 ")
    registered = plain.startswith(STANDARD_ROOT) and UID(plain).name != plain
    if not plain or registered:
        return plain
    raw = hmac.new(salt, f"\0uid\0{plain}".encode(), hashlib.sha256).digest()
    return f"2.25.{uuid.UUID(bytes=raw[:16], version=5).int}"


def dummy(vr: str, value: Any, salt: bytes) -> Any:
    """A value without meaning that is valid for a value representation."""
    if vr == "SQ":
        return Sequence([_dummy_item(one, salt) for one in list(value or [])[:1]])
    if vr == "UI":
        first = value if isinstance(value, str) else next(iter(value or []), "")
        return new_uid(str(first), salt)
    return DUMMIES.get(vr, b"\0\0")


def _dummy_item(source: Dataset, salt: bytes) -> Dataset:
    """An item with the same attributes, all of them dummies."""
    item = Dataset()
    for element in source:
        if not element.tag.is_private:
            value = dummy(element.VR, element.value, salt)
            item.add_new(element.tag, element.VR, value)
    return item


def moved(vr: str, value: str, days: int) -> str | None:
    """A DA or DT value moved back by days; a TM value as it is; None if it cannot be moved."""
    if vr == "TM":
        return value
    day = date_of(value)
    if vr not in ("DA", "DT") or day is None:
        return None
    try:
        shifted = day - datetime.timedelta(days=days)
    except OverflowError:
        return None
    rest = value.strip()[8:] if value.strip()[:8].isdigit() else ""
    return f"{shifted:%Y%m%d}".rjust(8, "0") + (rest if vr == "DT" else "")


def known_words(text: str) -> str:
    """Those words of a description that are terms of anatomy or technique, or short numbers."""
    words = re.findall(r"[^\W_]+(?:\.\d+)?", text)
    return " ".join(one for one in words if one.upper() in VOCABULARY or _number(one))


def _number(word: str) -> bool:
    return NUMBER.fullmatch(word.upper()) is not None


def without_serials(text: str, known: Scrubber) -> str:
    """Words without serial numbers of devices: those of the header, and what is called one."""
    return SERIAL.sub(rf"\g<1>{MARK}", known.clean(text))


def devices_of(dataset: Dataset) -> Scrubber:
    """Finds the numbers by which a header names its devices."""
    return Scrubber(numbers=[word(dataset, keyword) for keyword in DEVICES])


def known_code(item: Dataset) -> Dataset | None:
    """A code with nothing but itself, if its scheme is a public one."""
    if str(item.get("CodingSchemeDesignator", "")).upper() not in SCHEMES:
        return None
    kept = Dataset()
    for keyword in CODES:
        if keyword in item:
            setattr(kept, keyword, item.get(keyword))
    return kept


def without_text(annotation: Dataset) -> Dataset:
    """A graphic annotation without its words: outlines stay, text objects go."""
    kept = Dataset()
    for keyword in ("GraphicLayer", "ReferencedImageSequence", "GraphicObjectSequence"):
        if keyword in annotation:
            kept.add(annotation[keyword])
    kept.GraphicLayer = REMOVED
    return kept
