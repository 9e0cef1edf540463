"""Every page and every command of the window, as data. A test walks both lists.

Owns names, words, icons, keys and loader strings (``module:name``). Loads a page's code only
when the page is first shown; decides nothing else.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from PySide6.QtWidgets import QWidget

from app.services import Services


@dataclass(frozen=True)
class Page:
    """One page of the window.

    Attributes:
        id: stable name, used by ``services.go``.
        text: the word under its icon.
        icon: a file of ``resources/icons`` without its ending.
        shortcut: its keys.
        view: loader of the view class, called without arguments.
        presenter: loader of the presenter class, called as ``Presenter(view, services)``.
        hint: what the page is for; shown as tooltip.
    """

    id: str
    text: str
    icon: str
    shortcut: str
    view: str
    presenter: str
    hint: str


@dataclass(frozen=True)
class Command:
    """One command that is not a page.

    Attributes:
        id: stable name.
        text: what it is called.
        shortcut: its keys.
        method: method of ``app.window.MainWindow`` that does it.
    """

    id: str
    text: str
    shortcut: str
    method: str


def _page(id_: str, text: str, icon: str, shortcut: str, class_name: str, hint: str) -> Page:
    view = f"app.views.{id_}:{class_name}View"
    presenter = f"app.presenters.{id_}:{class_name}Presenter"
    return Page(id_, text, icon, shortcut, view, presenter, hint)


PAGES: tuple[Page, ...] = (
    _page("library", "Library", "library", "Ctrl+1", "Library", "Collections on this machine"),
    _page("viewer", "Viewer", "viewer", "Ctrl+2", "Viewer", "Pictures, volumes and reports"),
    _page("neighbours", "Neighbours", "neighbours", "Ctrl+3", "Neighbours", "Nearest studies"),
    _page("benchmark", "Benchmark", "benchmark", "Ctrl+4", "Benchmark", "Compute MedHEB"),
    _page("results", "Results", "results", "Ctrl+5", "Results", "Scores and figures"),
    _page("study", "Study", "study", "Ctrl+6", "Study", "The life of a preference study"),
    _page("review", "Review", "review", "Ctrl+7", "Review", "Rate two lists blind"),
    _page("statistics", "Statistics", "statistics", "Ctrl+8", "Statistics", "After unblinding"),
    _page("models", "Models", "models", "Ctrl+9", "Models", "What can be computed here"),
    _page("settings", "Settings", "settings", "Ctrl+,", "Settings", "How the program behaves"),
)

COMMANDS: tuple[Command, ...] = (
    Command("full-screen", "Full screen", "F11", "toggle_full_screen"),
    Command("jobs", "Show jobs", "Ctrl+J", "toggle_jobs"),
    Command("quit", "Quit", "Ctrl+Q", "close"),
)

FIRST_PAGE = "library"


def page(page_id: str) -> Page:
    """The page of that id.

    Raises:
        KeyError: there is none.
    """
    for entry in PAGES:
        if entry.id == page_id:
            return entry
    raise KeyError(page_id)


def load(loader: str) -> Any:
    """Import what a loader string names."""
    module, _, name = loader.partition(":")
    return getattr(importlib.import_module(module), name)


def build(entry: Page, services: Services) -> tuple[QWidget, Any]:
    """Make a page's view and presenter."""
    view = load(entry.view)()
    return view, load(entry.presenter)(view, services)
