"""Decides the start of the Review page: which studies there are, packs, who reads, handing back.

Owns everything before the first item and after the last. Refuses to know an item or an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from app.actions import load
from app.failures import sentence
from app.presenters.review_words import CHOOSE, EMPTY, row_of
from app.services import Services

NOBODY = "reader"
PACK, ANSWERS = ".triptych", ".triptych-answers"


class Desk:
    """Lists studies, opens packs, sits readers down.

    Args:
        view: the page, or a fake.
        services: the program's objects.
        source: object with ``list_studies``, ``sit``, ``open_pack`` and ``return_answers``; the
            studies of this home by default.
        seated: told when somebody sits before an open study.
        refused: told why not.
    """

    def __init__(
        self,
        view: Any,
        services: Services,
        *,
        source: Any,
        seated: Callable[[Any], None],
        refused: Callable[[Exception], None],
    ) -> None:
        self.view, self.services = view, services
        self.rater, self.path = "", Path()
        self._source = source
        self._seated, self._refused = seated, refused
        self._studies: dict[str, Any] = {}
        self._asking: Any = None
        self._wanted: str | None = None
        self._chosen = ""
        self._turn = 0  # a study that opens after somebody went elsewhere is let go of again

    def close(self) -> None:
        """Let go of a study whose reader was not seated yet."""
        self._turn += 1
        asking, self._asking = self._asking, None
        if asking is not None:
            self.services.tasks.query(self.services, asking.study.close)

    def list(self, wanted: str | None = None) -> None:
        """Show the studies; with one's id, folder or pack go on with it at once."""
        self._wanted = wanted
        self.services.tasks.query(self, self._list, self._listed, self._not_listed)

    def begin(self, study_id: str, rater: str) -> bool:
        """Sit a reader down before a study of the list; False if it is not there."""
        info = self._studies.get(study_id)
        if info is None:
            return False
        self.rater, self.path = rater, info.path
        self._remember()
        self.view.show_waiting("Opening the study")
        self._sit(None)
        return True

    def begin_folder(self, folder: str, rater: str) -> bool:
        """Open a study that was handed over as a folder, a file or an address."""
        self._studies[folder] = SimpleNamespace(path=folder if "://" in folder else Path(folder))
        return self.begin(folder, rater or self.services.settings.current.rater_name or NOBODY)

    def open_pack(self, file: str) -> None:
        """Take a pack up and choose it in the list; one opened before is found again."""
        home, source = self.services.home, self.source
        self.view.show_waiting("Opening the pack")
        self.services.tasks.query(
            self, lambda: source().open_pack(home, Path(file)), self._pack_open, self._no_pack
        )

    def give_profile(
        self, specialty: str, years: int | None, modalities: str, display: str
    ) -> None:
        """Who reads; everything may be empty."""
        self.close()
        said = {"specialty": specialty, "years": years, "modalities": modalities,
                "display": display}  # fmt: skip
        self.view.show_waiting("Opening the study")
        self._sit({name: value if value != "" else None for name, value in said.items()})

    def hand_back(self) -> None:
        """Save a pack's answers as one file; may be done at any pause."""
        path, rater, source = self.path, self.rater, self.source
        self.services.tasks.query(
            self, lambda: source().answers_name(path, rater), self._save, self._not_saved
        )

    def _save(self, name: str) -> None:
        file = self.view.ask_save(name)
        if not file:
            return
        out = Path(file) if file.endswith(ANSWERS) else Path(f"{file}{ANSWERS}")
        path, source = self.path, self.source
        self.services.tasks.query(
            self,
            lambda: source().return_answers(path, out),
            lambda made: self.view.say_handed_back(
                f"Saved to {made}. Hand this file back; it can be saved again at any time."
            ),
            self._not_saved,
        )

    def _not_saved(self, error: Exception) -> None:
        self.view.say_handed_back(f"Not saved. {sentence(error)}")

    def again(self) -> Any:
        """Sit the same reader down again, on the lane; for a study that was out of reach."""
        return self.source().sit(self.path, self.rater, {})

    def again_undone(self) -> Any:
        """The same, with the last answer taken back."""
        opened = self.again()
        return replace(opened, presentation=opened.guarded(opened.session.undo))

    def source(self) -> Any:
        """Loaded on the lane when first asked for."""
        if self._source is None:
            self._source = load("app.presenters.review_source:HomeStudies")()
        return self._source

    def _sit(self, profile: dict[str, Any] | None) -> None:
        path, rater, source = self.path, self.rater, self.source
        self._turn += 1
        turn = self._turn
        self.services.tasks.query(
            self,
            lambda: source().sit(path, rater, profile),
            lambda opened: self._opened(opened, turn),
            self._refused,
        )

    def _opened(self, opened: Any, turn: int) -> None:
        if turn != self._turn:
            self.services.tasks.query(self.services, opened.study.close)
            return
        if opened.session is not None:
            self._seated(opened)
            return
        self._asking = opened
        display = self.services.settings.current.display_statement
        self.view.show_profile(self.rater, display=display)

    def _list(self) -> tuple[Any, ...]:
        return tuple(self.source().list_studies(self.services.home))

    def _listed(self, studies: tuple[Any, ...]) -> None:
        self._studies = {info.id: info for info in studies}
        rater = self.services.settings.current.rater_name
        rows = [row_of(info) for info in studies]
        said = CHOOSE if rows else EMPTY
        self.view.show_studies(rows, rater=rater, sentence=said, chosen=self._chosen)
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        info = self._studies.get(Path(wanted).name)
        if wanted.endswith(PACK):
            self.open_pack(wanted)
        elif info is not None:
            self.begin(info.id, info.seat or rater or NOBODY)
        else:
            self.begin_folder(wanted, rater)

    def _not_listed(self, error: Exception) -> None:
        self.view.show_studies([], rater="", sentence=sentence(error))

    def _pack_open(self, folder: Path) -> None:
        self._chosen = folder.name
        self.list()

    def _no_pack(self, error: Exception) -> None:
        self.services.notify.error(sentence(error))
        self.list()

    def _remember(self) -> None:
        """The name stands there next time."""
        settings = self.services.settings
        if self.rater != settings.current.rater_name:
            settings.save(replace(settings.current, rater_name=self.rater), origin="review")
