"""Which columns of a table are the report: by their names first, by their length last.

Owns the names under which data sets keep texts and patients. Refuses every other column: numbers
of patients and studies, dates and labels never leave.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.evidence.identity.scrub import Scrubber
from engine.evidence.words.rows import DELIMITERS, PERSON, cells

WHOLE = (
    "report", "reporttext", "radiologyreport", "fullreport", "reportbody", "originalreport",
    "findingsandimpression", "text", "fulltext", "body", "content", "note", "notetext", "narrative",
    "befundtext", "befundbericht", "bericht", "rapport", "compterendu", "informe", "referto",
    "relatorio", "verslag",
)  # fmt: skip
# in the order in which a report is written
PARTS: Mapping[str, tuple[str, ...]] = {
    "Indication": ("indication", "history", "clinicalhistory", "clinicalindication", "reason",
                   "clinicalinformation", "indikation", "fragestellung", "anamnese"),
    "Technique": ("technique", "procedure", "examination", "technik"),
    "Comparison": ("comparison", "voruntersuchung", "vergleich"),
    "Findings": ("findings", "finding", "findingstext", "reportfindings", "befund", "befunde",
                 "resultats", "hallazgos", "reperti", "achados"),
    "Impression": ("impression", "impressions", "impressiontext", "conclusion", "conclusions",
                   "reportimpression", "beurteilung", "impresion", "conclusioni", "conclusao"),
    "Recommendation": ("recommendation", "recommendations", "empfehlung"),
}  # fmt: skip
OTHERS = (
    "caption", "captions", "description", "abstract", "sentence", "sentences", "summary",
    "transcription", "article", "passage",
)  # fmt: skip
PATIENTS = ("patientid", "subjectid", "patient", "subject", "pid", "mrn", "patid", "personid")
# long cells that are no text of a report, whatever their length
NO_TEXT = re.compile(PERSON.pattern + r"|path|file|url|uri|institution|hospital|street|city|device")
AROUND = frozenset({"section", "raw", "original", "clean", "cleaned", "en", "eng", "english", "de",
                    "es", "fr", "it"})  # fmt: skip
LEAST = 24.0  # letters that a column must have on average to be text


@dataclass(frozen=True)
class Choice:
    """Which columns make the text.

    Attributes:
        columns: (heading or empty, place of the column) in the order of the text.
        named: what to say of them, without a word that could stand in a table's cell.
        patient: the column with the patient's number, or None.
        persons: columns whose values are taken out of the text.
    """

    columns: tuple[tuple[str, int], ...]
    named: str
    patient: int | None
    persons: tuple[int, ...]

    def text(self, cells: Sequence[str]) -> str:
        """The report of one row, with headings where it is put together."""
        scrubber = Scrubber(
            names=[cells[at] for at in self.persons if at < len(cells) and _is_name(cells[at])],
            numbers=[cells[at] for at in self.persons if at < len(cells)],
        )
        parts = [(head, cells[at].strip()) for head, at in self.columns if at < len(cells)]
        told = [f"{head}:\n{body}" if head else body for head, body in parts if body]
        return scrubber.clean("\n\n".join(told))

    def patient_of(self, cells: Sequence[str]) -> str:
        """The patient's number in a row; only for a pseudonym."""
        known = self.patient is not None and self.patient < len(cells)
        return cells[self.patient].strip() if known and self.patient is not None else ""


def _is_name(cell: str) -> bool:
    return len(cell) < 80 and not any(one.isdigit() for one in cell)


def plain(name: str) -> str:
    """A column's name without case, spaces, signs, accents and what data sets put around it."""
    bare = unicodedata.normalize("NFKD", name.strip("\ufeff").casefold())
    bare = "".join(one for one in bare if not unicodedata.combining(one))
    words = [one for one in re.split(r"[\W_]+", bare) if one]
    if len(words) > 1 and words[0] in AROUND:
        words = words[1:]
    if len(words) > 1 and words[-1] in AROUND:
        words = words[:-1]
    return "".join(words)


def is_header(cells: Sequence[str]) -> bool:
    """True if a first row names columns: a known name, or short distinct words and no number."""
    names = [plain(cell) for cell in cells]
    if any(name in _known() for name in names):
        return all(len(cell) < 60 for cell in cells)
    words = all(name and len(cell) < 40 and not name.isdigit()
                for name, cell in zip(names, cells, strict=True))  # fmt: skip
    return words and len(set(names)) == len(names) and not any(" . " in cell for cell in cells)


def delimiter_of(header: str) -> str | None:
    """The delimiter that cuts a header into two names and more of which one is known as text."""
    for one in DELIMITERS:
        names = [plain(cell) for cell in cells(header.rstrip("\r\n"), one)]
        if len(names) > 1 and all(names) and set(names) & (_known() - set(PATIENTS)):
            return one
    return None


def _known() -> frozenset[str]:
    parts = [name for names in PARTS.values() for name in names]
    return frozenset([*WHOLE, *parts, *OTHERS, *PATIENTS])


def choose(
    header: Sequence[str] | None, rows: Sequence[Sequence[str]], *, by_length: str = "allowed"
) -> Choice | None:
    """The columns that make the text of each row.

    Args:
        header: the names of the columns, None if the table has none.
        rows: the first rows, to see which column is long.
        by_length: ``allowed``, or ``refused`` for files that may be anything but a table of texts
            (settings, side files of pictures): then only a name makes a column the text.

    Returns:
        None if no column is named as text and none is long enough to be one.
    """
    names = [plain(name) for name in header or ()]
    patient = next((names.index(one) for one in PATIENTS if one in names), None)
    persons = tuple(at for at, name in enumerate(names) if PERSON.search(name))
    long = _longest(names, rows) if by_length == "allowed" else None
    for found in (_by_name(names, rows), long):
        if found is not None:
            columns, named = found
            kept = tuple(at for at in persons if at not in {one for _, one in columns})
            return Choice(columns, named, patient, kept)
    return None


def _by_name(
    names: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[tuple[tuple[str, int], ...], str] | None:
    """A whole report, its sections, or another text, in this order."""
    for one in WHOLE:
        if one in names and _mean(rows, names.index(one)) >= 1:
            return (("", names.index(one)),), one
    sections = [
        (heading, names.index(name), name)
        for heading, known in PARTS.items() for name in known if name in names
    ]  # fmt: skip
    if any(heading in ("Findings", "Impression") for heading, _, _ in sections):
        single = len(sections) == 1
        return (
            tuple(("" if single else heading, at) for heading, at, _ in sections),
            ", ".join(name for _, _, name in sections),
        )
    long = [one for one in OTHERS if one in names and _mean(rows, names.index(one)) >= 1]
    return ((("", names.index(long[0])),), long[0]) if long else None


def _longest(
    names: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[tuple[tuple[str, int], ...], str] | None:
    """The column with the most words, if it is long enough to be text."""
    wide = max((len(row) for row in rows), default=0)
    means = [
        -1.0 if at < len(names) and NO_TEXT.search(names[at]) else _mean(rows, at, words=True)
        for at in range(wide)
    ]  # fmt: skip
    if not means or max(means) < LEAST:
        return None
    at = means.index(max(means))
    return (("", at),), f"column {at + 1}"


def _mean(rows: Sequence[Sequence[str]], at: int, *, words: bool = False) -> float:
    """The mean length of a column; of cells with a space only, where words are asked for."""
    cells = [row[at] for row in rows if at < len(row)]
    if words:
        cells = [cell if " " in cell.strip() or not cell.isascii() else "" for cell in cells]
    return sum(map(len, cells)) / max(1, len(cells))
