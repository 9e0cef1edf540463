"""The study wizard's decisions: what can be compared, live numbers, the build and its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.presenters.blind_warning import BlindWarning
from app.presenters.study import StudyPresenter
from app.presenters.study_offer import count_words, forms_of, matching, sources, tasks_of
from app.presenters.study_plan import plan_shown, size_of
from app.shown_study import SizeAsked, StudyWish, TaskOffered
from app.views.study import StudyView
from db.collections import add_collection
from db.home import Home
from db.session import open_store
from engine.control import Control
from studies.jobs import load_job
from studies.preference.protocol import Protocol
from studies.preference.study import list_studies, open_study
from tests.app.page_fakes import page_services, view_like
from tests.studies.results_home import OTHER, Ran, run_once

MODELS = ["random", OTHER]
TASKS = (
    TaskOffered("one/i2i", "I-I", "2d", 40),
    TaskOffered("one/vqa", "VQA", "2d", 20),
    TaskOffered("two/vqa", "VQA", "3d", None, "no file"),
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A home with results of two models."""
    return run_once(tmp_path_factory.mktemp("wizard"))


@pytest.fixture
def services(ran: Ran, qapp: object) -> Any:
    with open_store(ran.home) as store:
        yield page_services(home=ran.home, store=store)


def opened(services: Any, models: Sequence[str] = MODELS) -> tuple[Any, StudyPresenter]:
    """The page with its wizard open and models chosen."""
    view = view_like(StudyView)
    view.opened = ""
    presenter = StudyPresenter(view, services)
    presenter.shown()
    view.new_wanted.emit()
    if models:
        view.models_changed.emit(list(models))
    return view, presenter


def wish(root: Path, **changes: Any) -> StudyWish:
    protocol = Protocol(warmup=1, guess_items=2).to_json()
    made = StudyWish(
        str(root), "data", tuple(MODELS), None, 6, "Chest", 3, protocol, True, "a long secret"
    )
    return replace(made, **changes)


def test_what_can_be_compared_is_offered_with_counts(services: Any, ran: Ran) -> None:
    view, _ = opened(services)
    [offered] = view.last("show_wizard")[0][0]
    assert (offered.kind, offered.key) == ("data", str(ran.root))
    assert {key for key, _ in offered.models} == set(MODELS)
    tasks, chosen = view.last("show_tasks")[0]
    assert {task.key for task in tasks if task.count} == set(chosen)
    assert view.last("show_hindrance") == (("",), {})
    told, _missing, forms = view.last("show_counts")[0]
    assert told.startswith(f"{len(chosen)} of {len(tasks)} tasks chosen")
    assert set(forms) <= {"2d", "3d", "text"}


def test_no_model_is_proposed_and_until_then_no_task_is_called_missing(services: Any) -> None:
    view, _ = opened(services, ())
    assert view.last("show_models")[0][1] == []
    assert view.last("show_hindrance") == (("Choose two models or more.",), {})
    assert view.last("show_counts")[0][1] == ""
    view.models_changed.emit(MODELS)
    tasks, chosen = view.last("show_tasks")[0]
    assert {task.key for task in tasks if task.count} == set(chosen)


def test_a_task_that_a_model_has_not_answered_says_which(services: Any) -> None:
    [source] = sources(services.home, services.store, services.machine, "auto")[:1]
    first = next(iter(source.counts))
    lacking = replace(source, counts={**source.counts, first: {"random": 5}})
    found = {task.key: task for task in tasks_of(lacking, MODELS)}
    assert found[first].count is None
    assert found[first].reason.startswith("no results of")
    gone = replace(source, counts={}, missing={first: "the index is gone"})
    found = {task.key: task for task in tasks_of(gone, MODELS)}
    assert found[first].reason == "the index is gone"


def test_tasks_are_chosen_by_pattern_and_family() -> None:
    assert matching(TASKS, "") == ["one/i2i", "one/vqa"], "those without queries are never chosen"
    assert matching(TASKS, "*/VQA") == ["one/vqa"]
    assert matching(TASKS, "i-i, two/*") == ["one/i2i"]
    assert count_words(TASKS, ["one/i2i"]) == (
        "1 of 3 tasks chosen, 40 queries.",
        "1 of 3 tasks is missing: two/vqa. The list says why.",
    )
    assert forms_of(TASKS, ["one/i2i", "one/vqa"]) == {"2d": 1.0}


