"""One query opened: what was asked, and the ranked candidates of one or two models side by side."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

from app.shown import QueryDetail
from app.views.preview import PictureBox
from app.widgets.blocks import button, column, margins, quiet, row, section
from app.widgets.ink import hold, px
from app.widgets.ranked_list import RankedList


class QueryOpened(QWidget):
    """The query above, its rankings below; both lists scroll on their own."""

    picture_wanted = Signal(str)
    open_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._picture_key = ""
        self.heading = section("")
        self.instruction = quiet()
        self.picture = PictureBox("Picture of the query")
        self.picture.setFixedSize(px(150), px(150))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("Text of the query")
        hold(self.text.setFixedHeight, 150)
        self.names = (section(""), section(""))
        self.ranking = self._list("Ranked candidates")
        self.beside = self._list("Ranked candidates of the second model")
        left, self.right = QWidget(), QWidget()
        left.setLayout(column(self.names[0], self.ranking, space=4))
        self.right.setLayout(column(self.names[1], self.beside, space=4))
        lists = row(left, self.right)
        lists.setStretch(0, 1)
        lists.setStretch(1, 1)
        self.view = button("View", lambda: self.open_wanted.emit(""), name="View the query")
        self.view.setToolTip("Open the query's pictures in the Viewer; Enter opens a candidate's")
        head = row(self.heading, self.view)
        head.setStretch(0, 1)
        self.setLayout(column(head, self.instruction, row(self.picture, self.text), lists, space=6))
        margins(self, 0, px(8), 0, 0)

    def _list(self, name: str) -> RankedList:
        made = RankedList(name, lane=48)
        made.rows.picture_wanted.connect(self.picture_wanted)
        made.opened.connect(self.open_wanted)
        hold(made.setMinimumHeight, 100)
        hold(made.setMinimumWidth, 120)
        return made

    def show_detail(self, detail: QueryDetail) -> None:
        """Show another query."""
        self.heading.setText(detail.title)
        self.instruction.setText(detail.instruction)
        self.instruction.setVisible(bool(detail.instruction))
        self.text.setPlainText(detail.text)
        self.text.setVisible(bool(detail.text))
        self._picture_key = detail.picture
        self.picture.setVisible(bool(detail.picture))
        self.view.setVisible(bool(detail.picture))
        self.picture.show_image(None)
        self.picture.setMaximumWidth(px(150) if detail.text else px(4000))
        for told, words in zip(self.names, (detail.model, detail.model_b), strict=True):
            _name(told, words)
        self.ranking.show_rows(detail.candidates)
        self.beside.show_rows(detail.candidates_b)
        self.right.setVisible(bool(detail.model_b))
        if detail.picture:
            self.picture_wanted.emit(detail.picture)

    def show_picture(self, key: str, image: QImage | None) -> None:
        """Show a thumbnail where it belongs."""
        if key == self._picture_key:
            self.picture.show_image(image)
        for ranking in (self.ranking, self.beside):
            ranking.rows.set_picture(key, image)


def _name(told: QLabel, words: str) -> None:
    told.setText(words)
    told.setToolTip(words)
    told.setVisible(bool(words))
