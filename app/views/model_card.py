"""One model's card: what it is, under which terms, what fits, and what can be done with it.

Lays out and emits intents; decides nothing. A question is asked on the card itself, once.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app.shown import ModelShown
from app.widgets.blocks import badge, button, column, heading, label, quiet, restyle, row, tell
from app.widgets.ink import px

BREAK = "\u200b"  # lets a long path or id go on in the next line


def breakable(text: str) -> str:
    """The same with places where a long word may be broken."""
    for mark in "/@_-.":
        text = text.replace(mark, mark + BREAK)
    return text


class ModelCardBox(QFrame):
    """One model."""

    check_wanted = Signal(str)
    download_wanted = Signal(str)
    stop_wanted = Signal(str)
    remove_wanted = Signal(str)
    forget_wanted = Signal(str)
    settings_wanted = Signal(str)
    page_wanted = Signal(str)
    sure_wanted = Signal(str)
    unsure_wanted = Signal(str)

    def __init__(self, shown: ModelShown) -> None:
        super().__init__()
        self.key, self.shown = shown.key, shown
        restyle(self, "surface", "panel")
        self.setAccessibleName(shown.title)
        self.setAccessibleDescription(shown.why)
        name = heading(breakable(shown.title))
        name.setToolTip(shown.title)
        head = row(name, badge("demo", "warn") if shown.demo else None)
        head.setStretch(0, 1)
        self.forget = self._key("Remove card", self.forget_wanted, kind="flat")
        self.forget.setVisible(shown.own)
        self.forget.setToolTip("Delete the card's file; weights and results stay")
        self._question()
        self._transfer()
        self._foot()
        self.checked = label("", "small")
        self.checked.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        tell(self.checked, shown.checked, "good")
        body = [*self._fits(), *self._facts()]
        self.setLayout(
            column(
                head, row(_badges(shown), self.forget), *body, 1, self.checked, self.moving,
                self.question, self.foot, space=5, margin=px(12),
            )
        )  # fmt: skip

    def _fits(self) -> Iterator[QLabel]:
        """One line per device, or why there is none."""
        if self.shown.broken:
            told = label("")
            tell(told, self.shown.note, "error")
            yield told
            return
        for fit in self.shown.devices:
            told = label("")
            tell(told, fit.line, fit.tone)
            told.setToolTip(fit.tip)
            yield told

    def _facts(self) -> Iterator[QLabel]:
        for text, tip in _lines(self.shown):
            if text:
                line = quiet(breakable(text), small=True)
                line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                line.setToolTip(tip or text)
                yield line

    def _question(self) -> None:
        self._asked = label("")
        self.sure = button(
            "", lambda: self.sure_wanted.emit(self.key), kind="primary",
            name=f"Yes, {self.shown.title}",
        )  # fmt: skip
        self.unsure = button(
            "Not now",
            lambda: self.unsure_wanted.emit(self.key),
            name=f"Not now, {self.shown.title}",
        )
        self.question = QWidget()
        self.question.setLayout(column(self._asked, row(self.sure, self.unsure, 1), space=6))
        self.question.hide()

    def _transfer(self) -> None:
        self._told = quiet(small=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(f"Progress of the download of {self.shown.title}")
        self.stop = button(
            "Stop", lambda: self.stop_wanted.emit(self.key), name=f"Stop {self.shown.title}"
        )
        self.moving = QWidget()
        line = row(self.bar, self.stop)
        line.setStretch(0, 1)
        self.moving.setLayout(column(line, self._told, space=4))
        self.moving.hide()

    def _foot(self) -> None:
        shown = self.shown
        self.download = self._key("Go on" if shown.partial else "Download", self.download_wanted)
        self.download.setVisible(shown.can_download)
        self.download.setToolTip("Fetch the weights from the hub, after a question")
        self.check = self._key("Check", self.check_wanted)
        self.check.setVisible(not shown.broken and not shown.can_download)
        self.check.setEnabled(shown.has_adapter and shown.on_disk)
        self.check.setToolTip("Load it and embed one item of each form")
        self.settings = self._key("Settings", self.settings_wanted)
        self.settings.setVisible(not shown.broken)
        self.settings.setToolTip("What changes a vector, and who states each value")
        self.remove = self._key("Remove", self.remove_wanted)
        self.remove.setVisible(shown.can_remove)
        self.remove.setToolTip("Delete what was downloaded")
        self.page = self._key("Open page", self.page_wanted)
        self.page.setVisible(bool(shown.page) and not shown.on_disk)
        self.page.setToolTip(shown.page)
        keys = (self.download, self.check, self.settings, self.page, self.remove)
        self.foot = QWidget()
        self.foot.setLayout(row(*keys, 1, space=6))

    def _key(self, text: str, wanted: SignalInstance, *, kind: str = "") -> QPushButton:
        name = f"{text} {self.shown.title}"
        return button(text, lambda: wanted.emit(self.key), kind=kind, name=name)

    def pressable(self) -> list[QPushButton]:
        """What can be pressed, in reading order."""
        found = [self.forget, self.stop, self.sure, self.unsure, self.download, self.check,
                 self.settings, self.page, self.remove]  # fmt: skip
        return [one for one in found if one.isVisibleTo(self) and one.isEnabled()]

    # -- what the page says

    def show_check(self, text: str, tone: str, *, checking: bool, tip: str = "") -> None:
        """Say how the check goes or how it ended."""
        tell(self.checked, text, tone)
        self.checked.setToolTip(tip)
        self.check.setEnabled(not checking and self.shown.has_adapter and self.shown.on_disk)

    def show_question(self, text: str = "", action: str = "", *, danger: bool = False) -> None:
        """Ask once; an empty text takes the question away."""
        had_focus = self.sure.hasFocus() or self.unsure.hasFocus()
        self._asked.setText(breakable(text))
        self.sure.setText(action)
        self.sure.setAccessibleName(f"{action} {self.shown.title}")
        self.sure.setVisible(bool(action))
        restyle(self.sure, "kind", "danger" if danger else "primary")
        self.question.setVisible(bool(text))
        self.foot.setVisible(not text)  # one row of keys at a time
        if text:
            (self.sure if action else self.unsure).setFocus()
        elif had_focus and (keys := self.pressable()):
            keys[0].setFocus()

    def show_transfer(self, text: str, *, permille: int | None, moving: bool) -> None:
        """Say how a download goes; the card's other keys wait."""
        self.moving.setVisible(moving)
        self._told.setText(text)
        self.bar.setRange(0, 0 if permille is None else 1000)
        self.bar.setValue(permille or 0)
        self.bar.setAccessibleDescription(text)
        for key in (self.download, self.remove, self.forget):
            key.setEnabled(not moving)


