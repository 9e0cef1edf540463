"""Nothing reachable while rating tells a model, the gold or the stratum; and the walk that says
so finds a planted name in each channel. On a reader's machine with a pack, and on the
coordinator's own, which holds results and the key.
"""

from __future__ import annotations

import io
import json
import logging
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from PySide6.QtCore import QMimeData, QSettings, Qt
from PySide6.QtGui import (
    QAction,
    QClipboard,
    QGuiApplication,
    QStandardItem,
    QStandardItemModel,
    QTextDocument,
)
from PySide6.QtWidgets import QApplication, QComboBox, QPlainTextEdit, QTreeView

from app.jobs import JobState
from app.shown_study import SourceOffered, TaskOffered
from db.settings import load_settings, save_settings
from studies.preference.packs import make_pack, open_pack, return_answers
from studies.preference.protocol import Protocol
from studies.preference.study import open_study
from tests.app.blinding import find_leaks, of_windows
from tests.app.reading import answer, ready, sit_down, state
from tests.studies.preference_material import MODEL_A, MODEL_B, SECRETS, small_study

KEY = Qt.Key
READER = "CD"
# Words that would tell the arms apart whatever the study.
ARMS = ("model a", "model b", "model_a", "model_b", "medemb", "siglip", "qwen", "gold", "stratum")


@dataclass(frozen=True)
class Handed:
    """A study, and a pack made of it."""

    id: str
    path: Path
    pack: Path


class Walk:
    """A window at work on a study, and everything that can be read around it."""

    def __init__(self, made, home, path, records, *, pack=None):
        self.program, self.window, self.home, self.path = made, made.window, home, path
        self.view, self.pack, self._records = made.window.presenter("review").view, pack, records

    def __call__(self, words=SECRETS):
        """Of a reader's home everything; of the coordinator's, what rating writes and shows."""
        held = [self.pack.parent] if self.pack else []
        return find_leaks([self.window], self.home, self.path, self._records, words, held=held,
                          coordinator=self.pack is None)  # fmt: skip

    def arms(self):
        """Where rating writes and shows; the empty tables of every home have columns for gold."""
        return find_leaks([self.window], self.home, self.path, self._records, ARMS,
                          coordinator=True)  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """One study for all, and one pack of it; each test reads a copy."""
    folder = tmp_path_factory.mktemp("built")
    made = small_study(folder, per_task=6, total=8, guess_items=2, warmup=1)
    copy = folder / "of the pack"
    shutil.copytree(made.path, copy)
    return Handed(made.id, made.path, make_pack(copy, folder / f"{READER}.triptych", rater=READER))


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A folder for temporary files, a place for what the system keeps, an empty clipboard."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for form in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
        QSettings.setPath(form, QSettings.Scope.UserScope, str(tmp_path / "kept"))
    organization = QApplication.organizationName()
    QApplication.setOrganizationName("walk")
    yield
    QApplication.setOrganizationName(organization)
    for mode in (QClipboard.Mode.Clipboard, QClipboard.Mode.Selection):
        QGuiApplication.clipboard().clear(mode)


@pytest.fixture
def rating(qtbot, program, home, built, caplog, tmp_path, alone):
    """A reader's home: nothing but an opened pack, at its second item."""
    caplog.set_level(logging.DEBUG)
    stick = tmp_path / "stick" / built.pack.name
    stick.parent.mkdir()
    shutil.copyfile(built.pack, stick)
    home.make()
    save_settings(home.settings, replace(load_settings(home.settings), rater_name=READER))
    path = open_pack(home, stick)
    with open_study(path) as study:
        name = study.info().id
    made = program()
    made.window.go("review", name)
    ready(qtbot, made.window, at=1)
    answer(qtbot, made.window.presenter("review").view, KEY.Key_F)
    ready(qtbot, made.window, at=2)
    return Walk(made, home, path, caplog.records, pack=stick)


