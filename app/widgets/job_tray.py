"""The tray at the bottom: what runs, how far it is, a cancel; and on demand the list of jobs.

Shows plain values and emits intents; ``app.presenters.job_tray`` decides.
"""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import theme

LIST_HEIGHT = 168


class JobTray(QFrame):
    """One line for the current job, a list above it when asked for."""

    cancel_asked = Signal()
    list_asked = Signal()
    again_asked = Signal(object)
    clear_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "bar")
        self.setAccessibleName("Jobs")
        self._title, self._text = QLabel(), QLabel()
        self._text.setProperty("role", "quiet")
        self._progress = QProgressBar()
        self._cancel = QPushButton("Cancel")
        self._toggle = QPushButton("Jobs")
        self._list = QListView()
        self._tools = QWidget()
        self._build()
        self.show_idle("No job runs.")

    def set_model(self, model: QAbstractItemModel | None) -> None:
        """The list of jobs, or None for none at all."""
        before = self._list.selectionModel()
        self._list.setModel(model)
        if before is not None:
            before.deleteLater()  # it would go on holding the model before

    def show_idle(self, sentence: str) -> None:
        """Nothing runs."""
        self._title.setText("")
        self._title.hide()
        self._text.setText(sentence)
        self._progress.hide()
        self._cancel.hide()

    def show_job(self, title: str, text: str, *, permille: int | None, stopping: bool) -> None:
        """A job runs; ``permille`` None means that its length is not known yet."""
        self._title.setText(title)
        self._title.show()
        self._text.setText(text)
        self._progress.setRange(0, 0 if permille is None else 1000)
        self._progress.setValue(permille or 0)
        self._progress.setAccessibleDescription(text)
        self._progress.show()
        self._cancel.setEnabled(not stopping)
        self._cancel.setText("Stopping" if stopping else "Cancel")
        self._cancel.setAccessibleName(f"{self._cancel.text()} {title}")
        self._cancel.show()

    def show_list(self, *, shown: bool) -> None:
        """Fold or unfold the list."""
        self._list.setVisible(shown)
        self._tools.setVisible(shown)
        self._toggle.setChecked(shown)

    def list_shown(self) -> bool:
        """True while the list is unfolded."""
        return self._toggle.isChecked()

    def chosen(self) -> QModelIndex:
        """The job selected in the list."""
        return self._list.currentIndex()

    def _build(self) -> None:
        self._progress.setTextVisible(False)
        self._progress.setFixedWidth(220)
        self._progress.setAccessibleName("Progress of the job")
        self._toggle.setCheckable(True)
        self._toggle.setProperty("kind", "flat")
        self._toggle.setIcon(theme.icon("jobs"))
        self._toggle.setToolTip("All jobs (Ctrl+J)")
        self._toggle.setAccessibleName("Show all jobs")
        self._toggle.clicked.connect(self.list_asked)
        self._cancel.clicked.connect(self.cancel_asked)
        self._list.setFixedHeight(LIST_HEIGHT)
        self._list.setAccessibleName("All jobs")
        self._list.setUniformItemSizes(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self._list)
        column.addWidget(self._tool_row())
        column.addLayout(self._line())
        self.show_list(shown=False)

    def _line(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_M)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row.addWidget(self._title)
        row.addWidget(self._text, 1)
        for widget in (self._progress, self._cancel, self._toggle):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        return row

    def _tool_row(self) -> QWidget:
        row = QHBoxLayout(self._tools)
        row.setContentsMargins(0, 0, 0, 0)
        again, clear = QPushButton("Start again"), QPushButton("Clear ended jobs")
        again.clicked.connect(lambda: self.again_asked.emit(self.chosen()))
        clear.clicked.connect(self.clear_asked)
        row.addWidget(again)
        row.addWidget(clear)
        row.addStretch(1)
        return self._tools
