"""Reading CSV files: ours come back whole, others' are understood, wrong cells are named."""

from __future__ import annotations

import csv
import io
import random
from dataclasses import replace

import pytest
from openpyxl import load_workbook

from db.errors import StoreError
from studies.errors import BadStudy, StudyError
from studies.preference.analysis.analyse import analyse
from studies.preference.kit.columns import columns_of
from studies.preference.kit.extras import Extras, as_cell
from studies.preference.kit.reading import read_tables, report_from
from studies.preference.kit.sheets import to_xlsx
from studies.preference.kit.summary import numbers_of
from studies.preference.kit.tabular import coded, csv_files, rater_codes, rater_names
from tests.studies.kit_tables import made

OWN = "item_id,rater,preferred,stratum,family\n"
FIVE = "i1,ann,A,both,CT\ni2,ann,B,only_a,CT\ni3,ann,both,,MR\ni4,ann,neither,unknown,MR\n"


def folder_of(tmp_path, text, name="ratings.csv", encoding="utf-8"):
    (tmp_path / name).write_bytes(text.encode(encoding))
    return tmp_path


def exported(tmp_path, tables):
    found = csv_files(tables, Extras(), {}, draws=50)
    for name, text in found.items():
        (tmp_path / name).write_text(text, "utf-8", newline="")
    return tmp_path


@pytest.mark.parametrize(
    "asked", [{}, {"models": 3, "raters": 3}, {"gold": "no", "ties": 0}], ids=str
)
def test_what_was_written_comes_back_whole(tmp_path, asked):
    tables = made(items=30, **asked)
    tables = coded(tables, rater_codes(tables))
    assert read_tables(exported(tmp_path, tables)) == tables


def test_names_become_codes_everywhere():
    tables = made(items=12, raters=3)
    found = coded(tables, rater_codes(tables))
    assert [one.name for one in found.raters] == ["R2", "R1", "R3"]  # by name
    assert "Reader" not in repr(found)


def test_four_columns_are_enough(tmp_path):
    pair = report_from(folder_of(tmp_path, OWN + FIVE)).pairs[0]
    assert (pair.first, pair.second) == ("A", "B")
    assert (pair.overall.first.count, pair.overall.second.count, pair.overall.tie.count) == (
        1,
        1,
        2,
    )
    assert {table.group for table in pair.tables} >= {"stratum", "family"}


def test_sides_in_place_of_models(tmp_path):
    text = "item_id,rater,answer,left_model\ni1,x,left,new\ni2,x,Right,new\ni3,x,LEFT,old\n"
    pair = report_from(folder_of(tmp_path, text)).pairs[0]
    assert (pair.first, pair.second) == ("new", "old")
    assert (pair.overall.first.count, pair.overall.second.count) == (1, 2)
    assert pair.side.left.count == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace(",", ";"),
        lambda text: "sep=;\r\n" + text.replace(",", ";").replace("\n", "\r\n"),
        lambda text: text.replace(",", "\t"),
        lambda text: text.replace("\n", "\n\n ,,,,\n"),
        lambda text: text.replace(",", " , ").replace("ann", '"ann"'),
        lambda text: text.replace("item_id", "Item ID").replace("rater", "Reader"),
        lambda text: text.replace("\n", ",\n"),
    ],
    ids=["mark", "semicolon", "excel", "tab", "empty lines", "blanks", "names", "empty column"],
)
def test_spreadsheets_ways_are_understood(tmp_path, change):
    plain = read_tables(folder_of(tmp_path, OWN + FIVE))
    assert read_tables(folder_of(tmp_path, change(OWN + FIVE))) == plain


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_encodings_are_understood(tmp_path, encoding):
    text = OWN + "i1,J\u00fcrgen,A,both,CT\ni2,J\u00fcrgen,B,both,CT\n"
    tables = read_tables(folder_of(tmp_path, text, encoding=encoding))
    assert {one.rater for one in tables.presented} == {"J\u00fcrgen"}


