"""Small reports made on the spot: PDF pages, HL7 messages, structured reports."""

from __future__ import annotations

import zlib
from typing import Any

from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

SR_CLASS = "1.2.840.10008.5.1.4.1.1.88.33"


def pdf(pages: list[list[str]], *, packed: bool = False, content: bytes | None = None) -> bytes:
    """A PDF with lines of text on each page, or with the given content on each."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]  # fmt: skip
    kids = []
    for lines in pages:
        body = _page(lines) if content is None else content
        how = b" /Filter /FlateDecode" if packed else b""
        body = zlib.compress(body, 9) if packed else body
        objects.append(b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(body), how, body))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return _assembled(objects)


def _page(lines: list[str]) -> bytes:
    escaped = [one.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for one in lines]
    shown = b" ".join(b"(" + one.encode("cp1252") + b") Tj T*" for one in escaped)
    return b"BT /F1 12 Tf 72 720 Td 14 TL " + shown + b" ET"


def _assembled(objects: list[bytes]) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, at = len(objects) + 1, len(out)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    tail = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, at)
    return out + head + tail


def code(value: str, meaning: str, scheme: str = "DCM") -> Dataset:
    item = Dataset()
    item.CodeValue, item.CodingSchemeDesignator, item.CodeMeaning = value, scheme, meaning
    return item


def node(kind: str, name: Dataset | None, *children: Dataset, **elements: Any) -> Dataset:
    """One content item; ``relation`` is its relationship to its parent."""
    item = Dataset()
    item.RelationshipType = elements.pop("relation", "CONTAINS")
    item.ValueType = kind
    if name is not None:
        item.ConceptNameCodeSequence = Sequence([name])
    for keyword, value in elements.items():
        setattr(item, keyword, value)
    if children:
        item.ContentSequence = Sequence(children)
    return item


def number(name: Dataset, value: str, unit: Dataset, *children: Dataset, **more: Any) -> Dataset:
    measured = Dataset()
    measured.NumericValue = value
    measured.MeasurementUnitsCodeSequence = Sequence([unit])
    return node("NUM", name, *children, MeasuredValueSequence=Sequence([measured]), **more)


def structured(title: str, *children: Dataset, **elements: Any) -> Dataset:
    """A structured report, not yet written."""
    dataset = node("CONTAINER", code("126000", title), *children)
    dataset.SOPClassUID, dataset.Modality = SR_CLASS, "SR"
    for keyword, value in elements.items():
        setattr(dataset, keyword, value)
    return dataset
