"""The figures there are, by name, and what each needs gathered: from a run to pixels or files.

Owns names, sizes and which models are drawn when nobody chooses. Reads stored results only; refuses
a model or a format it does not know, with those it knows.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from db.home import Home
from studies.errors import StudyError
from studies.figures.numbers import Asked, first_models
from studies.figures.sheet import FORMATS, Draw, Drawn, into_files, on_screen
from studies.medheb.anatomy import ANATOMY, UNKNOWN, Group
from studies.results import Results
from studies.results_groups import groups_of, load_lengths

MOST = 7  # series that can be told apart


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: of its file, and of the module that draws it.
        number: in the paper.
        title: in words.
        inches: width and height of its file.
    """

    name: str
    number: int
    title: str
    inches: tuple[float, float]


FIGURES = (
    Figure("difficulty", 4, "Difficulty", (11.0, 8.0)),
    Figure("domains", 5, "Anatomy and form", (10.0, 7.0)),
    Figure("profiles", 6, "Profile and balance", (10.0, 8.5)),
    Figure("targets", 8, "Target length", (11.0, 6.5)),
)


def ask(
    home: Home,
    results: Results,
    models: Sequence[str] = (),
    titles: Mapping[str, str] | None = None,
) -> Asked:
    """Gather what the figures need.

    Args:
        home: where the queries are stored.
        results: of one data root.
        models: ids to draw, in the order of their colours; the best when empty.
        titles: model id to what it is called.

    Raises:
        StudyError: a model has no result here, or too many are asked for.
        BadTaskFile: the table of groups cannot be read.
    """
    results = results.benchmark
    chosen = tuple(dict.fromkeys(models)) or first_models(results)
    known = [line.model for line in results.models]
    if strange := [model for model in chosen if model not in known]:
        raise StudyError(
            f"{strange[0]} has no result here; there are results of {', '.join(known)}."
        )
    if len(chosen) > MOST:
        raise StudyError(f"A figure shows at most {MOST} models; {len(chosen)} are asked for.")
    groups = groups_of(results)
    return Asked(
        results=results.benchmark,
        models=chosen,
        titles=dict(titles or {}),
        lengths={task: one.words for task, one in load_lengths(home, results).items()},
        anatomy={task: _domain(group) for task, group in groups.items()},
        kinds={task: group.target for task, group in groups.items()},
    )


def _domain(group: Group) -> str:
    return "Not assigned" if group.anatomy == UNKNOWN else ANATOMY[group.anatomy]


def drawer(name: str, asked: Asked) -> Draw:
    """What fills a sheet with a figure. Imports matplotlib; call it off the window's thread."""
    module = importlib.import_module(f"studies.figures.{name}")
    return lambda sheet: module.draw(sheet, asked)


def picture(name: str, asked: Asked, width: int, height: int, *, ratio: float = 1.0) -> Drawn:
    """A figure for the window, in its pixels times ``ratio``."""
    return on_screen(drawer(name, asked), width, height, ratio=ratio)


def write_as(asked: Asked, name: str, path: Path) -> Path:
    """Write one figure under a name of its own; the suffix decides the format.

    Raises:
        StudyError: the suffix is no format of figures.
        StoreError: it cannot be written there.
    """
    form = path.suffix[1:].lower()
    if form not in FORMATS:
        raise StudyError(f"End the file's name in one of: .{', .'.join(FORMATS)}.")
    figure = next(one for one in FIGURES if one.name == name)
    return into_files(drawer(name, asked), figure.inches, path.with_suffix(""), (form,))[0]


def write(
    asked: Asked, folder: Path, formats: Sequence[str] = FORMATS, names: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Write figures as ``figure4-difficulty.svg`` and so on.

    Raises:
        StudyError: a format that there is not.
        StoreError: the folder cannot be written or is full.
    """
    if strange := [form for form in formats if form not in FORMATS]:
        raise StudyError(f"There is no format {strange[0]!r}; known are {', '.join(FORMATS)}.")
    made: tuple[Path, ...] = ()
    for figure in FIGURES:
        if not names or figure.name in names:
            stem = folder / f"figure{figure.number}-{figure.name}"
            made += into_files(drawer(figure.name, asked), figure.inches, stem, formats)
    return made
