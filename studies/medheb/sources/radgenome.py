"""RadGenome-Chest CT: chest CTs with sentences by region, and questions filled into templates.

``validation`` plays the test. Its tables hold values, no questions: one template is taken, the
first or by the row's hash. A finding stands at each level of its anatomy's path; the deepest of
each branch stays. There is no whole report, so a volume's sentences are joined in the file's order,
each once. Refuses to split lists of findings, which are answers as they are.
Reports pass ``scrubbed``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources import chest_ct
from studies.medheb.sources.chest_ct import plain, scan_of
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.scrubbed import scrubbed
from studies.medheb.sources.tables import read_table
from studies.medheb.sources.words import asked, merged, name_of, read_json

WHOLE = "whole scan"


@dataclass(frozen=True)
class Kind:
    """One kind of question.

    Attributes:
        name: of its templates.
        table: what its file's name ends in.
        named: column that fills ``{abnormality}``, empty for none.
        answer: column of the answer.
        template: taken where the source's own templates are not there.
    """

    name: str
    table: str
    named: str
    answer: str
    template: str


KINDS = (
    Kind("abnormality", "vqa_abnormality", "", "abnormality", "What is abnormal in the {region}?"),
    Kind("location", "vqa_location", "abnormality", "anatomy", "Where is the {abnormality}?"),
    Kind("size", "vqa_size", "abnormality", "size",
         "How large is the {abnormality} in the {region}?"),
    Kind("disorders", "case_disorders", "", "disorders", "Which disorders does the scan show?"),
    Kind("presence", "vqa_presence", "finding", "presence",
         "Is there {abnormality} in the {region}?"),
)  # fmt: skip
ASKED = {
    "informative": ("abnormality", "location", "size", "disorders"),
    "all": tuple(kind.name for kind in KINDS),
    **{kind.name: (kind.name,) for kind in KINDS},
}
Row = Mapping[str, str]


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a volume with its report, and one a question."""
    lent, there = _volumes(root)
    if not there:
        yield Fault(str(root), "there are no volumes of the validation part in it")
    named: set[str] = set()
    for make in (_reports, _questions):
        for found in make(root, settings, named):
            if isinstance(found, Fault):
                yield found
                continue
            name = found.key.split("/")[1]
            if name in there:
                how = str(settings["hu"])
                shown = chest_ct.lung_volume(lent + name, there[name], how=how)
                yield replace(found, volumes={"ct": shown})
    yield from chest_ct.not_there(named, there)


def _volumes(root: Path) -> tuple[str, dict[str, Path]]:
    """Its own resampled volumes, else CT-RATE's of the same names, which go to their own folder."""
    for folder, below in (("valid_preprocessed", ""), ("valid_fixed", "ct_rate/")):
        base = find_inside(root, folder)
        if base is not None:
            return below, chest_ct.first_reconstructions(base)
    return "", {}


