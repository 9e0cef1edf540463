"""MedicalQA and PublicHealthQA: questions and documents in every layout they come in."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from studies.errors import StudyError
from studies.medheb.builders.choose import side_of_test
from tests.studies.sources_words_checks import (
    built_task,
    records_of,
    rows_of,
    texts,
    write_lines,
    write_parquet,
)

CORPUS = [
    {"_id": f"d{number}", "title": "" if number % 2 else f"Title {number}", "text": text}
    for number, text in enumerate(["One.", "Two.", "Three.", "Two.", "Five\u2028long. " * 900, ""])
]
QUERIES = [
    {"_id": f"q{number}", "text": text}
    for number, text in enumerate(
        ["What is one?", "What is two?", "What is one?", "And two?", "What is five?", "Nothing?"]
    )
]
PAIRS = [
    {"query-id": f"q{number}", "corpus-id": f"d{number}", "score": 1} for number in range(6)
]  # fmt: skip


def lines(root: Path, pairs: Sequence[dict[str, Any]] = PAIRS) -> Path:
    write_lines(root / "corpus.jsonl", CORPUS)
    write_lines(root / "queries.jsonl", QUERIES)
    write_lines(root / "default.jsonl", pairs)
    return root


def tables(root: Path) -> Path:
    write_parquet(root / "corpus" / "corpus-00000-of-00001.parquet", CORPUS)
    write_parquet(root / "queries" / "queries-00000-of-00001.parquet", QUERIES)
    write_parquet(root / "data" / "test-00000-of-00001.parquet", PAIRS)
    return root


@pytest.mark.parametrize("write", [lines, tables])
def test_documents_have_their_title_and_a_question_is_asked_once(tmp_path: Path, write: Any):
    records, faults = records_of("medical_qa", write(tmp_path / "set"))
    assert texts(records)[:3] == [
        ("What is one?", "Title 0 One."), ("What is two?", "Two."), ("And two?", "Two.")
    ]  # fmt: skip
    assert records[3].texts["answer"].endswith("long.")
    assert [fault.reason for fault in faults] == [
        "the same question stood there already: left out", "there is no answer"
    ]  # fmt: skip
    read, pools = built_task("medical_qa", tmp_path / "set", tmp_path / "data", "medical_qa/t2t")
    assert len(read.queries) == 4
    assert len(pools.candidates) == 3
    assert len(rows_of("medical_qa/t2t", tmp_path / "data")[3]["tgt_text"][0]) > 9000


def test_settings_of_repeats_titles_and_share(tmp_path: Path):
    folder = lines(tmp_path)
    kept, _ = records_of("medical_qa", folder, repeats="keep", title="text")
    assert texts(kept)[2] == ("What is one?", "Three.")
    assert kept[0].group == kept[2].group
    shared, _ = records_of("medical_qa", folder, repeats="keep", part="share")
    tested = side_of_test(shared, share=0.5)
    assert 0 < len(tested) < len(shared)
    groups = {record.group for record in tested}
    assert all((record in tested) == (record.group in groups) for record in shared)


def test_pairs_that_name_nothing_and_those_of_score_0(tmp_path: Path):
    pairs = [
        {**PAIRS[0], "score": 0}, PAIRS[1], {**PAIRS[3], "corpus-id": "d99"}, PAIRS[1],
    ]  # fmt: skip
    records, faults = records_of("medical_qa", lines(tmp_path, pairs), repeats="keep")
    assert [record.key for record in records] == ["q1/d1"]
    assert [fault.reason for fault in faults] == [
        "names a query or a document that is not there",
        "the same question stood there already: left out",
    ]
    (tmp_path / "default.jsonl").unlink()
    with pytest.raises(StudyError, match=r"default\.jsonl: it is not there, nor as parquet"):
        records_of("medical_qa", tmp_path)


HEALTH = {
    "english": [("What is a virus?", "A small thing."), ("Is it safe?", "Yes,\nit is."),
                ("Is it safe?", "Yes,\nit is."), ("Who can catch it?", "A small thing.")],
    "arabic": [("ما هو الفيروس؟", "شيء صغير."), ("سؤال؟", ""), ("", "جواب")],
}  # fmt: skip


def health(root: Path, kind: str) -> Path:
    for language, pairs in HEALTH.items():
        rows = [{"question": q or None, "answer": a or None} for q, a in pairs]
        if kind == "csv":
            path = root / "data" / f"{language}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8-sig", newline="") as stream:
                csv.writer(stream).writerows([("question", "answer"), *pairs])
        elif kind == "lines":
            write_lines(root / "data" / f"{language}.jsonl", rows)
        elif kind == "table":
            write_parquet(root / "data" / f"{language}-00000-of-00001.parquet", rows)
        elif kind == "converted":
            write_parquet(root / language / "test" / "0000.parquet", rows)
        else:
            triple(root, language, pairs)
    return root


def triple(root: Path, language: str, pairs: Sequence[tuple[str, str]]) -> None:
    count = range(len(pairs))
    tables = {
        "queries": [{"id": f"Q{n}", "text": pairs[n][0]} for n in count],
        "corpus": [{"id": f"D{n}", "text": pairs[n][1], "title": ""} for n in count],
        "qrels": [{"query-id": f"Q{n}", "corpus-id": f"D{n}", "score": 1} for n in count],
    }
    for name, rows in tables.items():
        write_parquet(root / f"{language}-{name}" / "test-00000-of-00001.parquet", rows)


@pytest.mark.parametrize("kind", ["csv", "lines", "table", "converted", "triples"])
def test_a_language_is_read_in_every_layout(tmp_path: Path, kind: str):
    folder = health(tmp_path / "set", kind)
    records, faults = records_of("public_health_qa", folder)
    assert texts(records) == [
        ("What is a virus?", "A small thing."), ("Is it safe?", "Yes,\nit is."),
        ("Who can catch it?", "A small thing."),
    ]  # fmt: skip
    assert [fault.reason for fault in faults] == [
        "the same question and answer stood there already: left out"
    ]
    read, pools = built_task(
        "public_health_qa", folder, tmp_path / "data", "public_health_qa/t2t"
    )  # fmt: skip
    assert len(read.queries) == 3
    assert len(pools.candidates) == 2


def test_names_stay_when_rows_move_and_empty_rows_are_told(tmp_path: Path):
    folder = health(tmp_path, "csv")
    arabic, faults = records_of("public_health_qa", folder, language="arabic")
    assert [fault.reason for fault in faults] == ["there is no answer", "there is no question"]
    path = folder / "data" / "arabic.csv"
    written = path.read_text("utf-8-sig").splitlines()
    path.write_text("\n".join([written[0], *written[:0:-1]]), "utf-8")
    moved, _ = records_of("public_health_qa", folder, language="arabic")
    assert [record.key for record in moved] == [record.key for record in arabic]


def test_all_languages_and_those_that_are_missing(tmp_path: Path):
    records, faults = records_of("public_health_qa", health(tmp_path, "csv"), language="all")
    assert {record.stratum for record in records} == {"english", "arabic"}
    assert len(records) == 4
    assert sum("not there" in fault.reason for fault in faults) == 6
    with pytest.raises(StudyError, match="holds nothing of PublicHealthQA"):
        records_of("public_health_qa", tmp_path, language="korean")
