"""Decides for the figures of the results page: which models, in which size, written where.

Draws on threads; matplotlib is imported there, never with the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.failures import sentence
from app.services import Services
from app.shown_figures import FigureShown, MarkShown
from studies.results import Results

if TYPE_CHECKING:
    from studies.figures.numbers import Asked
    from studies.figures.sheet import Drawn

Size = tuple[int, int, float]


def figure_shown(drawn: Drawn, ratio: float) -> FigureShown:
    """A drawn figure for the view."""
    marks = tuple(MarkShown(m.x, m.y, m.words, m.task, m.model) for m in drawn.marks)
    return FigureShown(drawn.width, drawn.height, drawn.rgba, ratio, marks, drawn.spoken)


class FigureDesk:
    """The figures of the results page; one of its presenter's two hands.

    Args:
        view: the page.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        self.view = view
        self.services = services
        self._results: Results | None = None
        self._titles: Mapping[str, str] = {}
        self._models: list[str] = []
        self._asked: Asked | None = None
        self._sizes: dict[str, Size] = {}
        self._waiting = False
        view.figure_wanted.connect(self._wanted)
        view.figure_models_chosen.connect(self._models_chosen)
        view.figure_export_wanted.connect(self._export)

    def take(self, results: Results, titles: Mapping[str, str]) -> None:
        """Draw other results."""
        if results is self._results:
            return
        self._results, self._titles, self._asked = results, titles, None
        known = [line.model for line in results.models]
        self._models = [model for model in self._models if model in known]
        self.view.show_figures_stale()

    def _models_chosen(self, models: list[str]) -> None:
        self._models, self._asked = models, None
        self.view.show_figures_stale()

    def _wanted(self, name: str, width: int, height: int, ratio: float) -> None:
        """A figure came to the front, or its size changed."""
        self._sizes[name] = (width, height, ratio)
        if self._asked is not None:
            self._draw(name)
        elif not self._waiting and self._results is not None:
            self._gather()

    def _gather(self) -> None:
        self._waiting = True
        results, titles, models = self._results, self._titles, tuple(self._models)
        home = self.services.home

        def work() -> Any:
            from studies.figures.catalogue import ask

            assert results is not None
            return results, models, ask(home, results, models, titles)

        self.services.tasks.run(self, work, self._gathered, self._not_gathered)

    def _gathered(self, found: tuple[Results, tuple[str, ...], Asked]) -> None:
        self._waiting = False
        results, models, asked = found
        if results is not self._results or models != tuple(self._models):
            self._gather()
            return
        self._asked, self._models = asked, list(asked.models)
        offered = [(m.model, asked.title(m.model)) for m in results.models]
        self.view.show_figure_models(offered, self._models)
        for name in list(self._sizes):
            self._draw(name)

    def _not_gathered(self, error: Exception) -> None:
        self._waiting = False
        for name in self._sizes:
            self.view.say_figure(name, sentence(error))

    def _draw(self, name: str) -> None:
        asked, (width, height, ratio) = self._asked, self._sizes[name]

        def work() -> tuple[Any, FigureShown]:
            from studies.figures.catalogue import picture

            assert asked is not None
            return asked, figure_shown(picture(name, asked, width, height, ratio=ratio), ratio)

        self.services.tasks.run(
            self, work, partial(self._drawn, name, self._sizes[name]),
            lambda error: self.view.say_figure(name, sentence(error)),
        )  # fmt: skip

    def _drawn(self, name: str, size: Size, found: tuple[Asked, FigureShown]) -> None:
        if found[0] is self._asked and size == self._sizes.get(name):
            self.view.show_figure(name, found[1])

    # -- files

    def _export(self, name: str, form: str) -> None:
        asked = self._asked
        if asked is None:
            return
        path = self.view.ask_file(str(self.services.home.exports / f"{name}.{form}"))
        if path:
            self.services.tasks.run(self, lambda: write_one(asked, name, Path(path)), self._written)

    def _written(self, path: Path) -> None:
        self.services.notify.good(f"Written to {path}.")


def write_one(asked: Asked, name: str, path: Path) -> Path:
    """Write one figure under the name the user gave; its suffix decides the format.

    Raises:
        StudyError: the suffix is no format of figures.
        StoreError: it cannot be written there.
    """
    from studies.figures.catalogue import write_as

    return write_as(asked, name, path)