def _rows(root: Path, stem: str, needs: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """A table of the part, by column names in lower case; a volume's name is written both ways.

    Raises:
        EvidenceError: it is missing, cannot be read, or lacks a column.
    """
    name = f"validation_{stem}.csv"
    path = find_inside(root, f"radgenome_files/{name}") or find_inside(root, name)
    if path is None:
        raise EvidenceError(name, "missing", "there is no such table")
    rows = [(line, {key.lower(): cell for key, cell in row.items()}) for line, row in
            read_table(path)]  # fmt: skip
    lacking = [name for name in ("volumename", *needs) if rows and name not in rows[0][1]]
    if lacking:
        raise EvidenceError(path, "unsupported", f"there is no column {', '.join(lacking)}")
    return rows


def _record(kind: str, name: str, rest: str = "") -> Record:
    found = scan_of(name)
    return Record(f"{kind}/{name}{rest}", name if found is None else found[0], "test")


def _reports(root: Path, settings: Mapping[str, Any], named: set[str]) -> Iterator[Record | Fault]:
    """The report of each volume, whatever the settings take for it."""
    try:
        texts = _findings(root) if settings["report"] == "ct_rate" else _sentences(root)
    except EvidenceError as error:
        yield Fault(error.path.name, error.reason)
        return
    for name, text in texts.items():
        if chest_ct.is_first(name) and text:
            named.add(name)
            yield replace(_record("report", name), texts={"report": scrubbed(text, (name,))})


def _sentences(root: Path) -> dict[str, str]:
    """The sentences of each volume in the file's order, each once."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for _, row in _rows(root, "region_report", ("sentence",)):
        sentence = " ".join(row["sentence"].split())
        if sentence:
            found[plain(row["volumename"])].setdefault(sentence.casefold(), sentence)
    return {name: " ".join(of.values()) for name, of in found.items()}


def _findings(root: Path) -> dict[str, str]:
    """The findings of CT-RATE's own reports."""
    path = find_inside(root, "radiology_text_reports/validation_reports.csv")
    if path is None:
        raise EvidenceError("validation_reports.csv", "missing", "there is no such table")
    rows = read_table(path, needs=("VolumeName", "Findings_EN"))
    texts = {plain(row["VolumeName"]): " ".join(row["Findings_EN"].split()) for _, row in rows}
    return {name: text for name, text in texts.items() if text.casefold() != "not given."}


def _questions(
    root: Path, settings: Mapping[str, Any], named: set[str]
) -> Iterator[Record | Fault]:
    yield from merged(_asked(root, settings, named))


def _asked(root: Path, settings: Mapping[str, Any], named: set[str]) -> Iterator[Record | Fault]:
    for kind in KINDS:
        if kind.name not in ASKED[str(settings["questions"])]:
            continue
        try:
            rows = _rows(root, kind.table, [*filter(None, (kind.named, kind.answer))])
            templates = _templates(root, kind)
        except EvidenceError as error:
            yield Fault(error.path.name, error.reason)
            continue
        kept = rows if settings["levels"] == "all" else list(_deepest(rows, kind))
        for line, row in kept:
            name = plain(row["volumename"])
            if not chest_ct.is_first(name):
                continue
            named.add(name)
            yield _question(kind, line, row, templates, settings)


def _question(
    kind: Kind, line: int, row: Row, templates: Sequence[str], settings: Mapping[str, Any]
) -> Record | Fault:
    name, anatomy = plain(row["volumename"]), row.get("anatomy", "")
    place = anatomy.split("/")[-1].strip() or WHOLE
    number = 0
    if settings["template"] == "hash":
        number = int(name_of(kind.name, name, *row.values()), 16) % len(templates)
    question = templates[number].replace("{region}", place)
    question = question.replace("{abnormality}", row.get(kind.named, "") if kind.named else "")
    answer = row.get(kind.answer, "")
    if kind.answer == "anatomy":
        answer = place if settings["location_answer"] == "name" or not anatomy else anatomy
    base = _record("vqa", name, f"/{kind.name}/{line}")
    where = f"validation_{kind.table}.csv, line {line}"
    if kind.named and not row.get(kind.named):
        return Fault(where, f"there is no {kind.named} to ask about")
    return asked(where, base.key, question, answer, group=base.group, stratum=kind.name)


def _deepest(
    rows: Sequence[tuple[int, dict[str, str]]], kind: Kind
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows without those that say the same of a coarser place of the same branch."""

    def said(row: Row) -> tuple[str, ...]:
        columns = ("volumename", kind.named, kind.answer if kind.answer != "anatomy" else "")
        return tuple(row.get(column, "") for column in columns)

    places: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for _, row in rows:
        places[said(row)].add(row.get("anatomy", ""))
    seen: set[tuple[str, ...]] = set()
    for line, row in rows:
        place = row.get("anatomy", "")
        finer = any(
            other != place and (not place or other.startswith(f"{place}/"))
            for other in places[said(row)]
        )
        if not finer and (*said(row), place) not in seen:
            seen.add((*said(row), place))
            yield line, row


def _templates(root: Path, kind: Kind) -> list[str]:
    """The source's own templates of a kind of question, else ours.

    Raises:
        EvidenceError: the file is damaged or holds no texts.
    """
    path = find_inside(root, f"qa_templates/{kind.name}_template.json")
    path = path or find_inside(root, f"qa_templates/{kind.name.removesuffix('s')}_template.json")
    if path is None:
        return [kind.template]
    document = read_json(path)
    if isinstance(document, dict):
        document = next((part for part in document.values() if isinstance(part, list)), None)
    texts = [text for text in document or () if isinstance(text, str) and text.strip()]
    if not texts:
        raise EvidenceError(path, "unsupported", "holds no templates")
    # what is asked for must not stand in the question
    told = [name for name, there in (("{region}", kind.answer != "anatomy"),
                                     ("{abnormality}", bool(kind.named))) if not there]  # fmt: skip
    return [text for text in texts if not any(name in text for name in told)] or [kind.template]


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which volumes and templates are taken."""
    own = find_inside(root, "valid_preprocessed") is not None
    worded = find_inside(root, "qa_templates") is not None
    return (
        f"Volumes: {'resampled (valid_preprocessed)' if own else 'those of CT-RATE, same names'}.",
        f"Questions: {'the templates of the source' if worded else 'templates of our own'}.",
    )


def _is_report(record: Record) -> bool:
    return record.key.startswith("report/")


def _is_question(record: Record) -> bool:
    return record.key.startswith("vqa/")


CHOICES = (
    Choice(
        "report", "sentences", ("sentences", "ct_rate"),
        "which text is the report is unknown: the volume's sentences joined, or CT-RATE's findings",
    ),
    Choice(
        "questions", "informative", tuple(ASKED),
        "which kinds the authors kept is unknown; presence is nearly always yes and left out",
    ),
    Choice(
        "levels", "deepest", ("deepest", "all"),
        "the same finding stands at every level of its anatomy: the deepest alone, or all",
    ),
    Choice(
        "template", "first", ("first", "hash"),
        "which wording of a question: the first, or one by the row's hash",
    ),
    Choice(
        "location_answer", "path", ("path", "name"),
        "a place as the table's path from coarse to fine, or its last name alone",
    ),
    Choice(
        "hu", "auto", ("auto", "header"),
        "volumes that do not look like Hounsfield units are refused, or taken as they are",
    ),
)  # fmt: skip
CARDS = (
    SourceCard(
        id="radgenome_chest_ct",
        title="RadGenome-Chest CT",
        form="3d",
        modality="chest CT with sentences by region and questions",
        anatomy="chest_thorax",
        access="registration",
        licence="CC BY-NC-SA 4.0, as of the CTs it is drawn from (the card has named CC BY 4.0)",
        url="https://huggingface.co/datasets/RadGenome/RadGenome-ChestCT",
        obtain="Log in, accept the terms, and download dataset/radgenome_files and "
        "dataset/valid_preprocessed, or put CT-RATE's valid_fixed beside the former.",
        expects=tuple(
            f"{way}validation_{stem}.csv" for way in ("", "*/", "*/*/", "*/*/*/")
            for stem in ("region_report", "vqa_*")
        ),
        read=read,
        stable=True,
        plans=(
            TaskPlan(
                "radgenome_chestct/i2r", "text", {"target": "report", "volume": "ct"}, _is_report
            ),
            TaskPlan(
                "radgenome_chestct_vqa/vqa", "text",
                {"query": "question", "target": "answer", "volume": "ct"}, _is_question,
            ),
        ),
        settings=CHOICES,
        aliases=("radgenome_chestct", "radgenome_chestct_vqa"),
        found=found,
    ),
)  # fmt: skip