def test_one_file_in_place_of_a_folder(tmp_path):
    folder_of(tmp_path, OWN + FIVE, "mine.csv")
    assert report_from(tmp_path / "mine.csv").pairs[0].overall.n == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "ratings.csv is empty"),
        ("item_id,preferred\ni1,A\n", "ratings.csv has no column rater"),
        ("item_id,rater\ni1,x\n", "has no column answer"),
        (OWN + "i1,x,C,both,F\ni2,x,A,both,F\ni3,x,B,both,F\n", "each row needs its pair"),
        (OWN + "i1,,A,both,F\n", "row 2, column rater is empty"),
        (OWN + "i1,x,A,right,F\n", "row 2, column stratum holds 'right'; known are both, only_a"),
        (OWN + "i1,x,A,both,F\n\ni1,y,B,neither,F\n", "row 4, column stratum differs"),
        (OWN + "i1,x,A,both,F,more\n", "row 2 has 6 cells; the file has 5"),
        ("item_id,rater,answer,left_model\ni1,x,up,A\n", "row 2, column answer holds 'up'"),
        (
            "item_id,rater,answer,left_model\ni1,x,left,\ni2,x,right,A\n",
            "column left_model is empty",
        ),
        (
            "item_id,rater,preferred,position\ni1,x,A,1\ni2,x,B,1\n",
            "row 3, column position stands there twice",
        ),
        ("item_id,rater,preferred,position\ni1,x,A,1.5\n", "column position holds '1.5'"),
        ("item_id,rater,preferred,answer_ms\ni1,x,A,soon\n", "column answer_ms holds 'soon'"),
        ("item_id,rater,preferred,preferred\ni1,x,A,B\n", "the column 'preferred' more than once"),
        (
            "item_id,rater,preferred,answer,left_model\ni1,x,A,right,A\ni2,x,B,right,A\n",
            "row 2, column preferred contradicts the answer right",
        ),
    ],
    ids=lambda value: value[:30].replace("\n", " ") if isinstance(value, str) else None,
)
def test_a_wrong_cell_is_named(tmp_path, text, said):
    with pytest.raises(BadStudy) as caught:
        report_from(folder_of(tmp_path, text))
    assert said in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


