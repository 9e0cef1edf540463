"""The lines above a report that say whom it is about: names, days of birth, numbers, addresses.

Owns the labels of such lines in the usual languages and what may stand behind each. Refuses to
touch what lies below the first heading of findings, save for the very words found above it, and
values that do not look like what their label says: "Patient: man with a cough" stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.evidence.identity.scrub import COMMON, MARK, Scrubber
from engine.evidence.identity.spelling import EASTERN
from engine.evidence.words.sections import sections

NOTE = "what the lines above the report call the patient was taken out"
MOST_LINES, MOST_LETTERS = 40, 8000
BELOW = ("findings", "impression", "recommendation")
LABELS = {
    "name": r"""
        name|full name|first name|last name|given name|family name|surname|pt\.? name|patient
        patient(?:'s|’s)? (?:full |first |last |family )?name|name of (?:the )?patient
        patientin|patient/in|patient(?:en)?name|name des patienten|vorname|nachname|familienname
        nom|prénom|prenom|nom de naissance|nom du patient|nom et prénom|patiente
        nombre|apellidos?|nombre y apellidos|nombre del paciente|paciente|nome|cognome
        nome e cognome|nome do paciente|paziente|naam|voornaam|achternaam|patiënt
        nazwisko|imię|imię i nazwisko|pacjent|jméno|příjmení|namn|navn|potilas|nimi|ad soyad
        фио|ф\.и\.о\.|пациент|фамилия|имя|姓名|患者姓名|病人姓名|氏名|患者名|患者氏名|이름|성명|환자명
        ονοματεπώνυμο|όνομα
    """,
    "date": r"""
        dob|d\.o\.b\.|date of birth|birth ?date|birth day|born|born on|geburtsdatum|geb\.?
        geb\. am|geboren|geboren am|geburtstag|date de naissance|né le|née le|né\(e\) le
        fecha de nacimiento|f\. ?nacimiento|nacido el|data di nascita|nato il|nata il
        data de nascimento|geboortedatum|data urodzenia|datum narození|födelsedatum|fødselsdato
        doğum tarihi|дата рождения|出生日期|出生年月|生年月日|생년월일|ημερομηνία γέννησης
    """,
    "number": r"""
        mrn|mr#|mr no\.?|med(?:ical)? ?rec(?:ord)?\.? ?(?:no\.?|number|num\.?|\#)?|patient ?id
        patient[- ]id(?:entifier)?|patient (?:no\.?|number|\#)|pat\.? ?id|pid
        hospital (?:no\.?|number)|unit (?:no\.?|number)|accession|accession (?:no\.?|number|\#)
        acc\.? ?(?:no\.?|\#)|ssn
        social security (?:no\.?|number)|nhs (?:no\.?|number)|insurance (?:no\.?|number|id)
        pat(?:ienten)?\.?-? ?(?:id|nr\.?|nummer)|fall-? ?(?:nr\.?|nummer)|aufnahmenummer
        versicherten(?:nr\.?|nummer)|ipp|nip|n° (?:de )?dossier|numéro de dossier|n° patient
        nhc|n\.?º? ?(?:de )?historia(?: clínica)?|historia clínica n\.?º|dni|codice fiscale
        id paziente|patiëntnummer|bsn|pesel|rodné číslo|personnummer|henkilötunnus
        снилс|номер карты|№ карты|病历号|住院号|门诊号|登记号|检查号|影像号|病案号|患者id|患者番号
        등록번호|환자번호
    """,
    "phone": r"""
        phone|telephone|tel\.?|mobile|fax|telefon|handy|téléphone|teléfono|telefono|telefone|телефон
        电话|联系电话|電話|電話番号|전화|전화번호
    """,
    "any": r"""
        address|home address|patient address|e-?mail|anschrift|adresse|wohnort|dirección|indirizzo
        endereço|adres|адрес|地址|家庭住址|住所|주소
    """,
}
_WORDS = {
    kind: "|".join(line.strip() for line in block.strip().splitlines())
    for kind, block in LABELS.items()
}
_KINDS = "|".join(f"(?P<{kind}>{words})" for kind, words in _WORDS.items())
# at the start of a line, or behind a gap, a bar or a comma on it
_END = (
    r"(?:\*\*)?[ \t]*(?:[:：](?:\*\*)?|(?<=geb\.)|(?<= am)|(?<= le)|(?<=born)|(?<=born on))[ \t]*"
)
LABEL = re.compile(
    r"(?:(?:^|(?<=[\n\r|;,\t]))[ \t]{0,20}|(?<=  ))(?=\S)(?:[*_#>•-]{1,3} ?)?"
    rf"(?:{_KINDS}){_END}",
    re.IGNORECASE,
)
NEXT = re.compile(rf"[ \t](?:{_KINDS})[ \t]*[:：][ \t]*", re.IGNORECASE)
_ANY = "|".join(_WORDS.values())
END = re.compile(rf"[\n\r\t|;]| {{2,}}| (?=(?:[^\s:：]{{1,12}}|{_ANY}) ?[:：])", re.IGNORECASE)
LINE_END = re.compile(r"[\n\r]|\Z")
DAY = re.compile(
    r"\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{2,4}|\d{8}|\d{4}\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]?"
    r"|\d{1,2}(?:st|nd|rd|th)?[. -]+[^\W\d_]{3,12}\.?,?[ -]+\d{4}"
    r"|[^\W\d_]{3,12}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
)
NUMBER = re.compile(r"#?(?=[\w/.-]*\d)[\w][\w/.-]*(?: \d[\w/.-]*)*")
PHONE = re.compile(r"[+(]?\d[\d ()/.-]{4,}")
WORD = (
    r"(?:[A-ZÀ-ÞŁŚŻŽŠČĆĐĘĄА-ЯЁΑ-ΩΆ-Ώ][^\W\d_]*(?:['’.-][^\W\d_]+)*\.?"
    r"|[odl]['’][A-Z][^\W\d_]+)"
)
PARTICLE = r"(?:v[ao]n|de[rnls]?|d[aiou]s?|la|le|ten|ter|zu[mr]?|al|el|bin|ibn|y|e|af|av)"
PERSON = re.compile(
    rf"(?:{PARTICLE} )*{WORD}(?:(?:[ ^]|, ?|=)+(?:{PARTICLE}|{WORD}))*(?=$|\s*[(\[,;/\d*]|\s+-)"
)
EAST = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3][\u3005\u3040-\u30ff\u3400-\u9fff"
                  r"\uac00-\ud7a3・ \u3000]{1,11}(?=$|\s*[(（,，;/\d])")  # fmt: skip
# words behind "Patient:" that describe and do not name
_NO_NAMES = """
    male female man woman boy girl child infant neonate adult elderly inpatient outpatient unknown
    stable anonymous anonymized anonymised deidentified redacted withheld none na yes no normal see
    not supine prone erect standing sitting cooperative position positioned information data
    details history name id number male/female männlich weiblich mann frau kind homme femme enfant
    hombre mujer niño uomo donna test the a an is was has with this ct mr mri us xr chest head
    abdomen pelvis brain spine thorax lung liver heart knee hip study phantom sample demo
    男 女 男性 女性 男童 女童 患者 不详
"""
NO_NAMES = frozenset(_NO_NAMES.split())


@dataclass(frozen=True)
class _Found:
    """A value that names somebody: where it stands, and what kind it is."""

    start: int
    end: int
    kind: str


def taken_out(text: str) -> tuple[str, bool]:
    """A report without the values of its identity lines.

    Returns:
        The text, and True if anything was taken out; an unchanged text is the same object.
    """
    found = list(_values(text[: _head(text)]))
    if not found:
        return text, False
    words = {one: text[one.start : one.end] for one in found}
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], MARK]
        at = one.end
    names = [_plain_words(words[one], text[at:]) for one in found if one.kind == "name"]
    numbers = [words[one] for one in found if one.kind != "name"]
    rest = Scrubber(names=names, numbers=numbers).clean(text[at:])
    return "".join(parts) + rest, True


def _head(text: str) -> int:
    """Where the lines above the report end."""
    top = text[:MOST_LETTERS]
    first = [one.start for one in sections(top) if one.name in BELOW]
    lines = list(re.finditer(r"\r\n|\r|\n", top))
    end = lines[MOST_LINES - 1].end() if len(lines) >= MOST_LINES else len(top)
    return min([end, *first])


def _values(head: str) -> Iterator[_Found]:
    """Values behind labels that look like what the label says."""
    at, label = 0, LABEL.search(head)
    while label is not None:
        at = label.end()
        stop = END.search(head, at)
        value = head[at : stop.start() if stop else len(head)]
        kind = label.lastgroup or "any"
        match, label = _match(kind, value), None
        if match is not None and not value.startswith("["):
            yield _Found(at + match.start(), at + match.end(), kind)
            at += match.end()
            line = LINE_END.search(head, at)  # more labels may stand on such a line
            label = NEXT.search(head, at, line.start() if line else len(head))
        label = label or LABEL.search(head, at)


def _match(kind: str, value: str) -> re.Match[str] | None:
    """The part of a value that names somebody; None if it is not what the label promises."""
    if kind == "date":
        return DAY.match(value)
    if kind == "phone":
        return PHONE.match(value)
    if kind == "any":
        return re.match(r"\S.*\S", value)
    if kind == "number":
        found = NUMBER.match(value)
        return found if found and len(found[0]) > 2 and any(map(str.isalnum, found[0])) else None
    found = EAST.match(value) or PERSON.match(value)
    if found is None or len(found[0]) > 60:
        return None
    words = [one.casefold() for one in re.split(r"[\s,^=.・]+", found[0]) if one]
    named = [one for one in words if one not in COMMON and (len(one) > 1 or EASTERN.search(one))]
    veiled = all(len(set(one)) == 1 for one in words)  # XXXX
    return found if named and not veiled and not NO_NAMES & set(words) else None


def _plain_words(name: str, rest: str) -> str:
    """The parts of a name that are no plain words of the report below: lung is not a person."""
    parts = re.split(r"[\s,^=]+", name)
    return "^".join(one for one in parts if not re.search(rf"\b{re.escape(one.lower())}\b", rest)
                    or EASTERN.search(one))  # fmt: skip
