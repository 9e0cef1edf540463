"""The scripts of the kit compute every number of the summary anew, from the CSV files alone."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from studies.preference.analysis.analyse import analyse
from studies.preference.kit.extras import Extras
from studies.preference.kit.publish import contents_of
from studies.preference.kit.reading import report_from
from studies.preference.kit.summary import numbers_of
from studies.preference.kit.tabular import coded, rater_names
from tests.studies.kit_tables import made

DRAWS = 40
ALLOWED = 1e-9  # of the larger of 1 and the number, as README.md has it
CASES = {
    "one rater": {"raters": 1, "items": 40},
    "two models": {"raters": 2, "items": 36},
    "three models": {"models": 3, "raters": 3, "items": 33},
    "no gold and few": {"gold": "no", "ties": 0, "items": 7, "known": "no"},
    "next to nothing": {"models": 3, "raters": 2, "items": 3, "seed": 7},
}


@pytest.fixture(scope="module", params=CASES, ids=lambda name: name.replace(" ", "_"))
def kit(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kit")
    tables = made(**CASES[request.param])
    analysis = analyse(tables, draws=DRAWS)
    for name, content in contents_of(tables, analysis, Extras()).items():
        if name.endswith((".csv", ".py", ".R")):
            (folder / name).write_bytes(content)
    return folder, numbers_of(analysis)


def compared(folder, name, expected):
    """Every number of the summary against what a script wrote."""
    with (folder / name).open(encoding="utf-8", newline="") as file:
        found = {r["name"]: float(r["value"]) for r in csv.DictReader(file) if r["value"] != ""}
    wanted = {path: value for path, value in expected.items() if value is not None}
    assert found.keys() == wanted.keys()
    assert len(wanted) > 400
    for path, value in wanted.items():
        assert found[path] == pytest.approx(value, rel=ALLOWED, abs=ALLOWED), path


def run(*command, folder):
    environment = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=200, env=environment
    )


def test_python_alone_gives_every_number(kit):
    folder, expected = kit
    done = run(sys.executable, "-W", "error", "analysis.py", ".", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    compared(folder, "numbers_python.csv", expected)
    assert ", 0 differ" in done.stdout
    told = re.search(r"largest difference (\S+) \((\S+)\), measured", done.stdout)
    with (folder / "numbers_python.csv").open(encoding="utf-8", newline="") as file:
        found = {r["name"]: float(r["value"]) for r in csv.DictReader(file) if r["value"] != ""}
    farthest = max(abs(found[name] - expected[name]) for name in found)
    assert float(told[1]) == pytest.approx(farthest, rel=0.06)
    assert abs(found[told[2]] - expected[told[2]]) == farthest


def test_r_alone_gives_every_number(kit):
    folder, expected = kit
    rscript = shutil.which("Rscript")
    if rscript is None and "CI" not in os.environ:
        pytest.skip("Rscript is not installed here")
    assert rscript, "Rscript is needed where CI is set"
    done = run(rscript, "analysis.R", ".", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    compared(folder, "numbers_r.csv", expected)


def test_the_files_alone_give_every_number_here(kit):
    folder, expected = kit
    assert numbers_of(report_from(folder)) == expected


def test_a_changed_answer_is_noticed(tmp_path):
    tables = made(items=20)
    for name, content in contents_of(tables, analyse(tables, draws=20), Extras()).items():
        if name.endswith((".csv", ".py")):
            (tmp_path / name).write_bytes(content)
    ratings = (tmp_path / "ratings.csv").read_text("utf-8")
    assert ",left,A," in ratings
    (tmp_path / "ratings.csv").write_text(ratings.replace(",left,A,", ",right,B,", 1), "utf-8")
    done = run(sys.executable, "analysis.py", ".", folder=tmp_path)
    assert done.returncode == 1
    assert "differs: pairs/A-B/overall/first/count" in done.stdout


def thinned(tables, keeps):
    """The study with the answers of the readings that are kept, all others unanswered."""
    rows = [
        one if keeps(n, one) else replace(one, answer="", preferred="", first_preferred="")
        for n, one in enumerate(tables.presented)
    ]
    return replace(tables, presented=tuple(rows))


@pytest.mark.parametrize("left", ["nothing", "no item read twice", "no repeats of one"])
def test_the_scripts_bear_gaps(tmp_path, left):
    """Nothing was answered; no two raters read the same item; one, called oddly, read no repeat."""
    tables = made(items=18, raters=3, ties=0)
    names = [one.name for one in tables.raters]
    places = {one.item_id: n for n, one in enumerate(tables.items)}
    keeps = {
        "nothing": lambda _, one: False,
        "no item read twice": lambda _, one: names[places[one.item_id] % 3] == one.rater,
        "no repeats of one": lambda _, one: one.kind != "repeat" or one.rater != names[0],
    }
    odd = {**{name: name for name in names}, names[0]: "=1+1"}
    tables = coded(thinned(tables, keeps[left]), odd)
    tables = coded(tables, rater_names(tables))
    analysis = analyse(tables, draws=20)
    for name, content in contents_of(tables, analysis, Extras()).items():
        if name.endswith((".csv", ".py", ".R")):
            (tmp_path / name).write_bytes(content)
    commands = [(sys.executable, "-W", "error", "analysis.py", ".")]
    if shutil.which("Rscript"):
        commands.append(("Rscript", "analysis.R", "."))
    for command in commands:
        done = run(*command, folder=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert ", 0 differ" in done.stdout


def test_the_scripts_need_nothing_of_ours():
    from importlib.resources import files

    for name in ("analysis.py", "analysis.R"):
        text = files("resources").joinpath("kit", name).read_text("utf-8")
        for word in ("triptych", "studies.", "library(", "require(", "import db"):
            assert word not in text
