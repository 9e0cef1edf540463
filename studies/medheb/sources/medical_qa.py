"""MedicalQARetrieval: consumer health questions and the documents that answer them (from MedQuAD).

Some questions stand there several times with different documents: one of each is asked, or a right
answer would count as wrong. Documents are kept whole; models cut them at their own length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources.parquet import WAYS, patterns
from studies.medheb.sources.retrieval import joined, triples
from studies.medheb.sources.words import Found, asked, name_of, telling

RELEVANT = ("default", "qrels", "test")


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The questions with their documents."""
    split = "test" if settings["part"] == "all" else ""
    met: set[str] = set()
    keys: set[str] = set()
    for one in triples(root, ("corpus",), ("queries",), RELEVANT):
        if isinstance(one, Fault):
            yield one
            continue
        made = _asked(one, split, with_title=settings["title"] == "join")
        if not isinstance(made, Record):
            yield made
            continue
        if made.key in keys or (settings["repeats"] == "first" and made.group in met):
            yield Fault(made.key, "the same question stood there already: left out")
            continue
        keys.add(made.key)
        met.add(made.group)
        yield made


def _asked(
    one: tuple[str, str, Mapping[str, Any], Mapping[str, Any]], split: str, *, with_title: bool
) -> Found:
    where, query_id, query, document = one
    try:
        answer = joined(document, with_title=with_title)
    except ValueError as error:
        return Fault(where, str(error))
    key = f"{query_id}/{document.get('_id', document.get('id'))}"
    group = name_of(str(query.get("text") or "").strip())  # repeats of a question stay together
    return asked(where, key, query.get("text"), answer, group=group, split=split)


CARDS = (
    SourceCard(
        id="medical_qa",
        aliases=("medical_qa_retrieval",),
        title="MedicalQARetrieval",
        form="text",
        modality="text",
        anatomy="multi_region",
        access="open",
        licence="CC0 1.0 for the packaged set; MedQuAD itself: CC BY 4.0",
        url="https://huggingface.co/datasets/mteb/medical_qa",
        obtain="Download corpus.jsonl, queries.jsonl and default.jsonl of mteb/medical_qa from the "
        "hub; no account is needed.",
        files=(Remote("hub", "mteb/medical_qa", ("*.jsonl",)),),
        expects=(*(f"{way}corpus.jsonl" for way in WAYS), *patterns("corpus")),
        read=read,
        plans=(TaskPlan("medical_qa/t2t", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "part", "all", ("all", "share"),
                "all pairs are tested, or a share cut by question; the authors' is not stated",
            ),
            Choice(
                "repeats", "first", ("first", "keep"),
                "a question that stands there with several documents: the first, or each as if "
                "the others were wrong",
            ),
            Choice(
                "title", "join", ("join", "text"),
                "a document's title in front of its text, as the set's own benchmark, or not",
            ),
        ),
    ),
)  # fmt: skip
