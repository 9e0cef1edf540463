"""Where everything lives. Computes paths and makes folders; reads and writes nothing else."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from db.errors import NotWritable

ENVIRONMENT = "TRIPTYCH_HOME"


@dataclass(frozen=True)
class Home:
    """One object for every path.

    Attributes:
        root: the folder that holds all that this program keeps.
    """

    root: Path

    @property
    def database(self) -> Path:
        """The SQLite file of collections, runs and jobs."""
        return self.root / "triptych.sqlite"

    @property
    def settings(self) -> Path:
        """The settings file (JSON)."""
        return self.root / "settings.json"

    @property
    def state(self) -> Path:
        """Window geometry and the like; never a setting."""
        return self.root / "state.json"

    @property
    def vectors(self) -> Path:
        """Cached vectors, one folder per model fingerprint."""
        return self.root / "vectors"

    @property
    def weights(self) -> Path:
        """Downloaded model weights, one folder per model id."""
        return self.root / "weights"

    @property
    def cards(self) -> Path:
        """Model cards added by the user."""
        return self.root / "cards"

    @property
    def runs(self) -> Path:
        """Benchmark results in the release's own format."""
        return self.root / "runs"

    @property
    def studies(self) -> Path:
        """Preference studies: one folder each."""
        return self.root / "studies"

    @property
    def demo(self) -> Path:
        """The generated demo evidence, in the release layout."""
        return self.root / "demo"

    @property
    def thumbnails(self) -> Path:
        """Small pictures for the library."""
        return self.root / "thumbnails"

    @property
    def logs(self) -> Path:
        """Log files."""
        return self.root / "logs"

    @property
    def exports(self) -> Path:
        """Default place of exported figures and tables."""
        return self.root / "exports"

    @property
    def scratch(self) -> Path:
        """Files passed between worker and window; emptied at start."""
        return self.root / "scratch"

    def make(self) -> Home:
        """Create the folders.

        Raises:
            NotWritable: the root cannot be created or written.
        """
        try:
            for folder in (
                self.root,
                self.vectors,
                self.weights,
                self.cards,
                self.runs,
                self.studies,
                self.thumbnails,
                self.logs,
                self.exports,
                self.scratch,
            ):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NotWritable(
                f"The folder {self.root} cannot be written ({error.strerror}). "
                "Choose another with --home."
            ) from error
        return self

    def remove(self) -> None:
        """Delete the whole home; for temporary homes only."""
        shutil.rmtree(self.root, ignore_errors=True)


def find_home(explicit: Path | None = None) -> Home:
    """The home asked for, else the environment's, else the user's data folder."""
    if explicit is not None:
        return Home(explicit.expanduser().resolve())
    if named := os.environ.get(ENVIRONMENT):
        return Home(Path(named).expanduser().resolve())
    return Home(Path(platformdirs.user_data_dir("triptych", appauthor=False)))


def temporary_home() -> Home:
    """A new home in the system's temporary folder; the caller removes it."""
    return Home(Path(tempfile.mkdtemp(prefix="triptych-")))
