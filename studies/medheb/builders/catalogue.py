"""Every source the program can build tasks from: one module each, found by name.

Owns the list and the way from a name to a card. Refuses a name it does not know with the names it
knows.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from studies import medheb
from studies.errors import StudyError
from studies.medheb.builders.card import SourceCard

_PACKAGE = f"{medheb.__name__}.sources"


@lru_cache(maxsize=1)
def source_cards() -> tuple[SourceCard, ...]:
    """The cards of all sources, by id. A module of ``studies.medheb.sources`` holds ``CARDS``."""
    package = importlib.import_module(_PACKAGE)
    found: list[SourceCard] = []
    for module in pkgutil.iter_modules(package.__path__):
        found += getattr(importlib.import_module(f"{_PACKAGE}.{module.name}"), "CARDS", ())
    return tuple(sorted(found, key=lambda card: card.id))


def source_card(name: str) -> SourceCard:
    """The card of an id or alias.

    Raises:
        StudyError: there is none of that name.
    """
    for card in source_cards():
        if name in (card.id, *card.aliases):
            return card
    raise StudyError(
        f"There is no source {name!r}; known are {', '.join(card.id for card in source_cards())}."
    )
