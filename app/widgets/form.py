"""A form made from a dataclass: one line per field, from its type and metadata.

Metadata read: ``title``, ``help``, ``bounds`` (lowest, highest), ``choices`` (allowed values),
``unit``, ``group``, ``hidden`` (kept, but not drawn). Owns editing and range checks; refuses to
store. A field of a kind it does not know is shown read-only rather than left out.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QLabel,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.widgets.blocks import column, quiet, row, section, sentence
from app.widgets.ink import hold, px

WIDEST = 2_147_483_647


class Editor:
    """One field's widget with a way to read and write it."""

    def __init__(
        self, widget: QWidget, read: Callable[[], Any], write: Callable[[Any], None], changed: Any
    ) -> None:
        self.widget = widget
        self.read = read
        self.write = write
        self.changed = changed


def editor_for(field: Field[Any], kind: Any) -> Editor:
    """The editor of a field, by its choices, then by its type."""
    inner, optional = _without_none(kind)
    choices = field.metadata.get("choices") or _literal_values(inner)
    if choices:
        return _choice_editor(tuple(choices))
    if inner is bool:
        return _bool_editor()
    if inner is int and not optional:
        return _int_editor(field.metadata.get("bounds"), field.metadata.get("unit", ""))
    if inner is float and not optional:
        return _float_editor(field.metadata.get("bounds"), field.metadata.get("unit", ""))
    if inner in (str, Path) or (inner in (int, float) and optional):
        return _text_editor(inner, optional=optional)
    if typing.get_origin(inner) is tuple:
        return _list_editor()
    return _fixed_editor()


def _without_none(kind: Any) -> tuple[Any, bool]:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        rest = [part for part in typing.get_args(kind) if part is not type(None)]
        return rest[0], len(rest) < len(typing.get_args(kind))
    return kind, False


