"""Equal items over a whole run, the forecast, the command that retries, progress of each task."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import engine.evidence.pixels
import studies.contents
import studies.run
from db.home import Home
from engine.control import Control
from studies.cli import app
from studies.cli_bench_more import retry_command
from studies.contents import Contents, survey
from studies.medheb.pools import Union
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks
from studies.messages import Progress
from studies.run import bench_job
from studies.terminal import Follower
from tests.studies.medheb_killed import Counting
from tests.studies.medheb_tree import (
    task_row,
    write_index,
    write_picture,
    write_registry,
)

REPOSITORY = Path(__file__).resolve().parents[2]
PICTURES, LABELS = 12, ["effusion", "nodule", "normal"]


def sharing_root(root: Path, *, instruction: str = "") -> Path:
    """Three tasks over the same pictures and labels; candidates of one are another's queries."""
    lab = task_row("chest/i2l", "I-Lab", "image_cls", image_root="2D_Images/chest")
    same = task_row("chest/i2i", "I-I", "image_i2i_vg", image_root="2D_Images/chest")
    find = task_row("chest/t2i", "T-I", "image_t2i", image_root="2D_Images/chest")
    names = [write_picture(root, lab, f"{n}.png") for n in range(PICTURES)]
    asks = {"qry_inst": "", "qry_text": ""}
    write_index(root, lab, [
        {**asks, "qry_img_path": name, "tgt_text": LABELS[n % 3 :] + LABELS[: n % 3]}
        for n, name in enumerate(names)
    ])  # fmt: skip
    write_index(root, same, [
        {**asks, "qry_inst": instruction, "qry_img_path": name, "tgt_text": ["", ""],
         "tgt_img_path": [names[n - 3], names[n - 1]]}
        for n, name in enumerate(names)
    ])  # fmt: skip
    write_index(root, find, [
        {"qry_inst": "", "qry_text": LABELS[n % 3], "tgt_text": ["", ""],
         "tgt_img_path": [name, names[n - 1]]}
        for n, name in enumerate(names)
    ])  # fmt: skip
    write_registry(root, [lab, same, find])
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return sharing_root(tmp_path / "data")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").make()


def bench(home: Home, root: Path, *models: str, **more: object):
    given = {"data": str(root), "models": list(models or ["random"]), **more}
    return bench_job(home, given, Control())


def seen(log: Path) -> list[str]:
    return log.read_text("utf-8").splitlines() if log.exists() else []


def test_equal_items_are_found_over_all_tasks(root: Path):
    data = {task.id: read_task(task, root) for task in load_tasks(root)}
    found = survey(data, Contents(), missing=1)
    # i2l: 12 pictures and 3 labels; i2i: 12 and 12; t2i: 12 texts and 12 pictures
    assert found.items == 15 + 24 + 24
    assert len(found.distinct) == PICTURES + len(LABELS)
    assert found.shared == PICTURES + len(LABELS)
    assert found.both == PICTURES + len(LABELS), "pictures and labels ask and are asked for"
    assert found.texts == len(LABELS)
    words = found.sentence()
    assert words.startswith("3 tasks, 1 missing; 63 items, 15 distinct (3 texts, 12 pictures)")
    assert "76 % less to embed" in words


def test_each_content_is_embedded_and_each_item_named_once(
    tmp_path: Path, root: Path, home: Home, monkeypatch: pytest.MonkeyPatch
):
    named: list[object] = []

    def counted(item):
        named.append(item)
        return engine.evidence.pixels.digest(item)

    monkeypatch.setattr(studies.contents, "digest", counted)
    log = tmp_path / "seen.txt"
    monkeypatch.setattr(studies.run, "load_encoder", lambda *a, **o: Counting(log, 0))
    report = bench(home, root)
    assert report["computed"] == 3
    assert len(seen(log)) == 15
    assert len(named) == len(set(named)), "no item is looked at twice in a run"
    assert report["items"]["distinct"] == 15
    (forecast,) = report["forecasts"]
    assert (forecast["kept"], forecast["left"]) == (0, {"text": 3, "picture": 12})


def test_a_kill_among_shared_items_costs_nothing_twice(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
):
    root = sharing_root(tmp_path / "data", instruction="Find the same category:")
    log = tmp_path / "seen.txt"
    words = [str(home.root), str(root), str(log), "2"]
    command = [sys.executable, "-m", "tests.studies.medheb_killed", *words]
    assert subprocess.run(command, cwd=REPOSITORY, check=False).returncode == 9
    before = seen(log)
    assert len(before) == 15, "the first task; what the second asks differs by its instruction"
    monkeypatch.setattr(studies.run, "load_encoder", lambda *a, **o: Counting(log, 0))
    report = bench(home, root)
    assert (report["already"], report["computed"]) == (1, 2)
    assert report["forecasts"][0]["kept"] == len(before)
    assert sorted(set(seen(log))) == sorted(seen(log))
    assert len(seen(log)) == 27
    bench(home, root)
    assert len(seen(log)) == 27


