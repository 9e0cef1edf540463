"""DICOM structured reports as readable text: headings, findings, numbers with their units.

Owns the walk through the content tree (PS3.3 C.17.3) and its lines: containers are headings,
modifiers stand in brackets, pictures are named as references. Refuses persons, identifiers and
dates: such items are left out, and the patient's own name and numbers are taken out of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydicom.dataset import Dataset
from pydicom.multival import MultiValue

from engine.evidence.dicom.facts import item, word
from engine.evidence.identity.scrub import Scrubber
from engine.evidence.words import charset

REPORT_CLASSES = "1.2.840.10008.5.1.4.1.1.88."
DEPTH, LIMIT_LINES = 40, 100_000
# who observed, on whom, under which number (PS3.16 TID 1003, 1004, 1006, 1007, 1008, 1020)
PERSONS = frozenset(
    {"121008", "121022", "121024", "121025", "121028", "121029", "121030", "121031", "121032",
     "121033", "121036", "121040", "121041", "121114", "121152", "128774", "128775", "113870",
     "113871", "113872", "110122", "110190", "111700", "111705", "111706", "111724"}
)  # fmt: skip
# who and with what it was written down: true, but nothing of the report
CONTEXT = frozenset({"121005", "121010", "121011", "121012", "121016", "121017"})
NAMED = re.compile(
    r"(patient|subject|mother|father|physician|doctor|radiologist|observer|operator|technologist"
    r"|technician|referr\w*|person)('s|s'|s)?\s+(full |last |first |birth ?)?"
    r"(name|id|identifier|date|number|phone|address|mrn|initials)\b|^(name|mrn|ssn|address|phone)$"
    r"|accession|date of birth|birth ?date|medical record|social security|health insurance",
    re.IGNORECASE,
)
PATIENT_NAMES = ("PatientName", "OtherPatientNames", "PatientBirthName", "PatientMotherBirthName",
                 "ResponsiblePerson")  # fmt: skip
PATIENT_NUMBERS = ("PatientID", "AccessionNumber", "MilitaryRank", "PatientTelephoneNumbers",
                   "MedicalRecordLocator")  # fmt: skip
DATES = ("PatientBirthDate", "StudyDate", "SeriesDate", "ContentDate", "InstanceCreationDate")
REFERENCES = {
    "IMAGE": "image reference", "WAVEFORM": "waveform reference", "COMPOSITE": "object reference",
    "TCOORD": "range of time",
}  # fmt: skip
SHAPES = {
    "POINT": "point", "MULTIPOINT": "points", "POLYLINE": "line", "CIRCLE": "circle",
    "ELLIPSE": "ellipse", "POLYGON": "polygon", "ELLIPSOID": "ellipsoid",
}  # fmt: skip


def is_report(dataset: Dataset) -> bool:
    """True for a structured report with content."""
    if "ContentSequence" not in dataset:
        return False
    return word(dataset, "SOPClassUID").startswith(REPORT_CLASSES) or (
        word(dataset, "Modality").upper() == "SR"
    )


def report_text(dataset: Dataset) -> str:
    """The words of a structured report.

    Returns:
        The title, then one content item a line, indented by depth; modifiers in brackets.
    """
    lines: list[str] = []
    title = _meaning(dataset, "ConceptNameCodeSequence")
    if title:
        lines.append(title)
    for child in _children(dataset):
        _walk(child, lines, 0)
    text = scrubber_of(dataset).clean("\n".join(lines))
    return _repaired(dataset, text)


def scrubber_of(dataset: Dataset) -> Scrubber:
    """What the header calls the patient, wherever it stands in the text."""
    numbers = [one for keyword in PATIENT_NUMBERS for one in _values(dataset, keyword)]
    for other in dataset.get("OtherPatientIDsSequence") or []:
        numbers.extend(_values(other, "PatientID"))
    return Scrubber(
        names=[one for keyword in PATIENT_NAMES for one in _values(dataset, keyword)],
        numbers=numbers,
        dates=[one for keyword in DATES for one in _values(dataset, keyword)],
    )


def _values(dataset: Dataset, keyword: str) -> list[str]:
    value = dataset.get(keyword)
    many = value if isinstance(value, (MultiValue, list)) else [value]
    return [str(one) for one in many if one]


def _children(node: Dataset) -> list[Dataset]:
    return list(node.get("ContentSequence") or [])


def _walk(node: Dataset, lines: list[str], depth: int) -> None:
    """Add a content item and what hangs below it."""
    if depth > DEPTH or len(lines) >= LIMIT_LINES or _left_out(node):
        return
    rest, line, below = _children(node), _told(node), depth
    if line:
        rest = [one for one in rest if not _is_modifier(one)]
        lines.append(_indented(line, depth))
        below = depth + 1
    if _flows(node, rest):
        running = [one for one in rest if word(one, "ValueType") != "CONTAINER"]
        lines.append(_indented(" ".join(_told(one, named=False) for one in running), below))
        deeper = [child for one in running for child in _children(one) if not _is_modifier(child)]
        rest = [*deeper, *rest[len(running) :]]
    for child in rest:
        _walk(child, lines, below)


def _told(node: Dataset, *, named: bool = True) -> str:
    """An item with its modifiers in brackets; empty if there is nothing to say."""
    line = _line(node) if named else _value(node) or ""
    brackets = "; ".join(_told(one) for one in _children(node) if _is_modifier(one))
    return f"{line} ({brackets})" if line and brackets else line


def _indented(text: str, depth: int) -> str:
    """All lines of a value moved in by its depth."""
    space = "  " * depth
    return "\n".join(space + one.rstrip() if one.strip() else "" for one in text.split("\n"))


def names_person(node: Dataset) -> bool:
    """True for an item whose name says that it is about a person or a hospital's number."""
    code, name = _code(node, "ConceptNameCodeSequence"), _meaning(node, "ConceptNameCodeSequence")
    return code in PERSONS or code in CONTEXT or NAMED.search(name) is not None


