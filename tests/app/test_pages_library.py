"""The presenters of the library and neighbours pages: fake views, no display."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.notify import Notify
from app.presenters import evidence_words
from app.presenters.library import LibraryPresenter
from app.presenters.library_import import result_shown
from app.presenters.neighbours import NeighboursPresenter
from app.presenters.pictures import Pictures, picture_of, prune
from app.shown import LibraryFilter
from app.views.library import LibraryView
from app.views.neighbours import NeighboursView
from app.widgets.notice import NoticeBar
from db.collections import FileRow, NewEvidence, add_collection, count_items, file_rows
from db.home import Home
from db.indexing import add_evidence
from db.session import Store, open_store
from engine.evidence.item import ImageRef
from tests.app.page_fakes import page_services, view_like
from tests.engine.evidence_files import slices


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
    assert view.last("show_facets") == (([("CT (125)", "CT"), ("DX (125)", "DX")], []), {})


def test_filters_reach_the_store(home: Home, store: Store, tmp_path: Path) -> None:
    fill(store, tmp_path, 10)
    view, _, presenter = library(home, store)
    presenter.shown()
    for wanted, count in (
        (LibraryFilter(modality="CT"), 5),
        (LibraryFilter(form="text"), 1),
        (LibraryFilter(words="nodule"), 1),
        (LibraryFilter(words="nowhere"), 0),
        (LibraryFilter(body_part="KNEE"), 0),
        (LibraryFilter(report="with"), 11),  # a text lies beside the one film behind all rows
        (LibraryFilter(report="without"), 0),
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


def kin(store: Store, folder: Path) -> tuple[int, ...]:
    """Three objects of one patient, two of them of one study; one of another; one unnamed."""
    path = picture_file(folder, "film.png")
    add_collection(store, "Kin")
    rows = [
        NewEvidence(folder / f"o{n}" / "film.png", file_rows([path]), "image", form="2d",
                    subject=subject, study=study, body_part="BREAST", warnings=warned,
                    laterality="L", view="MLO")
        for n, (subject, study, warned) in enumerate([
            ("p", "s1", ("burned_in_text", "head")), ("p", "s1", ()), ("p", "s2", ()),
            ("q", "s3", ()), (None, None, ())])
    ]  # fmt: skip
    return add_evidence(store, "Kin", rows)


def test_the_same_patient_is_counted_told_and_listed(home: Home, store: Store,
                                                     tmp_path: Path) -> None:  # fmt: skip
    ids = kin(store, tmp_path)
    view, _, presenter = library(home, store)
    presenter.shown()
    (_, tiles), _ = view.last("show_items")
    assert [tile.kin for tile in tiles] == [3, 3, 3, 0, 0]
    assert tiles[0].warnings == ("text?", "face?")
    view.item_chosen.emit(str(ids[0]))
    (key, told), _ = view.last("show_kin")
    assert key == str(ids[0])
    assert told.sentence == "2 other objects of the same patient, 1 in the same study"
    (shown,), _ = view.last("show_preview")
    assert dict(shown.facts)["Body part"] == "breast, left, MLO"
    assert [words.split(":")[0] for words in shown.warnings] == [
        "Burned-in text possible", "May show a face"]  # fmt: skip
    view.patient_wanted.emit(str(ids[0]))
    assert view.last("show_items")[0][0] == 3
    assert view.last("show_items")[1]["chosen"] == str(ids[0])
    assert "o0/film.png" in view.last("show_patient")[0][0]
    view.patient_left.emit()
    assert view.last("show_items")[0][0] == 5
    assert view.last("show_patient") == (("",), {})
    view.patient_wanted.emit(str(ids[4]))
    assert view.last("show_items")[0][0] == 5, "nobody knows whose it is"


def test_another_collection_is_not_listed_for_one_patient(home: Home, store: Store,
                                                          tmp_path: Path) -> None:  # fmt: skip
    ids = kin(store, tmp_path)
    fill(store, tmp_path, 3)
    view, _, presenter = library(home, store)
    presenter.shown("Kin")
    view.patient_wanted.emit(str(ids[0]))
    view.collection_chosen.emit("Chest")
    assert view.last("show_items")[0][0] == 4


def test_a_report_is_shown_by_its_sections(home: Home, store: Store, tmp_path: Path) -> None:
    add_collection(store, "c")
    text = "FINDINGS: A nodule.\nIMPRESSION: Follow up."
    (number,) = add_evidence(store, "c", [NewEvidence(tmp_path / "r.txt", (), "report",
                                                      form="text", text=text)])  # fmt: skip
    view, _, presenter = library(home, store)
    presenter.shown()
    view.item_chosen.emit(str(number))
    (shown,), _ = view.last("show_preview")
    assert [(name, words) for name, _, words in shown.sections] == [
        ("findings", "A nodule."), ("impression", "Follow up.")]  # fmt: skip


def test_a_picture_shows_the_report_beside_it(home: Home, store: Store, tmp_path: Path) -> None:
    path = picture_file(tmp_path, "film.png")
    add_collection(store, "c")
    text = tmp_path / "report.txt"
    ids = add_evidence(store, "c", [
        NewEvidence(path, file_rows([path]), "image", form="2d"),
        NewEvidence(text, file_rows([text]), "report", form="text", text="IMPRESSION: Clear."),
    ])  # fmt: skip
    view, _, presenter = library(home, store)
    presenter.shown()
    view.item_chosen.emit(str(ids[0]))
    (key, title, words, sections), _ = view.last("show_report")
    assert (key, words) == (str(ids[0]), "IMPRESSION: Clear.")
    assert title.endswith("report.txt")
    assert [name for name, _, _ in sections] == ["impression"]


def test_letters_typed_meanwhile_ask_the_store_once(home: Home, store: Store,
                                                    tmp_path: Path) -> None:  # fmt: skip
    fill(store, tmp_path, 4)
    view, services, presenter = library(home, store)
    presenter.shown()
    waiting: list[Any] = []
    services.tasks.query = lambda owner, work, done=None, failed=None: waiting.append((work, done))
    for words in ("n", "no", "nod", "nodule"):
        view.filter_changed.emit(LibraryFilter(words=words))
    answers = [work() for work, _ in waiting]
    assert [count for _, count, _ in answers] == [0, 0, 0, 1]


def test_a_series_shows_its_middle_file_and_opens_with_all(home: Home, store: Store,
                                                           tmp_path: Path) -> None:  # fmt: skip
    files = slices(tmp_path, [0.0, 1.0, 2.0, 3.0, 4.0])
    add_collection(store, "c")
    (number,) = add_evidence(store, "c", [
        NewEvidence(tmp_path, file_rows(files), "volume", form="3d", modality="CT",
                    shape=(5, 4, 5), details={"source": {"format": "DICOM"}})])  # fmt: skip
    view, services, presenter = library(home, store)
    opened: list[Any] = []
    services.open_evidence = opened.append
    presenter.shown()
    (_, (tile,)), _ = view.last("show_items")
    view.picture_wanted.emit(tile.key)
    assert view.last("show_picture")[0][1].width() == 160
    view.item_chosen.emit(tile.key)
    assert dict(view.last("show_preview")[0][0].facts)["Files"] == "5"
    view.item_opened.emit(str(number))
    assert opened == [tuple(files)]


def test_a_folder_becomes_a_collection_of_its_name(home: Home, store: Store) -> None:
    view, services, presenter = library(home, store)
    presenter.shown()
    view.folder_wanted.emit()
    assert services.jobs.started == [], "nothing was chosen"
    view.ask_folder = lambda: "/somewhere/Chest 2026"
    view.folder_wanted.emit()
    kind, arguments, title = services.jobs.started[0]
    assert (kind, arguments["collection"]) == ("import", "Chest 2026")
    assert "deidentify_to" not in arguments
    assert "Chest 2026" in title
    services.jobs.progress("j0", done=50, total=200, unit="files", phase="reading evidence")
    (shown,), _ = view.last("show_import")
    assert (shown.state, shown.permille) == ("running", 250)
    assert "50 of 200 files" in shown.sentence
    left = [{"path": "/somewhere/bad.dcm", "reason": "the file ends early"}]
    result = {"added": 3, "unchanged": 4, "collection": "Chest 2026", "left_out": left,
              "left_out_count": 1, "reasons": {"the file ends early": 1}}  # fmt: skip
    services.jobs.end("j0", result=result)
    assert services.notify.sentences == [], "the page itself says it"
    presenter.hidden()
    services.jobs.end("j0", result=result)
    assert "bad.dcm, the file ends early" in services.notify.sentences[-1]
    (shown,), _ = view.last("show_import")
    assert shown.state == "done"
    assert shown.sentence == "3 added to 'Chest 2026', 4 files unchanged, 1 left out."
    assert shown.lines == ("/somewhere/bad.dcm: the file ends early",)


def test_what_is_stored_shows_while_the_import_still_runs(home: Home, store: Store,
                                                          tmp_path: Path) -> None:  # fmt: skip
    view, services, presenter = library(home, store)
    clock = [100.0]
    presenter._import._now = lambda: clock[0]
    presenter.shown()
    view.ask_folder = lambda words="": "/somewhere/Chest"
    view.folder_wanted.emit()
    fill(store, tmp_path, 3)
    services.jobs.progress("j0", done=5, total=9, unit="files", phase="reading evidence")
    assert view.last("show_items")[0][0] == 4
    assert view.last("show_collections")[0][0][0].count == 4
    before = len(view.calls)
    services.jobs.progress("j0", done=6, total=9, unit="files", phase="reading evidence")
    assert view.names()[before:] == ["show_import"], "not at every step"
    clock[0] += 60
    services.jobs.progress("j0", done=7, total=9, unit="files", phase="reading evidence")
    assert "show_collections" in view.names()[before + 1 :], "once in a while"


def test_many_left_out_are_counted_by_reason(home: Home, store: Store) -> None:
    left = [{"path": f"/x/{n}", "reason": "empty"} for n in range(3)]
    shown = result_shown({"added": 0, "collection": "c", "left_out": left, "left_out_count": 70,
                          "reasons": {"empty": 60, "cut": 10}})  # fmt: skip
    assert shown.lines[:3] == ("60 × empty", "10 × cut", "")
    assert shown.lines[-1] == "and 67 more"


def test_an_import_can_be_stopped_and_says_what_is_kept(home: Home, store: Store) -> None:
    view, services, presenter = library(home, store)
    presenter.shown()
    view.import_wanted.emit(["/somewhere/disc.zip"])
    assert services.jobs.started[0][1]["collection"] == "disc"
    view.stop_wanted.emit()
    assert services.jobs.cancelled == ["j0"]
    services.jobs.end("j0", state="cancelled")
    (shown,), _ = view.last("show_import")
    assert shown.state == "stopped"
    assert "go on" in shown.sentence
    view.import_wanted.emit(["/somewhere/disc.zip"])
    services.jobs.end("j1", state="failed", sentence="No room on the disk.")
    assert view.last("show_import")[0][0].sentence == "No room on the disk."
    assert "No room" in services.notify.sentences[-1]


def test_an_import_that_comes_well_takes_the_error_of_the_one_before_away(
    home: Home, store: Store
) -> None:
    view, services, presenter = library(home, store)
    services.notify, bar = Notify(), NoticeBar()
    services.notify.posted.connect(bar.post)
    services.notify.recalled.connect(bar.recall)
    services.notify.listen()
    presenter.shown()
    for job, sentence in (("j0", "No room on the disk."), ("j1", "The folder lies inside.")):
        view.import_wanted.emit(["/somewhere/disc.zip"])
        services.jobs.end(job, state="failed", sentence=sentence)
    assert bar.current is not None
    view.import_wanted.emit(["/somewhere/disc.zip"])
    services.jobs.end("j2", result={"added": 1, "collection": "disc"})
    assert bar.current is None
    assert view.last("show_import")[0][0].state == "done"


def test_copies_that_name_nobody_are_asked_for_in_the_panel(home: Home, store: Store) -> None:
    view, services, presenter = library(home, store)
    presenter.shown()
    offered = [name for name, _ in view.last("show_options")[0][0]]
    assert "retain-patient" in offered
    view.ask_folder = lambda words="": ""
    view.clean_changed.emit(True)
    assert view.last("show_clean")[1] == {"on": False, "folder": ""}, "no folder, no copies"
    view.ask_folder = lambda words="": "/clean" if words else "/somewhere/Chest"
    view.clean_changed.emit(True)
    assert view.last("show_clean")[1] == {"on": True, "folder": "/clean"}
    view.option_changed.emit("retain-full-dates", True)
    view.option_changed.emit("retain-modified-dates", True)
    assert "not both" in services.notify.sentences[-1]
    assert view.last("show_options")[0][1] == ("retain-full-dates",)
    view.folder_wanted.emit()
    _, arguments, _ = services.jobs.started[0]
    assert arguments["deidentify_to"] == "/clean"
    assert arguments["options"] == ["retain-full-dates"]
    copies = {
        "folder": "/clean",
        "written": 2,
        "known": 0,
        "not_copied": 3,
        "sentence": "pixels stay",
        "options": [],
        "warnings": [{"warning": "head", "count": 2, "sentence": "a head"}],
    }
    services.jobs.end("j0", result={"added": 1, "collection": "Chest", "deidentified": copies})
    (shown,), _ = view.last("show_import")
    assert shown.warnings == (
        "2 copies written to /clean; pixels stay.",
        "3 of those left out were not copied: they are not in the collection.",
        "2 × a head.",
    )
    view.clean_changed.emit(False)
    assert view.last("show_clean")[1] == {"on": False, "folder": ""}


def test_a_finished_import_refreshes_the_list(home: Home, store: Store, tmp_path: Path) -> None:
    view, services, presenter = library(home, store)
    presenter.shown()
    fill(store, tmp_path, 1)
    services.changes.tell("collection")
    (collections, chosen), _ = view.last("show_collections")
    assert (collections[0].name, collections[0].count, chosen) == ("Chest", 2, "Chest")


def test_a_collection_is_removed_and_its_files_stay(home: Home, store: Store,
                                                    tmp_path: Path) -> None:  # fmt: skip
    fill(store, tmp_path, 3)
    fill(store, tmp_path, 2, name="Other")
    view, services, presenter = library(home, store)
    presenter.shown("Chest")
    view.import_wanted.emit(["/somewhere/disc.zip"])
    view.remove_wanted.emit("Chest")
    assert "Stop the import" in services.notify.sentences[-1]
    assert count_items(store, "Chest") == 4, "an import fills it"
    services.jobs.end("j0", state="cancelled")
    view.remove_wanted.emit("Chest")
    assert "'Chest' was taken out" in services.notify.sentences[-1]
    (shown, chosen), _ = view.last("show_collections")
    assert ([one.name for one in shown], chosen) == (["Other"], "Other")
    assert (tmp_path / "film.png").is_file()
    view.remove_wanted.emit("Other")
    assert view.last("show_collections") == (([], ""), {})
    with store.reading() as connection:
        for table in ("evidence", "evidence_file", "indexed_file", "collection"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0


def test_the_demo_button_starts_the_demo(home: Home, store: Store) -> None:
    view, services, _ = library(home, store)
    view.demo_wanted.emit()
    assert services.jobs.started[0][0] == "demo"


class LaterTasks:
    """Tasks that happen when a test says so, the one that was given first at first."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def run(self, owner: Any, work: Any, done: Any = None, failed: Any = None) -> None:
        self.waiting.append((work, done))

    def step(self) -> None:
        work, done = self.waiting.pop(0)
        done(work())


