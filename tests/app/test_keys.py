"""Keys as data: names from events, defaults without clash, changes kept, the keys page by keys."""

from __future__ import annotations

import json
import sys

import pytest
from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app import keys, theme
from app.actions import COMMANDS as WINDOW
from app.actions import PAGES
from app.key_names import key_name, known_name, shown_name
from app.keys import BY_ID, COMMANDS, PLACES, KeyMap
from app.presenters.settings_keys import KEPT_FREE, KeysPresenter, all_keys
from app.views.review import ReviewView
from app.views.settings_keys import KeysView
from app.widgets.key_help import KeyHelp, blocks_of
from app.widgets.window_presets import PLAIN_NAMES
from tests.app.fakes import fake_services

KEY = Qt.Key
NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PRESS = QEvent.Type.KeyPress
# peers.md 1b: what readers expect without reading a manual.
EXPECTED = {
    "slice-up": {"Up"}, "slice-down": {"Down"}, "slice-up-10": {"PgUp"},
    "slice-down-10": {"PgDown"}, "slice-first": {"Home"}, "slice-last": {"End"},
    "preset-1": {"1"}, "preset-2": {"2"}, "preset-3": {"3"}, "preset-4": {"4"},
    "preset-5": {"5"}, "window-full": {"8"}, "window-given": {"9"}, "invert": {"I"},
    "flip-h": {"H"}, "flip-v": {"V"}, "rotate-right": {"R"}, "rotate-left": {"L"},
    "cine": {"C"}, "reset": {"X"}, "fit": {"0"}, "zoom-in": {"+"}, "zoom-out": {"-"},
    "back": {"Esc"}, "link": {"K"}, "maximise": {"M"}, "help": {"?"},
    "answer-left": {"F"}, "answer-right": {"J"}, "answer-both": {"T"}, "answer-neither": {"N"},
    "confirm": {"Return"}, "undo": {"Ctrl+Z"}, "pause": {"P"}, "flip": {"Space"},
}  # fmt: skip


def event(key, modifiers=NONE, text="", scan=0, virtual=0):
    return QKeyEvent(PRESS, int(key), modifiers, scan, virtual, 0, text)


def test_the_defaults_are_those_of_the_field():
    for id_, wanted in EXPECTED.items():
        assert wanted <= set(KeyMap().keys_of(id_)), id_
    assert {f"go-{page.id}" for page in PAGES} | {one.id for one in WINDOW} <= set(BY_ID)


def test_every_command_is_whole_and_none_clashes():
    assert len(BY_ID) == len(COMMANDS)
    for command in COMMANDS:
        assert command.page in PLACES
        assert command.text[0].isupper()
        for name in command.default_keys:
            assert known_name(name), f"{command.id}: {name} is no key"
            assert name not in KEPT_FREE
    assert KeyMap().conflicts() == ()


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (event(KEY.Key_F, text="f"), "F"),
        (event(KEY.Key_F, SHIFT, "F"), "Shift+F"),
        (event(KEY.Key_Question, SHIFT, "?"), "?"),
        (event(KEY.Key_Plus, SHIFT, "+"), "+"),
        (event(KEY.Key_5, Qt.KeyboardModifier.KeypadModifier, "5"), "5"),
        (event(KEY.Key_Enter, Qt.KeyboardModifier.KeypadModifier), "Return"),
        (event(KEY.Key_Z, Qt.KeyboardModifier.ControlModifier), "Ctrl+Z"),
        (event(KEY.Key_Shift, SHIFT), ""),
        (event(KEY.Key_unknown), ""),
        (event(KEY.Key_PageUp), "PgUp"),
        (event(KEY.Key_Space, SHIFT), "Shift+Space"),
        (event(KEY.Key_Adiaeresis, text="ä"), "Ä"),
    ],
)
def test_an_event_has_one_name(made, name):
    assert key_name(made) == name


@pytest.mark.skipif(sys.platform != "linux", reason="the places of keys are those of X11 here")
@pytest.mark.parametrize(
    ("key", "scan", "command"),
    [(0x0410, 41, "answer-left"), (0x041E, 44, "answer-right"), (0x0395, 28, "answer-both")],
)
def test_cyrillic_and_greek_keyboards_answer_by_the_place_of_the_key(key, scan, command):
    made = event(key, text=chr(key).lower(), scan=scan)
    assert KeyMap().command_of(made, "review") == command


def test_places_hear_their_own_commands():
    f = event(KEY.Key_F, text="f")
    assert KeyMap().command_of(f, "review") == "answer-left"
    assert KeyMap().command_of(f, "viewer") == "findings"
    assert KeyMap().command_of(f, "picture") is None
    assert KeyMap().command_of(event(KEY.Key_M), "viewer") == "maximise"
    assert KeyMap().command_of(event(KEY.Key_I), "picture") == "invert"
    assert KeyMap().command_of(event(KEY.Key_F, Qt.KeyboardModifier.AltModifier), "review") is None


