"""Small fields of the study forms: a choice, a whole number, a number. Own their bounds only."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox


def choice(*choices: tuple[str, str]) -> QComboBox:
    """A list of (words, key)."""
    box = QComboBox()
    for words, key in choices:
        box.addItem(words, key)
    return box


def count(low: int, high: int, unit: str) -> QSpinBox:
    """A whole number with its unit."""
    box = QSpinBox()
    box.setRange(low, high)
    box.setSuffix(unit)
    return box


def number(low: float, high: float, decimals: int, unit: str) -> QDoubleSpinBox:
    """A number with its unit; two decimals step by a hundredth."""
    box = QDoubleSpinBox()
    box.setDecimals(decimals)
    box.setRange(low, high)
    box.setSingleStep(0.01 if decimals == 2 else 1.0)
    box.setSuffix(unit)
    return box