def _left_out(node: Dataset) -> bool:
    """True for items that speak of persons, numbers of the hospital, dates or instances."""
    kind = word(node, "ValueType")
    return kind in ("PNAME", "UIDREF", "DATE", "TIME", "DATETIME") or names_person(node)


def _is_modifier(node: Dataset) -> bool:
    """True for a plain code or word that qualifies the item above it."""
    if word(node, "RelationshipType") != "HAS CONCEPT MOD" or _left_out(node):
        return False
    value = (_value(node) or "") if word(node, "ValueType") in ("CODE", "TEXT") else ""
    return value != "" and "\n" not in value and all(map(_is_modifier, _children(node)))


def _flows(node: Dataset, rest: list[Dataset]) -> bool:
    """True for a container whose items are one running text (Continuity of Content)."""
    if word(node, "ValueType") != "CONTAINER" or word(node, "ContinuityOfContent") != "CONTINUOUS":
        return False
    if any(word(one, "RelationshipType") != "CONTAINS" or _left_out(one) for one in rest):
        return False
    kinds = [word(one, "ValueType") for one in rest]
    running = [kind for kind in kinds if kind != "CONTAINER"]
    if kinds[: len(running)] != running or not set(running) <= {"TEXT", "NUM", "CODE"}:
        return False
    return 2 * running.count("TEXT") >= len(running) > 1


def _line(node: Dataset) -> str:
    """One item as a line: name and value; empty if there is nothing to say."""
    name, kind = _meaning(node, "ConceptNameCodeSequence"), word(node, "ValueType")
    if "ReferencedContentItemIdentifier" in node:
        relation = word(node, "RelationshipType").lower()
        return f"{relation}: another part of this report" if relation else ""
    if kind == "CONTAINER":
        return name
    value = _value(node)
    if not value:
        return ""
    name = "" if name.casefold() == value.casefold() else name
    label = "inferred from " if word(node, "RelationshipType") == "INFERRED FROM" else ""
    return f"{label}{name}: {value}" if name else f"{label}{value}"


def _value(node: Dataset) -> str | None:
    """The words of an item; None for types that have none."""
    kind = word(node, "ValueType")
    if kind == "TEXT":
        text = str(node.get("TextValue", "") or "")
        return text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if kind == "CODE":
        return _meaning(node, "ConceptCodeSequence") or None
    if kind == "NUM":
        return _number(node)
    if kind == "IMAGE":
        return _picture(node)
    if kind in ("SCOORD", "SCOORD3D"):
        shape = SHAPES.get(word(node, "GraphicType"), "region")
        return f"{shape} {'in space' if kind == 'SCOORD3D' else 'drawn on an image'}"
    return REFERENCES.get(kind)


def _picture(node: Dataset) -> str:
    """A reference to a picture, with the frames it speaks of."""
    referenced = item(node, "ReferencedSOPSequence")
    frames = [] if referenced is None else _values(referenced, "ReferencedFrameNumber")
    which = f", frame{'s' if len(frames) > 1 else ''} {', '.join(frames[:20])}" if frames else ""
    return REFERENCES["IMAGE"] + which


def _number(node: Dataset) -> str | None:
    """A measurement with its unit, or why there is none."""
    measured = item(node, "MeasuredValueSequence")
    if measured is None:
        return _meaning(node, "NumericValueQualifierCodeSequence") or None
    number = " ".join(_values(measured, "NumericValue")).strip() or "0"
    unit = _code(measured, "MeasurementUnitsCodeSequence")
    if unit.startswith("{"):
        unit = _meaning(measured, "MeasurementUnitsCodeSequence") or unit.strip("{}")
    return number if unit.lower() in ("", "1", "no units", "unity") else f"{number} {unit}"


def _meaning(node: Dataset, keyword: str) -> str:
    """The meaning of the first code of a sequence."""
    found = item(node, keyword)
    return "" if found is None else str(found.get("CodeMeaning", "") or "").strip()


def _code(node: Dataset, keyword: str) -> str:
    """The value of the first code of a sequence."""
    found = item(node, keyword)
    return "" if found is None else word(found, "CodeValue")


def _repaired(dataset: Dataset, text: str) -> str:
    """Words of a file that names no character set and was not written in ASCII."""
    if text.isascii() or any(_character_sets(dataset)):
        return text
    try:
        found = charset.decode(text.encode("latin-1"))
    except UnicodeEncodeError:
        return text
    return text if found is None else found[0]


def _character_sets(dataset: Dataset) -> Iterator[str]:
    yield from _values(dataset, "SpecificCharacterSet")
    for child in _children(dataset):
        yield from _values(child, "SpecificCharacterSet")
