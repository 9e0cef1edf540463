"""The tree of expected failures of the studies.

StudyError
├── BadTaskFile       a task's index file is missing or is not what its parser reads
├── UnknownTask       no task of that name
├── NoRun             results needed here were never computed
├── BadStudy          a study file that is not one, or whose hash does not match
├── StudyGone         a study's file vanished while it was open
├── WrongPassphrase   the key does not open
├── BadPack           a rater's pack that was cut, altered or is none
├── BadAnswers        returned answers that do not hold (has .refused and .merged)
├── StillBlind        asked for what is shown only after unblinding
├── BadRequest        options that do not exist, or do not go together
├── WorkerLost        the worker process died (has .exit_code and .last_lines)
└── BadMessage        a line on the wire that is not a message
"""

from __future__ import annotations


class StudyError(Exception):
    """An expected failure; ``str(error)`` is a sentence for a person."""


class BadTaskFile(StudyError):
    """A task's index file cannot be read."""


class UnknownTask(StudyError):
    """No task of that name."""


class NoRun(StudyError):
    """Results needed here were never computed."""


class BadStudy(StudyError):
    """Not a study, or altered."""


class StudyGone(StudyError):
    """The file of an open study is no longer there."""


class WrongPassphrase(StudyError):
    """The key does not open with that passphrase."""


class BadPack(StudyError):
    """Not a rater's pack, or altered."""


class BadAnswers(StudyError):
    """Returned answers that do not hold.

    Args:
        sentence: for a person.
        refused: each refused source with its reason.
        merged: what became of the good ones of the same call.
    """

    def __init__(
        self,
        sentence: str,
        *,
        refused: tuple[tuple[str, str], ...] = (),
        merged: tuple[object, ...] = (),
    ) -> None:
        self.refused = refused
        self.merged = merged
        super().__init__(sentence)


class StillBlind(StudyError):
    """Asked for what is shown only after unblinding."""


class BadRequest(StudyError):
    """Options that do not exist, or do not go together."""


class WorkerLost(StudyError):
    """The worker process died."""

    def __init__(self, sentence: str, exit_code: int | None, last_lines: tuple[str, ...]) -> None:
        self.exit_code = exit_code
        self.last_lines = last_lines
        super().__init__(sentence)


class BadMessage(StudyError):
    """A line on the wire that is not a message."""