def test_what_is_kept_comes_back_and_rubbish_does_not():
    changed = KeyMap({"invert": ("Y", "Ctrl+Y"), "pause": ()})
    again = KeyMap.of_text(changed.to_text())
    assert again.keys_of("invert") == ("Y", "Ctrl+Y")
    assert again.keys_of("pause") == ()
    assert again.with_default("invert").with_default("pause").to_text() == ""
    rubbish = ("{", "[]", "7", '{"nobody": ["Y"]}', '{"invert": 7}', '{"invert": [7]}', "[" * 9999)
    for text in rubbish[:5]:
        assert KeyMap.of_text(text).to_text() == ""
    assert KeyMap.of_text(json.dumps({"invert": ["no such key", "Y"]})).keys_of("invert") == ("Y",)
    KeyMap.of_text(rubbish[-1])


def test_clashes_are_seen_where_commands_meet():
    clash = KeyMap({"invert": ("F",)}).conflicts()
    assert {(one.first, one.second) for one in clash} == {
        ("invert", "findings"), ("invert", "answer-left"),
    }  # fmt: skip
    assert KeyMap({"findings": ("N",)}).users_of("N", "findings") == ("next-series",)


# the keys page


@pytest.fixture
def page(qtbot):
    view = KeysView()
    qtbot.addWidget(view)
    view.resize(900, 600)
    services = fake_services()
    presenter = KeysPresenter(view, services)
    presenter.shown()
    view.show()
    qtbot.waitExposed(view)
    return view, services, presenter


def choose(view, id_):
    view._choose(id_)
    assert view._chosen().id == id_


def press(qtbot, view, id_, key, modifiers=NONE, *, add=False):
    """Choose a command, ask for a key, press it."""
    choose(view, id_)
    (view.add if add else view.change).click()
    assert view.catcher.isVisible()
    qtbot.keyClick(view.catcher, key, modifiers)


def in_force(services):
    return KeyMap.of_text(services.settings.current.key_overrides)


def test_a_key_is_changed_by_pressing_it(page, qtbot):
    view, services, _ = page
    press(qtbot, view, "invert", KEY.Key_Y)
    assert in_force(services).keys_of("invert") == ("Y",)
    assert view._chosen().keys == "Y"
    assert view._chosen().changed
    press(qtbot, view, "invert", KEY.Key_7, add=True)
    assert in_force(services).keys_of("invert") == ("Y", "7")
    view.reset.click()
    assert in_force(services).keys_of("invert") == ("I",)


def test_escape_lets_go_and_tab_stays_free(page, qtbot):
    view, services, _ = page
    press(qtbot, view, "invert", KEY.Key_Escape)
    assert not view.catcher.isVisible()
    press(qtbot, view, "invert", KEY.Key_Tab)
    assert "stays free" in view.state.text()
    assert services.settings.current.key_overrides == ""


def test_a_taken_key_is_swapped_only_if_agreed(page, qtbot):
    view, services, _ = page
    press(qtbot, view, "rotate-left", KEY.Key_R)
    assert view._ask_row.isVisible()
    assert "Rotate right" in view._sentence.text()
    assert in_force(services).keys_of("rotate-left") == ("L",)
    view._no.click()
    assert in_force(services).to_text() == ""
    press(qtbot, view, "rotate-left", KEY.Key_R)
    view._yes.click()
    assert in_force(services).keys_of("rotate-left") == ("R",)
    assert in_force(services).keys_of("rotate-right") == ("L",)
    assert in_force(services).conflicts() == ()


def test_escape_leaves_the_question_of_a_swap(page, qtbot):
    view, services, presenter = page
    press(qtbot, view, "invert", KEY.Key_N)
    if not view._ask_row.isVisible():
        press(qtbot, view, "invert", KEY.Key_H)
    assert view._ask_row.isVisible()
    qtbot.keyClick(view._yes, KEY.Key_Escape)
    assert not view._ask_row.isVisible()
    assert presenter._asked is None
    assert in_force(services).keys_of("invert") == ("I",)


def test_no_swap_is_offered_that_would_clash_elsewhere(page, qtbot):
    view, services, _ = page
    # The Viewer's F would go to a picture command and meet the Review page's F.
    press(qtbot, view, "findings", KEY.Key_I)
    assert "so that \u201cInvert\u201d has no key" in view._sentence.text()
    view._yes.click()
    assert "taken from" in view.state.text()
    assert in_force(services).keys_of("invert") == ()
    assert in_force(services).conflicts() == ()


def test_keys_of_measuring_are_free_while_rating(page, qtbot):
    view, services, _ = page
    for key in (KEY.Key_A, KEY.Key_Q):  # nothing is measured there
        press(qtbot, view, "answer-left", key)
        assert not view._ask_row.isVisible()
    assert in_force(services).keys_of("answer-left") == ("Q",)
    assert in_force(services).conflicts() == ()
    press(qtbot, view, "findings", KEY.Key_Q)
    assert view._ask_row.isVisible()  # the Viewer measures


