"""Decides for the neighbours page: which query, which models, how two rankings stand together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.changes import Change
from app.failures import sentence
from app.jobs import JobState
from app.presenters.base import Presenter
from app.presenters.blind_warning import BlindWarning
from app.presenters.evidence_words import (
    members_of,
    picture_of_row,
    preview_of,
    size_of,
    tile_of,
    title_of,
)
from app.presenters.model_facts import models_shown
from app.presenters.pictures import Pictures
from app.services import Services
from app.shown import CollectionShown, ModelShown, PreviewShown, RankedShown
from app.widgets.content import Picture
from db.collections import CollectionRow, EvidenceRow, collections, item
from db.session import Store

SIDES = ("left", "right")
FIRST_MODELS = ("medemb-nano", "qwen3-vl-embedding-nano")
TILE = 96


def rows_behind(store: Store, hits: Sequence[Mapping[str, Any]]) -> dict[int, EvidenceRow]:
    """The indexed objects of a ranking; on the database lane."""
    found = ((int(hit["id"]), item(store, int(hit["id"]))) for hit in hits)
    return {key: row for key, row in found if row is not None}


def ranking_of(
    hits: Sequence[Mapping[str, Any]], rows: Mapping[int, EvidenceRow]
) -> list[RankedShown]:
    """A job's hits as the lines of a list; an object that is gone keeps its path."""
    return [_hit(rank, hit, rows.get(int(hit["id"]))) for rank, hit in enumerate(hits, 1)]


def _hit(rank: int, hit: Mapping[str, Any], row: EvidenceRow | None) -> RankedShown:
    told = [
        str(hit.get("modality") or ""),
        size_of(row.shape) if row else "",
        tile_of(row).snippet if row and row.kind == "report" else "",
        kin_words(hit),
    ]
    key = str(hit["id"])
    pictured = row is not None and picture_of_row(row) is not None
    return RankedShown(
        key,
        rank,
        title_of(Path(str(hit["path"]))),
        " · ".join(part for part in told if part),
        float(hit["score"]),
        key if pictured else "",
    )


def kin_words(hit: Mapping[str, Any]) -> str:
    """Whether a neighbour is of the query's study or patient; never who that is."""
    if hit.get("same_study"):
        return "same study"
    return "same patient" if hit.get("same_patient") else ""


def live_picture(files: Sequence[Path]) -> Picture | None:
    """Decode the picture or volume behind files; None if they hold none. Called on a thread.

    Raises:
        EvidenceError: it is there and cannot be decoded.
    """
    # The readers come with the first picture, not with the page.
    from app.presenters.viewer_picture import PICTURES, picture_of
    from engine.evidence.open import find_evidence, load_pixels

    found = next((one for one in find_evidence(files) if one.kind in PICTURES), None)
    return None if found is None else picture_of(found, load_pixels(found))


