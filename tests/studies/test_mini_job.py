"""The job of the whole miniature: what it leaves, what it says is missing, what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.control import Control
from engine.errors import Cancelled
from studies.errors import StudyError
from studies.medheb.builders.catalogue import source_cards
from studies.medheb.mini import job
from studies.medheb.mini.catalogue import WRITERS, writer
from studies.medheb.mini.job import mini_job
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks
from tests.studies.mini_checks import LEAST, size_of


def make(data: Path, control: Control | None = None, **arguments: Any) -> dict[str, Any]:
    given = {"data": str(data), **arguments}
    return mini_job(None, given, control or Control())  # type: ignore[arg-type]


def test_two_sources_leave_their_tasks_and_say_what_is_missing(tmp_path: Path):
    data = tmp_path / "mini"
    said: list[str] = []
    document = make(data, Control(log=said.append), sources=["kvasir", "brain_tumor_mri"])
    assert len(document["tasks"]) == 6
    assert document["of"] == len(load_tasks(data)) == 107
    assert document["missing"] == {}  # of what was asked for
    assert document["left_out"] == {}
    assert document["official"] is None
    assert not list(tmp_path.glob("*official*"))
    assert len(said) == 2
    for task in load_tasks(data):
        if task.source in ("kvasir", "brain_tumor_mri"):
            assert not read_task(task, data).failures


def test_the_official_layouts_stay_when_asked_for(tmp_path: Path):
    document = make(tmp_path / "mini", sources=["octmnist", "bloodmnist"], keep_official=True)
    official = Path(document["official"])
    assert official == tmp_path / "mini-official"
    assert (official / "medmnist" / "octmnist.npz").is_file()
    changed = (official / "medmnist" / "octmnist.npz").stat().st_mtime_ns
    again = make(tmp_path / "mini", sources=["octmnist"], keep_official=True)
    assert len(again["tasks"]) == 6
    assert (official / "medmnist" / "octmnist.npz").stat().st_mtime_ns == changed


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.txt").write_text("x")
    with pytest.raises(StudyError, match="holds no miniature"):
        make(tmp_path / "data", sources=["kvasir"])
    (tmp_path / "mini-official").mkdir()
    (tmp_path / "mini-official" / "mine.txt").write_text("x")
    with pytest.raises(StudyError, match="holds no miniature"):
        make(tmp_path / "mini", sources=["kvasir"], keep_official=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StudyError, match="holds no miniature"):
        make(tmp_path / "file", sources=["kvasir"])


def test_another_seed_wants_another_folder(tmp_path: Path):
    make(tmp_path / "mini", sources=["brain_tumor_mri"], seed=0)
    with pytest.raises(StudyError, match="another seed"):
        make(tmp_path / "mini", sources=["brain_tumor_mri"], seed=1)
    (tmp_path / "mini" / job.MARK).write_text("damaged")
    with pytest.raises(StudyError, match="another seed"):
        make(tmp_path / "mini", sources=["brain_tumor_mri"], seed=0)


def test_an_unknown_source_is_refused(tmp_path: Path):
    with pytest.raises(StudyError, match="no source 'nobody'"):
        make(tmp_path / "mini", sources=["nobody"])
    with pytest.raises(StudyError, match="no miniature"):
        writer("nobody")


def test_a_source_without_generator_or_reader_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(job, "WRITERS", {"brain_tumor_mri": "brain_tumor", "later": "later"})
    document = make(tmp_path / "mini", sources=["brain_tumor_mri", "kvasir", "later"])
    assert document["left_out"] == {
        "kvasir": "kvasir has no generator yet.",
        "later": "later has no reader yet.",
    }
    assert document["missing"] == dict.fromkeys(
        ("kvasir/i2i", "kvasir/i2l", "kvasir/t2i"), "kvasir has no generator yet."
    )
    assert len(document["tasks"]) == 3


def test_a_builder_that_fails_is_a_sentence_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(home: object, given: dict[str, Any], control: Control) -> dict[str, Any]:
        if given["source"] == "kvasir":
            raise StudyError("nothing of it can be read")
        return real(home, given, control)  # type: ignore[arg-type]

    real = job.build_job
    monkeypatch.setattr(job, "build_job", fail)
    document = make(tmp_path / "mini", sources=["brain_tumor_mri", "kvasir"])
    assert document["left_out"] == {"kvasir": "nothing of it can be read"}
    assert len(document["tasks"]) == 3


def test_it_stops_when_asked_and_goes_on_later(tmp_path: Path):
    asked = iter([False] * 30 + [True] * 10_000)
    with pytest.raises(Cancelled):
        make(tmp_path / "mini", Control(cancelled=lambda: next(asked)), sources=["brain_tumor_mri"])
    assert make(tmp_path / "mini", sources=["brain_tumor_mri"])["missing"] == {}


def test_every_generator_is_there_and_is_one_source_of_the_benchmark():
    known = {name for card in source_cards() for name in (card.id, *card.aliases)}
    sources = {task.source for task in load_tasks()}
    for name in WRITERS:
        assert callable(writer(name))
        assert name in known or name in sources


def test_no_source_of_the_benchmark_is_without_generator():
    cards = source_cards()
    assert not [one.id for one in cards if not {one.id, *one.aliases} & set(WRITERS)]
    served = {plan.task for card in cards for plan in card.plans}
    assert served == {task.id for task in load_tasks()}


@pytest.mark.slow
def test_the_whole_benchmark_is_ready(tmp_path: Path):
    document = make(tmp_path / "mini", keep_official=True)
    assert document["left_out"] == {}
    assert document["missing"] == {}
    assert len(document["tasks"]) == document["of"] == 107
    for task in load_tasks(tmp_path / "mini"):
        read = read_task(task, tmp_path / "mini")
        assert not read.failures, task.id
        assert len(read.queries) >= LEAST, task.id
        assert read.built is not None, task.id
    assert size_of(tmp_path / "mini") < 60_000_000
    assert size_of(tmp_path / "mini-official") < 60_000_000


def test_a_miniature_is_small(tmp_path: Path):
    writer("bloodmnist")(tmp_path, seed=1)
    assert size_of(tmp_path) < 3_000_000