def test_a_plan_measures_and_runs_nothing(tmp_path: Path, root: Path, home: Home):
    plan = bench(home, root, "random", plan=True)
    assert plan["computed"] == plan["already"] == 0
    assert not list(home.runs.rglob("*.json*"))
    (forecast,) = plan["forecasts"]
    assert forecast["measured"] == {"text": 2, "picture": 8}
    assert forecast["left"] == {"picture": 3}
    assert forecast["kept"] == 12
    assert forecast["seconds"] == pytest.approx(
        3 * forecast["seconds_an_item"]["picture"], abs=1e-3
    )
    assert forecast["disk"] == 3 * 4096
    assert "3 to compute, about 0 s" in plan["said"][1]
    assert bench(home, root)["computed"] == 3
    after = bench(home, root, plan=True)
    assert after["said"] == ["random: every task is computed already."]


def test_the_plan_by_command(root: Path, home: Home):
    words = ["--home", str(home.root), "bench", "plan", "--data", str(root), "--models", "random"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "63 items, 15 distinct" in done.output


def test_failures_end_with_the_command_that_retries_them(root: Path, home: Home):
    picture = root / "2D_Images/chest/4.png"
    whole = picture.read_bytes()
    picture.write_bytes(whole[:40])
    words = ["--home", str(home.root), "bench", "run", "--data", str(root), "--models", "random"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert "failed: chest/i2l row 4" in done.output
    line = next(one for one in done.output.splitlines() if one.startswith("Try again: "))
    again = shlex.split(line.removeprefix("Try again: "))
    assert again[0] == "triptych"
    assert again[-1] == "--retry-failed"
    assert again[again.index("--tasks") + 1] == "chest/i2l,chest/i2i,chest/t2i"
    stored = json.loads(CliRunner().invoke(app, [*again[1:], "--json"]).output.partition("\n{")[2]
                        .join(["{", ""]))  # fmt: skip
    assert stored["run"]["computed"] == 3, "computed again, and failed again"
    picture.write_bytes(whole)
    mended = CliRunner().invoke(app, again[1:])
    assert mended.exit_code == 0, mended.output
    assert "Try again" not in mended.output


def test_the_command_names_what_failed_alone(home: Home):
    arguments = {
        "data": "/data/Med HEB", "models": ["a", "b@seed=2"], "tasks": None, "device": "cpu",
        "dtype": "auto",
    }  # fmt: skip
    done = {"failures": [{"model": "a", "task": "x/i2l"}], "refused": []}
    command = retry_command(home, arguments, done)
    assert command == (
        f"triptych --home {shlex.quote(str(home.root))} bench run --data '/data/Med HEB' "
        "--models a --tasks x/i2l --device cpu --retry-failed"
    )
    assert retry_command(home, arguments, {"failures": [], "refused": []}) == ""
    refused = {"failures": [], "refused": [{"model": "b@seed=2"}]}
    assert retry_command(home, arguments, refused).endswith("--models b@seed=2 --device cpu")


def test_progress_tells_each_task(root: Path, home: Home):
    pieces: dict[str, tuple[int, int]] = {}
    control = Control(report=lambda *_: pieces.update({
        control.part.name: (control.part.done, control.part.total)
    }))  # fmt: skip
    bench_job(home, {"data": str(root), "models": ["random"]}, control)
    assert {name: done for name, done in pieces.items() if name} == {
        "chest/i2l (1 of 3)": (15, 15),
        "chest/i2i (2 of 3)": (24, 24),
        "chest/t2i (3 of 3)": (24, 24),
    }
    out = io.StringIO()
    follower = Follower(out)
    follower(Progress("j", 20, 63, "items", "random (1 of 1)", "chest/i2i (2 of 3)", 5, 24))
    assert out.getvalue() == "random (1 of 1): 20 of 63 items; chest/i2i (2 of 3) 5/24\n"


def test_members_of_a_shared_pool_are_made_when_asked_for():
    gold = np.array([2, 0, 4, 2])
    whole = Union(gold, 5)
    assert [member.tolist() for member in whole[:3]] == [
        [2, 0, 1, 3, 4], [0, 1, 2, 3, 4], [4, 0, 1, 2, 3],
    ]  # fmt: skip
    left = Union(gold, 5, {1, 4})
    assert [None if one is None else one.tolist() for one in left] == [
        [2, 0, 3], [0, 2, 3], None, [2, 0, 3],
    ]  # fmt: skip