class NeighboursPresenter(Presenter):
    """Searches in the worker, one job per model; shows each ranking as it comes."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._pictures = Pictures(services, self)
        self._query: EvidenceRow | None = None
        self._path = ""
        self._collection = ""
        self._blind = BlindWarning(services, "models and what each of them finds")
        self._models: tuple[ModelShown, ...] = ()
        self._chosen = {"left": "", "right": ""}
        self._count = 10
        self._others_only = False
        self._jobs: dict[str, str] = {}
        self._rows: dict[int, EvidenceRow] = {}
        self._problem = ""
        self._decoding = 0
        self._connect()
        services.changes.watch("collection", call=self._changed)

    def _connect(self) -> None:
        view = self.view
        view.query_wanted.connect(self._take_path)
        view.collection_chosen.connect(self._collection_chosen)
        view.model_chosen.connect(self._model_chosen)
        view.count_chosen.connect(self._count_chosen)
        view.others_chosen.connect(self._others_chosen)
        view.search_wanted.connect(self._search)
        view.cancel_wanted.connect(self._cancel)
        view.open_wanted.connect(self._open)
        view.query_open_wanted.connect(self._open_query)
        view.picture_wanted.connect(self._picture)
        view.library_wanted.connect(self._to_library)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument is an indexed object's id or a path."""
        self._load_models()
        self._load_collections()
        self._blind.look()
        if isinstance(argument, int):
            store = self.services.store
            self.services.tasks.query(self, lambda: item(store, argument), self._take_query)
        elif isinstance(argument, str) and argument:
            self._take_path(argument)
        elif self._query is None and not self._path:
            self.view.show_query(None)
        self._show_state()

    def _changed(self, _change: Change) -> None:
        self._load_collections()

    def _load_collections(self) -> None:
        store = self.services.store
        self.services.tasks.query(self, lambda: collections(store), self._take_collections)

    def _take_collections(self, found: tuple[CollectionRow, ...]) -> None:
        names = [row.name for row in found]
        if self._collection not in names:
            self._collection = names[0] if names else ""
        self.view.show_collections(
            [CollectionShown(row.name, row.name, row.count) for row in found], self._collection
        )
        self._show_state()

    def _load_models(self, _change: Change | None = None) -> None:
        home, settings = self.services.home, self.services.settings.current
        machine = self.services.machine
        self.services.tasks.run(
            self,
            lambda: models_shown(home, settings.device, dtype=settings.dtype, machine=machine),
            self._take_models,
        )

    def _take_models(self, models: tuple[ModelShown, ...]) -> None:
        self._models = models
        usable = [model.key for model in models if model.usable]
        first = [key for key in FIRST_MODELS if key in usable] or usable[:1]
        if self._chosen["left"] not in usable:
            self._chosen = {
                "left": first[0] if first else "",
                "right": first[1] if len(first) > 1 else "",
            }
        self.view.show_models(models, self._chosen["left"], self._chosen["right"])
        self._show_state()

    # -- the query

    def _take_query(self, row: EvidenceRow | None) -> None:
        if row is None:
            self.services.notify.warn("That study is no longer in the library. Import it again.")
            return
        self._query, self._path = row, ""
        self._collection = row.collection
        self._load_collections()
        self.view.show_query(preview_of(row))
        if picture_of_row(row) is not None:
            self._decode(members_of(row))
        self._clear()

    def _take_path(self, path: str) -> None:
        self._query, self._path = None, path
        place = Path(path)
        facts = (("File", place.name), ("Folder", str(place.parent)))
        self.view.show_query(PreviewShown(path, title_of(place), facts))
        self._decode((place,))
        self._clear()

    def _decode(self, files: tuple[Path, ...]) -> None:
        """Decode the query on a thread; a late one of an older query is dropped."""
        self._decoding += 1
        ticket = self._decoding
        self.services.tasks.run(
            self, lambda: (ticket, live_picture(files)), self._decoded, self._not_decoded
        )

    def _decoded(self, found: tuple[int, Picture | None]) -> None:
        if found[0] == self._decoding:
            self.view.show_query_picture(found[1])

    def _not_decoded(self, error: Exception) -> None:
        self.services.notify.warn(sentence(error))

    def _clear(self) -> None:
        for side in SIDES:
            self.view.show_ranking(side, "", ())
        self._problem = ""
        self._show_state()

    # -- choices

    def _collection_chosen(self, name: str) -> None:
        self._collection = name
        self._clear()

    def _model_chosen(self, side: str, model: str) -> None:
        self._chosen[side] = model
        self.view.show_ranking(side, "", ())
        self._show_state()

    def _count_chosen(self, count: int) -> None:
        self._count = count

    def _others_chosen(self, on: bool) -> None:
        self._others_only = on
        self._clear()

    def _lacking(self) -> str:
        if self._query is None and not self._path:
            return "Choose a query on the left."
        if not self._collection:
            return "There is no collection to search. Import a folder in the library first."
        if not self._chosen["left"]:
            return "No model can be used on this machine. See Models."
        return ""

    def _show_state(self) -> None:
        if self._jobs:
            self.view.show_state(
                "Searching; the first search embeds the whole collection.", searching=True
            )
        elif self._problem:
            self.view.show_state(self._problem, tone="error", can_search=not self._lacking())
        else:
            self.view.show_state(self._lacking(), can_search=not self._lacking())

    # -- the search

    def _search(self) -> None:
        if self._lacking() or self._jobs:
            return
        self._clear()
        for side in SIDES:
            if self._chosen[side] and (
                side == "left" or self._chosen["right"] != self._chosen["left"]
            ):
                self._start(side)
        self._show_state()

    def _start(self, side: str) -> None:
        settings = self.services.settings.current
        arguments: dict[str, Any] = {
            "collection": self._collection, "model": self._chosen[side], "k": self._count,
            "device": settings.device, "dtype": settings.dtype,
            "other_patients": self._others_only,
        }  # fmt: skip
        if self._query is not None:
            arguments["id"] = self._query.id
            arguments["path"] = str(self._query.path)
        else:
            arguments["path"] = self._path
        job = self.services.jobs.start(
            "neighbours",
            arguments,
            title=f"Neighbours under {self._title(self._chosen[side])}",
            done=self._found,
            failed=self._failed,
        )
        self._jobs[job] = side

    def _title(self, key: str) -> str:
        return next((model.title for model in self._models if model.key == key), key)

    def _found(self, state: JobState) -> None:
        side = self._jobs.pop(state.id, "")
        self._show_state()
        if not side:
            return
        hits, store = tuple(state.result.get("neighbours", ())), self.services.store
        title = self._title(str(state.result.get("model", self._chosen[side])))
        if left := state.result.get("left_out"):
            self.services.notify.warn(
                f"{len(left)} of the collection could not be searched; the first: "
                f"{Path(str(left[0]['path'])).name}, {left[0]['reason']}"
            )

        def taken(rows: dict[int, EvidenceRow]) -> None:
            self._rows.update(rows)
            self.view.show_ranking(side, title, ranking_of(hits, rows))

        self.services.tasks.query(self, lambda: rows_behind(store, hits), taken)

    def _failed(self, state: JobState) -> None:
        self._jobs.pop(state.id, "")
        self._problem = "" if state.state == "cancelled" else state.sentence
        self._show_state()

    def _cancel(self) -> None:
        for job in tuple(self._jobs):
            self.services.jobs.cancel(job)

    # -- pictures and opening

    def _picture(self, key: str) -> None:
        row = self._rows.get(int(key))
        self._pictures.want(
            picture_of_row(row) if row else None,
            TILE,
            lambda image: self.view.show_picture(key, image),
        )

    def _open(self, key: str) -> None:
        if (row := self._rows.get(int(key))) is not None:
            self.services.open_evidence(members_of(row))

    def _open_query(self) -> None:
        if self._query is not None:
            self.services.open_evidence(members_of(self._query))
        elif self._path:
            self.services.open_evidence([Path(self._path)])

    def _to_library(self) -> None:
        self.services.go("library")
