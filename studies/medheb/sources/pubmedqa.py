"""PubMedQA: abstracts without their conclusion, and the conclusion that belongs to each.

The test part is named by its own file of identifiers. Section names are left out of the query and
so is the conclusion; yes, no and maybe are not the answer here. Refuses to guess which items of a
copy without parts are the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.parquet import WAYS, patterns, read_parquet, split_files
from studies.medheb.sources.words import Found, read_json, telling, text_of

TRUTH = "test_ground_truth.json"


@dataclass(frozen=True)
class Subset:
    """One part of the set.

    Attributes:
        file: of the project's own layout.
        config: of the hub's copy.
    """

    file: str
    config: str


LABELED = Subset("ori_pqal.json", "pqa_labeled")
SUBSETS = {
    "test": LABELED,
    "labeled": LABELED,
    "artificial": Subset("ori_pqaa.json", "pqa_artificial"),
}
Row = tuple[str, Mapping[str, Any]]


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The items of the chosen subset."""
    name = str(settings["subset"])
    wanted = _test_part(root) if name == "test" else None
    met: set[str] = set()
    for pmid, row in _rows(root, SUBSETS[name]):
        if wanted is not None and pmid not in wanted:
            continue
        if pmid in met:
            yield Fault(pmid, "stands there twice; the first is taken")
            continue
        met.add(pmid)
        yield _record(pmid, row, with_question=settings["query"] == "question+context")
    for pmid in sorted((wanted or frozenset()) - met):
        yield Fault(pmid, f"is named by {TRUTH} and not there")


def _test_part(root: Path) -> frozenset[str]:
    path = find_inside(root, TRUTH)
    if path is None:
        says = (
            "it names the test part and is not there; take it from the project's repository, or "
            "set subset to labeled"
        )
        raise EvidenceError(root / TRUTH, "missing", says)
    document = read_json(path)
    if not isinstance(document, dict | list):
        raise EvidenceError(path, "unsupported", "is no table of identifiers")
    return frozenset(str(pmid) for pmid in document)


def _rows(root: Path, subset: Subset) -> Iterator[Row]:
    path = find_inside(root, subset.file)
    if path is not None:
        document = read_json(path)
        if not isinstance(document, dict):
            raise EvidenceError(path, "unsupported", "is no object with an entry for each item")
        yield from ((str(pmid), row) for pmid, row in document.items())
        return
    files = split_files(root, "train", inside=f"{subset.config}/")
    if not files:
        says = f"neither it nor the hub's folder {subset.config} is there"
        raise EvidenceError(root / subset.file, "missing", says)
    for part in files:
        for _, row in read_parquet(part, ("pubid", "context", "long_answer")):
            context = row["context"] if isinstance(row["context"], Mapping) else {}
            yield (
                str(row["pubid"]),
                {
                    "QUESTION": row.get("question"),
                    "CONTEXTS": context.get("contexts"),
                    "LONG_ANSWER": row["long_answer"],
                },
            )


def _record(pmid: str, row: Any, *, with_question: bool) -> Found:
    if not isinstance(row, Mapping):
        return Fault(pmid, "is no object with fields")
    try:
        passages = row.get("CONTEXTS") or []
        parts = [text_of(one) for one in ([passages] if isinstance(passages, str) else passages)]
        context, conclusion = " ".join(filter(None, parts)), text_of(row.get("LONG_ANSWER"))
        question = text_of(row.get("QUESTION")) if with_question else ""
    except (TypeError, ValueError) as error:
        return Fault(pmid, f"its texts cannot be read ({error})")
    if not context or not conclusion:
        return Fault(pmid, f"there is no {'conclusion' if context else 'context'}")
    texts = {"context": f"{question} {context}".strip(), "conclusion": conclusion}
    return Record(pmid, pmid, "test", texts=texts)


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which layout was read."""
    subset = SUBSETS[str(settings["subset"])]
    own = find_inside(root, subset.file) is not None
    return (f"Read from {subset.file if own else f'the copy of the hub, {subset.config}'}.",)


CARDS = (
    SourceCard(
        id="pubmedqa",
        title="PubMedQA",
        form="text",
        modality="text",
        anatomy="multi_region",
        access="open",
        licence="MIT",
        url="https://pubmedqa.github.io/",
        obtain="Take data/ori_pqal.json and data/test_ground_truth.json from the project's "
        "repository (or the copy qiaojin/PubMedQA of the hub with the latter); no account is "
        "needed.",
        expects=(
            *(f"{way}ori_pqa[la].json" for way in WAYS),
            *patterns("train", folders=[f"{way}pqa_*/" for way in WAYS]),
        ),
        read=read,
        plans=(TaskPlan("pubmedqa/t2t", "text", {"query": "context", "target": "conclusion"}),),
        settings=(
            Choice(
                "subset", "test", tuple(SUBSETS),
                "the 500 test items of the labelled part, all 1,000 of it, or the artificial "
                "part; the authors' is not visible",
            ),
            Choice(
                "query", "context", ("context", "question+context"),
                "the abstract without its conclusion, or the question in front of it; not stated",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