@pytest.fixture
def coordinating(qtbot, program, home, built, caplog, alone):
    """The coordinator's home, with results and key, rating too; the wizard was open before."""
    caplog.set_level(logging.DEBUG)
    home.make()
    path = home.studies / built.id
    shutil.copytree(built.path, path)
    (home.runs / "digest" / MODEL_A).mkdir(parents=True)
    made = program()
    window = made.window
    window.go("study", built.id)
    view = window.pages.currentWidget()
    qtbot.waitUntil(lambda: view.studies.count() == 1, timeout=20_000)
    view.new_wanted.emit()
    qtbot.waitUntil(lambda: bool(view.wizard.problem.text()), timeout=20_000)
    models = ((MODEL_A, "Veiled Title"), (MODEL_B, "Masked Title"))
    view.show_wizard([SourceOffered("root", "hiddensource", "data", models)], Protocol().to_json())
    view.show_models(models, [MODEL_A, MODEL_B])
    view.show_tasks([TaskOffered("hiddensource/i2i", "I-I", "2d", 9)], ["hiddensource/i2i"])
    assert any("Veiled Title" in text for _, text in of_windows([window])), "it names models"
    answer(qtbot, sit_down(qtbot, window, built.id), KEY.Key_F)
    ready(qtbot, window, at=2)
    return Walk(made, home, path, caplog.records)


def test_the_real_screens_tell_nothing(rating, qtbot):
    assert rating() == []
    assert rating.arms() == []
    view, board = rating.view, rating.view.board
    # Every state of the page: chosen, flipped, enlarged, help, paused, refused, the end.
    qtbot.keyClick(view, KEY.Key_J)
    board.select(board.left[0])
    qtbot.keyPress(view, KEY.Key_Space)
    assert rating() == []
    assert rating.arms() == []
    qtbot.keyRelease(view, KEY.Key_Space)
    qtbot.keyClick(view, KEY.Key_M)
    qtbot.keyClick(view, "?")
    assert rating() == []
    assert rating.arms() == []
    qtbot.keyClick(view, KEY.Key_Escape)
    qtbot.keyClick(view, KEY.Key_P)
    assert rating() == []
    assert rating.arms() == []


def test_a_pack_tells_nothing_to_its_end_nor_do_its_answers(rating, qtbot):
    window, view = rating.window, rating.view
    total = window.presenter("review")._presentation.total
    for number in range(2, total + 1):
        ready(qtbot, window, at=number)
        answer(qtbot, view, KEY.Key_N)
        if number == total // 2:
            assert rating() == []
    qtbot.waitUntil(lambda: state(window) == "asking")
    assert rating() == []
    return_answers(rating.path, rating.pack.with_suffix(".triptych-answers"))
    window.close()
    assert rating() == []
    assert rating.arms() == []


def test_the_coordinator_may_rate_on_the_own_machine(coordinating, qtbot):
    """Results and key lie there, and a wizard was open; nothing of it is left while rating."""
    assert coordinating() == []
    assert coordinating.arms() == []
    qtbot.keyClick(coordinating.view, KEY.Key_P)
    assert coordinating() == []


def test_what_other_pages_know_is_not_on_the_rating_screen(rating, qtbot):
    """A running benchmark names models; its job and its notices wait until the reader is done."""
    services = rating.program.services
    services.notify.warn(f"{MODEL_A} could not be loaded.")
    jobs = services.jobs
    jobs._states["j"] = JobState("j", "bench", f"Benchmark {MODEL_A}", state="running")
    jobs._current = "j"
    jobs.changed.emit("j")
    qtbot.wait(10)
    try:
        assert rating() == []
    finally:
        jobs._current = None


# -- one plant for each channel


def plant_title(walk, word):
    walk.window.setWindowTitle(f"Triptych {word}")


def plant_text(walk, word):
    walk.view.board.left[0].set_title(f"LEFT 1 ({word})")


def plant_report(walk, word):
    walk.view.board.right[2].text.show_text(f"Found by {word}.")


def plant_tooltip(walk, word):
    walk.view.board.right[1].setToolTip(word)


def plant_status_tip(walk, word):
    walk.view.board.setStatusTip(word)


def plant_whats_this(walk, word):
    walk.view.board.query.setWhatsThis(f"Ranked by {word}")


def plant_accessible_name(walk, word):
    walk.view.board.left[2].setAccessibleName(word)


def plant_accessible_description(walk, word):
    walk.view.answers.setAccessibleDescription(f"by {word.upper()}")


def plant_object_name(walk, word):
    walk.view.board.left[1].setObjectName(f"frame-{word}")


def plant_property(walk, word):
    walk.view.board.left[1].setProperty("arm", word)


def plant_file_path(walk, word):
    walk.window.setWindowFilePath(f"scores/{word}.json")


def plant_action(walk, word):
    action = QAction("Next", walk.window)
    action.setData({"arm": word})


def plant_action_of_a_widget(walk, word):
    walk.kept = QAction(f"Show {word}")  # no child of the window, only offered by a frame
    walk.view.board.left[0].addAction(walk.kept)


