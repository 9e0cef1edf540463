"""What is rendered: every percentage with interval and n; LaTeX, spreadsheets, other programs."""

from __future__ import annotations

import io
import re
import shutil
import subprocess

import numpy as np
import pytest
from openpyxl import load_workbook

from studies.preference.analysis import schema
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.schema import Estimate, Share
from studies.preference.kit import figures
from studies.preference.kit.extras import OTHER, REASONS, reason_words, without_paths
from studies.preference.kit.formats import MADE_UP, imrmc_file
from studies.preference.kit.latex import plain, to_latex
from studies.preference.kit.methods import methods_text
from studies.preference.kit.report import to_markdown, to_text
from studies.preference.kit.sheets import to_xlsx
from studies.preference.kit.tabular import coded, rater_codes
from studies.preference.kit.words import (
    estimate_words,
    p_words,
    points_words,
    share_words,
)
from studies.preference.kit.words import (
    test_words as said_of,
)
from tests.studies.kit_tables import made

# A percentage: a number before the sign, not a level (95 %, 80 %, 5 %) named in words.
PERCENT = re.compile(r"\d[\d.]* %")
WHOLE = re.compile(r"\d[\d.]* % \[\d[\d.]*, \d[\d.]*\] \(\d+ of \d+\)")
POINTS = re.compile(r"[+-]?\d[\d.]* points(?! away)")
LEVELS = ("95 % interval", "80 % power", "5 % level", "5 % of", "Wilson 95 %")


@pytest.fixture(scope="module", params=[{"raters": 2}, {"models": 3}], ids=["two", "three"])
def study(request):
    tables = made(items=44, **request.param)
    tables = coded(tables, rater_codes(tables))
    return tables, analyse(tables, draws=50)


def bare(text):
    """Percentages and points without interval and n, and where they stand."""
    left = WHOLE.sub("", text.replace("50 % _2026_", "").replace("50 % \\_2026\\_", ""))
    for level in LEVELS:
        left = left.replace(level, "")
    found = [left[max(0, m.start() - 40) : m.end() + 20] for m in PERCENT.finditer(left)]
    told = re.compile(r"[+-]\d[\d.]* points \[-?\d[\d.]*, -?\d[\d.]*\] \(\d+ (?:ratings?|votes?)\)")
    left = told.sub("", text)
    left = re.sub(r"[+-]\d[\d.]* points \[no interval\] \(\d+ (?:ratings?|votes?)\)", "", left)
    left = re.sub(r"\d[\d.]* points( away from one half| \(n = \d+\))", "", left)
    return found + [left[max(0, m.start() - 40) : m.end() + 20] for m in POINTS.finditer(left)]


def test_every_percentage_has_its_interval_and_n(study):
    tables, analysis = study
    for text in (to_markdown(analysis), to_text(analysis), methods_text(tables, analysis)):
        assert len(WHOLE.findall(text)) > 15
        assert bare(text) == []


def test_every_percentage_in_latex_has_its_interval_and_n(study):
    text = to_latex(study[1])
    stacked = re.compile(
        r"\\shortstack\[r\]\{\{[\d.]+~\\%\}\\\\\{\[[\d., ]+\]\}\\\\\{\(\d+ of \d+\)\}\}"
    )
    assert len(stacked.findall(text)) > 50
    flat = re.compile(r"[\d.]+~\\% \[[\d., ]+\] \(\d+ of \d+\)")
    left = flat.sub("", stacked.sub("", text))
    for level in LEVELS:
        left = left.replace(plain(level), "")
    assert re.findall(r".{20}\d ?~?\\%.{20}", left.replace(plain("50 % _2026_"), "")) == []


