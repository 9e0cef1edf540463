"""What every presenter has: a view, the services, and three moments of its page's life."""

from __future__ import annotations

from typing import Any

from app.services import Services


class Presenter:
    """Decides for one page. Plain object: no Qt parent, tested with a fake view.

    Args:
        view: the page's widget, or a fake with the same signals and setters.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        self.view = view
        self.services = services

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; ``argument`` is what ``services.go`` was given."""

    def hidden(self) -> None:
        """Another page came to the front."""

    def keeps_open(self) -> bool:
        """The window is asked to close: True where the page now asks about what would be lost.

        Asked again it gives way; nothing waits for an answer.
        """
        return False

    def close(self) -> None:
        """The window is closing; let go of what is held open."""
