"""Reads a study back from CSV files alone, ours or anybody's, and computes its statistics.

Owns what a column may hold and the sentences that name file, row and column where it does not.
"""

from __future__ import annotations

from pathlib import Path

from studies.errors import BadStudy
from studies.preference.analysis.schema import Analysis
from studies.preference.analysis.tables import StudyTables


def read_tables(folder: Path) -> StudyTables:
    """The tables of a study from its CSV files.

    Raises:
        BadStudy: names file, row and column.
    """
    raise BadStudy(f"{folder} cannot be read yet.")


def report_from(folder: Path) -> Analysis:
    """Every number of a study from its CSV files.

    Raises:
        BadStudy: names file, row and column.
    """
    raise BadStudy(f"{folder} cannot be read yet.")
