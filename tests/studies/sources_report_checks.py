"""What holds for every task of reports, whatever its source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks


def report_task(task: str, data: Path, *, pool: int | None = None) -> TaskData:
    """A task of reports read back; asserts its pool: the texts of its rows, equal ones once.

    Args:
        task: id.
        data: the data root.
        pool: distinct candidates, where they are fewer than the rows.
    """
    (found,) = [one for one in load_tasks(data) if one.id == task]
    read = read_task(found, data)
    assert not read.failures
    assert read.built is not None
    assert (read.built.pool, found.eval_type) == ("split", "global")
    names = {candidate.name for query in read.queries for candidate in query.candidates}
    assert len(names) == (len(read.queries) if pool is None else pool)
    for query in read.queries:
        assert [candidate.name for candidate in query.candidates] == [query.gold]
        assert query.item.instruction == found.qry_inst
        if found.form == "text":
            assert query.item.images == ()
            assert query.item.text
            assert query.item.text != query.gold
        else:
            assert query.item.text is None
            assert query.item.images
    return read


def texts_of(read: TaskData) -> list[str]:
    """Every text that a model is handed."""
    texts = [query.item.text or "" for query in read.queries]
    return [*texts, *(one.item.text or "" for query in read.queries for one in query.candidates)]


def free_of(texts: Iterable[str], identifiers: Iterable[str]) -> None:
    """Assert that no identifier stands in a text, and nothing that looks like one."""
    names = list(identifiers)
    for text in texts:
        for name in names:
            assert name not in text, (name, text)
        assert not re.search(r"\d{7,}|\d[/-]\d+[/-]\d\d|@", text), text