THREE = "item_id,rater,preferred,answer_ms\n"
KINDS = "item_id,rater,preferred,kind\n"
GUESSED = "rater,item_id,left_model,answer\n"
TWO = OWN.replace("family", "study_hash") + "i1,x,A,both,aa\ni2,x,B,both,aa\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"ratings": THREE + "i1,x,A,1\ni2,x,B,1\ni1,x,A,1\n"},
            "ratings.csv, row 4, column item_id stands there twice for the same rater; of a second "
            "reading, kind is repeat",
        ),
        (
            {"ratings": "item_id,rater,preferred,position\ni1,x,A,1\ni2,x,B,2\ni1,x,A,3\n"},
            "row 4, column item_id stands there twice",
        ),
        (
            {"ratings": KINDS + "i1,x,A,item\ni1,x,A,repeat\ni1,x,B,repeat\n"},
            "row 4, column item_id stands there twice",
        ),
        (
            {"ratings": TWO, "guesses": GUESSED + "x,i1,A,left\nx,i1,A,right\n"},
            "guesses.csv, row 3, column item_id stands there twice for the same rater",
        ),
        (
            {"ratings": TWO, "guesses": GUESSED + "x,i1,Q,left\n"},
            "guesses.csv, row 2, column left_model holds 'Q'; this item compares A, B",
        ),
        (
            {"ratings": TWO, "guesses": GUESSED + "x,i1,NA,left\n"},
            "guesses.csv, row 2, column left_model is empty",
        ),
        (
            {"ratings": TWO, "guesses": GUESSED + "x,i9,A,left\n"},
            "guesses.csv, row 2, column item_id holds 'i9', which no item is called",
        ),
        (
            {"ratings": TWO, "items": "item_id,left_model\ni1,A\ni2,C\n"},
            "items.csv, row 3, column left_model holds 'C'; this item compares A, B",
        ),
        (
            {"ratings": TWO, "items": "study_hash,item_id\naa,i1\nbb,i2\n"},
            "items.csv, row 3, column study_hash holds 'bb'; ratings.csv is of another study",
        ),
        (
            {"ratings": TWO, "study": "name,value\nhash,cc\n"},
            "ratings.csv, row 2, column study_hash holds 'aa'; study.csv is of another study",
        ),
        (
            {"ratings": KINDS + "i1,x,A,item\ni2,x,B,item\n",
             "items": "item_id,kind\ni1,item\ni2,warmup\n"},
            "ratings.csv, row 3, column kind holds item; the item itself is of kind warmup",
        ),
        (
            {"ratings": KINDS + "i1,x,A,item\ni1,y,B,warmup\n"},
            "row 3, column kind holds warmup; the item itself is of kind item",
        ),
        (
            {"ratings": THREE + 'i1,x,A,"12,000"\ni2,x,B,5\n'},
            "column answer_ms holds '12,000', which can be read in two ways",
        ),
        ({"ratings": THREE + "i1,x,A,12.000\n"}, "column answer_ms holds '12.000', which can be"),
        (
            {"ratings": "item_id;rater;preferred;words_first\ni1;x;A;1,200\ni2;x;B;4\n"},
            "column words_first holds '1,200', which can be read in two ways",
        ),
    ],
    ids=lambda value: value[-40:] if isinstance(value, str) else None,
)  # fmt: skip
def test_what_would_count_wrongly_is_refused(tmp_path, files, said):
    for name, text in files.items():
        folder_of(tmp_path, text, f"{name}.csv")
    with pytest.raises(BadStudy) as caught:
        read_tables(tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize("word", ["NA", "N/A", "nan", "NULL", ""])
def test_a_cell_that_says_nothing_is_no_model(tmp_path, word):
    text = "item_id,rater,preferred,left_model,answer_ms\ni1,x,A,B,5\ni2,x,B,A,7\n"
    tables = read_tables(folder_of(tmp_path, f"{text}i3,x,{word},{word},{word}\n"))
    assert list(tables.models) == ["A", "B"]
    last = tables.presented[-1]
    assert (last.answer, last.preferred, last.left, last.answer_ms) == ("", "", "", None)


def test_kinds_that_the_items_leave_out_are_those_of_the_ratings(tmp_path):
    folder_of(tmp_path, "item_id,task\ni1,t\ni2,t\ni3,t\n", "items.csv")
    rows = "i1,x,A,item\ni2,x,B,warmup\ni3,x,B,item\ni1,x,A,repeat\n"
    tables = read_tables(folder_of(tmp_path, KINDS + rows))
    assert [one.kind for one in tables.items] == ["item", "warmup", "item"]
    assert analyse(tables, draws=20).pairs[0].overall.n == 2


def test_decimals_may_have_a_comma(tmp_path):
    text = "item_id;rater;preferred;words_first;answer_ms\ni1;x;A;2,5;900,0\ni2;x;B;45.333;1\n"
    tables = read_tables(folder_of(tmp_path, text))
    assert [one.words_first for one in tables.items] == [2.5, 45.333]
    assert tables.presented[0].answer_ms == 900


def test_the_papers_counts_give_the_golden_values(tmp_path):
    words = ["A"] * 260 + ["B"] * 122 + ["both"] * 148
    rows = "".join(f"i{place},one,{word}\n" for place, word in enumerate(words))
    pair = report_from(folder_of(tmp_path, "item_id,rater,preferred\n" + rows)).pairs[0]
    shares = [(one.share, one.low, one.high)
              for one in (pair.overall.first, pair.overall.second, pair.overall.tie)]  # fmt: skip
    assert shares == [
        pytest.approx((0.4906, 0.4482, 0.5330), abs=5e-5),
        pytest.approx((0.2302, 0.1964, 0.2679), abs=5e-5),
        pytest.approx((0.2792, 0.2427, 0.3189), abs=5e-5),
    ]
    assert pair.overall.first_decided.share == pytest.approx(0.6806, abs=5e-5)
    assert pair.overall.sign.p == pytest.approx(1.37e-12, rel=0.01)
    assert pair.davidson.log_ratio.value == pytest.approx(0.7567, abs=5e-5)


def test_sides_alone_give_the_golden_values_of_the_order_term(tmp_path):
    answers = {"A": ("left", "right"), "B": ("right", "left")}
    rows, place = "", 0
    for left, counts in (("A", (140, 50, 75)), ("B", (120, 72, 73))):
        for word, count in zip((*answers[left], "neither"), counts, strict=True):
            for _ in range(count):
                rows += f"i{place};one;{word};{left}\n"
                place += 1
    pair = report_from(folder_of(tmp_path, "item_id;rater;answer;left_model\n" + rows)).pairs[0]
    assert (pair.side.left.count, pair.side.left.n) == (212, 382)
    assert pair.side.sign.p == pytest.approx(0.036, abs=5e-4)
    assert pair.davidson.log_ratio.value == pytest.approx(0.764, abs=5e-4)
    assert pair.davidson.order.value == pytest.approx(0.244, abs=5e-4)
    assert pair.davidson.order_test.statistic == pytest.approx(5.11, abs=5e-3)


def test_a_folder_without_ratings_is_said(tmp_path):
    with pytest.raises(BadStudy, match=r"holds no ratings\.csv"):
        read_tables(tmp_path)
    with pytest.raises(BadStudy, match="is not there"):
        read_tables(tmp_path / "gone")


def test_an_item_of_another_study_is_said(tmp_path):
    exported(tmp_path, made(items=10))
    text = (tmp_path / "ratings.csv").read_text("utf-8")
    row = text.splitlines()[3]
    changed = row.replace(row.split(",")[4], "ffffffffff")
    (tmp_path / "ratings.csv").write_text(text.replace(row, changed), "utf-8")
    with pytest.raises(BadStudy, match=r"row 4, column item_id holds 'ffffffffff'"):
        read_tables(tmp_path)


def test_a_formula_stays_a_text(tmp_path):
    text = OWN + '"=cmd|calc",ann,A,both,CT\ni2,ann,B,both,CT\n'
    assert read_tables(folder_of(tmp_path, text)).items[0].item_id == "=cmd|calc"


def test_a_readers_words_are_no_formula_for_a_spreadsheet():
    tables = made(items=12, raters=1)
    formula = '=HYPERLINK("http://x")'
    reader = replace(tables.raters[0], specialty=formula, modalities="@x", display="+1")
    first = replace(tables.presented[0], reason="-1")
    hostile = replace(tables, raters=(reader,), presented=(first, *tables.presented[1:]))
    found = coded(hostile, {}, comments="include")
    (row,) = found.raters
    assert (row.specialty, row.modalities, row.display) == (f"'{formula}", "'@x", "'+1")
    assert found.presented[0].reason == "'-1"
    assert as_cell("a = b") == "a = b"


def test_names_and_titles_are_no_formulas_for_a_spreadsheet(tmp_path):
    tables = made(items=12, raters=1)
    (old,) = {one.rater for one in tables.presented}
    bad = coded(tables, {old: "=1+1"})
    bad = replace(bad, title="=2+2", models={"A": "@one", "B": "-two"})
    found = coded(bad, rater_names(bad))
    assert {one.rater for one in found.presented} == {"'=1+1"}
    texts = csv_files(found, Extras(), {}, draws=50)
    for name, text in texts.items():
        for row in csv.reader(io.StringIO(text)):
            assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row), (name, row)
    assert read_tables(exported(tmp_path, found)) == found
    told = {column: meaning for name in ("ratings.csv", "raters.csv", "study.csv")
            for column, meaning in columns_of(name).items()}  # fmt: skip
    assert all("apostrophe" in told[column] for column in ("reason", "specialty", "value"))
    book = load_workbook(io.BytesIO(to_xlsx(analyse(found, draws=20))))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [cell.value for cell in cells if cell.data_type == "f"] == []


