"""The slim bar of the Viewer: what keys do, as buttons that say their key.

Lays out and emits command ids of ``app.keys``; decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QMenu, QSlider, QToolBar, QToolButton, QWidget

from app import theme
from app.keys import BY_ID, first_key
from app.widgets.blocks import row

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
    ("test-pattern", "pattern"),
    ("help", "help"),
    ("fold-report", "panel-right"),
)
CHECKED = frozenset(
    {"fold-series", "fold-report", "link", "reference-lines", "model-view", "straighten", "cine",
     "layout-1", "layout-1x2", "layout-2x2", "layout-mpr", "tool-window", "tool-distance",
     "tool-angle", "tool-roi", "tool-probe"}
)  # fmt: skip
PLAIN = frozenset({"open", "help", "test-pattern", "fold-report", "fold-series"})
PRESETS = ("preset-1", "preset-2", "preset-3", "preset-4", "preset-5", "window-given",
           "window-full")  # fmt: skip


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


class ViewerBar(QToolBar):
    """Buttons from left to right; those that do not fit stand in a menu at the end.

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
        self.setAccessibleName("Tools")
        self.setMovable(False)
        self.setIconSize(QSize(18, 18))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setStyleSheet(_SHEET)
        self._preset_button = self._menu_button()
        for entry in BUTTONS:
            self._add(entry)
            if entry is not None and entry[0] == "tool-probe":
                self.addWidget(self._preset_button)
        self.time = TimeSlider()
        self._time = self.addWidget(self.time)
        self.show_moments(0, 1)
        self.addWidget(_stretch())
        for entry in LAST:
            self._add(entry)
        self.name_keys()

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
        self._time.setVisible(count > 1)
        if count > 1:
            self.time.show_moment(number, count)

    def name_keys(self) -> None:
        """Say the keys in force."""
        for id_, action in self._actions.items():
            key = first_key(id_)
            words = BY_ID[id_].text
            action.setText("" if id_ in PLAIN else key)
            action.setToolTip(f"{words} ({key})" if key else words)
            button = self.widgetForAction(action)
            if button is not None:
                button.setAccessibleName(f"{words} ({key})" if key else words)

    def _add(self, entry: tuple[str, str] | None) -> None:
        if entry is None:
            self.addSeparator()
            return
        id_, icon = entry
        action = QAction(theme.icon(icon), "", self)
        action.setCheckable(id_ in CHECKED)
        action.triggered.connect(lambda _on=False, id_=id_: self._ask(id_))
        self._actions[id_] = action
        self.addAction(action)
        button = self.widgetForAction(action)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

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


def _stretch() -> QWidget:
    made = QWidget()
    policy = made.sizePolicy()
    policy.setHorizontalPolicy(policy.Policy.Expanding)
    made.setSizePolicy(policy)
    return made


_SHEET = (
    f"QToolBar {{ background: {theme.PANEL}; border: none; spacing: 1px; padding: 2px; }}"
    f"QToolBar::separator {{ background: {theme.LINE}; width: 1px; margin: 4px 3px; }}"
    "QToolButton { padding: 3px 4px; border: 1px solid transparent; background: transparent;"
    f" color: {theme.QUIET}; }}"
    f"QToolButton:hover {{ background: {theme.RAISED}; }}"
    f"QToolButton:checked {{ background: {theme.LINE}; border-color: {theme.QUIET};"
    f" color: {theme.TEXT}; }}"
    f"QToolButton:focus {{ border: 1px solid {theme.ACCENT}; }}"
    f"QToolButton:disabled {{ color: {theme.DISABLED}; }}"
)
