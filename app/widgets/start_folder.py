"""Where a file dialog opens: the folder of the person's own documents, never the program's.

Owns the choice of that folder. Refuses to make one.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths


def start_at(name: str = "") -> str:
    """The documents of this person, or the home folder where there are none.

    Args:
        name: a file proposed there; one with its own folder stays as it is.
    """
    kind = QStandardPaths.StandardLocation
    found = QStandardPaths.writableLocation(kind.DocumentsLocation)
    if not found or not Path(found).is_dir():
        found = QStandardPaths.writableLocation(kind.HomeLocation)
    return str(Path(found) / name) if name else found