def test_two_names_stay_two_when_one_gets_an_apostrophe():
    tables = made(items=12, raters=2)
    old = sorted(rater_codes(tables))
    both = coded(tables, dict(zip(old, ("=x", "'=x"), strict=True)))
    assert len(set(rater_names(both).values())) == 2


def test_damaged_files_are_said_or_read_and_never_crash(tmp_path):
    exported(tmp_path, made(items=8, raters=2, models=3))
    rng = random.Random(7)
    pieces = [b"\x00", b"\xff\xfe", b'"', b";", b"\n", b",", b"-1", b"1e999", b"\xf0\x9f\x92\xa9",
              b"left", b"NaN", b"{", b"A" * 200_000, b"\r"]  # fmt: skip
    names = ("ratings.csv", "items.csv", "guesses.csv", "raters.csv", "study.csv")
    whole = {name: (tmp_path / name).read_bytes() for name in names}
    read, said = 0, []
    for _ in range(250):
        name = rng.choice(names)
        content = bytearray(whole[name])
        for _ in range(rng.choice((1, 1, 2, 6))):
            at = rng.randrange(len(content) + 1)
            cut = rng.choice((0, 0, 1, 5, 300, len(content)))
            content[at : at + cut] = rng.choice(pieces)
        (tmp_path / name).write_bytes(bytes(content))
        try:
            read_tables(tmp_path)
            read += 1
        except (StudyError, StoreError) as error:
            said.append(str(error))
        (tmp_path / name).write_bytes(whole[name])
    assert read > 20
    assert len(said) > 20
    assert max(map(len, said)) < 400


def test_what_is_read_is_analysed_whatever_it_is(tmp_path):
    rng = random.Random(3)
    words = ("A", "B", "both", "neither", "cannot", "", "tie", "auto_tie")
    for place in range(12):
        places = [(item, rater, kind) for item in range(1, 9) for rater in "xyz"
                  for kind in (("item", "repeat") if item < 7 else ("warmup",))]  # fmt: skip
        rows = [
            f"i{item},{rater},{rng.choice(words)},{kind},{rng.choice((1, 0, 900, ''))}"
            for item, rater, kind in rng.sample(places, rng.randrange(1, 40))
        ]
        text = "item_id,rater,preferred,kind,answer_ms\ni0,x,A,item,5\n" + "\n".join(rows)
        (tmp_path / "ratings.csv").write_text(text, "utf-8")
        tables = read_tables(tmp_path)
        numbers = numbers_of(analyse(tables, draws=20))
        assert numbers["flow/shown"] == sum(one.kind == "item" for one in tables.presented), place
