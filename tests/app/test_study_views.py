"""The study page's true widgets: wizard, steps, keys, text sizes, and nothing left behind."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QScrollArea, QWidget

import tests.app.page_data as made
from app import theme
from app.shown import StepShown
from app.shown_study import LONGEST_TITLE, SizeShown, SourceOffered, TaskOffered, VerdictShown
from app.views.study import StudyView
from studies.preference import build
from studies.preference.protocol import Protocol

MODELS = (("a", "Veiled"), ("b", "Masked"), ("c", "Hooded"))
SOURCE = SourceOffered("root", "demo, 3 tasks", "data", MODELS)
TASKS = (
    TaskOffered("one/i2i", "I-I", "2d", 40),
    TaskOffered("two/vqa", "VQA", "3d", 20),
    TaskOffered("three/vqa", "VQA", "2d", None, "no results of Masked"),
)
LIFE = ("plan", "build", "hand", "read", "merge", "verify", "unblind", "publish")


@pytest.fixture
def view(qtbot: Any) -> StudyView:
    view = StudyView()
    qtbot.addWidget(view)
    view.resize(1130, 748)  # beside the rail at twice the text, in a window of 1280 x 800
    view.show()
    qtbot.waitExposed(view)
    return view


@pytest.fixture
def wizard(view: StudyView) -> Any:
    """The wizard with everything offered."""
    view.show_wizard([SOURCE], Protocol().to_json())
    view.show_models(MODELS, ["a", "b"])
    view.show_tasks(TASKS, ["one/i2i", "two/vqa"])
    view.show_counts("2 of 3 tasks chosen", "1 of 3 tasks is missing: three/vqa.", ("2d", "3d"))
    view.show_size(SizeShown(37, (("Items needed", "37"),), "One sentence.", "", 60))
    view.show_hindrance("")
    return view.wizard


def life(view: StudyView, text: str = "What stands here.") -> None:
    """All steps, each with an action."""
    shown = [StepShown(key, key.capitalize(), "later", text, f"Do {key}") for key in LIFE]
    view.show_steps(made.study("Chest 2026"), shown)
    view.show_readers([made.reader("AB")])


def words(view: QWidget) -> str:
    """All that is written and heard."""
    found = [child.accessibleName() for child in view.findChildren(QWidget)]
    found += [child.text() for kind in (QLabel, QLineEdit, QAbstractButton)
              for child in view.findChildren(kind)]  # fmt: skip
    return " ".join(found)


def test_an_unblinding_needs_passphrase_and_reason_and_wipes_the_first(
    view: StudyView, qtbot: Any
) -> None:
    life(view)
    view.show_unblind("Chest 2026", "Not complete yet: AB.")
    form = view.steps.unblind
    assert "Chest 2026" in form.confirm.text()
    assert "AB" in form.outstanding.text()
    form.secret.setText("a passphrase")
    assert not form.confirm.isEnabled()
    form.reason.setText("finished")
    with qtbot.waitSignal(view.unblind_wanted) as told:
        form.confirm.click()
    assert told.args == ["a passphrase", "finished"]
    assert form.secret.text() == ""
    form.leave.click()
    assert not form.isVisible()


def test_the_wizard_asks_for_a_whole_study_and_wipes_the_passphrase(
    view: StudyView, wizard: Any, qtbot: Any
) -> None:
    wizard.compare.models.item(2).setCheckState(Qt.CheckState.Checked)
    wizard.compare.tested.setCurrentIndex(2)
    assert wizard.compare.chosen_models() == ["c", "a", "b"], "the tested one comes first"
    wizard.sizing.items.setValue(50)
    wizard.reading.repeats.setValue(15)
    wizard.turn(3)
    seal = wizard.seal
    assert not wizard.forth.isEnabled()
    assert "title" in wizard.problem.text()
    seal.name.setText("We test VEILED")
    assert "names a model" in wizard.problem.text()
    seal.name.setText("Chest")
    seal.secret.setText("long enough")
    seal.again.setText("different one")
    assert "differ" in wizard.problem.text()
    seal.again.setText("long enough")
    with qtbot.waitSignal(view.build_wanted) as told:
        wizard.forth.click()
    [wish] = told.args
    assert (wish.title, wish.kind, wish.source, wish.total) == ("Chest", "data", "root", 50)
    assert wish.models == ("c", "a", "b")
    assert wish.tasks == ("one/i2i", "two/vqa")
    assert wish.protocol["repeat_share"] == 0.15
    assert wish.passphrase == "long enough"
    assert "long enough" not in repr(wish)
    assert seal.secret.text() == seal.again.text() == ""


def test_every_field_of_the_protocol_stands_in_the_wizard(wizard: Any) -> None:
    document = Protocol("show", 5, 0.2, 30, 60, 12, confidence="off", usefulness="optional",
                        comments="off").to_json()  # fmt: skip
    wizard.reading.show_protocol(document)
    assert {**document, **wizard.reading.protocol()} == document
    assert set(document) - set(wizard.reading.protocol()) == {"guess_question"}


def test_missing_tasks_are_named_with_their_reason_and_cannot_be_chosen(wizard: Any) -> None:
    family = wizard.compare.tasks.topLevelItem(1)
    gone = family.child(1)
    assert (gone.text(0), gone.text(2)) == ("three/vqa", "no results of Masked")
    assert not gone.flags() & Qt.ItemFlag.ItemIsEnabled
    assert "three/vqa" in wizard.compare.missing.text()
    family.setCheckState(0, Qt.CheckState.Unchecked)
    assert wizard.compare.chosen_tasks() == ["one/i2i"]


def test_what_hinders_keeps_the_wizard_on_its_first_page(view: StudyView, wizard: Any) -> None:
    view.show_hindrance("Choose two models or more.")
    wizard.turn(2)
    assert wizard.page == 0
    assert not wizard.forth.isEnabled()
    assert not any(wizard.tabs.button(place).isEnabled() for place in (1, 2, 3))
    view.show_hindrance("")
    wizard.forth.click()
    assert wizard.page == 1


def test_the_sentence_is_copied_and_the_needed_number_taken(wizard: Any) -> None:
    wizard.sizing.copy.click()
    assert QGuiApplication.clipboard().text() == "One sentence."
    QGuiApplication.clipboard().clear()
    wizard.sizing.take.click()
    assert wizard.sizing.asked().items == 37
    wizard.sizing.show_size(SizeShown(900, (), "", "", 60))
    assert not wizard.sizing.take.isEnabled(), "there are not so many"


def test_nothing_of_the_wizard_stays_once_it_is_left(view: StudyView, wizard: Any) -> None:
    wizard.turn(3)
    wizard.seal.name.setText("Chest")
    wizard.seal.secret.setText("long enough")
    view.show_summary("2 models")
    view.clear_wizard()
    told = words(wizard)
    assert not [name for _, name in MODELS if name in told]
    assert "long enough" not in told
    assert wizard.compare.tasks.topLevelItemCount() == wizard.compare.models.count() == 0
    assert wizard.compare.tested.count() == 0


def test_the_fingerprint_is_copied_whole(view: StudyView) -> None:
    life(view)
    view.steps.copy.click()
    assert QGuiApplication.clipboard().text() == made.study().hash
    QGuiApplication.clipboard().clear()


def test_a_step_folds_open_with_the_focus_in_it_and_shuts_again(view: StudyView) -> None:
    life(view)
    view.show_panel("hand")
    assert view.steps.hand.isVisible()
    assert view.steps.hand.name.hasFocus()
    assert view.steps.cards["hand"].action.text() == "Close"
    view.steps.hand.name.setText("half a na")
    life(view)
    assert view.steps.hand.name.text() == "half a na", "typed words outlive a refresh"
    view.show_panel("")
    assert not view.steps.hand.isVisible()


def test_the_whole_life_can_be_walked_by_keys(view: StudyView, qtbot: Any) -> None:
    """Tab reaches every action in the order of the steps."""
    life(view)
    cards = [view.steps.cards[key] for key in LIFE]
    cards[0].action.setFocus()
    met = [QApplication.focusWidget()]
    for _ in range(40):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        met.append(QApplication.focusWidget())
        if met[-1] is cards[-1].action:
            break
    order = [widget for widget in met if widget in [card.action for card in cards]]
    assert order == [card.action for card in cards]
    with qtbot.waitSignal(view.step_wanted) as told:
        qtbot.keyClick(met[-1], Qt.Key.Key_Space)
    assert told.args == ["publish"]


def test_the_wizard_can_be_walked_by_keys(wizard: Any, qtbot: Any) -> None:
    """From the first field to the last button, without a trap."""
    for page in range(4):
        wizard.turn(page)
        wizard.tabs.button(page).setFocus()
        met = []
        for _ in range(40):
            met.append(QApplication.focusWidget())
            if met[-1] is wizard.leave:
                break
            qtbot.keyClick(met[-1], Qt.Key.Key_Tab)
        assert met[-1] is wizard.leave, f"page {page + 1} keeps the focus"


def test_files_dropped_on_the_page_are_told(view: StudyView, tmp_path: Any, qtbot: Any) -> None:
    life(view)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "CD.triptych-answers"))])
    event = QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                       Qt.KeyboardModifier.NoModifier)  # fmt: skip
    with qtbot.waitSignal(view.files_dropped) as told:
        view.dropEvent(event)
    assert told.args[0] == [str(tmp_path / "CD.triptych-answers")]


def test_a_verdict_has_a_mark_and_a_word(view: StudyView) -> None:
    life(view)
    view.show_panel("merge")
    refused = VerdictShown("a.triptych-answers", "was altered.", "error")
    view.show_merge("1 of 2 taken.", "warn", verdicts=[refused])
    assert "✕ a.triptych-answers: was altered." in words(view.steps.merge)


def test_what_logins_can_see_is_said_beside_them(view: StudyView) -> None:
    life(view)
    view.show_panel("hand")
    said = words(view.steps.hand)
    assert "readers who use one login can read each other's answers" in said
    assert view.steps.hand.logins.accessibleName() == "Logins of the role"


def test_a_title_that_is_too_long_is_refused_where_it_is_typed(wizard: Any) -> None:
    seal = wizard.seal
    assert "120 characters at most" in seal.name.placeholderText()
    seal.secret.setText("long enough")
    seal.again.setText("long enough")
    seal.name.setText("x" * LONGEST_TITLE)
    assert seal.problem(()) == ""
    seal.name.setText("x" * (LONGEST_TITLE + 1))
    assert seal.problem(()) == "A title has 120 characters at most; this one has 121."
    assert LONGEST_TITLE == build.LONGEST_TITLE


def test_a_database_address_is_wiped_once_it_is_sent(view: StudyView, qtbot: Any) -> None:
    life(view)
    view.steps.hand.url.setText("postgresql://me:secret@host/studies")
    assert not view.steps.hand.logins.isEnabled(), "logins belong to a role"
    view.steps.hand.role.setText("readers")
    view.steps.hand.logins.setText("AB=anna, CD=carl ")
    with qtbot.waitSignal(view.share_wanted) as told:
        view.steps.hand.share.click()
    assert told.args == ["postgresql://me:secret@host/studies", "readers", "AB=anna, CD=carl"]
    assert view.steps.hand.url.text() == ""


@pytest.fixture(params=[100, 200])
def percent(request: Any, qapp: QApplication) -> Any:
    theme.theme.apply(qapp, percent=request.param)
    yield request.param
    theme.theme.apply(qapp)


def cut(page: QWidget) -> list[str]:
    """Labels and buttons whose words do not fit where they stand."""
    found = []
    for one in page.findChildren(QLabel):
        if one.isVisible() and one.text() and not one.visibleRegion().isEmpty():
            wanted = one.heightForWidth(one.width()) if one.wordWrap() else one.sizeHint().height()
            narrow = not one.wordWrap() and one.width() < one.sizeHint().width() - 1
            if one.height() < wanted - 1 or narrow:
                found.append(one.text())
    for key in page.findChildren(QAbstractButton):
        if key.isVisible() and key.text() and key.width() < key.minimumSizeHint().width() - 1:
            found.append(key.text())
    return found


def beyond(view: StudyView) -> list[str]:
    """Scrolled pages that are wider than their window."""
    areas = [area for area in view.findChildren(QScrollArea) if area.isVisible()]
    return [type(area.widget()).__name__ for area in areas
            if area.widget().width() > area.viewport().width() + 1]  # fmt: skip


def test_no_step_is_cut_at_any_text_size(view: StudyView, percent: int, qtbot: Any) -> None:
    life(view, "A sentence that is as long as those are that stand on this page in earnest.")
    for key in ("hand", "merge", "publish"):
        view.show_panel(key)
        settled(qtbot, view)
        assert (cut(view), beyond(view)) == ([], []), (percent, key)
    view.show_unblind("Chest 2026", "Not complete yet: AB.")
    settled(qtbot, view)
    assert (cut(view), beyond(view)) == ([], []), percent


def test_no_step_is_cut_in_a_wide_window(view: StudyView, qtbot: Any) -> None:
    view.resize(1830, 1000)
    life(view)
    view.show_readers([made.reader("Dr Ona Very-Long-Namenson of the Department of Radiology")])
    for fold in (
        lambda: view.show_panel("merge"),
        lambda: view.show_unblind("Chest 2026", "Not complete yet: AB."),
    ):
        fold()
        settled(qtbot, view)
        assert (cut(view), beyond(view)) == ([], [])
        for field in view.steps.findChildren(QLineEdit):
            if field.isVisible():
                assert field.height() >= field.sizeHint().height() - 1
    assert view.steps.unblind.width() == view.steps.unblind.maximumWidth()


def settled(qtbot: Any, view: StudyView) -> None:
    """Let the layout come to rest; a busy machine takes longer."""
    qtbot.wait(20)
    for _ in range(40):
        if not cut(view) and not beyond(view):
            return
        qtbot.wait(25)


def test_no_page_of_the_wizard_is_cut_at_any_text_size(
    view: StudyView, wizard: Any, percent: int, qtbot: Any
) -> None:
    facts = tuple((f"Fact number {n}", "a number with some words beside it") for n in range(9))
    view.show_size(SizeShown(37, facts, "One sentence for the paper. " * 9, "A warning.", 60))
    view.show_summary("Two models, up to 530 items from 22 tasks, and so on.")
    for page in range(4):
        wizard.turn(page)
        settled(qtbot, view)
        assert (cut(view), beyond(view)) == ([], []), (percent, page)


@pytest.mark.parametrize(("chosen", "said"), [(2, False), (3, True)])
def test_pairs_of_models_are_told_where_there_are_several(
    view: StudyView, chosen: int, said: bool
) -> None:
    models = [(f"m{n}", f"Model {n}") for n in range(3)]
    view.show_models(models, [key for key, _ in models[:chosen]])
    assert ("all pairs come equally often" in view.wizard.compare.pairs.text()) == said


def test_leaving_with_something_typed_is_asked_once(view: StudyView, qtbot: Any) -> None:
    wizard = view.wizard
    gone: list[bool] = []
    view.build_left.connect(lambda: gone.append(True))
    wizard.seal.name.setText("Chest 2026")
    wizard.leave.click()
    assert gone == []
    assert "dropped" in wizard.problem.text()
    wizard.seal.name.setText("Chest 2027")
    assert wizard.leave.text() == "Leave", "who goes on typing is asked again"
    wizard.leave.click()
    wizard.leave.click()
    assert gone == [True]
    view.clear_wizard()
    wizard.leave.click()
    assert gone == [True, True], "nothing is typed any more"


def test_names_of_tasks_get_the_room_that_tells_them_apart(view: StudyView, wizard: Any) -> None:
    page = wizard.compare
    names = [f"synthrad2023_{part}/i2i" for part in ("brain", "pelvis")]
    view.show_tasks([TaskOffered(name, "MB-VR", "3d", 9) for name in names], names)
    assert page.tasks.textElideMode() == Qt.TextElideMode.ElideMiddle
    wide = page.tasks.fontMetrics().horizontalAdvance(names[1])
    assert page.tasks.header().sectionSize(0) >= min(320, wide + page.tasks.indentation())
    family = page.tasks.topLevelItem(0)
    assert [family.child(n).toolTip(0) for n in (0, 1)] == names