def test_one_model_alone_is_no_study(services: Any) -> None:
    view, _ = opened(services)
    view.models_changed.emit(["random"])
    assert view.last("show_hindrance") == (("Choose two models or more.",), {})
    view.models_changed.emit(MODELS)
    view.tasks_changed.emit([])
    assert view.last("show_hindrance")[0][0].startswith("Choose a task")
    view.pattern_changed.emit("")
    assert view.last("show_hindrance") == (("",), {})


def test_the_numbers_follow_the_fields(services: Any) -> None:
    view, _ = opened(services)
    before = view.last("show_size")[0][0]
    assert "sentence" not in before.sentence
    assert before.sentence.count("%") >= 3
    view.size_changed.emit(SizeAsked(items=5, share=70.0, ties=0.0, clustering=0.0))
    after = view.last("show_size")[0][0]
    assert after.needed < before.needed or before.needed == 0
    assert dict(after.facts)["This study"].startswith("5 items")
    view.protocol_changed.emit(Protocol(repeat_share=0.5).to_json())
    assert "50 % of items come back" in view.last("show_summary")[0][0]


@pytest.mark.parametrize(
    ("share", "power", "needed"),
    [(55, 80, 1087), (60, 80, 270), (65, 80, 118), (68, 80, 81)],
)
def test_the_published_sample_sizes_stand_on_the_page(share: float, power: float,
                                                      needed: int) -> None:  # fmt: skip
    """28 % ties, independent items."""
    asked = SizeAsked(items=530, share=share, ties=28, clustering=0, power=power)
    protocol = Protocol()
    found = size_of(asked, models=2, forms={}, tasks=107, available=5000, protocol=protocol)
    shown = plan_shown(found, 5000, 530)
    assert shown.needed == pytest.approx(needed, abs=1)
    assert shown.available == 5000


def test_more_than_there_is_is_said(services: Any) -> None:
    view, _ = opened(services)
    view.size_changed.emit(SizeAsked(items=90_000))
    assert "queries to draw from" in view.last("show_size")[0][0].warning


def test_a_study_is_built_as_the_wizard_asked(services: Any, ran: Ran) -> None:
    """What the page hands to the worker is what the worker's job takes."""
    view, presenter = opened(services)
    view.build_wanted.emit(wish(ran.root))
    kind, arguments, title = services.jobs.started[0]
    assert (kind, title) == ("study-build", "Build study 'Chest'")
    assert arguments["passphrase"] == "a long secret"
    assert "a long secret" not in repr(vars(presenter.wizard))
    services.jobs.progress("j0", done=3, total=6, unit="items", phase="Copying")
    assert view.last("show_building")[0][1:4] == (3, 6, "Copying, 3 of 6 items")
    result = load_job(kind)(services.home, arguments, Control())
    services.jobs.end("j0", result=result)
    assert "items are sealed" in services.notify.sentences[-1]
    assert view.last("show_studies")[0][1] == result["id"]
    assert "clear_wizard" in view.names()
    [info] = [one for one in list_studies(services.home) if one.title == "Chest"]
    with open_study(info.path) as study:
        assert (study.protocol.warmup, study.protocol.guess_items) == (1, 2)
        planned = study.row.settings["planned"]
    assert planned["sentence"].startswith("If 60 % of the decided comparisons prefer the tested")
    assert (planned["wish"]["warmup"], planned["wish"]["models"]) == (1, 2)


