"""The trees of the benchmark page: models with what speaks against them, tasks by family.

Makes items; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QTreeWidgetItemIterator

from app.shown import ModelShown, TaskShown
from app.widgets.ink import ink, px

KEY = int(Qt.ItemDataRole.UserRole)
FORM_WORDS = {"2d": "2D", "3d": "3D", "text": "text"}


def tree(name: str, heads: tuple[str, ...]) -> QTreeWidget:
    """A tree with heads; the first column takes the room."""
    made = QTreeWidget()
    made.setAccessibleName(name)
    made.setHeaderLabels(list(heads))
    made.setUniformRowHeights(True)
    made.setRootIsDecorated(len(heads) > 2)
    made.setAllColumnsShowFocus(True)
    made.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    header = made.header()
    header.setStretchLastSection(False)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    for place in range(1, len(heads)):
        header.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
        if len(heads) > 2:
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            made.headerItem().setTextAlignment(2, right)
        header.resizeSection(place, px(150 if len(heads) == 2 else 68))
    return made


def items(tree: QTreeWidget) -> list[QTreeWidgetItem]:
    """Every item of a tree, from top to bottom."""
    found = []
    steps = QTreeWidgetItemIterator(tree)
    while (item := steps.value()) is not None:
        found.append(item)
        steps += 1
    return found


def release_line(shown: ModelShown) -> str:
    """In one line what the release's settings change; empty where they change nothing."""
    return f"Release settings: {shown.release}." if shown.release else ""


def model_item(shown: ModelShown, *, chosen: bool) -> QTreeWidgetItem:
    """A model, or another setting of one, with its state."""
    if shown.variant_of:
        changes = shown.release.count(" → ")
        state = f"{changes} setting{'s' if changes > 1 else ''} differ{'s' if changes == 1 else ''}"
        item = QTreeWidgetItem(["with the release's settings", state])
    else:
        item = QTreeWidgetItem([shown.title, shown.state])
    item.setData(0, KEY, shown.key)
    tip = release_line(shown) if shown.variant_of else f"{shown.family} · {shown.licence}"
    item.setToolTip(0, f"{shown.title} · {tip}")
    item.setToolTip(1, tip if shown.variant_of else shown.why)
    item.setData(0, int(Qt.ItemDataRole.AccessibleTextRole), shown.title)
    checkable = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable
    item.setFlags(
        checkable | Qt.ItemFlag.ItemIsSelectable if shown.usable else Qt.ItemFlag.ItemIsSelectable
    )
    item.setCheckState(0, Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked)
    if shown.usable:
        item.setForeground(1, ink("quiet" if shown.variant_of else "good"))
    return item


def family_item(family: str, members: Sequence[TaskShown], wanted: set[str]) -> QTreeWidgetItem:
    """A family over its tasks."""
    there = [shown for shown in members if shown.count is not None]
    queries = sum(shown.count or 0 for shown in there)
    item = QTreeWidgetItem([f"{family}  ·  {len(there)} of {len(members)}", "", f"{queries:,}"])
    item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight)
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsAutoTristate | Qt.ItemFlag.ItemIsUserCheckable)
    for shown in members:
        item.addChild(_task_item(shown, chosen=shown.key in wanted))
    if not there:
        item.setCheckState(0, Qt.CheckState.Unchecked)
        item.setDisabled(True)
    return item


def _task_item(shown: TaskShown, *, chosen: bool) -> QTreeWidgetItem:
    count = "no data" if shown.count is None else f"{shown.count:,}"
    item = QTreeWidgetItem([shown.key, FORM_WORDS.get(shown.form, shown.form), count])
    item.setData(0, KEY, shown.key)
    item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight)
    item.setToolTip(0, f"{shown.key} · {shown.split}")
    there = shown.count is not None
    item.setCheckState(0, Qt.CheckState.Checked if chosen and there else Qt.CheckState.Unchecked)
    item.setDisabled(not there)
    return item
