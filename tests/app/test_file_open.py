"""Files that the system hands to the running program."""

from __future__ import annotations

from types import SimpleNamespace

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFileOpenEvent

from app import main
from app.file_open import FileOpener


def test_the_event_of_a_file_is_taken_and_no_other(qapp):
    opened = []
    opener, target = FileOpener(opened.append), QObject()
    assert opener.eventFilter(target, QFileOpenEvent("/stick/Chest.triptych"))
    assert not opener.eventFilter(target, QEvent(QEvent.Type.User))
    assert opened == ["/stick/Chest.triptych"]


def test_a_pack_goes_to_review_and_evidence_to_the_viewer():
    went, viewed = [], []
    program = SimpleNamespace(
        window=SimpleNamespace(go=lambda *words: went.append(words)),
        services=SimpleNamespace(open_evidence=lambda paths: viewed.extend(paths)),
    )
    main._open_file(program, "/stick/Chest.triptych")
    main._open_file(program, "/scans/case.dcm")
    assert went == [("review", "/stick/Chest.triptych")]
    assert [path.name for path in viewed] == ["case.dcm"]
