"""Decides for the library page: which collection, which objects, which patient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtGui import QImage

from app.changes import Change
from app.jobs import JobState
from app.presenters.base import Presenter
from app.presenters.evidence_words import (
    kin_of,
    members_of,
    parts_of,
    picture_of_row,
    preview_of,
    tile_of,
    title_of,
)
from app.presenters.library_import import LibraryImport
from app.presenters.pictures import Pictures
from app.services import Services
from app.shown import CollectionShown, LibraryFilter
from db.collections import (
    CollectionRow,
    EvidenceRow,
    Facets,
    Filters,
    collections,
    count_items,
    facets,
    item,
    items,
    patient_counts,
    related,
    remove_collection,
    report_of,
)
from db.indexing import note_lost
from engine.errors import EvidenceError

PAGE = 200
TILE, LARGE = 160, 512
PASSING = ("missing", "denied", "unreadable")  # of the disk, not of the picture
Page = tuple[tuple[EvidenceRow, ...], dict[str, int]]


def collections_shown(found: Sequence[CollectionRow]) -> list[CollectionShown]:
    """The collections as the list tells them."""
    return [CollectionShown(row.name, row.name, row.count, row.failures) for row in found]


class LibraryPresenter(Presenter):
    """Loads page by page on the database lane; a late answer of an older question is dropped."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._pictures = Pictures(services, self, forgotten=view.forget_picture, lost=self._lost)
        self._large = Pictures(services, self, most=1, lost=self._lost)
        self._chosen = ""
        self._filter = LibraryFilter()
        self._patient: tuple[str, str] | None = None
        self._rows: dict[str, EvidenceRow] = {}
        self._loaded = self._total = 0
        self._question = 0
        self._previewed = ""
        self._import = LibraryImport(
            view,
            services,
            chosen=lambda: self._chosen,
            going=self._go_to,
            look=self._look,
        )
        self._connect()
        services.changes.watch("collection", call=self._changed)

    def _connect(self) -> None:
        view = self.view
        view.collection_chosen.connect(self._collection_chosen)
        view.remove_wanted.connect(self._remove)
        view.filter_changed.connect(self._filter_changed)
        view.patient_wanted.connect(self._patient_wanted)
        view.patient_left.connect(self._patient_left)
        view.item_chosen.connect(self._item_chosen)
        view.item_opened.connect(self._item_opened)
        view.neighbours_wanted.connect(self._neighbours)
        view.demo_wanted.connect(self._demo)
        view.more_wanted.connect(self._more)
        view.picture_wanted.connect(self._picture)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument names a collection."""
        if isinstance(argument, str) and argument:
            self._chosen = argument
        self._import.in_front = True
        self._import.show()
        self._load_collections()

    def hidden(self) -> None:
        """Another page came to the front: it is told there how an import ends."""
        self._import.in_front = False

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
        shown = collections_shown(found)
        self.view.show_collections(shown, self._chosen)
        if self._chosen:
            self._load_facets()
            self._load()

    def _look(self) -> None:
        """While an import runs: how many there are, and the first of them; no page is torn away."""
        store = self.services.store
        self.services.tasks.query(self, lambda: collections(store), self._take_counts)

    def _take_counts(self, found: tuple[CollectionRow, ...]) -> None:
        shown = collections_shown(found)
        if self._chosen in [one.key for one in shown]:
            self.view.show_collections(shown, self._chosen)
            if not self._rows:
                self._load()

    def _go_to(self, name: str) -> None:
        if name != self._chosen:
            self._rows = {}
        self._chosen = name
        self._patient = None
        self.view.show_patient("")

    def _collection_chosen(self, name: str) -> None:
        self._go_to(name)
        self._load_collections()

    def _remove(self, name: str) -> None:
        """Forget a collection, which the user confirmed; its files stay."""
        if self._import.fills(name):
            self.services.notify.warn(f"'{name}' is being filled. Stop the import first.")
            return
        store = self.services.store

        def work() -> str:
            remove_collection(store, name)
            return name

        self.services.tasks.query(self, work, self._removed)

    def _removed(self, name: str) -> None:
        self.services.notify.good(
            f"'{name}' was taken out of the library. Its files are where they were."
        )
        self.services.changes.tell("collection")

    def _load_facets(self) -> None:
        store, name = self.services.store, self._chosen
        self.services.tasks.query(self, lambda: (name, facets(store, name)), self._take_facets)

    def _take_facets(self, answer: tuple[str, Facets]) -> None:
        name, found = answer
        if name == self._chosen:
            modalities = [(f"{word} ({count:,})", word) for word, count in found.modalities]
            parts = [(f"{word.lower()} ({count:,})", word) for word, count in found.body_parts]
            self.view.show_facets(modalities, parts)

    def _filter_changed(self, wanted: LibraryFilter) -> None:
        self._filter = wanted
        self._load()

    def _patient_wanted(self, key: str) -> None:
        row = self._rows.get(key)
        if row is not None and row.subject is not None:
            self._patient = (row.subject, title_of(row.path))
            self.view.show_patient(f"Same patient as {self._patient[1]}")
            self._load()

    def _patient_left(self) -> None:
        self._patient = None
        self.view.show_patient("")
        self._load()

    def _filters(self) -> Filters:
        wanted = self._filter
        return Filters(
            form=wanted.form or None, modality=wanted.modality or None, words=wanted.words,
            failures="only" if wanted.problems else "hide", body_part=wanted.body_part or None,
            report={"with": True, "without": False}.get(wanted.report),
            subject=self._patient[0] if self._patient else None,
        )  # fmt: skip

    def _load(self) -> None:
        self._question += 1
        question, store, name, filters = (
            self._question,
            self.services.store,
            self._chosen,
            self._filters(),
        )

        def work() -> tuple[int, int, Page]:
            if question != self._question:  # asked again meanwhile: letter by letter, say
                return question, 0, ((), {})
            count = count_items(store, name, filters=filters)
            return question, count, self._page(name, filters, 0)

        self.services.tasks.query(self, work, self._take_first)

    def _page(self, name: str, filters: Filters, offset: int) -> Page:
        """Rows and how many objects their patients have; on the database lane."""
        store = self.services.store
        rows = items(store, name, offset=offset, limit=PAGE, filters=filters, files="middle")
        return rows, patient_counts(store, name, [row.subject for row in rows])

    def _take_first(self, answer: tuple[int, int, Page]) -> None:
        question, total, (rows, kin) = answer
        if question != self._question:
            return
        self._pictures.forget()
        self._rows = {str(row.id): row for row in rows}
        self._loaded, self._total = len(rows), total
        tiles = [tile_of(row, kin=kin.get(row.subject or "", 0)) for row in rows]
        self.view.show_items(total, tiles, chosen=self._previewed)
        if not rows:
            self._previewed = ""
            self.view.show_preview(None)

    def _more(self, _offset: int) -> None:
        question, name, filters, offset = (
            self._question,
            self._chosen,
            self._filters(),
            self._loaded,
        )

        def work() -> tuple[int, Page]:
            return question, self._page(name, filters, offset)

        self.services.tasks.query(self, work, self._take_more)

    def _take_more(self, answer: tuple[int, Page]) -> None:
        question, (rows, kin) = answer
        if question != self._question:
            return
        self._rows.update({str(row.id): row for row in rows})
        self._loaded += len(rows)
        self.view.add_items([tile_of(row, kin=kin.get(row.subject or "", 0)) for row in rows])

    # -- one object

    def _picture(self, key: str) -> None:
        row = self._rows.get(key)
        if row is not None:
            self._pictures.want(
                picture_of_row(row), TILE, lambda image: self.view.show_picture(key, image),
                key=key,
            )  # fmt: skip

    def _lost(self, key: str, error: EvidenceError) -> None:
        """Keep that a picture cannot be had, as an import does that finds it at once."""
        row = self._rows.get(key)
        if row is None or row.error_code or row.file_count > 1 or error.code in PASSING:
            return  # of a series the middle file alone was read
        lost = replace(row, kind="error", form=None, error_code=error.code,
                       error_message=error.reason)  # fmt: skip
        store = self.services.store
        self.services.tasks.query(
            self, lambda: (note_lost(store, row, error.code, error.reason), lost), self._take_lost
        )

    def _take_lost(self, answer: tuple[bool, EvidenceRow]) -> None:
        noted, row = answer
        key = str(row.id)
        if not noted or key not in self._rows:
            return
        self._rows[key] = row
        self._loaded, self._total = self._loaded - 1, self._total - 1
        self.view.show_lost(self._total, tile_of(row))
        if key == self._previewed:
            self.view.show_preview(preview_of(row))
        self._look()

    def _item_chosen(self, key: str) -> None:
        row = self._rows.get(key)
        if row is None or key == self._previewed:
            return
        self._previewed = key
        self.view.show_preview(preview_of(row))
        self._large.want(
            picture_of_row(row), LARGE, lambda image: self._take_large(key, image), key=key
        )
        self._load_beside(row)

    def _load_beside(self, row: EvidenceRow) -> None:
        """The report that belongs to a picture, and what else there is of its patient."""
        if row.has_report and not row.text:
            self.services.tasks.query(
                self, lambda: (row, report_of(self.services.store, row.id)), self._take_report
            )
        if row.subject is not None or row.study is not None:
            store = self.services.store
            self.services.tasks.query(self, lambda: (row, related(store, row.id)), self._take_kin)

    def _take_report(self, answer: tuple[EvidenceRow, EvidenceRow | None]) -> None:
        row, found = answer
        if found is not None and found.text:
            title = title_of(found.path)
            self.view.show_report(str(row.id), title, found.text, parts_of(found.text))

    def _take_kin(self, answer: tuple[EvidenceRow, tuple[EvidenceRow, ...]]) -> None:
        row, others = answer
        self.view.show_kin(str(row.id), kin_of(row, others))

    def _take_large(self, key: str, image: QImage | None) -> None:
        if key == self._previewed:
            self.view.show_preview_picture(key, image)

    def _item_opened(self, key: str) -> None:
        """Open with all files: a page's rows know the middle one alone."""
        if key in self._rows:
            store = self.services.store
            self.services.tasks.query(self, lambda: item(store, int(key)), self._open)

    def _open(self, row: EvidenceRow | None) -> None:
        if row is None:
            self.services.notify.warn("That study is no longer in the library. Import it again.")
        else:
            self.services.open_evidence(members_of(row))

    def _neighbours(self, key: str) -> None:
        if key in self._rows:
            self.services.go("neighbours", int(key))

    # -- the demo

    def _demo(self) -> None:
        self.services.jobs.start("demo", {}, title="Make the demo", done=self._demo_made)

    def _demo_made(self, _state: JobState) -> None:
        self.services.notify.good(
            "The demo is there: evidence, benchmark results and a blinded study.",
            action="Rate the study",
            act=lambda: self.services.go("study"),
        )
