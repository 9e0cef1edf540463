"""What a newcomer does: clicks beside what is written, Enter on a button, Tab through a form.

Each of these lost or stopped something once.
"""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from app.shown_statistics import Panel
from app.views.review import ReviewView, _small_words
from app.views.settings import SettingsView
from app.views.statistics_panel import PanelView
from app.views.study_forms import UnblindForm
from app.views.study_wizard import StudyWizard
from app.widgets.blocks import label, tell
from db.settings import Settings
from studies.preference.protocol import REASONS
from tests.app.test_review_page import show

KEY = Qt.Key
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def view(qtbot: Any) -> ReviewView:
    made = ReviewView()
    qtbot.addWidget(made)
    show(made)
    qtbot.waitExposed(made)
    return made


def click_on(view: ReviewView, qtbot: Any) -> None:
    prompt = view.board.prompt
    on = next(b for b in prompt.findChildren(QPushButton) if b.text().startswith("Go on"))
    qtbot.mouseClick(on, LEFT)


def test_one_click_takes_a_reason(view: ReviewView, qtbot: Any) -> None:
    kept: list[str] = []
    view.reason_kept.connect(kept.append)
    view.ask_reason(REASONS)
    reasons = view.reasons.list
    place = reasons.visualItemRect(reasons.item(2)).center()
    qtbot.mouseClick(reasons.viewport(), LEFT, pos=place)
    assert kept == [REASONS[2]]
    assert view.reasons.isHidden()


def test_another_answer_closes_the_reasons_and_esc_closes_them_from_anywhere(
    view: ReviewView, qtbot: Any
) -> None:
    chosen: list[str] = []
    view.answer_chosen.connect(chosen.append)
    view.ask_reason(REASONS)
    view.answers.chosen.emit("left")
    assert chosen == ["left"]
    assert view.reasons.isHidden()
    view.ask_reason(REASONS)
    view.setFocus()
    qtbot.keyClick(view, KEY.Key_F)
    assert view.reasons.list.hasFocus() or not view.isActiveWindow()
    assert chosen == ["left"]
    qtbot.keyClick(view, KEY.Key_Escape)
    assert view.reasons.isHidden()


@pytest.mark.parametrize("act", ["answer", "on", "pause", "reason"])
def test_a_comment_begun_is_kept_by_whatever_is_clicked_next(
    view: ReviewView, qtbot: Any, act: str
) -> None:
    heard: list[str] = []
    view.comment_kept.connect(heard.append)
    view.answer_chosen.connect(heard.append)
    view.confirm_asked.connect(lambda: heard.append("confirmed"))
    view.ask_comment("")
    qtbot.keyClicks(view.details.line, "motion")
    if act == "answer":
        view.answers.chosen.emit("left")
    elif act == "on":
        click_on(view, qtbot)
    elif act == "pause":
        view.show_paused("Item 1 of 2.")
    else:
        view.ask_reason(REASONS)
    assert heard[0] == "motion"
    assert not view.details.writing


def test_a_comment_begun_does_not_reach_another_item(view: ReviewView, qtbot: Any) -> None:
    heard: list[str] = []
    view.comment_kept.connect(heard.append)
    view.ask_comment("")
    qtbot.keyClicks(view.details.line, "motion")
    show(view)
    assert heard == []
    assert not view.details.writing


def test_enter_saves_the_answers_at_the_end(view: ReviewView, qtbot: Any) -> None:
    asked: list[bool] = []
    view.hand_back_asked.connect(lambda: asked.append(True))
    view.show_finished("Every item has its answer.", hand_back=False)
    qtbot.keyClick(view, KEY.Key_Return)
    assert asked == []
    view.show_finished("Every item has its answer.", hand_back=True)
    qtbot.keyClick(view, KEY.Key_Return)
    assert asked == [True]


def test_a_display_that_is_too_small_is_named_and_can_be_left(view: ReviewView) -> None:
    assert "1366 x 768" in _small_words(QSize(1350, 728), QSize(1366, 768), fits=False)
    assert "larger one" not in _small_words(QSize(1350, 728), QSize(1920, 1080), fits=True)
    # drawn at 200 %: sharp enough, but larger text leaves no room; nothing larger can be had
    words = _small_words(QSize(1920, 1080), QSize(1920, 1080), fits=False)
    assert "smaller text in Settings" in words
    leave = [b for b in view.small.findChildren(QPushButton) if b.text().startswith("Leave")]
    assert len(leave) == 1


class Windows(QObject):
    """Every window that opens."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[QObject] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.opened.append(watched)
        return False


def test_a_sentence_without_a_parent_opens_no_window(qtbot: Any) -> None:
    windows = Windows()
    application = QApplication.instance()
    assert application is not None
    application.installEventFilter(windows)
    made = PanelView(Panel("p", "A panel", "It says something."))
    qtbot.addWidget(made)
    told, later = label(""), label("")
    tell(told, "A verdict")
    tell(later, "")
    tell(later, "Told later")
    form = SettingsView()
    qtbot.addWidget(form)
    form.show_settings(Settings(), "settings.json")
    assert windows.opened == []
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    for widget in (told, later, made):
        layout.addWidget(widget)
    page.show()
    application.removeEventFilter(windows)
    assert told.isVisible()
    assert later.isVisible()
    assert made.says.isVisible()


def test_tab_walks_the_settings_from_the_top(qtbot: Any) -> None:
    view = SettingsView()
    qtbot.addWidget(view)
    view.show_settings(Settings(), "settings.json")
    test = next(b for b in view.findChildren(QPushButton) if b.text().startswith("Test pattern"))
    seen: list[QWidget] = []
    at: QWidget | None = view.form.last
    while at is not None and at is not test and len(seen) < 60:
        at = at.nextInFocusChain()
        assert at is not None
        seen.append(at)
    inside = [one for one in seen[:-1] if one.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert at is test
    assert not [one for one in inside if one.isVisibleTo(view)], "nothing between them"


def test_the_last_page_of_the_wizard_begins_at_the_title(qtbot: Any) -> None:
    wizard = StudyWizard()
    qtbot.addWidget(wizard)
    wizard.show()
    wizard.forth.setFocus()
    wizard.turn(3)
    assert wizard.focusWidget() is wizard.seal.name
    qtbot.keyClicks(wizard.seal.name, "a b")
    wizard.turn(3)
    assert wizard.seal.name.text() == "a b"


def test_a_wrong_passphrase_is_typed_again_at_once(qtbot: Any) -> None:
    form = UnblindForm()
    qtbot.addWidget(form)
    form.show()
    form.ask("Chest")
    form.secret.setText("wrong")
    form.reason.setText("finished")
    form.confirm.click()
    form.show_problem("The key does not open with this passphrase.")
    assert form.focusWidget() is form.secret