def _lines(shown: ModelShown) -> tuple[tuple[str, str], ...]:
    """The card's small lines with what their tooltips say."""
    if shown.broken:
        return ()
    dim = f"{shown.dim:,} numbers" if shown.dim else ""
    facts = (shown.family, dim, shown.forms)
    files = f"Files {shown.size}" if shown.size else ""
    half = f"{shown.partial} of a download have arrived" if shown.partial else ""
    return (
        (f"Licence: {shown.licence}", ""),
        (shown.gate, ""),
        (" · ".join(part for part in facts if part), ""),
        (" · ".join(part for part in (files, shown.memory, half) if part), ""),
        (shown.note, ""),
        (" @ ".join(part for part in (shown.source, shown.revision[:10]) if part),
         f"{shown.source} {shown.revision}"),
        (shown.place, ""),
    )  # fmt: skip


def _badges(shown: ModelShown) -> QHBoxLayout:
    if shown.broken:
        return row(badge("card cannot be read", "error"), 1, space=4)
    pieces = [badge("on disk", "good") if shown.on_disk else badge("not on disk")]
    if shown.gated:
        pieces.append(badge("gated", "warn"))
    if shown.own:
        pieces.append(badge("your card"))
    if not shown.has_adapter:
        pieces.append(badge("no adapter yet", "warn"))
    return row(*pieces, 1, space=4)
