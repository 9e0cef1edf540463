"""The presenters of the library, neighbours and models pages: fake views, no display."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.presenters import evidence_words, model_facts
from app.presenters.library import LibraryPresenter
from app.presenters.models import ModelsPresenter
from app.presenters.neighbours import NeighboursPresenter
from app.presenters.pictures import Pictures, picture_of
from app.shown import LibraryFilter
from app.views.library import LibraryView
from app.views.models import ModelsView
from app.views.neighbours import NeighboursView
from db.collections import NewEvidence, add_collection, file_rows
from db.home import Home
from db.indexing import add_evidence
from db.session import Store, open_store
from engine.evidence.item import ImageRef
from tests.app.page_fakes import page_services, view_like


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with open_store(home) as opened:
        yield opened


def picture_file(folder: Path, name: str) -> Path:
    path = folder / name
    Image.fromarray(np.tile(np.arange(40, dtype=np.uint8), (30, 1))).save(path)
    return path


def fill(store: Store, folder: Path, count: int, *, name: str = "Chest") -> tuple[int, ...]:
    path = picture_file(folder, "film.png")
    add_collection(store, name)
    rows = [
        NewEvidence(folder / f"case{n}" / "film.png", file_rows([path]), "image", form="2d",
                    modality="DX" if n % 2 else "CT", shape=(1, 30, 40),
                    details={"spacing_mm": [0, 0.5, 0.5], "notes": ["a note"]})
        for n in range(count)
    ]  # fmt: skip
    rows.append(NewEvidence(folder / "report.txt", (), "report", form="text", text="No nodule."))
    rows.append(NewEvidence(folder / "bad.dcm", (), "error", error_code="truncated",
                            error_message="the file ends early"))  # fmt: skip
    return add_evidence(store, name, rows)


def library(home: Home, store: Store) -> tuple[Any, Any, LibraryPresenter]:
    view, services = view_like(LibraryView), page_services(home=home, store=store)
    return view, services, LibraryPresenter(view, services)


def test_an_empty_home_shows_no_collection(home: Home, store: Store) -> None:
    view, _, presenter = library(home, store)
    presenter.shown()
    assert view.last("show_collections") == (([], ""), {})
    assert "show_items" not in view.names()


def test_a_collection_is_loaded_page_by_page(home: Home, store: Store, tmp_path: Path) -> None:
    fill(store, tmp_path, 250)
    view, _, presenter = library(home, store)
    presenter.shown()
    (total, rows), _ = view.last("show_items")
    assert (total, len(rows)) == (251, 200), "objects that cannot be read are not counted"
    view.more_wanted.emit(200)
    (more,), _ = view.last("add_items")
    assert len(more) == 51
    assert more[-1].snippet == "No nodule."
    assert view.last("show_modalities") == ((("CT", "DX"),), {})


def test_filters_reach_the_store(home: Home, store: Store, tmp_path: Path) -> None:
    fill(store, tmp_path, 10)
    view, _, presenter = library(home, store)
    presenter.shown()
    for wanted, count in (
        (LibraryFilter(modality="CT"), 5),
        (LibraryFilter(form="text"), 1),
        (LibraryFilter(words="nodule"), 1),
        (LibraryFilter(words="nowhere"), 0),
        (LibraryFilter(problems=True), 1),
    ):
        view.filter_changed.emit(wanted)
        assert view.last("show_items")[0][0] == count, wanted
    assert view.last("show_items")[0][1][0].problem == "the file ends early"


def test_a_late_answer_of_an_older_filter_is_dropped(home: Home, store: Store,
                                                     tmp_path: Path) -> None:  # fmt: skip
    fill(store, tmp_path, 4)
    view, services, presenter = library(home, store)
    presenter.shown()
    waiting: list[Any] = []
    services.tasks.query = lambda owner, work, done=None, failed=None: waiting.append((work, done))
    view.filter_changed.emit(LibraryFilter(words="nowhere"))
    view.filter_changed.emit(LibraryFilter())
    for work, done in reversed(waiting):
        done(work())
    assert view.last("show_items")[0][0] == 5


def test_the_chosen_object_is_told_and_opened(home: Home, store: Store, tmp_path: Path) -> None:
    ids = fill(store, tmp_path, 2)
    view, services, presenter = library(home, store)
    opened: list[Any] = []
    services.open_evidence = opened.append
    presenter.shown()
    view.item_chosen.emit(str(ids[1]))
    (shown,), _ = view.last("show_preview")
    facts = dict(shown.facts)
    assert (facts["Size"], facts["Spacing"], facts["Modality"]) == ("30 × 40", "0.5 × 0.5 mm", "DX")
    assert shown.notes == ("a note",)
    (key, image), _ = view.last("show_preview_picture")
    assert key == str(ids[1])
    assert image.width() == 512
    view.item_opened.emit(str(ids[1]))
    assert opened == [(tmp_path / "film.png",)]
    view.neighbours_wanted.emit(str(ids[0]))
    assert services.went == [("neighbours", ids[0])]


def test_a_folder_becomes_a_collection_of_its_name(home: Home, store: Store) -> None:
    view, services, presenter = library(home, store)
    presenter.shown()
    view.folder_wanted.emit()
    assert services.jobs.started == [], "nothing was chosen"
    view.ask_folder = lambda: "/somewhere/Chest 2026"
    view.folder_wanted.emit()
    kind, arguments, title = services.jobs.started[0]
    assert (kind, arguments["collection"]) == ("import", "Chest 2026")
    assert "Chest 2026" in title
    left = [{"path": "/somewhere/bad.dcm", "reason": "the file ends early"}]
    result = {"added": 3, "collection": "Chest 2026", "left_out": left}
    services.jobs.end("j0", result=result)
    assert "bad.dcm, the file ends early" in services.notify.sentences[-1]


def test_a_finished_import_refreshes_the_list(home: Home, store: Store, tmp_path: Path) -> None:
    view, services, presenter = library(home, store)
    presenter.shown()
    fill(store, tmp_path, 1)
    services.changes.tell("collection")
    (collections, chosen), _ = view.last("show_collections")
    assert (collections[0].name, collections[0].count, chosen) == ("Chest", 2, "Chest")


def test_the_demo_button_starts_the_demo(home: Home, store: Store) -> None:
    view, services, _ = library(home, store)
    view.demo_wanted.emit()
    assert services.jobs.started[0][0] == "demo"


def test_thumbnails_are_kept_under_a_name_that_tells_nothing(home: Home, tmp_path: Path) -> None:
    path = picture_file(tmp_path, "DOE_JOHN.png")
    image = picture_of(ImageRef(path), 64, home.thumbnails)
    kept = list(home.thumbnails.iterdir())
    assert image is not None
    assert image.width() == 64
    assert len(kept) == 1
    assert "doe" not in kept[0].name.lower()
    again = picture_of(ImageRef(path), 64, home.thumbnails)
    assert again is not None
    assert again.size() == image.size()
    assert len(list(home.thumbnails.iterdir())) == 1


def test_a_broken_or_missing_picture_is_none(home: Home, tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"not a picture")
    assert picture_of(ImageRef(broken), 64, home.thumbnails) is None
    assert picture_of(ImageRef(tmp_path / "gone.png"), 64, home.thumbnails) is None
    got: list[Any] = []
    Pictures(page_services(home=home), got).want(None, 64, got.append)
    assert got == [None]


@pytest.mark.parametrize(
    ("shape", "words"),
    [(None, ""), ((1, 30, 40), "30 × 40"), ((64, 96, 96), "64 × 96 × 96"),
     ((1, 30, 40, 3), "30 × 40"), ((), "")],
)  # fmt: skip
def test_sizes_in_words(shape: Any, words: str) -> None:
    assert evidence_words.size_of(shape) == words


def test_models_say_why_they_cannot_be_used(home: Home) -> None:
    shown = {model.key: model for model in model_facts.models_shown(home)}
    assert shown["random"].usable
    assert shown["blip2-itm-vit-g"].state == "no adapter yet"
    assert not shown["siglip-so400m-384"].on_disk
    assert "not on this machine" in shown["siglip-so400m-384"].why
    assert shown["medemb-nano"].demo
    firsts = [model.usable for model in model_facts.models_shown(home)]
    assert firsts == sorted(firsts, reverse=True), "those that can be used come first"


@pytest.mark.parametrize(("memory", "fits"), [(64_000, True), (20_000, False), (None, None)])
def test_a_model_fits_by_memory(memory: int | None, fits: bool | None, home: Home,
                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(model_facts, "memory_mb", lambda: memory)
    shown = {model.key: model for model in model_facts.models_shown(home)}
    assert shown["qwen3-vl-embedding-8b"].fits is fits


def test_a_check_runs_in_the_worker_and_is_told_on_the_card(home: Home) -> None:
    view, services = view_like(ModelsView), page_services(home=home)
    ModelsPresenter(view, services).shown()
    view.check_wanted.emit("random")
    assert services.jobs.started[0][1]["model"] == "random"
    forms = [{"form": "text", "seconds": 0.2}, {"form": "3d", "seconds": 0.3}]
    result = {"model": "random", "load_seconds": 1.0, "forms": forms, "dim": 64, "notes": []}
    services.jobs.end("j0", result=result)
    (key, text), named = view.last("show_check")
    assert (key, named["tone"]) == ("random", "good")
    assert "2 items in 0.5 s" in text
    view.check_wanted.emit("random")
    services.jobs.end("j1", state="failed", sentence="The weights are damaged.")
    assert view.last("show_check")[0] == ("random", "The weights are damaged.")


def neighbours(home: Home, store: Store) -> tuple[Any, Any, NeighboursPresenter]:
    view, services = view_like(NeighboursView), page_services(home=home, store=store)
    return view, services, NeighboursPresenter(view, services)


def test_neighbours_say_what_is_missing(home: Home, store: Store) -> None:
    view, services, presenter = neighbours(home, store)
    presenter.shown()
    words, named = view.last("show_state")
    assert "query" in words[0]
    assert named["can_search"] is False
    view.search_wanted.emit()
    assert services.jobs.started == []


def test_two_models_are_searched_and_shown_side_by_side(home: Home, store: Store,
                                                        tmp_path: Path) -> None:  # fmt: skip
    ids = fill(store, tmp_path, 3)
    view, services, presenter = neighbours(home, store)
    opened: list[Any] = []
    services.open_evidence = opened.append
    presenter.shown(ids[0])
    view.model_chosen.emit("left", "random")
    view.model_chosen.emit("right", "other")
    view.search_wanted.emit()
    assert [a["model"] for _, a, _ in services.jobs.started] == ["random", "other"]
    assert all(a["id"] == ids[0] for _, a, _ in services.jobs.started)
    hits = [{"id": ids[1], "path": str(tmp_path / "case1" / "film.png"), "score": 0.5,
             "kind": "image", "modality": "DX", "same_patient": True},
            {"id": 999, "path": "/gone/x.png", "score": 0.4, "kind": "image"}]  # fmt: skip
    services.jobs.end("j1", result={"model": "other", "neighbours": hits})
    (side, _, rows), _ = view.last("show_ranking")
    assert side == "right"
    assert rows[0].title == "case1/film.png"
    assert "same patient" in rows[0].detail
    assert rows[1].picture == "", "an object that is gone has no picture"
    view.open_wanted.emit(str(ids[1]))
    view.open_wanted.emit("999")
    assert opened == [(tmp_path / "film.png",)]
    services.jobs.end("j0", state="failed", sentence="The weights are damaged.")
    assert view.last("show_state")[0] == ("The weights are damaged.",)


def test_a_search_can_be_cancelled(home: Home, store: Store, tmp_path: Path) -> None:
    ids = fill(store, tmp_path, 3)
    view, services, presenter = neighbours(home, store)
    presenter.shown(ids[0])
    view.model_chosen.emit("left", "random")
    view.model_chosen.emit("right", "")
    view.search_wanted.emit()
    assert view.last("show_state")[1]["searching"] is True
    view.cancel_wanted.emit()
    assert services.jobs.cancelled == ["j0"]
    services.jobs.end("j0", state="cancelled")
    assert view.last("show_state")[1].get("searching") in (None, False)