def test_every_percentage_in_the_spreadsheet_has_its_interval_and_n(study):
    book = load_workbook(io.BytesIO(to_xlsx(study[1])))
    seen = 0
    for sheet in book:
        for row in sheet.iter_rows(min_row=3):
            for cell in row:
                head = str(sheet.cell(2, cell.column).value)
                if cell.number_format == "0.0%" and head.endswith("%") and cell.value is not None:
                    heads = [sheet.cell(2, cell.column + k).value for k in (1, 2, 3)]
                    assert [h.rsplit(": ")[1] for h in heads] == ["low", "high", "n"]
                    low, high, n = (sheet.cell(cell.row, cell.column + k).value for k in (1, 2, 3))
                    assert isinstance(n, int)
                    assert low is None or low <= cell.value <= high
                    seen += low is not None
                assert cell.data_type != "f"
    assert seen > 50
    assert "study" in book.sheetnames


def test_every_percentage_in_the_figures_has_n(study):
    _, analysis = study
    drawn = figures.drawings(analysis)
    names = {name.split("_")[0] for name in drawn}
    assert names == {"preference", "forest", "checks", "flow"}
    pair = analysis.pairs[0]
    tail = f"_{pair.first}-{pair.second}" if len(analysis.pairs) > 1 else ""
    with figures.styled():
        for name in ("preference", "forest"):
            texts = [t.get_text() for axes in drawn[name + tail]().axes for t in axes.texts]
            shares = [text for text in texts if re.search(r"\d % \[", text)]
            assert shares
            assert all(re.search(r"\[[\d.]+, [\d.]+\],?\s\d+ of \d+", text) for text in shares)