def test_the_newest_wish_for_a_picture_comes_first_and_few_at_a_time(
    home: Home, tmp_path: Path
) -> None:
    tasks, gone, came = LaterTasks(), list[str](), list[str]()
    pictures = Pictures(page_services(home=home, tasks=tasks), gone, most=3, forgotten=gone.append)
    path = picture_file(tmp_path, "film.png")
    for key in "abcdefg":
        pictures.want(ImageRef(path), 32, lambda _image, key=key: came.append(key), key=key)
    assert len(tasks.waiting) == 2, "the pool is for others too"
    assert gone == ["c", "d"], "the oldest wishes go, and can be wished again"
    while tasks.waiting:
        tasks.step()
    assert came == ["a", "b", "g", "f", "e"]
    pictures.want(ImageRef(path), 32, lambda _image: came.append("h"), key="h")
    pictures.want(ImageRef(path), 32, lambda _image: came.append("i"), key="i")
    pictures.want(ImageRef(path), 32, lambda _image: came.append("j"), key="j")
    pictures.forget()
    while tasks.waiting:
        tasks.step()
    assert came[5:] == ["h", "i"]


def test_old_thumbnails_make_room(home: Home) -> None:
    home.thumbnails.mkdir(parents=True, exist_ok=True)
    for number in range(12):
        file = home.thumbnails / f"{number}.png"
        file.write_bytes(b"x")
        os.utime(file, (number, number))
    assert prune(home.thumbnails, most=12, left=5) == 0
    assert prune(home.thumbnails, most=10, left=5) == 7
    assert sorted(path.name for path in home.thumbnails.iterdir()) == [
        "10.png", "11.png", "7.png", "8.png", "9.png"]  # fmt: skip
    assert prune(home.thumbnails / "nowhere") == 0


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


