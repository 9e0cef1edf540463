"""The review page's states for ``python -m tests.screens``: from the list of studies to the end.

A reader of its own sits down before the demo's open study; nothing is answered here, so that a
home may be used again. What needs a fault is shown as the page shows it.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.main import Program
from app.presenters import review_words as words
from studies.demo_run import STUDY_TITLE
from studies.preference.protocol import GUESS
from studies.preference.study import list_studies
from tests.screens_pump import pump

Step = Callable[[Program], None]
MOST = 20.0
GUARD = 0.4
FULL = (
    "No room is left on the disk of /media/stick/study/study.sqlite. Free some space and try "
    "again; what was stored before is kept."
)
GONE = (
    "/media/stick/study is not there any more. Put the stick or the folder back, then try again. "
    "Every answer given before is stored in it."
)
KEY = Qt.Key


def presenter(program: Program) -> Any:
    return program.window.presenter("review")


def page(program: Program) -> Any:
    return presenter(program).view


def key(program: Program, *pressed: Any) -> None:
    """Keys on the page, one after the other."""
    for one in pressed:
        QTest.keyClick(page(program), one)


def start(program: Program) -> None:
    """The list of studies."""
    program.window.go("review")
    if presenter(program)._opened is not None:
        presenter(program).leave()
    pump(MOST, lambda: page(program).start.list.count() > 0)


def profile(program: Program) -> None:
    """A reader whom the study does not know."""
    start(program)
    info = next(i for i in list_studies(program.services.home) if i.title == STUDY_TITLE)
    page(program).begun.emit(info.id, f"Reader {time.time_ns() % 10_000}")
    pump(MOST, lambda: page(program)._stack.currentWidget() is page(program).profile)


def practice(program: Program) -> None:
    """Their first item, a practice one where the study has such."""
    profile(program)
    page(program).profile.begin.click()
    pump(MOST, lambda: presenter(program)._state == "rating")
    pump(GUARD)


def said(program: Program) -> None:
    """Everything that may be said of an item."""
    practice(program)
    view = page(program)
    view.show_protocol(confidence=True, usefulness=True, comments=True)
    presenter(program)._opened = dataclasses.replace(
        presenter(program)._opened,
        protocol=dataclasses.replace(
            presenter(program)._opened.protocol,
            confidence="optional",
            usefulness="optional",
            comments="optional",
        ),
    )
    view.board.select(view.board.left[0])
    key(program, KEY.Key_U, KEY.Key_U, KEY.Key_U, KEY.Key_B, KEY.Key_B, KEY.Key_J)


def reason(program: Program) -> None:
    said(program)
    key(program, KEY.Key_G)


def comment(program: Program) -> None:
    said(program)
    key(program, KEY.Key_E)
    page(program).details.line.setText("Motion in the query, judged on the upper slices")


def enlarged(program: Program) -> None:
    said(program)
    key(program, KEY.Key_M)


def helped(program: Program) -> None:
    practice(program)
    key(program, "?")


def fault(program: Program) -> None:
    said(program)
    page(program).show_fault(FULL)


def paused(program: Program) -> None:
    practice(program)
    key(program, KEY.Key_P)


def gone(program: Program) -> None:
    practice(program)
    page(program).show_gone(GONE)


def asking(program: Program) -> None:
    practice(program)
    program.window.quiet(False)
    page(program).show_asking(words.asking(10))


def guess(program: Program) -> None:
    practice(program)
    view = page(program)
    item = dataclasses.replace(view.board._item, prompt=GUESS)
    view.show_item(item, guess=True)
    view.show_progress(3, 10, "", kind="guess")
    view.show_answer("left")


def end(program: Program) -> None:
    practice(program)
    program.window.quiet(False)
    page(program).show_finished(words.FINISHED_PACK, hand_back=True)
    page(program).say_handed_back("Saved to /media/stick/answers.triptych-answers.")


def large_type(program: Program) -> None:
    """The largest type."""
    _type(program, 200)
    said(program)


def usual_type(program: Program) -> None:
    leave(program)
    _type(program, 100)


def _type(program: Program, percent: int) -> None:
    settings = program.services.settings
    settings.save(dataclasses.replace(settings.current, text_scale=percent))


def leave(program: Program) -> None:
    page(program).help.hide()
    presenter(program).leave()


REVIEW_SCREENS: tuple[tuple[str, Step, Step], ...] = (
    ("review-start", start, lambda _program: None),
    ("review-profile", profile, leave),
    ("review-practice", practice, leave),
    ("review-said", said, leave),
    ("review-reason", reason, leave),
    ("review-comment", comment, leave),
    ("review-enlarged", enlarged, leave),
    ("review-help", helped, leave),
    ("review-fault", fault, leave),
    ("review-paused", paused, leave),
    ("review-gone", gone, leave),
    ("review-asking", asking, leave),
    ("review-guess", guess, leave),
    ("review-end", end, leave),
    ("review-large-type", large_type, usual_type),
)
