"""Decides for the library page: which collection, which objects, what is imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtGui import QImage

from app.changes import Change
from app.jobs import JobState
from app.presenters.base import Presenter
from app.presenters.evidence_words import members_of, picture_of_row, preview_of, tile_of
from app.presenters.pictures import Pictures
from app.services import Services
from app.shown import CollectionShown, LibraryFilter
from db.collections import CollectionRow, EvidenceRow, Filters, collections, count_items, items

PAGE = 200
TILE, LARGE = 160, 512


class LibraryPresenter(Presenter):
    """Loads page by page on the database lane; a late answer of an older question is dropped."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._pictures = Pictures(services, self)
        self._chosen = ""
        self._filter = LibraryFilter()
        self._rows: dict[str, EvidenceRow] = {}
        self._loaded = 0
        self._question = 0
        self._previewed = ""
        self._modalities: set[str] = set()
        self._connect()
        services.changes.watch("collection", call=self._changed)

    def _connect(self) -> None:
        view = self.view
        view.collection_chosen.connect(self._collection_chosen)
        view.filter_changed.connect(self._filter_changed)
        view.item_chosen.connect(self._item_chosen)
        view.item_opened.connect(self._item_opened)
        view.neighbours_wanted.connect(self._neighbours)
        view.import_wanted.connect(self._import)
        view.folder_wanted.connect(self._folder)
        view.demo_wanted.connect(self._demo)
        view.more_wanted.connect(self._more)
        view.picture_wanted.connect(self._picture)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument names a collection."""
        if isinstance(argument, str) and argument:
            self._chosen = argument
        self._load_collections()

    def _changed(self, _change: Change) -> None:
        self._load_collections()

    # -- collections and their objects

    def _load_collections(self) -> None:
        store = self.services.store
        self.services.tasks.query(self, lambda: collections(store), self._take_collections)

    def _take_collections(self, found: tuple[CollectionRow, ...]) -> None:
        names = [row.name for row in found]
        if self._chosen not in names:
            self._chosen = names[0] if names else ""
        shown = [CollectionShown(row.name, row.name, row.count) for row in found]
        self.view.show_collections(shown, self._chosen)
        if self._chosen:
            self._load()

    def _collection_chosen(self, name: str) -> None:
        self._chosen = name
        self._modalities.clear()
        self.view.show_modalities(())
        self._load_collections()

    def _filter_changed(self, wanted: LibraryFilter) -> None:
        self._filter = wanted
        self._load()

    def _filters(self) -> Filters:
        return Filters(
            form=self._filter.form or None, modality=self._filter.modality or None,
            words=self._filter.words, failures="only" if self._filter.problems else "hide",
        )  # fmt: skip

    def _load(self) -> None:
        self._question += 1
        question, store, name, filters = (
            self._question,
            self.services.store,
            self._chosen,
            self._filters(),
        )

        def work() -> tuple[int, int, tuple[EvidenceRow, ...]]:
            count = count_items(store, name, filters=filters)
            return question, count, items(store, name, limit=PAGE, filters=filters)

        self.services.tasks.query(self, work, self._take_first)

    def _take_first(self, answer: tuple[int, int, tuple[EvidenceRow, ...]]) -> None:
        question, total, rows = answer
        if question != self._question:
            return
        self._rows = {str(row.id): row for row in rows}
        self._loaded = len(rows)
        self._note_modalities(rows)
        self.view.show_items(total, [tile_of(row) for row in rows])
        if not rows:
            self._previewed = ""
            self.view.show_preview(None)

    def _more(self, _offset: int) -> None:
        question, store, name, filters, offset = (
            self._question,
            self.services.store,
            self._chosen,
            self._filters(),
            self._loaded,
        )

        def work() -> tuple[int, tuple[EvidenceRow, ...]]:
            return question, items(store, name, offset=offset, limit=PAGE, filters=filters)

        self.services.tasks.query(self, work, self._take_more)

    def _take_more(self, answer: tuple[int, tuple[EvidenceRow, ...]]) -> None:
        question, rows = answer
        if question != self._question:
            return
        self._rows.update({str(row.id): row for row in rows})
        self._loaded += len(rows)
        self._note_modalities(rows)
        self.view.add_items([tile_of(row) for row in rows])

    def _note_modalities(self, rows: tuple[EvidenceRow, ...]) -> None:
        self._modalities |= {row.modality for row in rows if row.modality}
        self.view.show_modalities(tuple(sorted(self._modalities)))

    # -- one object

    def _picture(self, key: str) -> None:
        row = self._rows.get(key)
        if row is not None:
            self._pictures.want(
                picture_of_row(row), TILE, lambda image: self.view.show_picture(key, image)
            )

    def _item_chosen(self, key: str) -> None:
        row = self._rows.get(key)
        if row is None or key == self._previewed:
            return
        self._previewed = key
        self.view.show_preview(preview_of(row))
        self._pictures.want(picture_of_row(row), LARGE, lambda image: self._take_large(key, image))

    def _take_large(self, key: str, image: QImage | None) -> None:
        if key == self._previewed:
            self.view.show_preview_picture(key, image)

    def _item_opened(self, key: str) -> None:
        if key in self._rows:
            self.services.open_evidence(members_of(self._rows[key]))

    def _neighbours(self, key: str) -> None:
        if key in self._rows:
            self.services.go("neighbours", int(key))

    # -- import and demo

    def _folder(self) -> None:
        path = self.view.ask_folder()
        if path:
            self._start_import([path], Path(path).name)

    def _import(self, paths: list[str]) -> None:
        self._start_import(paths, self._chosen or Path(paths[0]).stem or "Collection")

    def _start_import(self, paths: list[str], name: str) -> None:
        self._chosen = name
        self.services.jobs.start(
            "import",
            {"paths": paths, "collection": name},
            title=f"Import '{name}'",
            done=self._imported,
        )

    def _imported(self, state: JobState) -> None:
        result = state.result
        name, left = str(result.get("collection", "")), list(result.get("left_out", ()))
        told = f"{result.get('added', 0)} objects added to '{name}'."
        if not left:
            self.services.notify.good(told)
            return
        first = f"{Path(left[0]['path']).name}, {left[0]['reason']}"
        self.services.notify.warn(f"{told} {len(left)} left out; the first: {first}.")

    def _demo(self) -> None:
        self.services.jobs.start("demo", {}, title="Make the demo", done=self._demo_made)

    def _demo_made(self, _state: JobState) -> None:
        self.services.notify.good(
            "The demo is there: evidence, benchmark results and a blinded study.",
            action="Rate the study",
            act=lambda: self.services.go("study"),
        )
