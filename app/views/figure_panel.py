"""One figure of the results: the drawing, the point in hand in words, its export, its table."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from app.shown_figures import FigureShown, SectionShown
from app.views.section_panel import SectionPanel
from app.widgets.blocks import button, column, quiet, row, section
from app.widgets.choice_menu import ChoiceMenu
from app.widgets.figure_view import FigureView
from app.widgets.ink import px

MOST_MODELS = 7
FORMS = ("SVG", "PDF", "PNG")
HOVER = "Point at a mark to read it; a click on a task opens its queries."


class FigurePanel(QWidget):
    """``wanted(width, height, ratio)``, ``export_wanted(form)``, ``opened(task, model)``.

    Args:
        name: what the figure shows.
        number: in the paper.
        table: True where a table belongs below.
    """

    wanted = Signal(int, int, float)
    export_wanted = Signal(str)
    opened = Signal(str, str)

    def __init__(self, name: str, number: int, *, table: bool = False) -> None:
        super().__init__()
        self.figure = FigureView(f"{name}, figure {number}")
        self.figure.wanted.connect(self.wanted)
        self.figure.opened.connect(self.opened)
        self.figure.pointed.connect(self._point)
        self.pointed = quiet(HOVER, wrap=False)
        keys = [
            button(form, partial(self.export_wanted.emit, form.lower()),
                   name=f"Export figure {number} as {form}")
            for form in FORMS
        ]  # fmt: skip
        upper = QWidget()
        self.models = ChoiceMenu("Models", most=MOST_MODELS)
        bar = row(
            self.pointed, self.models, section(f"Figure {number}"), row(*keys, space=4), space=12
        )
        bar.setStretch(0, 1)
        upper.setLayout(column(self.figure, bar, space=6))
        self.table = SectionPanel(f"{name}, as a table") if table else None
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(table)
        split.addWidget(upper)
        if self.table is not None:
            split.addWidget(self.table)
            split.setSizes([px(450), px(180)])
        split.setStretchFactor(0, 1)
        layout = column(split)
        layout.setContentsMargins(0, px(8), 0, 0)
        self.setLayout(layout)

    def show_figure(self, shown: FigureShown) -> None:
        """Show the drawing."""
        self.figure.show_figure(shown)
        self._point("")

    def say(self, words: str) -> None:
        """Say why there is no drawing."""
        self.figure.say(words)

    def show_section(self, shown: SectionShown | None, *, why_not: str) -> None:
        """Show the table below."""
        if self.table is not None:
            self.table.show_section(shown, why_not=why_not)

    def _point(self, words: str) -> None:
        self.pointed.setText(words or HOVER)
        self.pointed.setToolTip(words)
