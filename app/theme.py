"""The look: tokens, palette, style sheet and type scale of the dark reading theme.

Owns every colour and size of the window. Neutral greys only, so that nothing tints the eye
beside a greyscale picture. Text scales 100-200 %; spaces do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

ICONS = Path(__file__).resolve().parent.parent / "resources" / "icons"

GROUND = "#0d0d0d"
PANEL = "#161616"
RAISED = "#202020"
LINE = "#303030"
PICTURE = "#000000"
TEXT = "#d8d8d8"
QUIET = "#9c9c9c"
DISABLED = "#5f5f5f"
ACCENT = "#6ea8d9"
WARN = "#d6a24a"
ERROR = "#d9695f"
GOOD = "#7fb07a"

# Okabe-Ito on a dark ground: colour-blind safe; black is replaced by the text grey.
PLOT_COLORS = (
    "#56b4e9", "#e69f00", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", TEXT,
)  # fmt: skip

SPACE_XS, SPACE_S, SPACE_M, SPACE_L, SPACE_XL = 4, 8, 12, 16, 24
MOTION_MS = 120

TYPE_PX = {"small": 11, "body": 13, "reading": 15, "title": 20}


@dataclass(frozen=True)
class Scale:
    """The text scale in force, in percent (100-200)."""

    percent: int = 100

    def px(self, role: str) -> int:
        """Pixel size of a role of ``TYPE_PX`` under this scale."""
        return round(TYPE_PX[role] * self.percent / 100)


class Theme(QObject):
    """Applies the look to the application and says when the text scale changed."""

    scaled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.scale = Scale()

    def apply(self, application: QApplication, *, percent: int = 100) -> None:
        """Give the application palette, font and style sheet at this text scale."""
        self.scale = Scale(min(200, max(100, percent)))
        application.setStyle("Fusion")
        application.setPalette(palette())
        application.setFont(font("body"))
        application.setStyleSheet(style_sheet(self.scale))
        self.scaled.emit()


theme = Theme()


def px(role: str) -> int:
    """Pixel size of a text role under the scale in force."""
    return theme.scale.px(role)


def font(role: str = "body", *, bold: bool = False) -> QFont:
    """The system face at the size of ``role``, with tabular figures."""
    face = QFont()
    face.setPixelSize(px(role))
    face.setBold(bold)
    if hasattr(QFont, "Tag"):  # Qt 6.7 and later
        face.setFeature(QFont.Tag("tnum"), 1)
    return face


def palette() -> QPalette:
    """The palette behind the style sheet, for what no rule reaches."""
    colors = QPalette()
    role = QPalette.ColorRole
    for where, color in (
        (role.Window, GROUND), (role.WindowText, TEXT), (role.Base, PANEL),
        (role.AlternateBase, RAISED), (role.Text, TEXT), (role.Button, RAISED),
        (role.ButtonText, TEXT), (role.Highlight, ACCENT), (role.HighlightedText, GROUND),
        (role.ToolTipBase, RAISED), (role.ToolTipText, TEXT), (role.PlaceholderText, QUIET),
        (role.Link, ACCENT), (role.Mid, LINE), (role.Dark, PICTURE), (role.Light, RAISED),
        (role.BrightText, TEXT), (role.Accent, ACCENT),
    ):  # fmt: skip
        colors.setColor(where, QColor(color))
    for where in (role.WindowText, role.Text, role.ButtonText):
        colors.setColor(QPalette.ColorGroup.Disabled, where, QColor(DISABLED))
    return colors


def icon(name: str, color: str = TEXT, *, size: int = 20) -> QIcon:
    """A line icon of ``resources/icons`` in one colour; disabled and chosen states included."""
    made = QIcon()
    for mode, shade in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, DISABLED)):
        for ratio in (1, 2):
            made.addPixmap(pixmap(name, shade, size=size, ratio=ratio), mode)
    return made


def pixmap(name: str, color: str = TEXT, *, size: int = 20, ratio: float = 1.0) -> QPixmap:
    """A line icon drawn at ``size`` logical pixels."""
    drawing = (ICONS / f"{name}.svg").read_text(encoding="utf-8").replace("currentColor", color)
    picture = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer = QSvgRenderer(QByteArray(drawing.encode("utf-8")))
    renderer.render(painter, QRectF(0, 0, picture.width(), picture.height()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


def style_sheet(scale: Scale) -> str:
    """The style sheet at a text scale. Widgets opt in by dynamic properties, never by name:

    ``role`` = title | heading | quiet | small | reading (labels); ``kind`` = primary | danger |
    flat (buttons); ``surface`` = panel | raised | picture (frames).
    """
    sizes = {f"px_{role}": scale.px(role) for role in TYPE_PX}
    return _SHEET.format(
        ground=GROUND, panel=PANEL, raised=RAISED, line=LINE, picture=PICTURE, text=TEXT,
        quiet=QUIET, disabled=DISABLED, accent=ACCENT, warn=WARN, error=ERROR, good=GOOD,
        icons=ICONS.as_posix(), **sizes,
    )  # fmt: skip


_SHEET = """
QWidget {{ color: {text}; font-size: {px_body}px; }}
QMainWindow, QDialog, QStackedWidget {{ background: {ground}; }}
QLabel {{ background: transparent; }}
QLabel[role="title"] {{ font-size: {px_title}px; }}
QLabel[role="heading"] {{ font-size: {px_reading}px; font-weight: 600; }}
QLabel[role="reading"] {{ font-size: {px_reading}px; }}
QLabel[role="quiet"] {{ color: {quiet}; }}
QLabel[role="small"] {{ color: {quiet}; font-size: {px_small}px; }}
QLabel[role="warn"] {{ color: {warn}; }}
QLabel[role="error"] {{ color: {error}; }}
QLabel[role="good"] {{ color: {good}; }}
QFrame[surface="panel"] {{ background: {panel}; border: 1px solid {line}; border-radius: 4px; }}
QFrame[surface="raised"] {{ background: {raised}; border: 1px solid {line}; border-radius: 4px; }}
QFrame[surface="picture"] {{ background: {picture}; border: none; }}
QFrame[surface="bar"] {{ background: {panel}; border: none; }}
QPushButton, QToolButton, QComboBox {{
  background: {raised}; border: 1px solid {line}; border-radius: 4px; padding: 5px 12px;
}}
QPushButton:hover, QToolButton:hover, QComboBox:hover {{ background: #2a2a2a; }}
QPushButton:pressed, QToolButton:pressed {{ background: {line}; }}
QPushButton:disabled, QToolButton:disabled, QComboBox:disabled {{
  color: {disabled}; background: {panel};
}}
QPushButton:focus, QToolButton:focus, QComboBox:focus, QLineEdit:focus, QSpinBox:focus,
QDoubleSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus, QListView:focus, QTreeView:focus,
QTableView:focus, QAbstractItemView:focus {{ border: 1px solid {accent}; }}
QPushButton[kind="primary"] {{
  background: {accent}; color: {ground}; border-color: {accent}; font-weight: 600;
}}
QPushButton[kind="primary"]:hover {{ background: #83b6e0; }}
QPushButton[kind="primary"]:focus {{ border: 1px solid {text}; }}
QPushButton[kind="primary"]:disabled {{
  background: {raised}; color: {disabled}; border-color: {line};
}}
QPushButton[kind="danger"] {{ border-color: {error}; }}
QPushButton[kind="flat"], QToolButton[kind="flat"] {{
  background: transparent; border: 1px solid transparent;
}}
QPushButton[kind="flat"]:hover, QToolButton[kind="flat"]:hover {{ background: {raised}; }}
QPushButton[kind="flat"]:focus, QToolButton[kind="flat"]:focus {{ border: 1px solid {accent}; }}
QToolButton:checked, QPushButton:checked {{ background: {line}; border-color: {quiet}; }}
QToolButton[kind="rail"] {{
  background: transparent; border: none; border-left: 3px solid transparent; border-radius: 0;
  padding: 7px 2px 5px 2px; color: {quiet}; font-size: {px_small}px;
}}
QToolButton[kind="rail"]:hover {{ background: {raised}; color: {text}; }}
QToolButton[kind="rail"]:checked {{
  background: {raised}; color: {text}; border-left: 3px solid {accent};
}}
QToolButton[kind="rail"]:focus {{ background: {raised}; color: {text}; }}
QToolButton::menu-indicator {{ image: none; }}
QLineEdit, QSpinBox, QDoubleSpinBox, QPlainTextEdit, QTextEdit, QDateEdit {{
  background: {ground}; border: 1px solid {line}; border-radius: 4px; padding: 4px 8px;
  selection-background-color: {accent}; selection-color: {ground};
  placeholder-text-color: {quiet};
}}
QComboBox QAbstractItemView {{ background: {raised}; border: 1px solid {line}; outline: none; }}
QAbstractItemView {{
  background: {panel}; alternate-background-color: {ground}; border: 1px solid {line};
  selection-background-color: #2d3b47; selection-color: {text}; outline: none;
  gridline-color: {line};
}}
QAbstractItemView::item {{ padding: 3px 6px; }}
QAbstractItemView::item:hover {{ background: {raised}; }}
QAbstractItemView::item:selected {{ background: #2d3b47; color: {text}; }}
QHeaderView {{ background: {panel}; border: none; }}
QHeaderView::section {{
  background: {panel}; color: {quiet}; border: none; border-bottom: 1px solid {line};
  padding: 5px 8px;
}}
QTableCornerButton::section {{ background: {panel}; border: none; }}
QTabWidget::pane {{ border: 1px solid {line}; top: -1px; }}
QTabBar::tab {{
  background: transparent; color: {quiet}; padding: 7px 14px; border: none;
  border-bottom: 2px solid transparent;
}}
QTabBar::tab:selected {{ color: {text}; border-bottom: 2px solid {accent}; }}
QTabBar::tab:focus {{ background: {raised}; }}
QGroupBox {{
  border: 1px solid {line}; border-radius: 4px; margin-top: 1.2em; padding-top: 6px;
}}
QGroupBox::title {{ subcontrol-origin: margin; left: 8px; color: {quiet}; }}
QProgressBar {{
  background: {raised}; border: none; border-radius: 3px; min-height: 6px; max-height: 6px;
}}
QProgressBar::chunk {{ background: {accent}; border-radius: 3px; }}
QProgressBar[tone="neutral"]::chunk {{ background: {quiet}; }}
QScrollArea {{ border: none; background: transparent; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: #3d3d3d; border-radius: 4px; min-height: 28px; min-width: 28px;
  margin: 1px; }}
QScrollBar::handle:hover {{ background: {disabled}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QSplitter::handle {{ background: {line}; }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {line}; padding: 4px 6px; }}
QMenu {{ background: {raised}; border: 1px solid {line}; padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 3px; }}
QMenu::item:selected {{ background: #2d3b47; }}
QMenu::item:disabled {{ color: {disabled}; }}
QMenu::indicator {{
  width: {px_body}px; height: {px_body}px; margin-left: 8px; border: 1px solid {disabled};
  border-radius: 2px; background: {ground};
}}
QMenu::indicator:checked {{ image: url("{icons}/control-check.svg"); border-color: {quiet}; }}
QFileDialog QToolButton {{ padding: 2px; }}
QCheckBox, QRadioButton {{ spacing: 8px; padding: 2px; border: 1px solid transparent; }}
QCheckBox:focus, QRadioButton:focus {{ border: 1px solid {accent}; border-radius: 3px; }}
QCheckBox::indicator, QTreeView::indicator, QListView::indicator {{
  width: {px_body}px; height: {px_body}px; border: 1px solid {disabled}; border-radius: 2px;
  background: {ground};
}}
QCheckBox::indicator:checked, QTreeView::indicator:checked,
QListView::indicator:checked {{
  image: url("{icons}/control-check.svg"); border-color: {quiet};
}}
QTreeView::indicator:indeterminate {{ image: url("{icons}/control-part.svg"); }}
QCheckBox::indicator:disabled, QTreeView::indicator:disabled {{ border-color: {line}; }}
QComboBox::drop-down {{ border: none; width: 22px; }}
QComboBox::down-arrow {{
  image: url("{icons}/control-down.svg"); width: {px_small}px; height: {px_small}px;
}}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{
  background: transparent; border: none; width: 20px;
}}
QAbstractSpinBox::up-arrow {{
  image: url("{icons}/control-up.svg"); width: {px_small}px; height: {px_small}px;
}}
QAbstractSpinBox::down-arrow {{
  image: url("{icons}/control-down.svg"); width: {px_small}px; height: {px_small}px;
}}
QPushButton[kind="danger"]:disabled {{ border-color: {line}; }}
QSlider::groove:horizontal {{ background: {raised}; height: 4px; border-radius: 2px; }}
QSlider::handle:horizontal {{
  background: {quiet}; width: 14px; margin: -5px 0; border-radius: 7px;
}}
"""