def test_latex_is_balanced_and_compiles(study, tmp_path):
    text = to_latex(study[1])
    bare_text = re.sub(r"\\[{}%&#_$\\]", "", text)
    assert bare_text.count("{") == bare_text.count("}")
    assert text.count("\\begin{") == text.count("\\end{")
    for line in text.splitlines():
        body = re.sub(r"\\[%&#_$]", "", line)
        assert "%" not in body or line.startswith("%")
        assert "_" not in body.replace("\\_", "") or line.startswith("%")
    for table in re.findall(r"\\begin\{longtable\}\{(.*?)\}\n(.*?)\\end\{longtable\}", text, re.S):
        width = len(re.findall(r"[rl](?![^{]*\})", table[0])) + 1
        rows = [r for r in table[1].split("\\\\\n") if "&" in re.sub(r"\\&", "", r)]
        assert {len(re.sub(r"\\&", "", row).split("&")) for row in rows} == {width}
    if shutil.which("pdflatex"):
        (tmp_path / "tables.tex").write_text(text, "utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("letter", [*'\\{}$&#_%~^<>|"`', "\u5927", "\u202e", "\x00"])
def test_every_sign_is_escaped_for_latex(letter):
    found = plain(f"a{letter}b")
    assert found.startswith("a")
    assert found.endswith("b")
    assert letter not in re.sub(r"\\(text\w+\{\}|.)", "", found)


def test_equal_numbers_make_equal_spreadsheets(study):
    assert to_xlsx(study[1]) == to_xlsx(study[1])


def test_the_area_of_the_imrmc_file_is_the_net_preference(study):
    tables, analysis = study
    pair = analysis.pairs[0]
    head, _, body = imrmc_file(tables, pair.first, pair.second).partition("BEGIN DATA:\n")
    sizes = dict(re.findall(r"^(N[01RM]): ?(\d+)$", head, re.M))
    rows = [line.split(",") for line in body.splitlines()]
    assert all(len(row) == 4 for row in rows)
    assert " " not in body
    truth = {case: int(score) for reader, case, _, score in rows if reader == "-1"}
    assert len(truth) == int(sizes["N0"]) + int(sizes["N1"])
    assert int(sizes["N0"]) == MADE_UP == list(truth.values()).count(0)
    readers = {reader for reader, *_ in rows} - {"-1"}
    assert len(readers) == int(sizes["NR"])
    areas = {}
    for reader in readers:
        for model in (pair.first, pair.second):
            own = [(truth[c], float(s)) for r, c, m, s in rows if (r, m) == (reader, model)]
            ill, well = ([s for t, s in own if t == state] for state in (1, 0))
            wins = np.subtract.outer(ill, well)
            areas[reader, model] = ((wins > 0).mean() + (wins >= 0).mean()) / 2
        judged = [
            one
            for one in tables.presented
            if one.rater == reader and one.kind == "item" and one.preferred not in ("", "cannot")
            and one.item_id in truth
        ]  # fmt: skip
        net = sum((o.preferred == "first") - (o.preferred == "second") for o in judged)
        gained = areas[reader, pair.first] - areas[reader, pair.second]
        assert gained == pytest.approx(net / len(judged))


def test_words_of_the_papers_numbers():
    share = Share(260, 530, 260 / 530, 0.44821, 0.53300)
    assert share_words(share) == "49.1 % [44.8, 53.3] (260 of 530)"
    assert share_words(Share(0, 0, None, None, None)) == "-"
    assert p_words(1.37e-12) == "1.4e-12"
    assert p_words(0.0357) == "0.036"
    assert p_words(None) == "n < 10"
    assert points_words(Estimate(0.2604, 0.1916, 0.3292, 530)) == (
        "+26.0 points [19.2, 32.9] (530 ratings)"
    )
    assert estimate_words(Estimate(0.68, 0.6, 0.76, 53)) == "0.68 [0.60, 0.76] (53 items)"
    assert estimate_words(Estimate(None, None, None, 1, "pairs", "", "one pair")) == (
        "- (one pair; 1 pair)"
    )
    assert said_of(schema.Test("t", 1.0, 1.0, 0.036, 382, 0.072)) == "p 0.036 (Holm 0.072), n = 382"
    assert said_of(schema.Test("t", None, None, None, 7, note="too few")) == (
        "no p-value (too few), n = 7"
    )


def test_reasons_are_those_a_rater_chooses_from():
    assert all(reason_words(one, comments="leave out") == one for one in REASONS)
    assert reason_words("mass in Mrs Smith", comments="leave out") == OTHER
    assert reason_words("mass in Mrs Smith", comments="include") == "mass in Mrs Smith"
    assert reason_words(REASONS[0], comments="leave out") == REASONS[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("see /home/ann/scan.dcm, please", "see ..., please"),
        ("in C:\\Users\\ann\\x.txt", "in ..."),
        ("on \\\\server\\share\\x", "on ..."),
        ("file:///tmp/x and ~/y", "... and ..."),
        ("source/task and 3/4, both/neither", "source/task and 3/4, both/neither"),
        ("https://example.org/a/b", "https://example.org/a/b"),
    ],
)
def test_paths_of_a_machine_are_taken_out(text, told):
    assert without_paths(text) == told


@pytest.mark.parametrize(("models", "raters"), [(2, 1), (3, 2)])
def test_the_report_tells_all_pairs_and_that_ratings_are_not_independent(models, raters):
    found = analyse(made(items=40, models=models, raters=raters), draws=20)
    told = to_text(found)
    assert ("Ratings of one item are not independent" in told) == (raters > 1)
    assert ("Davidson over all pairs, log worth (A = Model A_1 is 0)" in told) == (models > 2)
    if found.davidson is not None:
        for letter in "BC":
            assert f"  {letter}  {estimate_words(found.davidson.log_worth[letter])}" in told


def test_an_empty_study_is_published_without_a_number(tmp_path):
    from dataclasses import replace

    from studies.preference.kit.extras import Extras
    from studies.preference.kit.publish import write_kit

    tables = replace(made(items=3, ties=0), presented=(), guesses=())
    analysis = analyse(tables, draws=20)
    names = {path.name for path in write_kit(tables, analysis, Extras(), tmp_path)}
    assert {"methods.md", "flow.pdf", "forest.png", "tables.xlsx"} <= names
