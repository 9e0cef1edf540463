"""Reads each file of a folder within bounds and says how it ended and what it cost.

``python -m tests.fuzz.bounded FOLDER`` prints one JSON line for each file, then one for the folder.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.fuzz.check import Report, examine
from tests.fuzz.worker import limit_memory, peak_memory, warm


def measured(folder: Path, name: str) -> dict[str, Any]:
    """One folder with one file, or a folder of all."""
    before, start = peak_memory(), time.process_time()
    report: Report = examine(folder)
    return {
        "name": name, "ends": report.ends, "seconds": round(time.process_time() - start, 1),
        "grown": peak_memory() - before,
        "findings": [[one.kind, one.what, one.detail[-600:]] for one in report.findings],
    }  # fmt: skip


def main() -> int:
    """Every file by itself, in a folder of its own."""
    warm()
    limit_memory()
    root = Path(sys.argv[1])
    for path in sorted(root.iterdir()):
        with tempfile.TemporaryDirectory() as own:
            shutil.copyfile(path, Path(own) / path.name)
            sys.stdout.write(json.dumps(measured(Path(own), path.name)) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
