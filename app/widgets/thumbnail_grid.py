"""A grid of thumbnails over a Qt model: asks for pictures as they come into sight.

Owns painting and keyboard; the model hands titles by ``DisplayRole``, a picture by
``PICTURE`` (None until it is there), the start of a text by ``SNIPPET``, a second line by
``DETAIL``, short marks by ``BADGES`` and a problem by ``PROBLEM``. Refuses to decode.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter, QPen
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.widgets.chart import font_of
from app.widgets.ink import ink, px

DETAIL = int(Qt.ItemDataRole.UserRole) + 1
PROBLEM = int(Qt.ItemDataRole.UserRole) + 2
PICTURE = int(Qt.ItemDataRole.UserRole) + 3
SNIPPET = int(Qt.ItemDataRole.UserRole) + 7
BADGES = int(Qt.ItemDataRole.UserRole) + 8
PICTURE_SIDE = 128
TILE_WIDTH, WORDS_HEIGHT = PICTURE_SIDE + 20, 70
BREAKS = " /_-.·"

Index = QModelIndex | QPersistentModelIndex


class TileDelegate(QStyledItemDelegate):
    """Paints one tile: the picture on black, the title, the detail."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One size for all, so that a huge grid lays out at once."""
        return QSize(px(TILE_WIDTH), px(PICTURE_SIDE + WORDS_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the tile; a problem is told by mark and word, not by colour alone."""
        style: Any = option
        painter.save()
        box = style.rect.adjusted(px(4), px(4), -px(4), -px(4))
        chosen = bool(style.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(box, ink("raised" if chosen else "panel"))
        picture = QRect(
            box.left() + px(6), box.top() + px(6), box.width() - px(12), px(PICTURE_SIDE)
        )
        painter.fillRect(picture, ink("picture"))
        self._picture(painter, picture, index)
        self._badges(painter, picture, index)
        self._words(painter, box, picture.bottom(), index)
        if chosen:
            painter.setPen(QPen(ink("accent"), 2))
            painter.drawRect(box.adjusted(1, 1, -1, -1))
        painter.restore()

    def _picture(self, painter: QPainter, box: QRect, index: Index) -> None:
        image = index.data(PICTURE)
        problem = index.data(PROBLEM)
        if isinstance(image, QImage) and not image.isNull():
            draw_fitted(painter, box, image)
            return
        font_of(painter, 11)
        wrap = int(Qt.TextFlag.TextWordWrap)
        inner = box.adjusted(px(8), px(6), -px(8), -px(6))
        if snippet := index.data(SNIPPET):
            painter.setPen(ink("quiet"))
            painter.drawText(inner, wrap, str(snippet))
            return
        lost = isinstance(image, QImage)  # a null image: decoded, and not to be had
        painter.setPen(ink("error" if problem or lost else "disabled"))
        words = "✕ This picture cannot be shown" if lost else str(index.data(DETAIL) or "")
        words = f"✕ {problem}" if problem else words
        painter.drawText(inner, int(Qt.AlignmentFlag.AlignCenter) | wrap, words)

    def _badges(self, painter: QPainter, box: QRect, index: Index) -> None:
        """Marks from the lower left corner upwards, words on a dark ground."""
        metrics = font_of(painter, 11)
        bottom = box.bottom() - px(3)
        for words, tone in reversed(index.data(BADGES) or ()):
            size = QSize(metrics.horizontalAdvance(words) + px(8), metrics.height() + px(1))
            at = QRect(box.left() + px(3), bottom - size.height(), size.width(), size.height())
            painter.fillRect(at, QColor(0, 0, 0, 200))
            painter.setPen(ink("warn" if tone == "warn" else "text"))
            painter.drawText(at, int(Qt.AlignmentFlag.AlignCenter), words)
            bottom = at.top() - px(2)

    def _words(self, painter: QPainter, box: QRect, top: int, index: Index) -> None:
        """The name on one line with its folder below, or on two; then the detail."""
        folder, _, name = str(index.data() or "").rpartition("/")
        wide = box.width() - px(12)
        lines = two_lines(name, font_of(painter, 12), wide)
        faces = [(line, 12, "text") for line in lines]
        if len(lines) == 1:
            faces.append((folder, 11, "quiet"))
        faces.append((str(index.data(DETAIL) or ""), 11, "quiet"))
        at = QRect(box.left() + px(6), top + px(3), wide, px(17))
        for words, size, tone in faces:
            metrics = font_of(painter, size)
            painter.setPen(ink(tone))
            shown = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, wide)
            painter.drawText(at, int(Qt.AlignmentFlag.AlignVCenter), shown)
            at.translate(0, px(17))


def two_lines(words: str, metrics: QFontMetrics, wide: int) -> list[str]:
    """Words on one line or two, broken where names are joined; what is left is for eliding."""
    if metrics.horizontalAdvance(words) <= wide:
        return [words]
    most = next(n for n in range(len(words), 0, -1)
                if n == 1 or metrics.horizontalAdvance(words[:n]) <= wide)  # fmt: skip
    at = next((n for n in range(most, most // 2, -1) if words[n - 1] in BREAKS), most)
    return [words[:at].rstrip(), words[at:].lstrip()]


def draw_fitted(painter: QPainter, box: QRect, image: QImage) -> None:
    """Draw an image as large as fits, its proportions kept."""
    size = image.size().scaled(box.size(), Qt.AspectRatioMode.KeepAspectRatio)
    at = QRect(0, 0, size.width(), size.height())
    at.moveCenter(box.center())
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(at, image)


def to_image(array: Any) -> QImage:
    """A QImage of its own memory from uint8 [H, W, 3] or [H, W]."""
    height, width = array.shape[:2]
    kind = QImage.Format.Format_RGB888 if array.ndim == 3 else QImage.Format.Format_Grayscale8
    data = array.tobytes()
    return QImage(data, width, height, len(data) // max(1, height), kind).copy()


class ThumbnailGrid(QListView):
    """The grid itself: Enter or double-click activates, arrows walk."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Thumbnails")
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setUniformItemSizes(True)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(200)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setItemDelegate(TileDelegate(self))
        self.setSpacing(0)
