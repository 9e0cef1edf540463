"""Tables of reports: rows, columns, encodings, single rows again, and no number of a patient."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EvidenceError
from engine.evidence.identity.tokens import pseudonym_of
from engine.evidence.open import find_evidence, read_file
from engine.evidence.study import Evidence
from engine.evidence.words import columns, rows, tables
from tests.shared import shared_path

HEADER = ["study_id", "patient_id", "patient_name", "Findings", "Impression", "date"]
ROWS = [
    ["S1", "P0001", "John Smith", 'Lungs "clear",\nno effusion; Mr Smith well.', "Normal", "2020"],
    ["S2", "P0002", "Jane Miller", "Größe normal", "ok | fine\tso", "2021"],
]
FIRST = 'Findings:\nLungs "clear",\nno effusion; Mr [removed] well.\n\nImpression:\nNormal'


def table(path: Path, lines: list[list[str]], *, delimiter: str = ",", encoding: str = "utf-8",
          end: str = "\r\n") -> Path:  # fmt: skip
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator=end).writerows(lines)
    path.write_bytes(stream.getvalue().encode(encoding))
    return path


def texts(path: Path) -> list[str | None]:
    return [one.text for one in find_evidence([path])]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_findings_and_impression_with_headings(
    tmp_path: Path, delimiter: str, encoding: str
) -> None:
    path = table(tmp_path / "a.csv", [HEADER, *ROWS], delimiter=delimiter, encoding=encoding)
    found = list(find_evidence([path], salt=b"s"))
    assert [one.path.name for one in found] == ["row-000001", "row-000002"]
    assert found[0].text == FIRST
    assert found[1].text == "Findings:\nGröße normal\n\nImpression:\nok | fine\tso"
    assert found[0].source["encoding"] in (encoding, "utf-8")
    for number, one in enumerate(found):
        again = read_file(one.path, salt=b"s")
        assert (again.text, again.subject) == (one.text, one.subject)
        assert one.subject == pseudonym_of(ROWS[number][1], "", b"s")
        for word in ("P000", "S1", "2020", "John", "Smith", "Jane"):
            assert word not in repr(one).replace(str(tmp_path), "")


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tab"])
def test_line_ends(tmp_path: Path, end: str, name: str) -> None:
    lines = [["id", "report"], ["1", "Lungs clear, no"], ["2", "Mass; left"]]
    delimiter = "\t" if name != "a.csv" else ","
    path = table(tmp_path / name, lines, delimiter=delimiter, end=end)
    assert texts(path) == ["Lungs clear, no", "Mass; left"]


LONG = "The lungs are clear without any focal consolidation."
SHAPES: list[tuple[str, list[str | None]]] = [
    ("sep=;\r\nid;report\r\n1;Lungs clear\r\n", ["Lungs clear"]),
    (f"1,{LONG}\n2,{LONG}x\n", [LONG, LONG + "x"]),
    ('report\n"The lungs, are clear"\nBad, worse\n', ["The lungs, are clear", "Bad, worse"]),
    (f"idx,foo,bar\n1,CT,{LONG}\n", [LONG]),
    ("id,Befund,Beurteilung\n1,frei,normal\n", ["Findings:\nfrei\n\nImpression:\nnormal"]),
    ("id,Impression,Findings,Indication\n1,b,a,c\n",
     ["Indication:\nc\n\nFindings:\na\n\nImpression:\nb"]),
    ("id,caption,image\n1,CT of chest,a.png\n", ["CT of chest"]),
    ("id,Report Text\n1,\n2,fine\n\n3,good\n", [None, "fine", "good"]),
    ('id,report\n1,5" tube in place\n2,ok\n', ['5" tube in place', "ok"]),
    ('id,report\n1,"a ""quoted"" word"\n', ['a "quoted" word']),
]  # fmt: skip


@pytest.mark.parametrize(("content", "wanted"), SHAPES, ids=[one[:12] for one, _ in SHAPES])
def test_shapes_of_tables(tmp_path: Path, content: str, wanted: list[str | None]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8", newline="")
    assert texts(path) == wanted


JSONS: list[tuple[Any, list[str]]] = [
    ([{"caption": 'CT of a "chest" [1]', "image": "a.png"}, {"caption": "b {"}],
     ['CT of a "chest" [1]', "b {"]),
    ({"train": [{"id": "x", "report": "Clear"}], "val": [{"id": "y", "report": "Bad"}]},
     ["Clear", "Bad"]),
    ({"12": {"Findings_EN": "a", "Impressions_EN": "b"}}, ["Findings:\na\n\nImpression:\nb"]),
    ({"findings": "a", "impression": "b", "meta": {"x": 1}}, ["Findings:\na\n\nImpression:\nb"]),
    ([{"section_findings": ["one", "two"]}], ["one\ntwo"]),
]  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(("content", "wanted"), JSONS)
def test_shapes_of_json(tmp_path: Path, content: Any, wanted: list[str], indent: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content, indent=indent), encoding="utf-8")
    assert texts(path) == wanted
    assert read_file(path / f"row-{len(wanted):06}").text == wanted[-1]


def test_json_lines_with_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"report":"ä b"}\n\n{"report": \n{"report":"c"}\n', encoding="utf-8")
    found = list(find_evidence([path]))
    assert [one.kind for one in found] == ["report", "error", "report"]
    assert [one.text for one in found] == ["ä b", None, "c"]
    assert found[1].error is not None
    assert found[1].error.code == "damaged"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", "id,label\n1,0\n2,1\n"), ("a.json", '{"lr": 0.1, "layers": [1, 2]}'),
     ("a.json", '{"name": "triptych", "version": "1"}'), ("a.json", "[1, 2, 3]"),
     ("a.json", '{"EchoTime": 0.03, "InstitutionAddress": "Somewhere Street 1, Some City, Land"}'),
     ("a.json", '{"ProtocolName": "a protocol with quite a long name", "description": "a b c"}'),
     ("a.json", '{"scripts": {"test": "run all of the tests of this project now"}}'),
     ("a.csv", "id,file_path\n1,C:/a folder with a long name/and a file.dcm\n"),
     ("a.jsonl", '{"a": 1}\n')],
)  # fmt: skip
def test_tables_without_text_are_named(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    (found,) = find_evidence([path])
    assert (found.kind, found.text) == ("other", None)
    assert "without a column of text" in found.notes[0]


@pytest.mark.parametrize(
    ("name", "content", "rows_before"),
    [("a.csv", 'id,report\n1,ok fine\n2,"never closed\n3,x\n', 1),
     ("a.json", '[{"report":"abc def"},{"report":"x', 1), ("a.json", "no json at all", 0),
     ("a.csv", "\0\1\2\3" * 100, 0), ("a.csv", "", 0)],
)  # fmt: skip
def test_damage_is_an_error_and_the_rows_before_it_stay(
    tmp_path: Path, name: str, content: str, rows_before: int
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = list(find_evidence([path]))
    kinds = [one.kind for one in found]
    assert kinds[: rows_before + 1] == ["report"] * rows_before + ["error"]
    assert kinds.count("error") == 1


@pytest.mark.parametrize("name", ["row-000000", "row-000003", "row-x", "train"])
def test_rows_that_are_not_there(tmp_path: Path, name: str) -> None:
    path = table(tmp_path / "a.csv", [["report"], ["one"], ["two"]])
    with pytest.raises(EvidenceError) as caught:
        read_file(path / name)
    assert caught.value.code == "missing"


def test_one_row_does_not_read_the_others_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [["report"], *([f'row {number}, "quoted"\nsecond'] for number in range(3000))]
    path = table(tmp_path / "a.csv", lines)
    asked: list[int] = []
    spans = rows.csv_spans

    def counted(*arguments: Any) -> Any:
        for span in spans(*arguments):
            asked.append(span[0])
            yield span

    monkeypatch.setattr(tables.rows, "csv_spans", counted)
    assert read_file(path / "row-000017").text == 'row 16, "quoted"\nsecond'
    assert len(asked) < 200  # as far as the row, not to the end
    assert read_file(path / "row-003000").text == 'row 2999, "quoted"\nsecond'
    asked.clear()
    assert read_file(path / "row-001500").text == 'row 1499, "quoted"\nsecond'
    assert asked == []


def test_rows_come_one_by_one(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", [["report"], *([f"row {number}"] for number in range(5000))])
    found = tables.find(path, b"")
    assert not isinstance(found, Evidence)
    assert next(found).text == "row 0"
    assert sum(1 for _ in found) == 4999


def test_a_changed_table_is_looked_at_anew(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", [["report"], ["one"]])
    assert read_file(path / "row-000001").text == "one"
    table(path, [["id", "report"], ["1", "another"]])
    assert read_file(path / "row-000001").text == "another"


def test_spans_of_json_do_not_stumble_over_strings() -> None:
    raw = json.dumps([{"a": '}]{"\\', "b": {"c": [1, {"d": 2}]}}, {"a": "x"}]).encode()
    found = [json.loads(raw[start:end]) for start, end in rows.json_spans(raw)]
    assert [one["a"] for one in found] == ['}]{"\\', "x"]


def test_names_of_columns() -> None:
    assert columns.plain("\ufeffSection_Findings") == "findings"
    assert columns.plain("Report Text") == "reporttext"
    assert columns.plain("Résultats") == "resultats"
    assert columns.is_header(["id", "report"])
    assert not columns.is_header(["1", "Lungs clear"])


def test_handed_questions_have_their_passages_with_labels() -> None:
    path = shared_path("data/sets/pubmedqa/ori_pqal.json")
    found = list(find_evidence([path]))
    assert len(found) == 1000
    whole = json.loads(path.read_text(encoding="utf-8"))
    for one, record in zip(found[::97], list(whole.values())[::97], strict=True):
        assert one.kind == "report"
        pairs = zip(record["LABELS"], record["CONTEXTS"], strict=True)
        assert one.text == "\n".join(f"{label}: {passage}" for label, passage in pairs).strip()
    (other,) = find_evidence([path.with_name("test_ground_truth.json")])
    assert other.kind == "other"


def test_zipped_tables_and_tables_in_archives(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", [["report"], ["one word"], ["two words"]])
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    lines = tmp_path / "c.jsonl.gz"
    lines.write_bytes(gzip.compress(b'{"report": "one word"}\n{"report": "two words"}\n'))
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
        archive.write(path, "texts/a.csv")
    for source in (packed, lines, tmp_path / "d.zip"):
        found = list(find_evidence([source]))
        assert [one.text for one in found] == ["one word", "two words"]
        assert [read_file(one.path).text for one in found] == ["one word", "two words"]


def test_a_mark_of_byte_order_before_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"report":"ä"}\n{"report":"b"}\n', encoding="utf-8-sig")
    assert texts(path) == ["ä", "b"]
    path = tmp_path / "a.json"
    path.write_text('{"report":"ä"}', encoding="utf-8-sig")
    assert texts(path) == ["ä"]


@pytest.mark.parametrize(
    "patient",
    [
        {"patient": {"name": "Zaphodbeeble", "id": "Q-77001"}},
        {"meta": {"subject": {"name": [{"family": "Zaphodbeeble", "given": ["Tricia", "Q."]}]}}},
        {"demographics": {"last_name": "Zaphodbeeble", "mrn": "Q-77001"}},
    ],
)
def test_persons_deep_inside_a_record_are_taken_out(tmp_path: Path, patient: Any) -> None:
    path = tmp_path / "a.jsonl"
    told = {"study": {"name": "Abdomen", "position": "supine"}, "patient_size": {"sex": "female"}}
    record = {**patient, **told, "report": "Mrs ZAPHODBEEBLE, supine, female. Abdomen clear."}
    path.write_text(json.dumps(record), encoding="utf-8")
    (found,) = find_evidence([path])
    assert found.text == "Mrs [removed], supine, female. Abdomen clear."


def test_one_bad_row_does_not_take_the_others_along(tmp_path: Path) -> None:
    ragged, quoted = tmp_path / "ragged.csv", tmp_path / "quoted.csv"
    ragged.write_text("a,report\n1\n2,the lungs are clear,y\n3,heart normal\n", encoding="utf-8")
    found = list(find_evidence([ragged]))
    assert [one.text for one in found if one.text] == ["the lungs are clear", "heart normal"]
    quoted.write_text('a,report\n1,"never closed\n2,heart normal\n3,x ray\n', encoding="utf-8")
    found = list(find_evidence([quoted]))
    assert [one.kind for one in found] == ["error", "report", "report"]
    assert found[0].path.name == "row-000001"
    assert [one.text for one in found[1:]] == ["heart normal", "x ray"]
    assert read_file(quoted / "row-000002").text == "heart normal"