def test_a_picture_that_cannot_be_decoded_is_left_out_from_then_on(
    home: Home, store: Store, tmp_path: Path
) -> None:
    good, bad, gone = (tmp_path / name for name in ("good.png", "bad.png", "gone.png"))
    picture_file(tmp_path, "good.png")
    bad.write_bytes(good.read_bytes()[:-30])
    add_collection(store, "c")
    rows = [NewEvidence(path, (FileRow(path, 1, 1),), "image", form="2d")
            for path in (bad, good, gone)]  # fmt: skip
    ids = [str(number) for number in add_evidence(store, "c", rows)]
    view, _, presenter = library(home, store)
    presenter.shown()
    view.item_chosen.emit(ids[0])
    for key in ids:
        view.picture_wanted.emit(key)
    (total, tile), _ = view.last("show_lost")
    assert (total, tile.key, tile.kind) == (2, ids[0], "error")
    assert tile.problem
    assert view.last("show_preview")[0][0].problem == tile.problem
    (shown, _), _ = view.last("show_collections")
    assert (shown[0].count, shown[0].left_out) == (2, 1), "a missing file is not a damaged one"
    assert view.names().count("show_lost") == 1, "told once, however often it is decoded"
    view.filter_changed.emit(LibraryFilter(problems=True))
    assert [one.key for one in view.last("show_items")[0][1]] == [ids[0]]
    view.filter_changed.emit(LibraryFilter())
    assert [one.key for one in view.last("show_items")[0][1]] == ids[1:]


@pytest.mark.parametrize(
    ("shape", "words"),
    [(None, ""), ((1, 30, 40), "30 × 40"), ((64, 96, 96), "64 × 96 × 96"),
     ((1, 30, 40, 3), "30 × 40"), ((), "")],
)  # fmt: skip
def test_sizes_in_words(shape: Any, words: str) -> None:
    assert evidence_words.size_of(shape) == words


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


def test_the_same_patient_can_be_left_out_of_a_search(home: Home, store: Store,
                                                      tmp_path: Path) -> None:  # fmt: skip
    ids = fill(store, tmp_path, 3)
    view, services, presenter = neighbours(home, store)
    presenter.shown(ids[0])
    view.others_chosen.emit(True)
    view.model_chosen.emit("left", "random")
    view.model_chosen.emit("right", "")
    view.search_wanted.emit()
    assert services.jobs.started[0][1]["other_patients"] is True
    hit = {"id": ids[1], "path": "/x/y", "score": 0.5, "same_patient": True, "same_study": True}
    services.jobs.end("j0", result={"model": "random", "neighbours": [hit]})
    assert "same study" in view.last("show_ranking")[0][2][0].detail


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