def _literal_values(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else ()


def _choice_editor(choices: tuple[Any, ...]) -> Editor:
    box = QComboBox()
    for choice in choices:
        box.addItem(str(choice), choice)

    def write(value: Any) -> None:
        if box.findData(value) < 0:
            box.addItem(str(value), value)
        box.setCurrentIndex(box.findData(value))

    return Editor(box, box.currentData, write, box.currentIndexChanged)


def _bool_editor() -> Editor:
    box = QCheckBox("on")
    return Editor(box, box.isChecked, box.setChecked, box.toggled)


def _int_editor(bounds: tuple[int, int] | None, unit: str) -> Editor:
    box = QSpinBox()
    low, high = bounds or (-WIDEST, WIDEST)
    box.setRange(int(max(low, -WIDEST)), int(min(high, WIDEST)))
    box.setSuffix(f" {unit}" if unit else "")
    return Editor(box, box.value, box.setValue, box.valueChanged)


def _float_editor(bounds: tuple[float, float] | None, unit: str) -> Editor:
    box = QDoubleSpinBox()
    low, high = bounds or (-1e9, 1e9)
    box.setDecimals(4 if high - low <= 1 else 2)
    box.setRange(low, high)
    box.setSingleStep((high - low) / 20 if high - low < 100 else 1.0)
    box.setSuffix(f" {unit}" if unit else "")
    return Editor(box, box.value, box.setValue, box.valueChanged)


def _text_editor(kind: Any, *, optional: bool) -> Editor:
    box = QLineEdit()
    if optional:
        box.setPlaceholderText("not set")

    def read() -> Any:
        text = box.text().strip()
        return None if optional and not text else kind(text)

    return Editor(
        box,
        read,
        lambda value: box.setText("" if value is None else str(value)),
        box.editingFinished,
    )


def _list_editor() -> Editor:
    box = QLineEdit()
    box.setPlaceholderText("separated by commas")

    def read() -> tuple[str, ...]:
        return tuple(part.strip() for part in box.text().split(",") if part.strip())

    return Editor(
        box, read, lambda value: box.setText(", ".join(map(str, value))), box.editingFinished
    )


def _fixed_editor() -> Editor:
    label = QLabel()
    kept: list[Any] = [None]

    def write(value: Any) -> None:
        kept[0] = value
        label.setText(str(value))

    return Editor(label, lambda: kept[0], write, None)


class DataForm(QWidget):
    """Edits one frozen dataclass; ``edited`` carries the name of the field that changed."""

    edited = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._value: Any = None
        self._editors: dict[str, Editor] = {}
        self._lines: dict[str, tuple[QWidget, str]] = {}
        self._groups: dict[str, tuple[QLabel, list[str]]] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._writing = False

    def show_value(self, value: Any) -> None:
        """Build the lines at first, then only write the values.

        Args:
            value: a frozen dataclass instance.
        """
        if self._value is None or type(value) is not type(self._value):
            self._build(value)
        self._value = value
        self._writing = True
        for name, editor in self._editors.items():
            editor.write(getattr(value, name))
        self._writing = False

    def value(self) -> Any:
        """The dataclass with every edit in it.

        Raises:
            ValueError: a text cannot be read as the field's type; names the field.
        """
        changes = {}
        for name, editor in self._editors.items():
            try:
                changes[name] = editor.read()
            except (ValueError, TypeError) as error:
                title = self._lines[name][0].accessibleName()
                raise ValueError(f"{title}: that is not a value of this field.") from error
        return replace(self._value, **changes)

    def editor(self, name: str) -> QWidget:
        """The widget of a field."""
        return self._editors[name].widget

    @property
    def last(self) -> QWidget:
        """The widget of the last field."""
        return list(self._editors.values())[-1].widget

    def filter(self, words: str) -> int:
        """Show only lines that hold every word; returns how many are left."""
        wanted = words.casefold().split()
        shown = 0
        for line, haystack in self._lines.values():
            fits = all(word in haystack for word in wanted)
            line.setVisible(fits)
            shown += fits
        for heading, names in self._groups.values():
            heading.setVisible(any(not self._lines[name][0].isHidden() for name in names))
        return shown

    def _build(self, value: Any) -> None:
        hints = typing.get_type_hints(type(value))
        grouped: dict[str, list[Field[Any]]] = {}
        for field in fields(value):
            if field.metadata.get("hidden"):
                continue
            grouped.setdefault(str(field.metadata.get("group", "")), []).append(field)
        for group, members in grouped.items():
            heading = section(group)
            heading.setContentsMargins(0, px(16), 0, px(4))
            self._layout.addWidget(heading)
            heading.setVisible(bool(group))
            if group:
                self._groups[group] = (heading, [field.name for field in members])
            for field in members:
                self._layout.addWidget(self._line(field, hints[field.name], group))
        self._layout.addStretch(1)

    def _line(self, field: Field[Any], kind: Any, group: str) -> QWidget:
        title = str(field.metadata.get("title") or field.name.replace("_", " ").capitalize())
        told = str(field.metadata.get("help", ""))
        bounds = field.metadata.get("bounds")
        if bounds and len(bounds) == 2:
            told = f"{told} ({bounds[0]:g} to {bounds[1]:g})".strip()
        editor = editor_for(field, kind)
        editor.widget.setAccessibleName(title)
        editor.widget.setAccessibleDescription(told)
        editor.widget.setToolTip(told)
        hold(editor.widget.setFixedWidth, 280)
        if editor.changed is not None:
            editor.changed.connect(lambda *_: self._tell(field.name))
        line = _form_line(title, told, editor.widget)
        self._editors[field.name] = editor
        self._lines[field.name] = (line, f"{title} {told} {field.name} {group}".casefold())
        return line

    def _tell(self, name: str) -> None:
        if not self._writing:
            self.edited.emit(name)


def _form_line(title: str, told: str, widget: QWidget) -> QWidget:
    line = QFrame()
    line.setObjectName("formLine")
    line.setAccessibleName(title)
    label = sentence(title)
    label.setBuddy(widget)
    words = column(label, quiet(told, small=True) if told else None, space=2)
    inner = row(widget, words, 1, space=16)
    inner.setAlignment(widget, Qt.AlignmentFlag.AlignTop)
    inner.setStretchFactor(words, 8)
    inner.setContentsMargins(0, px(7), 0, px(7))
    line.setLayout(inner)
    return line