def test_a_reset_that_would_clash_names_the_other(page, qtbot):
    view, services, _ = page
    press(qtbot, view, "rotate-left", KEY.Key_R)
    view._yes.click()
    choose(view, "rotate-left")
    view.reset.click()
    assert "Rotate right" in view.state.text()
    view.all.click()
    assert in_force(services).to_text() == ""


def test_shortcuts_of_the_window_can_be_changed_too(program, qtbot):
    made = program()
    window = made.window
    window.go("settings")
    view = window.pages.currentWidget().keys_page
    view.key_pressed.emit("go-viewer", "Ctrl+Shift+V", False)
    assert keys.current().keys_of("go-viewer") == ("Ctrl+Shift+V",)
    shortcut = window._shortcuts["go-viewer"]
    assert shortcut.key().toString() == "Ctrl+Shift+V"
    assert "Ctrl+Shift+V" in window.rail._buttons["viewer"].toolTip()
    shortcut.activated.emit()
    assert window.page_id == "viewer"


# what follows the keys in force


@pytest.fixture
def changed():
    keys.use(KeyMap({"answer-left": ("A",), "tool-angle": ("F",), "invert": ("Y",)}))


def test_the_review_page_follows(changed, qtbot):
    from tests.app.test_review_page import show

    view = ReviewView()
    qtbot.addWidget(view)
    show(view)
    with qtbot.waitSignal(view.answer_chosen) as said:
        qtbot.keyClick(view, KEY.Key_A)
    assert said.args == ["left"]
    with qtbot.assertNotEmitted(view.answer_chosen):
        qtbot.keyClick(view, KEY.Key_F)
    assert view.answers.buttons["left"].accessibleName() == "Left better (A)"


@pytest.mark.parametrize("page", ["viewer", "review"])
def test_the_help_says_every_key_in_force(changed, qtbot, page):
    room = QWidget()
    qtbot.addWidget(room)
    room.resize(1216, 800)
    help_ = KeyHelp(room, page=page)
    help_.open()
    words = help_.words()
    for command in COMMANDS:
        told = command.page in (page, "shared", "picture")
        if page == "review" and command.id in keys.NOT_RATING:
            assert command.text not in words
        elif told:
            plain = page == "review" and command.id.startswith("preset")
            assert (PLAIN_NAMES[command.id[-1]] if plain else command.text) in words
            for name in keys.current().keys_of(command.id):
                assert shown_name(name) in words
    assert help_.height() <= room.height()
    assert help_.width() <= room.width()
    assert sum(len(lines) for _title, lines in blocks_of(page)) > 40
    assert ("F11", "Full screen") in dict(blocks_of(page))["Window"]
    if page == "review":  # no value has a unit there, so no window is an organ's
        assert not {"lung", "bone", "liver"} & set(words.split())


@pytest.mark.parametrize(("percent", "least"), [(100, 13), (150, 15), (200, 15)])
def test_the_help_keeps_its_letters_large_and_cuts_none(qtbot, percent, least):
    application = QApplication.instance()
    before = theme.theme.scale.percent
    theme.theme.apply(application, percent=percent)
    try:
        room = QWidget()
        qtbot.addWidget(room)
        room.resize(1280, 800)
        help_ = KeyHelp(room, page="review")
        room.show()
        help_.open()
        assert room.rect().contains(help_.geometry())
        for label in help_.findChildren(QLabel):
            face, inside = label.fontMetrics(), label.contentsRect()
            assert label.font().pixelSize() >= least
            flags = int(Qt.TextFlag.TextWordWrap) if label.wordWrap() else 0
            wide = QRect(0, 0, inside.width(), 9_999)
            needed = face.boundingRect(wide, flags, label.text())
            assert needed.width() <= inside.width() + 1, label.text()
            assert needed.height() <= inside.height() + 1, label.text()
    finally:
        theme.theme.apply(application, percent=before)


def test_the_list_names_changes_and_conflicts(changed):
    shown = {one.id: one for one in all_keys()}
    assert shown["invert"].changed
    assert shown["tool-angle"].conflict == BY_ID["findings"].text
    assert shown["answer-left"].conflict == ""


def test_help_stays_in_the_middle_when_the_page_grows(qtbot) -> None:
    room = QWidget()
    qtbot.addWidget(room)
    room.resize(1100, 700)
    room.show()
    help_ = KeyHelp(room, page="viewer")
    help_.open()
    narrow = help_.width()
    room.resize(1800, 1000)
    assert abs(help_.geometry().center().x() - room.rect().center().x()) <= 1
    assert abs(help_.geometry().center().y() - room.rect().center().y()) <= 1
    assert room.rect().contains(help_.geometry())
    assert help_.width() >= narrow
