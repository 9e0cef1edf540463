"""Reading CSV files: ours come back whole, others' are understood, wrong cells are named."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from db.errors import StoreError
from studies.errors import BadStudy, StudyError
from studies.preference.analysis.analyse import analyse
from studies.preference.kit.extras import Extras, as_cell
from studies.preference.kit.reading import read_tables, report_from
from studies.preference.kit.summary import numbers_of
from studies.preference.kit.tabular import coded, csv_files, rater_codes
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
        rows = [
            f"i{rng.randrange(1, 9)},{rng.choice('xyz')},{rng.choice(words)},"
            f"{rng.choice(('item', 'item', 'repeat', 'warmup'))},{rng.choice((1, 0, 900, ''))}"
            for _ in range(rng.randrange(1, 40))
        ]
        text = "item_id,rater,preferred,kind,answer_ms\ni0,x,A,item,5\n" + "\n".join(rows)
        (tmp_path / "ratings.csv").write_text(text, "utf-8")
        tables = read_tables(tmp_path)
        numbers = numbers_of(analyse(tables, draws=20))
        assert numbers["flow/shown"] == sum(one.kind == "item" for one in tables.presented), place
