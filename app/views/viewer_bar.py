"""The slim bar of the Viewer: what keys do, as buttons that say their key.

Lays out and emits command ids of ``app.keys``; decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QMenu,
    QSlider,
    QToolBar,
    QToolButton,
    QWidget,
)

from app import theme
from app.keys import BY_ID, first_key
from app.widgets.blocks import row
from app.widgets.content import Picture, preset_name, starting_window
from app.widgets.key_button import KeyButton

# command, icon; None is a gap
BUTTONS: tuple[tuple[str, str] | None, ...] = (
    ("fold-series", "panel-left"),
    None,
    ("layout-1", "layout-1"),
    ("layout-1x2", "layout-2"),
    ("layout-2x2", "layout-4"),
    ("layout-mpr", "layout-mpr"),
    None,
    ("tool-window", "window"),
    ("tool-distance", "distance"),
    ("tool-angle", "angle"),
    ("tool-roi", "region"),
    ("tool-probe", "probe"),
    None,
    ("invert", "invert"),
    ("flip-h", "flip-h"),
    ("flip-v", "flip-v"),
    ("rotate-right", "rotate-right"),
    ("cine", "cine"),
    None,
    ("link", "link"),
    ("reference-lines", "lines"),
    ("model-view", "eye"),
    ("straighten", "straighten"),
)
LAST: tuple[tuple[str, str], ...] = (
    ("open", "open"),
    ("open-files", "add"),
    ("test-pattern", "pattern"),
    ("help", "help"),
    ("fold-report", "panel-right"),
)
CHECKED = frozenset(
    {"fold-series", "fold-report", "link", "reference-lines", "model-view", "straighten", "cine",
     "layout-1", "layout-1x2", "layout-2x2", "layout-mpr", "tool-window", "tool-distance",
     "tool-angle", "tool-roi", "tool-probe"}
)  # fmt: skip
PLAIN = frozenset({"open", "open-files", "help", "test-pattern", "fold-report", "fold-series"})
PRESETS = ("preset-1", "preset-2", "preset-3", "preset-4", "preset-5", "window-given",
           "window-full")  # fmt: skip


def preset_words(picture: Picture | None) -> list[tuple[str, str]]:
    """Command and words of each window preset of a picture; none for colour."""
    if picture is None or picture.color:
        return []
    made = []
    for id_ in PRESETS:
        key = {"window-given": "9", "window-full": "8"}.get(id_, id_[-1])
        name = preset_name(picture, key)
        words = name[0].upper() + name[1:]
        if key != "8":  # the full range takes a look at every value
            center, width = starting_window(picture, key)
            words = f"{words}   {width:.5g} / {center:.5g}"
        made.append((id_, words))
    return made


class TimeSlider(QWidget):
    """Which time point of several is on show.

    Signals:
        moved: number of a time point, from 0.
    """

    moved = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.words = QLabel()
        self.words.setProperty("role", "small")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Time point")
        self.slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.slider.setFixedWidth(110)
        self.slider.valueChanged.connect(self._changed)
        self.setLayout(row(self.words, self.slider))

    def show_moment(self, number: int, count: int) -> None:
        """Time point ``number`` of ``count``; nothing is emitted."""
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, count - 1))
        self.slider.setValue(number)
        self.slider.blockSignals(False)
        self.words.setText(f"time {number + 1} / {count}")

    def _changed(self, value: int) -> None:
        self.words.setText(f"time {value + 1} / {self.slider.maximum() + 1}")
        self.moved.emit(value)


class ViewerBar(QFrame):
    """Buttons from left to right; tools that do not fit stand in a menu behind them.

    Args:
        presets: gives (command id, words) of the window presets of the chosen picture.

    Signals:
        asked: a command id.
    """

    asked = Signal(str)

    def __init__(self, presets: Callable[[], Sequence[tuple[str, str]]]) -> None:
        super().__init__()
        self._presets = presets
        self._actions: dict[str, QAction] = {}
        self._buttons: dict[str, KeyButton] = {}
        self.setAccessibleName("Tools")
        self.setProperty("surface", "bar")
        self.setStyleSheet(_SHEET)
        self.time, self._preset_button = TimeSlider(), self._menu_button()
        self.tools = _tool_bar("Picture tools")
        for entry in BUTTONS:
            if entry is None:
                self.tools.addSeparator()
                continue
            self.tools.addWidget(self._button(*entry))
            if entry[0] == "tool-probe":
                self.tools.addWidget(self._preset_button)
        last = [self._button(*entry) for entry in LAST]
        self.setLayout(row(self.tools, self.time, *last, space=2))
        self.show_moments(0, 1)
        self.name_keys()

    def tab_chain(self) -> list[QWidget]:
        """What Tab walks through, from left to right."""
        first: list[QWidget] = [self._buttons[entry[0]] for entry in BUTTONS if entry is not None]
        place = first.index(self._buttons["tool-probe"]) + 1
        first.insert(place, self._preset_button)
        return [*first, self.time.slider, *(self._buttons[id_] for id_, _icon in LAST)]

    def check(self, command: str, *, on: bool) -> None:
        """Show a command as on or off."""
        self._actions[command].setChecked(on)

    def allow(self, command: str, *, on: bool) -> None:
        """Let a command be asked or not."""
        self._actions[command].setEnabled(on)

    def checked(self, command: str) -> bool:
        """True if a command is shown as on."""
        return self._actions[command].isChecked()

    def click(self, command: str) -> None:
        """Press a button, for a look or a test."""
        self._actions[command].trigger()

    def show_moments(self, number: int, count: int) -> None:
        """The slider of time points; hidden where there is one."""
        self.time.setVisible(count > 1)
        if count > 1:
            self.time.show_moment(number, count)

    def name_keys(self) -> None:
        """Say the keys in force."""
        for id_, action in self._actions.items():
            key = first_key(id_)
            words = BY_ID[id_].text
            action.setText("" if id_ in PLAIN else key)
            action.setToolTip(f"{words} ({key})" if key else words)
            self._buttons[id_].setAccessibleName(f"{words} ({key})" if key else words)

    def _button(self, id_: str, icon: str) -> KeyButton:
        action = QAction(theme.icon(icon), "", self)
        action.setCheckable(id_ in CHECKED)
        action.triggered.connect(lambda _on=False: self._ask(id_))
        self._actions[id_] = action
        self._buttons[id_] = KeyButton(action)
        return self._buttons[id_]

    def _ask(self, id_: str) -> None:
        action = self._actions[id_]
        if action.isCheckable():
            # What is on is said by the one who decides, not by the press.
            action.setChecked(not action.isChecked())
        self.asked.emit(id_)

    def _menu_button(self) -> QToolButton:
        button = QToolButton()
        button.setIcon(theme.icon("control-down", size=14))
        button.setText("Window")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setAccessibleName("Window presets")
        button.setToolTip("Window presets")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.menu = QMenu(button)
        self.menu.aboutToShow.connect(self._fill_menu)
        button.setMenu(self.menu)
        return button

    def _fill_menu(self) -> None:
        self.menu.clear()
        for id_, words in self._presets():
            action = self.menu.addAction(f"{words}\t{first_key(id_)}")
            action.triggered.connect(lambda _on=False, id_=id_: self.asked.emit(id_))


def _tool_bar(name: str) -> QToolBar:
    """A row of buttons; what does not fit is behind a button with an arrow."""
    bar = QToolBar()
    bar.setAccessibleName(name)
    bar.setMovable(False)
    more = bar.findChild(QToolButton, "qt_toolbar_ext_button")
    if more is not None:
        more.setIcon(theme.icon("control-down", size=14))
        more.setAccessibleName("More tools")
        more.setToolTip("More tools")
    return bar


_SHEET = (
    f"QToolBar {{ background: {theme.PANEL}; border: none; spacing: 1px; padding: 2px; }}"
    f"QToolBar::separator {{ background: {theme.LINE}; width: 1px; margin: 4px 3px; }}"
    "QToolButton { padding: 3px 3px; border: 1px solid transparent; background: transparent;"
    f" color: {theme.QUIET}; }}"
    f"QToolButton:hover {{ background: {theme.RAISED}; }}"
    f"QToolButton:focus {{ border: 1px solid {theme.ACCENT}; }}"
    f"QToolButton:disabled {{ color: {theme.DISABLED}; }}"
)
