"""Says once that a page names models or right answers while a study of this home is still blind.

Used by the pages a reader should not look at: results, benchmark, neighbours. Locks nothing: the
home is the coordinator's own.
"""

from __future__ import annotations

from app.services import Services
from studies.preference.study import StudyInfo, list_studies


class BlindWarning:
    """The warning of one page.

    Args:
        services: the program's objects.
        names: what the page tells, after "it names".
    """

    def __init__(self, services: Services, names: str) -> None:
        self._services, self._names = services, names
        self._warned = False

    def look(self) -> None:
        """Read the studies on a thread, and say so if one is blind."""
        home = self._services.home
        if not self._warned and hasattr(home, "studies"):
            self._services.tasks.run(self, lambda: list_studies(home), self._take)

    def _take(self, studies: tuple[StudyInfo, ...]) -> None:
        sealed = [info.title for info in studies if not info.unblinded and not info.fault]
        if sealed and not self._warned:
            self._warned = True
            self._services.notify.warn(
                f"'{sealed[-1]}' is still blind. Whoever rates it should not read this page: "
                f"it names {self._names}."
            )