def plant_list_cell(walk, word):
    walk.view.start.list.addItem(word)


def plant_combo_box(walk, word):
    box = QComboBox(walk.view)
    box.addItem("left", word)


def plant_tree_cell(walk, word):
    model = QStandardItemModel(walk.view)
    top = QStandardItem("lists")
    top.appendRow(QStandardItem(word))
    model.appendRow(top)
    QTreeView(walk.view).setModel(model)


def plant_head_of_a_table(walk, word):
    model = QStandardItemModel(walk.view)
    model.setHorizontalHeaderLabels([word])


def plant_document(walk, word):
    document = QPlainTextEdit(walk.view).document()
    document.setMetaInformation(QTextDocument.MetaInformation.DocumentTitle, word)


def plant_log(walk, word):
    logging.getLogger("triptych.review").info("left list by %s", word)


def plant_log_file(walk, word):
    (walk.home.logs / "worker.log").write_text(f"loaded {word}\n", encoding="utf-8")


def plant_settings(walk, word):
    walk.home.settings.write_text(json.dumps({"last": word}), encoding="utf-8")


def plant_recent_files(walk, word):
    walk.home.state.write_text(json.dumps({"recent": [word]}), encoding="utf-8")


def plant_where_reading_stopped(walk, word):
    (walk.home.root / "reading.json").write_text(json.dumps({word: {}}), encoding="utf-8")


def plant_kept_by_the_system(walk, word):
    kept = QSettings()
    kept.setValue("last", word)
    kept.sync()


def plant_clipboard(walk, word):
    """In a format that no text field would show."""
    data = QMimeData()
    data.setData("application/x-triptych", f"left={word}".encode())
    QGuiApplication.clipboard().setMimeData(data)


def plant_temporary_file(walk, word):
    with tempfile.NamedTemporaryFile("w", delete=False, encoding="utf-8") as file:
        file.write(f"left is {word}")


def plant_temporary_name(walk, word):
    tempfile.mkdtemp(prefix=word)


def plant_file_name(walk, word):
    (walk.path / f"{word}.png").write_bytes(b"")


def plant_cache_name(walk, word):
    (walk.home.thumbnails / word).mkdir()


def plant_cache_content(walk, word):
    (walk.home.thumbnails / "0001.png").write_bytes(b"\x89PNG" + word.encode())


def plant_scratch(walk, word):
    (walk.home.scratch / "result.json").write_text(word, encoding="utf-8")


def plant_database_cell(walk, word):
    put(walk.path / "study.sqlite", f"left is {word}")


def plant_database_blob(walk, word):
    put(walk.path / "study.sqlite", b"\x00" * 9000 + word.encode() + b"\x00" * 9000)


def put(file, value):
    """Write a value into a table of its own."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note (words)")
        connection.execute("INSERT INTO note VALUES (?)", (value,))
        connection.commit()


def plant_home_database(walk, word):
    put(walk.home.database, word)


def plant_vectors(walk, word):
    (walk.home.vectors / "index.bin").write_bytes(word.encode("utf-16-le"))


def plant_pack_cell(walk, word):
    put(walk.pack, word)


def plant_pack_picture(walk, word):
    """Packed away beside the pixels of a picture."""
    held, beside = io.BytesIO(), PngInfo()
    beside.add_text("Comment", word, zip=True)
    Image.new("L", (4, 4)).save(held, format="PNG", pnginfo=beside)
    put(walk.pack, held.getvalue())


def plant_pack_name(walk, word):
    walk.pack.rename(walk.pack.with_name(f"{word}.triptych"))


def plant_answers(walk, word):
    walk.pack.with_suffix(".triptych-answers").write_text(f"left {word}", encoding="utf-8")


FOUND: dict[object, bool] = {}
PLANTS = [value for name, value in sorted(globals().items()) if name.startswith("plant_")]


@pytest.fixture
def finds(request):
    """Channel to whether its own word was found: one window, all planted, one walk."""
    if not FOUND:
        walk = request.getfixturevalue("rating")
        words = {plant: f"planted-{plant.__name__[6:].replace('_', '-')}" for plant in PLANTS}
        assert walk(words.values()) == [], "nothing is planted yet"
        for plant, word in words.items():
            plant(walk, word)
        found = {find.word for find in walk(words.values())}
        FOUND.update({plant: word in found for plant, word in words.items()})
    return FOUND


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__[6:])
def test_a_planted_name_is_found(finds, plant):
    assert finds[plant]
