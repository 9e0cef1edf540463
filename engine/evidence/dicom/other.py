"""DICOM objects without pixels as ``Evidence``: reports, documents, and whatever else there is.

Owns the judgement of what such an object is. Refuses to take a picture whose pixels are missing
for one of them.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import EvidenceError
from engine.evidence.dicom import dicomdir, facts
from engine.evidence.dicom.objects import sentence_of
from engine.evidence.dicom.picture import meta_class, source_of, tokens_of
from engine.evidence.dicom.read import Header
from engine.evidence.identity import tokens as identity
from engine.evidence.study import Evidence
from engine.evidence.terms import modality_of
from engine.evidence.words.pdf import enclosed_text
from engine.evidence.words.sr import is_report, report_text


def without_pixels(path: Path, header: Header, salt: bytes) -> Evidence:
    """Describe an object that holds no picture.

    Raises:
        EvidenceError: it announces a picture, or nothing at all.
    """
    dataset = header.dataset
    source = source_of(dataset, header)
    name = source["object"]
    if "Rows" in dataset and "Columns" in dataset and "Image Storage" in name:
        reason = "the header announces a picture that the file does not hold; ask for it again"
        raise EvidenceError(path, "no_pixels", reason)
    modality = modality_of(facts.word(dataset, "Modality"))
    text, told = None, ""
    if is_report(dataset):
        kind, text = "report", report_text(dataset)
    elif name.startswith("Encapsulated"):
        enclosed = enclosed_text(dataset)
        kind, text, told = "document", enclosed.text, enclosed.sentence
    else:
        kind = "other"
    uid = facts.word(dataset, "SOPClassUID") or meta_class(dataset)
    more: tuple[str, ...] = (sentence_of(uid), told)
    if uid == dicomdir.UID:
        more = dicomdir.notes_of(dicomdir.disc_of(path, dataset))
    if name.startswith("DICOM object of") and kind == "other" and modality is None:
        raise EvidenceError(path, "no_picture", "the file holds no picture; copy it again")
    notes = () if kind == "report" else (f"{name}: holds no picture", *filter(None, more))
    return Evidence(
        path=path, members=(path,), kind=kind, form=None if text is None else "text",
        modality=modality, text=text, notes=notes, source=source,
        warnings=identity.warnings_of(
            dataset, kind=kind, modality=modality, body_part=None, shape=None
        ),
        **tokens_of(dataset, salt),
    )  # fmt: skip
