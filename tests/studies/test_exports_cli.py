"""``triptych bench show | compare | export | import`` as a person types them."""

import csv
import io
import json
import os
import shlex

import pytest
from typer.testing import CliRunner

from studies.cli import app
from studies.medheb.tasks import load_tasks
from studies.results_import import import_results
from studies.results_stale import checked
from tests.studies.results_home import OTHER, authors_folder, run_once


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return run_once(tmp_path_factory.mktemp("cli"))


def triptych(ran, *words):
    return CliRunner().invoke(app, ["--home", str(ran.home.root), *map(str, words)])


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("text", "MedHEB results, data"),
        ("markdown", "# MedHEB results"),
        ("latex", "% needs \\usepackage{booktabs}"),
        ("csv", "level,name,family"),
    ],
)
def test_show_in_every_format(ran, form, start):
    done = triptych(ran, "bench", "show", "--format", form, "--compare", "paper")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(start)
    assert "MedEmb-8B" in done.stdout
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        assert {row["level"] for row in rows} == {"task", "mean", "model"}


def test_show_as_json_holds_every_table(ran):
    done = triptych(ran, "bench", "show", "--format", "json", "--data", ran.root)
    document = json.loads(done.stdout)
    assert {"tasks", "models", "chance", "anatomy", "targets", "graded"} <= document.keys()
    assert document["of"]["All"] == 10


def test_compare_in_words_and_as_json(ran):
    done = triptych(ran, "bench", "compare", "random", OTHER, "--metric", "mrr@5")
    assert done.exit_code == 0, done.output
    assert "points of MRR@5, same queries" in done.stdout
    assert "Holm" in done.stdout
    done = triptych(ran, "bench", "compare", "random", OTHER, "--json")
    document = json.loads(done.stdout)
    assert (document["first"], document["metric"]) == ("random", "hit@1")
    assert len(document["tasks"]) == 10
    done = triptych(ran, "bench", "compare", "random", "nobody")
    assert done.exit_code == 1
    assert "nobody has no result here" in done.output
    assert triptych(ran, "bench", "compare", "random", OTHER, "--metric", "f1").exit_code == 2


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_compare_for_a_paper(ran, form):
    done = triptych(ran, "bench", "compare", "random", OTHER, "--format", form)
    assert done.exit_code == 0, done.output
    assert ("| I-I |" if form == "markdown" else r"\midrule") in done.stdout


def test_export_then_import(ran, tmp_path):
    for form in ("trec", "mteb", "csv"):
        done = triptych(ran, "bench", "export", "--to", form, "--out", tmp_path / form, "--json")
        assert done.exit_code == 0, done.output
        files = json.loads(done.stdout)["files"]
        assert files
        assert all((tmp_path / form / name).is_file() for name in files)
    assert triptych(ran, "bench", "export", "--to", "pdf", "--out", tmp_path).exit_code == 1
    folder = authors_folder(ran, tmp_path / "theirs")
    (folder / "2D" / "Unknown_score.json").write_text("{}", encoding="utf-8")
    done = triptych(ran, "bench", "import", folder, "--name", "Theirs", "--data", ran.root)
    assert done.exit_code == 0, done.output
    assert "Theirs@imported: 10 tasks imported" in done.stdout
    assert "Unknown_score.json" in done.stdout
    done = triptych(ran, "bench", "show", "--data", ran.root)
    assert "was imported from" in " ".join(done.stdout.split())
    done = triptych(ran, "bench", "import", tmp_path / "gone", "--name", "x")
    assert done.exit_code == 1
    assert "no such folder" in done.output


@pytest.fixture
def changed(tmp_path):
    """A run, and one picture written anew since; a model that was imported knows nothing of it."""
    run = run_once(tmp_path, models=("random",))
    task = next(task for task in load_tasks(run.root) if task.id == "skin/i2i")
    picture = run.root / task.image_root / "0_q.png"
    seen = picture.stat()
    os.utime(picture, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1_000_000))
    return run


def test_results_of_other_files_than_lie_there_now_are_named(changed, tmp_path):
    done = triptych(changed, "bench", "show", "--data", changed.root)
    text = " ".join(done.stdout.split())
    assert "1 tasks were computed on other files than lie there now" in text
    assert "bench run --data" in text
    assert "--models random --tasks skin/i2i" in text
    document = json.loads(triptych(changed, "bench", "show", "--json").stdout)
    assert document["stale"] == [{"task": "skin/i2i", "models": ["random"]}]
    for form in ("markdown", "latex"):
        assert "than lie there now" in triptych(changed, "bench", "show", "--format", form).stdout
    done = triptych(changed, "bench", "show", "--format", "csv")
    assert "than lie there now" in done.stderr
    assert "than lie there now" not in done.stdout
    words = ("bench", "export", "--to", "mteb", "--out", tmp_path / "out")
    done = triptych(changed, *words)
    assert (done.exit_code, "than lie there now" in done.stdout) == (0, True)
    assert json.loads(triptych(changed, *words, "--json").stdout)["stale"] == document["stale"]
    command = checked(changed.home, changed.results()).stale.command
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output
    assert "than lie there now" not in done.stdout, "the command that was named mends it"
    assert json.loads(triptych(changed, "bench", "show", "--json").stdout)["stale"] == []


def test_data_that_are_gone_give_no_remark(changed):
    theirs = authors_folder(changed, changed.root.parent / "theirs")
    import_results(changed.home, theirs, "Theirs", data=changed.root)
    (one,) = checked(changed.home, changed.results()).stale.tasks.values()
    assert one == ("random",), "what was imported cannot be run again"
    results = changed.results()
    next(changed.root.rglob("skin_i2i_test.json")).unlink()
    assert not checked(changed.home, results).stale.tasks
    changed.root.rename(changed.root.with_name("elsewhere"))
    assert not checked(changed.home, results).stale.tasks
    assert "than lie there now" not in triptych(changed, "bench", "show").stdout