def test_the_plan_that_stands_on_the_page_is_frozen(services: Any, ran: Ran) -> None:
    view, _ = opened(services)
    view.size_changed.emit(SizeAsked(items=7, share=66.0, readers=3))
    sentence = view.last("show_size")[0][0].sentence
    view.build_wanted.emit(wish(ran.root, protocol=Protocol().to_json()))
    planned = services.jobs.started[-1][1]["planned"]
    assert planned["sentence"] == sentence
    assert (planned["wish"]["total"], planned["wish"]["readers"]) == (7, 3)
    assert not [name for name in MODELS if name in str(planned)]
    view.size_changed.emit(SizeAsked(items=90_000))
    view.build_wanted.emit(wish(ran.root, total=90_000))
    arguments = services.jobs.started[-1][1]
    assert arguments["total"] == arguments["planned"]["wish"]["total"] < 90_000, "all there are"
    assert "planned size and its reasons are frozen" in view.last("show_summary")[0][0]
    view.size_changed.emit(SizeAsked(items=7, share=30.0))  # the page says that this is no plan
    view.build_wanted.emit(wish(ran.root))
    assert services.jobs.started[-1][1]["planned"] is None


def test_some_tasks_travel_by_name_all_as_none(services: Any, ran: Ran) -> None:
    view, _ = opened(services)
    every = tuple(task.key for task in view.last("show_tasks")[0][0] if task.count)
    view.build_wanted.emit(wish(ran.root, tasks=every))
    view.build_wanted.emit(wish(ran.root, tasks=every[:2]))
    assert [one[1]["tasks"] for one in services.jobs.started] == [None, ",".join(every[:2])]


def test_a_failed_or_cancelled_build_goes_back_to_the_wizard(services: Any, ran: Ran) -> None:
    view, presenter = opened(services)
    view.build_wanted.emit(wish(ran.root))
    view.cancel_wanted.emit()
    assert services.jobs.cancelled == ["j0"]
    services.jobs.end("j0", state="cancelled")
    assert view.last("show_build_failure") == (
        ("Building was stopped; no study was made.", "warn"),
        {},
    )
    view.build_wanted.emit(wish(ran.root))
    services.jobs.end("j1", state="failed", sentence="The title names a model.")
    assert view.last("show_build_failure") == (("The title names a model.", "error"), {})
    assert presenter.wizard.opened


def test_a_build_is_still_seen_after_another_page(services: Any, ran: Ran) -> None:
    view, presenter = opened(services)
    view.build_wanted.emit(wish(ran.root))
    presenter.hidden()
    assert "clear_wizard" in view.names(), "no model's name stays behind the page"
    services.jobs.progress("j0", done=1, total=6, unit="items", phase="Copying")
    before = len(view.calls)
    presenter.shown()
    later = view.names()[before:]
    assert "show_building" in later
    assert "show_steps" not in later
    view.study_chosen.emit("another")
    before = len(view.calls)
    services.jobs.progress("j0", done=2, total=6, unit="items", phase="Copying")
    assert "show_building" not in view.names()[before:], "who looks at a study is not disturbed"
    view.new_wanted.emit()
    assert "show_building" in view.names()[before:]
    services.jobs.end("j0", state="failed", sentence="The disk is full.")
    assert "The disk is full." in services.notify.sentences


def test_a_home_without_results_says_what_to_do(home: Home, qapp: object) -> None:
    with open_store(home.make()) as store:
        view, _ = opened(page_services(home=home, store=store), ())
    assert "Benchmark" in view.last("show_hindrance")[0][0]


def test_a_collection_is_offered_without_right_answers(home: Home, qapp: object) -> None:
    with open_store(home.make()) as store:
        add_collection(store, "Chest 2026")
        services = page_services(home=home, store=store)
        view, _ = opened(services)
        [offered] = view.last("show_wizard")[0][0]
        assert (offered.kind, offered.key) == ("collection", "Chest 2026")
        assert len(offered.models) > 1
        view.build_wanted.emit(wish(Path(), source="Chest 2026", kind="collection"))
    [(_, arguments, _)] = services.jobs.started
    assert (arguments["data"], arguments["collection"]) == (None, "Chest 2026")
    assert arguments["other_patients"] is True
    planned = arguments["planned"]
    assert planned["wish"]["icc"] == 0.0, "a collection is no single task"


def test_pages_that_name_models_warn_once_while_a_study_is_blind(services: Any,
                                                                 ran: Ran) -> None:  # fmt: skip
    warning = BlindWarning(services, "models")
    blind = any(not info.unblinded for info in list_studies(ran.home))
    warning.look()
    warning.look()
    told = [one for one in services.notify.sentences if "still blind" in one]
    assert len(told) == int(blind)
