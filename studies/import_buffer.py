"""What an import has in hand: rows not yet stored, files not yet told.

Owns short transactions, bounded memory, and which files count as done. Refuses to read a file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from db.collections import NewEvidence
from db.indexing import IndexedFile, add_evidence
from db.session import Store
from engine.control import Control
from engine.evidence.study import Evidence
from studies.evidence_rows import new_row

READER = 3  # to be raised when the readers learn a fact that old rows should have
MOST_ROWS = 2000
MOST_LETTERS = 4_000_000
MOST_SECONDS = 2.0
TOLD_EACH = 10_000

Facts = dict[str, tuple[int, int]]


def indexed(path: str, facts: tuple[int, int]) -> IndexedFile:
    """A file as it is remembered."""
    folder, name = os.path.split(path)
    return IndexedFile(folder, name, *facts)


class Part(Control):
    """A few files of an import: their steps are the whole's, and so is the wish to stop.

    Args:
        whole: told each file.
        most: steps to pass on; a container's parts are more than the files they lie in.
    """

    def __init__(self, whole: Control, most: int) -> None:
        super().__init__()
        self._whole = whole
        self._left = most

    def check(self) -> None:
        """Raise ``Cancelled`` if the user asked to stop."""
        self._whole.check()

    def step(self, count: int = 1) -> None:
        """Pass files on."""
        count = min(count, self._left)
        self._left -= count
        self._whole.step(count)

    def finish(self) -> None:
        """Pass on the files that nobody looked at, for example data beside its header."""
        if self._left:
            self.step(self._left)


class Buffer:
    """Collects rows and hands them on by the thousand.

    Args:
        store: the home's database.
        name: the collection.
        control: told how far a large container is.
    """

    def __init__(self, store: Store, name: str, control: Control) -> None:
        self._store, self._name, self._control = store, name, control
        self._rows: list[NewEvidence] = []
        self._read: list[str] = []
        self._done: list[IndexedFile] = []
        self._gone: list[IndexedFile] = []
        self._facts: Facts = {}
        self._letters = 0
        self._since = time.monotonic()

    def drop(self, gone: list[IndexedFile]) -> None:
        """Files that are no longer there."""
        self._gone += gone

    @contextmanager
    def batch(self, facts: Facts) -> Iterator[Callable[[Evidence], None]]:
        """Files that are read together: done once the block ends well, and not before.

        Args:
            facts: the files with size and modification time.
        """
        self._facts = dict(facts)
        self._read += facts
        count = 0

        def add(evidence: Evidence) -> None:
            nonlocal count
            count += 1
            self._add(new_row(evidence, facts=self._of))
            if count % TOLD_EACH == 0:
                self._control.say(f"{count:,} objects so far in {next(iter(facts))}")

        yield add
        self._done += [indexed(path, found) for path, found in self._facts.items()]
        if self._full():
            self.flush()

    def also(self, facts: Facts) -> None:
        """More files of the batch in hand: a series that grew is read whole."""
        self._facts |= facts
        self._read += facts

    def flush_done(self) -> None:
        """Store what earlier batches left, but for the files of the batch in hand."""
        read, self._read = self._read, [path for path in self._read if path not in self._facts]
        self.flush()
        self._read = [path for path in read if path in self._facts]

    def flush(self) -> None:
        """Store everything, in one transaction."""
        if self._rows or self._read or self._done or self._gone:
            add_evidence(self._store, self._name, self._rows, read=self._read, done=self._done,
                         gone=self._gone, reader=READER)  # fmt: skip
        self._rows, self._read, self._done, self._gone = [], [], [], []
        self._letters, self._since = 0, time.monotonic()

    def _add(self, row: NewEvidence) -> None:
        same = bool(self._rows) and bool(row.files) and self._rows[-1].files[:1] == row.files[:1]
        if self._full() and not same:  # two objects of one file stay together
            self.flush()
            self._control.check()
        self._rows.append(row)
        self._letters += len(row.text or "")

    def _full(self) -> bool:
        return (
            len(self._rows) >= MOST_ROWS
            or self._letters >= MOST_LETTERS
            or (bool(self._rows) and time.monotonic() - self._since > MOST_SECONDS)
        )

    def _of(self, member: Path) -> tuple[int, int]:
        """Size and time of the file on disk that a member is, or lies in."""
        name = str(member)
        while (found := self._facts.get(name)) is None:
            above = os.path.dirname(name)  # noqa: PTH120 - of a hundred thousand parts
            if above == name:
                return 0, 0
            name = above
        return found
