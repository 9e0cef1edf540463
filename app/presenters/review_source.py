"""The studies of this home, as the Review page asks for them."""

from __future__ import annotations

from pathlib import Path

from db.home import Home
from studies.preference.study import Study, StudyInfo, list_studies, open_study


class HomeStudies:
    """Lists and opens what lies below the home's ``studies`` folder."""

    def list_studies(self, home: Home) -> tuple[StudyInfo, ...]:
        """Every study, newest first."""
        return tuple(list_studies(home))

    def open_study(self, path: Path) -> Study:
        """Open one."""
        return open_study(path)
