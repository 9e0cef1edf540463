"""The study page's states for ``python -m tests.screens``: every step, the wizard, a reader's copy.

Makes the packs and answers that it shows in a folder of its own; the studies of the demo home are
handed out once and never unblinded here.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt

from app.main import Program
from db.home import Home
from studies.demo_run import STUDY_TITLE
from studies.preference.packs import make_pack, open_pack, return_answers
from studies.preference.study import list_studies, open_study
from tests.screens_home import READ_TITLE
from tests.screens_pump import pump

Step = Callable[[Program], None]
SETTLE = 0.6


def page(program: Program) -> Any:
    """The study page."""
    return program.window.pages.currentWidget()


def info_of(program: Program, title: str) -> Any:
    """A coordinator's study of the home, by title."""
    studies = list_studies(program.services.home)
    return next(i for i in studies if i.title == title and (i.path / "key.sealed").is_file())


def steps(title: str) -> Step:
    """The steps of a study."""

    def step(program: Program) -> None:
        program.window.go("study", info_of(program, title).id)
        pump(SETTLE)

    return step


def folded(title: str, key: str) -> Step:
    """The steps with one of them folded open, in sight."""

    def step(program: Program) -> None:
        steps(title)(program)
        if page(program).opened != key:
            page(program).step_wanted.emit(key)
        pump(SETTLE)
        show_card(program, key)

    return step


def show_card(program: Program, key: str) -> None:
    """Scroll to the foot of a card, then to its head."""
    area = page(program)._pages.currentWidget()
    card = page(program).steps.cards[key]
    area.ensureVisible(0, card.y() + card.height())
    area.ensureVisible(0, card.y())


def merged(program: Program) -> None:
    """One complete file of answers, one in part, one altered."""
    info = info_of(program, STUDY_TITLE)
    steps(STUDY_TITLE)(program)
    with tempfile.TemporaryDirectory() as folder:
        files = came_back(info, Path(folder))
        page(program).merge_wanted.emit([str(file) for file in files])
        pump(20, lambda: "taken" in page(program).steps.merge.said.text())
    pump(SETTLE)
    show_card(program, "merge")


def came_back(info: Any, folder: Path) -> list[Path]:
    """What two readers send back, and one of the files with a changed number."""
    home, known, files = Home(folder / "home").make(), len(info.packs), []
    for reader, share in ((f"R{known + 1}", 1.0), (f"R{known + 2}", 0.4)):
        copy = open_pack(home, make_pack(info.path, folder / f"{reader}.triptych", rater=reader))
        read(copy, reader, share)
        files.append(return_answers(copy, folder / f"{reader}.triptych-answers"))
    altered = folder / "altered.triptych-answers"
    altered.write_bytes(files[0].read_bytes().replace(b'"answer_ms":9000', b'"answer_ms":9001', 1))
    return [*files, altered]


def read(folder: Path, reader: str, share: float) -> None:
    """Answer part of a pack."""
    with open_study(folder) as study:
        session = study.session(reader)
        while session.answered < share * session.total and session.current() is not None:
            session.answer("both", answer_ms=9000)


def copy_of_reader(program: Program) -> None:
    """A reader's own copy, in this home for the picture's sake."""
    info = info_of(program, STUDY_TITLE)
    reader = f"R{len(info.packs) + 1}"
    program.window.go("study")
    with tempfile.TemporaryDirectory() as folder:
        pack = make_pack(info.path, Path(folder) / f"{reader}.triptych", rater=reader)
        page(program).open_file_wanted.emit(str(pack))
        pump(10, lambda: page(program).steps.cards["return"].isVisible())
    pump(SETTLE)


def forget_copy(program: Program) -> None:
    """Take the copy out of the home again."""
    for info in list_studies(program.services.home):
        if not (info.path / "key.sealed").is_file() and not info.unblinded:
            shutil.rmtree(info.path)


def wizard(place: int) -> Step:
    """A page of the wizard, its planner at rest."""

    def step(program: Program) -> None:
        program.window.go("study")
        pump(SETTLE)
        if not program.window.presenter("study").wizard.opened:
            page(program).new_wanted.emit()
            pump(20, lambda: page(program).wizard.compare.models.count() > 0)
            models = page(program).wizard.compare.models
            for number in range(min(2, models.count())):
                models.item(number).setCheckState(Qt.CheckState.Checked)
        pump(20, lambda: bool(page(program).wizard.sizing.sentence.text()))
        page(program).wizard.turn(place)
        pump(SETTLE)

    return step


def leave_wizard(program: Program) -> None:
    page(program).build_left.emit()


def building(program: Program) -> None:
    """As while a build is at work; nothing is built."""
    program.window.go("study")
    pump(SETTLE)
    page(program).show_building(
        "Building 'Chest 2026'", 214, 530, "Copying, 214 of 530 items", "about 3 min left"
    )


def nothing(_program: Program) -> None:
    """Leave the window as it is."""


def shut(program: Program) -> None:
    page(program).show_panel("")


STUDY_SCREENS: tuple[tuple[str, Step, Step], ...] = (
    ("study", steps(STUDY_TITLE), nothing),
    ("study-hand", folded(STUDY_TITLE, "hand"), shut),
    ("study-merge", merged, shut),
    ("study-unblind", folded(STUDY_TITLE, "unblind"), shut),
    ("study-publish", folded(READ_TITLE, "publish"), shut),
    ("study-copy", copy_of_reader, forget_copy),
    ("study-plan-compare", wizard(0), nothing),
    ("study-plan-size", wizard(1), nothing),
    ("study-plan-reading", wizard(2), nothing),
    ("study-plan-seal", wizard(3), leave_wizard),
    ("study-building", building, nothing),
)
