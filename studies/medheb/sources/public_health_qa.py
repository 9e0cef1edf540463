"""PublicHealthQA: frequent questions of health agencies with their answers, in eight languages.

Reads a language's table as CSV, JSON lines or parquet, or as queries and documents. Rows without a
question or an answer are faults. Names are made of the texts, so that they stay the same when rows
move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.parquet import WAYS, patterns, read_parquet, split_files
from studies.medheb.sources.retrieval import has_rows, joined, rows_of, triples
from studies.medheb.sources.tables import read_table
from studies.medheb.sources.words import Found, asked, name_of, telling, text_of

LANGUAGES = (
    "arabic", "chinese", "english", "french", "korean", "russian", "spanish", "vietnamese",
)  # fmt: skip
ALL = "all"
Pair = tuple[str, Any, Any]


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The pairs of the wanted languages."""
    wanted = LANGUAGES if settings["language"] == ALL else (settings["language"],)
    for language in wanted:
        yield from _language(root, {**settings, "language": language})


@telling
def _language(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    language, split = str(settings["language"]), "test" if settings["part"] == "all" else ""
    seen: set[str] = set()
    for one in _pairs(root, language):
        if isinstance(one, Fault):
            yield one
            continue
        where, question, answer = one
        made = asked(where, language, question, answer, split=split, stratum=language)
        if isinstance(made, Record):
            name = f"{language}/{name_of(*made.texts.values())}"
            if name in seen:
                yield Fault(where, "the same question and answer stood there already: left out")
                continue
            seen.add(name)
            group = f"{language}/{name_of(made.texts['question'])}"
            made = Record(name, group, split, texts=made.texts, stratum=language)
        yield made


def _pairs(root: Path, language: str) -> Iterator[Pair | Fault]:
    table = find_inside(root, f"{language}.csv")
    if table is not None:
        for line, row in read_table(table, ("question", "answer")):
            yield f"{table.name}, line {line}", row["question"], row["answer"]
        return
    if has_rows(root, [f"{language}-corpus"]):
        yield from _joined(root, language)
        return
    inner = split_files(root, "test", inside=f"{language}/")
    for part in inner:
        for number, row in read_parquet(part, ("question", "answer")):
            yield f"{part.name}, row {number}", row["question"], row["answer"]
    for one in () if inner else rows_of(root, (language,)):
        yield one if isinstance(one, Fault) else (
            one[0], one[1].get("question"), one[1].get("answer")
        )  # fmt: skip


def _joined(root: Path, language: str) -> Iterator[Pair | Fault]:
    relevant = (f"{language}-qrels", f"{language}-default")
    for one in triples(root, (f"{language}-corpus",), (f"{language}-queries",), relevant):
        if isinstance(one, Fault):
            yield one
            continue
        where, _, query, document = one
        try:
            yield where, text_of(query.get("text")), joined(document)
        except ValueError as error:
            yield Fault(where, str(error))


CARDS = (
    SourceCard(
        id="public_health_qa",
        title="PublicHealthQA",
        form="text",
        modality="text",
        anatomy="multi_region",
        access="open",
        licence="CC BY-NC-SA 3.0",
        url="https://huggingface.co/datasets/xhluca/publichealth-qa",
        obtain="Download data/english.csv (and the other languages) of xhluca/publichealth-qa from "
        "the hub; no account is needed.",
        files=(Remote("hub", "xhluca/publichealth-qa", ("*.csv",)),),
        expects=tuple(
            name
            for language in LANGUAGES
            for name in (
                *(f"{way}{language}.{kind}" for way in WAYS for kind in ("csv", "jsonl")),
                *(f"{way}{language}-corpus.jsonl" for way in WAYS),
                *patterns(language, f"{language}/test", f"{language}-corpus"),
            )
        ),
        read=read,
        plans=(
            TaskPlan("public_health_qa/t2t", "text", {"query": "question", "target": "answer"}),
        ),
        settings=(
            Choice(
                "language", "english", (ALL, *LANGUAGES),
                "one language, or all in one pool; the authors' is not stated",
            ),
            Choice(
                "part", "all", ("all", "share"),
                "all pairs are tested, or a share of them; the authors' is not stated",
            ),
        ),
    ),
)  # fmt: skip
