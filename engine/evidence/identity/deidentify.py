"""De-identification of DICOM data sets by the Basic Profile of PS3.15 Annex E and its options.

Owns the walk over attributes, nested ones included, and what is written about it into the data
set. Refuses to touch pixels: burned-in text and faces stay, and are never claimed to be gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydicom.datadict import dictionary_has_tag, dictionary_VR, keyword_for_tag
from pydicom.dataelem import DataElement
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence
from pydicom.tag import BaseTag, Tag

from engine.evidence.dicom.facts import word
from engine.evidence.dicom.read import PARSE_ERRORS
from engine.evidence.identity import cleaning, profile
from engine.evidence.identity.profile import Action
from engine.evidence.identity.scrub import MARK, Scrubber
from engine.evidence.identity.tokens import pseudonym, shift_days, token
from engine.evidence.quiet import quiet
from engine.evidence.words import sr

TEXT = frozenset({"LO", "LT", "SH", "ST", "UC", "UT"})
LOOKED_AT = TEXT | {"SQ", "UI", "PN", "DA", "DT"}
# identifiers of rules and codes, not of instances
NO_INSTANCE = ("Class", "TransferSyntax", "CodingScheme", "ContextUID", "MappingResource",
               "ContextGroup", "Template", "Creator")  # fmt: skip
METHOD = "PS3.15 Annex E Basic Profile; pixels not treated"
DEPTH = 60
LENGTHS = {"SH": 16, "LO": 64}
NUMBER = re.compile(rb"[0-9a-fA-FinINE+\-., \\\0]*")
TIME = re.compile(rb"[0-9.:/+\- \\\0]*")
# what may stand in a value, a little wider than PS3.5 6.2
FORMS = {
    "UI": re.compile(rb"[0-9. \\\0]*"), "DS": NUMBER, "IS": NUMBER, "TM": TIME,
    "DA": TIME, "DT": TIME, "AS": re.compile(rb"[0-9DWMYdwmy \\\0]*"),
}  # fmt: skip


def deidentify(dataset: Dataset, *, options: frozenset[str], salt: bytes) -> Dataset:
    """A new data set by the Basic Profile with the named options; the given one is not changed.

    Args:
        dataset: a data set with or without pixels; its file meta is left out.
        options: names of ``profile.OPTIONS``.
        salt: secret key; equal keys give equal identifiers and equal shifts of dates.

    Raises:
        ValueError: no salt, an unknown option, or options that contradict each other.
    """
    chosen = profile.checked(options)
    if not salt:
        raise ValueError("de-identification needs a secret key (salt)")
    with quiet():
        work = _Work(options=options, salt=salt, days=_days(dataset, salt),
                     scrubber=sr.scrubber_of(dataset),
                     devices=None if "retain-device" in options else cleaning.devices_of(dataset),
                     )  # fmt: skip
        out = work.item(dataset, 0)
        _pseudonyms(dataset, out, salt)
        _statement(dataset, out, chosen)
    return out


def _fits(element: Any) -> bool:
    """True if a value holds what its representation may hold: a wrong length swallows names."""
    form = FORMS.get(element.VR)
    if form is None or element.value is None:
        return True
    value = element.value
    if not isinstance(value, bytes):
        many = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
        value = "\\".join(str(one) for one in many).encode("utf-8", "replace")
    return form.fullmatch(value) is not None


def _days(dataset: Dataset, salt: bytes) -> int:
    """How far dates move: by patient, or by study where the file names no patient."""
    days = shift_days(dataset, salt)
    if days is not None:
        return days
    seed = word(dataset, "StudyInstanceUID") or word(dataset, "SOPInstanceUID") or "unnamed"
    stand_in = Dataset()
    stand_in.PatientID = f"\0{seed}"
    return shift_days(stand_in, salt) or 0


def _pseudonyms(dataset: Dataset, out: Dataset, salt: bytes) -> None:
    """Patient and study as tokens: to tell them apart, and nothing else (action Z allows it)."""
    patient = pseudonym(dataset, salt)
    if patient is not None:
        short = token(patient, salt, purpose="deidentified patient") or ""
        out.PatientID = out.PatientName = short[:16].upper()


def _statement(dataset: Dataset, out: Dataset, chosen: tuple[profile.Option, ...]) -> None:
    """What was done, in the attributes that the standard has for it (PS3.15 E.1.1, E.3)."""
    done = [profile.BASIC, *((option.code, option.meaning) for option in chosen)]
    known = {code for code, _ in done}
    for item in dataset.get("DeidentificationMethodCodeSequence") or []:
        code = word(item, "CodeValue")
        if code in ("113101", "113102") and code not in known:  # an earlier tool's work on pixels
            done.append((code, word(item, "CodeMeaning")))
    names = {option.name for option in chosen}
    out.PatientIdentityRemoved = "YES"
    out.DeidentificationMethod = METHOD
    out.DeidentificationMethodCodeSequence = Sequence([_code(*one) for one in done])
    out.LongitudinalTemporalInformationModified = (
        "UNMODIFIED" if "retain-full-dates" in names
        else "MODIFIED" if "retain-modified-dates" in names else "REMOVED"
    )  # fmt: skip


def _code(value: str, meaning: str) -> Dataset:
    item = Dataset()
    item.CodeValue, item.CodingSchemeDesignator, item.CodeMeaning = value, "DCM", meaning
    return item


@dataclass(frozen=True, eq=False)
class _Work:
    """One data set under way."""

    options: frozenset[str]
    salt: bytes
    days: int
    scrubber: Scrubber
    devices: Scrubber | None
    unreadable: list[BaseTag] = field(default_factory=list)

    def item(self, source: Dataset, depth: int) -> Dataset:
        """A data set or item with every attribute judged."""
        out = Dataset()
        implicit, little = source.original_encoding
        out.set_original_encoding(implicit, little, source.original_character_set)
        if depth > DEPTH:
            return out
        for tag in sorted(source.keys()):
            # command and meta elements do not belong here; group lengths would be wrong
            if tag.group in (0x0000, 0x0002) or (tag.element == 0 and not tag.is_private):
                continue
            try:
                kept = self.element(source, tag, depth)
            except PARSE_ERRORS:
                self.unreadable.append(tag)
                continue
            if kept is not None and _fits(kept):
                out[tag] = kept
            elif kept is not None:
                self.unreadable.append(tag)
        self.creators(source, out)
        return out

    def element(self, source: Dataset, tag: BaseTag, depth: int) -> Any:
        """The attribute as it goes on, None if it goes."""
        if tag.is_private:
            return self.private(source, tag, depth)
        if tag.group >> 8 == 0x60 and not self.overlay(source, tag):
            return None
        action = profile.action_of(int(tag), self.options)
        if action is None:
            # names of files in the index of a disc are anybody's
            return None if tag.group == 0x0004 else self.unlisted(source, tag, depth)
        if action.code == "K":
            return self.kept(source, tag, depth)
        if action.code == "C":
            cleaned = self.cleaned(source, tag, action, depth)
            if cleaned is not None:
                return cleaned
        return self.taken(source, tag, action.basic, depth)

    def taken(self, source: Dataset, tag: BaseTag, code: str, depth: int) -> Any:
        """D, Z, X and U."""
        if code == "X":
            return None
        element = source[tag]
        if code == "Z":
            return DataElement(tag, element.VR, [] if element.VR == "SQ" else None)
        if code == "U":
            return self.kept(source, tag, depth) if element.VR == "SQ" else self.renamed(element)
        if tag == Tag("ContentSequence"):
            return DataElement(tag, "SQ", Sequence([_nothing_said()]))
        if tag == Tag("GraphicAnnotationSequence"):
            empty = [cleaning.without_text(Dataset())]
            return DataElement(tag, "SQ", Sequence(empty))
        return DataElement(tag, element.VR, cleaning.dummy(element.VR, element.value, self.salt))

    def kept(self, source: Dataset, tag: BaseTag, depth: int) -> Any:
        """As it is; the items of a sequence are judged."""
        raw = source.get_item(tag)
        if (raw.VR or dictionary_VR(tag)) not in ("SQ", "UN"):
            return raw
        element = source[tag]
        if element.VR != "SQ":
            return raw
        items = [self.item(one, depth + 1) for one in element.value or []]
        return DataElement(tag, "SQ", Sequence(items))

    def renamed(self, element: DataElement) -> DataElement:
        """An identifier replaced by its salted stand-in, value by value."""
        value = element.value
        if value is None or isinstance(value, str):
            return DataElement(element.tag, "UI", cleaning.new_uid(str(value or ""), self.salt))
        many = [cleaning.new_uid(str(one), self.salt) for one in value]
        return DataElement(element.tag, "UI", many)

    def unlisted(self, source: Dataset, tag: BaseTag, depth: int) -> Any:
        """Attributes that the table does not name: kept, if nothing in them can name a person."""
        if not dictionary_has_tag(tag) and tag.group >> 8 != 0x60:
            return None
        raw = source.get_item(tag)
        if (raw.VR or dictionary_VR(tag)) not in LOOKED_AT | {"UN"}:
            return raw
        element = source[tag]
        vr = element.VR
        if vr == "PN":
            return DataElement(tag, vr, None)
        if vr == "UI" and "retain-uids" not in self.options:
            named = keyword_for_tag(tag)
            return element if any(one in named for one in NO_INSTANCE) else self.renamed(element)
        if vr in ("DA", "DT"):
            return self.dated(element) or DataElement(tag, vr, cleaning.dummy(vr, None, self.salt))
        if vr in TEXT:
            return self.scrubbed(element, raw)
        return self.kept(source, tag, depth)

    def scrubbed(self, element: DataElement, raw: Any) -> Any:
        """Free text without what the header calls the patient or, if not asked, the device."""
        value = element.value
        if isinstance(value, str):
            clean = self.clean(value)
            return raw if clean == value else DataElement(element.tag, element.VR, clean)
        many = [self.clean(str(one)) for one in value or []]
        unchanged = many == [str(one) for one in value or []]
        return raw if unchanged else DataElement(element.tag, element.VR, many)

    def clean(self, text: str) -> str:
        """Words without names, numbers and dates of the header."""
        known = self.scrubber.clean(text)
        return known if self.devices is None else cleaning.without_serials(known, self.devices)

    def dated(self, element: DataElement) -> DataElement | None:
        """A date as the options ask: kept, moved, or None."""
        if "retain-full-dates" in self.options:
            return element
        if "retain-modified-dates" not in self.options:
            return None
        value = element.value
        many = [value] if isinstance(value, str) or value is None else list(value)
        found = [cleaning.moved(element.VR, str(one or ""), self.days) for one in many]
        if any(one is None for one in found) and any(many):
            return None
        return _of_values(element.tag, element.VR, found)

    def cleaned(self, source: Dataset, tag: BaseTag, action: Action, depth: int) -> Any:
        """What an option lets stay of a value; None where nothing can be said to be clean."""
        element = source[tag]
        if action.column == "modified_dates":
            return self.dated(element)
        if action.column == "structured":
            return self.content(element, depth)
        if action.column == "graphics":
            return self.graphics(element, source, tag, depth)
        if element.VR == "SQ" and action.column == "descriptors":
            return self.codes(element, depth)
        if action.column in ("descriptors", "patient") and element.VR in TEXT:
            value = element.value
            many = [value] if isinstance(value, str) or value is None else list(value)
            words = [self.words(one, element.VR) for one in many]
            kept = [one for one in words if one]
            return (
                DataElement(tag, element.VR, kept if len(kept) > 1 else kept[0]) if kept else None
            )
        return None

    def words(self, value: Any, vr: str) -> str:
        """The terms in a description; a patient may be called like one of them."""
        known = cleaning.known_words(self.scrubber.clean(str(value or "")))
        return known[: LENGTHS.get(vr, 1024)].strip()

    def codes(self, element: DataElement, depth: int) -> DataElement | None:
        """Codes of public schemes; other items are judged attribute by attribute."""
        items = [
            cleaning.known_code(one) if "CodeValue" in one else self.item(one, depth + 1)
            for one in element.value or []
        ]
        kept = [one for one in items if one is not None and len(one)]
        return DataElement(element.tag, "SQ", Sequence(kept)) if kept else None

    def content(self, element: DataElement, depth: int) -> DataElement | None:
        """Content items that are codes, numbers, outlines and references; words go."""
        if depth > DEPTH:
            return None
        kept = [one for source in element.value or [] if (one := self.content_item(source, depth))]
        return DataElement(element.tag, "SQ", Sequence(kept)) if kept else None

    def content_item(self, source: Dataset, depth: int) -> Dataset | None:
        """One content item, None if it speaks of a person, a day, or in free words."""
        kind = word(source, "ValueType")
        if sr.names_person(source) or kind in ("PNAME", "DATE", "TIME", "DATETIME"):
            return None
        for keyword in ("ConceptNameCodeSequence", "ConceptCodeSequence"):
            if any(cleaning.known_code(code) is None for code in source.get(keyword) or []):
                return None
        words = self.words(source.get("TextValue"), "UT")
        out = self.item(source, depth + 1)
        if kind == "TEXT":
            if not words or "clean-descriptors" not in self.options:
                return None
            out.TextValue = words
        if "ContentSequence" in source:
            below = self.content(source["ContentSequence"], depth + 1)
            out.pop("ContentSequence", None)
            if below is not None:
                out["ContentSequence"] = below
        return out

    def overlay(self, source: Dataset, tag: BaseTag) -> bool:
        """True for overlays that may stay: outlines of regions, if graphics are cleaned."""
        kind = source.get(Tag(tag.group, 0x0040))
        region = kind is not None and str(kind.value).strip() == "R"
        return region and "clean-graphics" in self.options

    def graphics(self, element: DataElement, source: Dataset, tag: BaseTag, depth: int) -> Any:
        """Outlines without words; overlay comments and curves go."""
        if element.VR == "SQ":
            items = [cleaning.without_text(one) for one in element.value or []]
            kept = [self.item(one, depth + 1) for one in items if "GraphicObjectSequence" in one]
            return DataElement(tag, "SQ", Sequence(kept)) if kept else None
        return source.get_item(tag) if tag.group >> 8 == 0x60 and tag.element == 0x3000 else None

    def private(self, source: Dataset, tag: BaseTag, depth: int) -> Any:
        """Private elements that the standard lists as safe, if they may stay."""
        if "retain-safe-private" not in self.options or tag.element < 0x1000:
            return None
        creator = source.get(Tag(tag.group, tag.element >> 8))
        named = "" if creator is None else str(creator.value).strip()
        vr = profile.safe_private().get((tag.group, tag.element & 0xFF, named))
        if vr is None or vr in ("LT", "ST", "UT", "PN", "DA", "DT"):
            return None
        if vr in ("SQ", "UI"):
            element = source[tag]
            if element.VR == "UI" and "retain-uids" not in self.options:
                return self.renamed(element)
            return self.kept(source, tag, depth) if vr == element.VR else None
        return source.get_item(tag)

    def creators(self, source: Dataset, out: Dataset) -> None:
        """The names of the blocks whose elements stayed."""
        blocks = {Tag(tag.group, tag.element >> 8) for tag in sorted(out.keys()) if tag.is_private}
        for block in blocks:
            out[block] = source.get_item(block)


def _nothing_said() -> Dataset:
    """The content item that stands for the content of a report."""
    item = Dataset()
    item.RelationshipType, item.ValueType = "CONTAINS", "TEXT"
    item.ConceptNameCodeSequence = Sequence([_code("121106", "Comment")])
    item.TextValue = MARK
    return item


def _of_values(tag: BaseTag, vr: str, many: list[Any]) -> DataElement:
    """An element of one value or of several."""
    return DataElement(tag, vr, many[0] if len(many) == 1 else many)
