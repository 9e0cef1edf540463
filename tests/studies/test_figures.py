"""Figures 4, 5, 6 and 8: what they show, on the screen and in files."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from db.home import Home
from engine.control import Control
from studies.errors import StudyError
from studies.figures import catalogue, targets
from studies.figures.numbers import (
    Asked,
    baselines,
    by_regime,
    first_models,
    hardness,
    over_tasks,
    two_groups,
)
from studies.figures.sheet import Drawn, Label, dodged
from studies.medheb.anatomy import ANATOMY, TEXTS, load_groups
from studies.results import Results, load_results
from studies.run import bench_job
from tests.studies.figure_results import MODELS, invented
from tests.studies.medheb_tree import small_root

SKIPPED = ("kvasir/i2i", "pubmedqa/t2t")
NAMES = tuple(figure.name for figure in catalogue.FIGURES)


def asked_of(results: Results, models: tuple[str, ...] = ()) -> Asked:
    groups = load_groups([line.task for line in results.tasks])
    return Asked(
        results=results,
        models=models or first_models(results),
        titles={model: f"Title of {model}" for model in MODELS},
        lengths={t: float(n + 1) for n, (t, g) in enumerate(groups.items()) if g.target in TEXTS},
        anatomy={task: ANATOMY[group.anatomy] for task, group in groups.items()},
        kinds={task: group.target for task, group in groups.items()},
    )


@pytest.fixture(scope="module")
def results() -> Results:
    return invented(skip=SKIPPED)


@pytest.fixture(scope="module")
def asked(results: Results) -> Asked:
    return asked_of(results)


@pytest.fixture(scope="module")
def drawn(asked: Asked) -> dict[str, Drawn]:
    return {name: catalogue.picture(name, asked, 900, 600) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_point_lies_in_the_picture_and_says_its_n(drawn: dict[str, Drawn], name: str):
    shown = drawn[name]
    assert (shown.width, shown.height, len(shown.rgba)) == (900, 600, 4 * 900 * 600)
    assert shown.marks
    for mark in shown.marks:
        assert 0 <= mark.x <= 900, mark
        assert 0 <= mark.y <= 600, mark
        assert "n = " in mark.words, mark
    assert shown.spoken.count("n = ") >= len(shown.marks)


def test_difficulty_holds_every_task_with_the_mean_of_the_baselines(
    drawn: dict[str, Drawn], results: Results
):
    assert "medemb-2b" not in baselines(results)
    assert "random" not in baselines(results)
    named = {mark.task: mark.words for mark in drawn["difficulty"].marks if mark.task}
    assert set(named) == {line.task.id for line in results.tasks} - set(SKIPPED)
    for line in results.tasks:
        if line.scores:
            hits = [line.scores[m].score.values["hit@1"] for m in baselines(results)]
            assert (
                f": {np.mean(hits):.1f} %, deviation {np.std(hits):.1f} between 3"
                in (named[line.task.id])
            )


def test_regimes_and_drops_are_those_of_the_tables(results: Results):
    groups = dict(by_regime(hardness(results)))
    summary = results.regime_summary()
    assert {name: len(inside) for name, inside in groups.items()} == {
        name: count for name, (count, _) in summary.items()
    }
    for model in results.models:
        found = two_groups(results, model)
        assert found is not None
        assert model.drop == pytest.approx(found[0].value - found[1].value)
        for one in found:
            assert one.low <= one.value <= one.high


def test_the_interval_of_a_mean_over_families_is_that_of_a_resampling(results: Results):
    model = results.models[0]
    found = two_groups(results, model)
    assert found is not None
    new = [line for line in results.tasks if line.task.family in ("MB-VR", "VG")]
    flat = over_tasks(new, model.model)
    assert flat is not None
    assert found[1].tasks == flat.tasks == 17
    assert found[1].high - found[1].low == pytest.approx(flat.high - flat.low, rel=0.35)


def test_a_run_without_all_families_says_so():
    part = invented(("siglip-so400m-384",), queries=10, skip=tuple(
        line.task.id for line in invented(("random",), queries=2).tasks if line.task.family == "VG"
    ))  # fmt: skip
    shown = catalogue.picture("difficulty", asked_of(part), 900, 600)
    assert all(mark.task for mark in shown.marks), "no drop is drawn"
    catalogue.picture("profiles", asked_of(part), 900, 600)


def test_random_alone_is_no_baseline_but_every_figure_is_drawn():
    alone = asked_of(invented(("random",), queries=5))
    assert alone.models == ("random",)
    for name in NAMES:
        catalogue.picture(name, alone, 700, 400)


def test_targets_are_ordered_by_their_measured_length_within_their_kind(asked: Asked):
    groups = targets.groups_of(asked)
    assert [word for word, _ in groups] == ["Short labels", "VQA answers", "Long texts"]
    for _, inside in groups:
        lengths = [asked.lengths[line.task.id] for line in inside]
        assert lengths == sorted(lengths)


def test_files_name_tasks_models_and_n_and_are_equal_twice(asked: Asked, tmp_path: Path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        made = catalogue.write(asked, tmp_path / folder, ("svg", "png"), ("difficulty", "targets"))
        assert [path.name for path in made] == [
            "figure4-difficulty.svg", "figure4-difficulty.png",
            "figure8-targets.svg", "figure8-targets.png",
        ]  # fmt: skip
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
    text = (tmp_path / "a" / "figure4-difficulty.svg").read_text(encoding="utf-8")
    for line in asked.results.tasks:
        assert (f">{line.task.id}<" in text) == bool(line.scores), line.task.id
    assert "Title of medsiglip-448" in text
    assert "n = " in text
    assert "#ffffff" in text, "white ground"


def test_what_cannot_be_drawn_is_refused(asked: Asked, home: Home, tmp_path: Path):
    with pytest.raises(StudyError, match="no format 'gif'"):
        catalogue.write(asked, tmp_path, ("gif",))
    with pytest.raises(StudyError, match=r"\.svg, \.pdf"):
        catalogue.write_as(asked, "targets", tmp_path / "a.gif")
    with pytest.raises(StudyError, match="no result here"):
        catalogue.ask(home, asked.results, ["no-such"])
    many = replace(asked.results, models=tuple(
        replace(asked.results.models[0], model=str(n)) for n in range(9)
    ))  # fmt: skip
    with pytest.raises(StudyError, match="at most 7"):
        catalogue.ask(home, many, [str(n) for n in range(8)])


def test_a_true_run_is_asked_and_written(home: Home, tmp_path: Path):
    root = small_root(tmp_path / "data", queries=6)
    bench_job(home, {"data": str(root), "models": ["random"]}, Control())
    asked = catalogue.ask(home, load_results(home))
    assert asked.models == ("random",)
    assert asked.lengths
    assert all(words >= 1 for words in asked.lengths.values())
    path = catalogue.write_as(asked, "targets", tmp_path / "mine.svg")
    assert path == tmp_path / "mine.svg"
    assert "random" in path.read_text(encoding="utf-8")


def test_labels_give_way():
    labels = [Label(x, 5.0, 30.0) for x in (0.0, 1.0, 2.0, 100.0)]
    placed = dodged(labels, 1.0)
    assert placed[3] == 5.0, "the one far away stays"
    close = sorted(placed[:3])
    assert all(b - a >= 1.0 for a, b in pairwise(close))
