"""Small pieces that every page is laid out of: titles, quiet lines, badges, empty states.

Owns their looks; knows nothing of what they say.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.widgets.ink import INK, hold, px

MARKS = {"quiet": "", "good": "✓ ", "warn": "▲ ", "error": "✕ "}


def label(text: str, role: str = "", *, wrap: bool = True) -> QLabel:
    """Plain text in a role of the theme's style sheet."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    return made


def title(text: str = "") -> QLabel:
    """A page's title."""
    return label(text, "title")


def heading(text: str = "") -> QLabel:
    """A panel's title."""
    return label(text, "heading")


def section(text: str) -> QLabel:
    """A small heading above a group."""
    made = label(text, "small")
    face = made.font()
    face.setBold(True)
    made.setFont(face)
    return made


def quiet(text: str = "", *, small: bool = False, wrap: bool = True) -> QLabel:
    """A secondary line."""
    return label(text, "small" if small else "quiet", wrap=wrap)


def forget(told: QLabel) -> None:
    """Empty a label; one whose words can be marked would keep them in a document of its own."""
    flags = told.textInteractionFlags()
    told.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
    told.setText("")
    told.setToolTip("")
    told.setTextInteractionFlags(flags)


def sentence(text: str = "") -> QLabel:
    """A line that is to be read."""
    return label(text)


def restyle(widget: QWidget, name: str, value: str) -> None:
    """Change a property that the style sheet reads, and let it be read again."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def tell(told: QLabel, text: str, tone: str = "quiet") -> None:
    """Show a sentence with its tone's mark; an empty one hides the label."""
    told.setText(f"{MARKS[tone]}{text}" if text else "")
    restyle(told, "role", tone)
    if told.parentWidget() is not None or not text:
        told.setVisible(bool(text))
    elif told.isHidden() and told.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide):
        told.setAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide, on=False)


def badge(text: str, tone: str = "quiet") -> QLabel:
    """A short fact in a frame, always with its word."""
    made = label(f"{MARKS[tone]}{text}", wrap=False)
    made.setStyleSheet(
        f"font-size: {px(11)}px; color: {INK[tone]}; border: 1px solid {INK['line']};"
        f" border-radius: 3px; padding: 1px 6px; background: {INK['raised']};"
    )
    made.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return made


def button(
    text: str, on_click: Callable[[], object], *, kind: str = "", name: str = ""
) -> QPushButton:
    """A push button; ``kind`` is primary, danger or flat, ``name`` its accessible name."""
    made = QPushButton(text)
    made.setAccessibleName(name or text)
    made.clicked.connect(lambda _checked=False: on_click())
    if kind:
        made.setProperty("kind", kind)
    return made


def panel(surface: str = "panel") -> QFrame:
    """A surface above the ground: panel or raised."""
    frame = QFrame()
    frame.setProperty("surface", surface)
    return frame


def line() -> QFrame:
    """A thin rule between groups."""
    rule = QFrame()
    rule.setFixedHeight(1)
    rule.setStyleSheet(f"background: {INK['line']}; border: none;")
    return rule


def row(*pieces: QWidget | QLayout | int | None, space: int = 8) -> QHBoxLayout:
    """Pieces from left to right; a number is a stretch, None is left out."""
    layout = QHBoxLayout()
    _fill(layout, pieces, space)
    return layout


def column(*pieces: QWidget | QLayout | int | None, space: int = 8, margin: int = 0) -> QVBoxLayout:
    """Pieces from top to bottom; a number is a stretch, None is left out."""
    layout = QVBoxLayout()
    _fill(layout, pieces, space)
    layout.setContentsMargins(margin, margin, margin, margin)
    return layout


def _fill(layout: QHBoxLayout | QVBoxLayout, pieces: Sequence[object], space: int) -> None:
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(space)
    for piece in pieces:
        if isinstance(piece, QWidget):
            layout.addWidget(piece)
        elif isinstance(piece, QLayout):
            layout.addLayout(piece)
        elif isinstance(piece, int):
            layout.addStretch(piece)


def margins(widget: QWidget, left: int, top: int, right: int, bottom: int) -> None:
    """Set the margins of a widget's layout."""
    layout = widget.layout()
    if layout is not None:
        layout.setContentsMargins(left, top, right, bottom)


def clear(layout: QLayout) -> None:
    """Take every piece out of a layout and delete it."""
    while (item := layout.takeAt(0)) is not None:
        if widget := item.widget():
            widget.hide()
            widget.deleteLater()
        elif inner := item.layout():
            clear(inner)


class EmptyState(QWidget):
    """What a page says while it has nothing to show: one sentence and what mends it."""

    def __init__(self, words: str, text: str, buttons: Sequence[QPushButton] = ()) -> None:
        super().__init__()
        self.heading = title(words)
        self.heading.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.text = label(text, "reading")
        self.text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        hold(self.text.setFixedWidth, 460)
        middle = row(1, self.text, 1)
        keys = row(1, *buttons, 1)
        self.setLayout(column(1, self.heading, middle, keys, 1, space=16, margin=24))

    def say(self, words: str, text: str) -> None:
        """Change what it says."""
        self.heading.setText(words)
        self.text.setText(text)


def table_view(name: str) -> QTableView:
    """A read-only table of whole rows, dense, sortable by its model only."""
    view = QTableView()
    view.setAccessibleName(name)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.setTabKeyNavigation(False)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.verticalHeader().hide()
    hold(view.verticalHeader().setDefaultSectionSize, 26)
    view.horizontalHeader().setHighlightSections(False)
    view.horizontalHeader().setDefaultAlignment(
        Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    )
    return view


def stretch_columns(view: QTableView, stretched: int, widths: dict[int, int]) -> None:
    """Give widths to some columns, which grow with the text, and the rest of the room to one."""
    header = view.horizontalHeader()
    if not _columned:
        theme.theme.scaled.connect(_scale_columns)
    _columned.append((weakref.ref(view), tuple(widths)))
    view.setProperty(_SCALE, px(1000))
    for index, width in widths.items():
        header.setSectionResizeMode(index, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(index, px(width))
    header.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)


_SCALE = "columns_at"  # property of a table: px(1000) for which its columns are wide enough
_columned: list[tuple[weakref.ref[QTableView], tuple[int, ...]]] = []


def _scale_columns() -> None:
    """Columns keep their share of the text, also those that were dragged."""
    now = px(1000)
    latest: dict[int, tuple[QTableView, tuple[int, ...]]] = {}
    for kept, columns in _columned:
        view = kept()
        if view is not None and shiboken6.isValid(view):
            latest[id(view)] = (view, columns)
    _columned[:] = [(weakref.ref(view), columns) for view, columns in latest.values()]
    for view, columns in latest.values():
        before, header = float(view.property(_SCALE)), view.horizontalHeader()
        for index in columns:
            header.resizeSection(index, round(header.sectionSize(index) * now / before))
        view.setProperty(_SCALE, now)
