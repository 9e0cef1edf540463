"""Builds the demo evidence and its tasks as files, the same bytes for the same seed.

Owns the order of work, progress and the stamp that says a folder is complete.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from db.home import Home
from engine.control import Control
from studies.demo.bank import Bank
from studies.demo.layout import (
    Step,
    patient_steps,
    write_regions,
    write_tasks,
    write_text,
)
from studies.demo.names import Sizes
from studies.errors import StudyError

VERSION = 1
STAMP = "demo.json"
WORKERS = 2


def build_demo(
    root: Path,
    *,
    split: str = "test",
    seed: int = 0,
    sizes: Sizes = Sizes(),
    control: Control = Control(),
) -> None:
    """Write the release tree (tasks, pictures) and ``Evidence/`` below ``root``.

    Args:
        root: made if missing; files of the same names are replaced.
        split: ``test`` or ``train``; patients of one are never in the other.
        seed: same seed, same bytes.
        sizes: how much; a folder that already holds exactly this is left alone.
        control: asked before each patient, told after it.

    Raises:
        StudyError: the folder cannot be written.
        Cancelled: the user asked to stop; what is written stays and a second call completes it.
    """
    stamp = json.dumps({"version": VERSION, "split": split, "seed": seed, "sizes": repr(sizes)})
    if is_built(root, stamp):
        return
    bank = Bank(seed, split, slices=sizes.shape[0], shape=sizes.shape)
    try:
        _draw(patient_steps(root, bank, sizes), control)
        write_regions(root, bank, sizes)
        write_tasks(root, bank, sizes)
        write_text(root / STAMP, stamp + "\n")
    except OSError as error:
        raise StudyError(
            f"The demo evidence cannot be written to {root} ({error.strerror}); "
            "make room or choose another folder."
        ) from error


def _draw(work: list[Step], control: Control) -> None:
    """Draw the patients, two at a time: each depends on its own seed alone."""
    control.begin(len(work), unit="patients", phase="drawing the demo evidence")
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        waiting = [pool.submit(step) for step in work]
        try:
            for done in waiting:
                control.check()
                done.result()
                control.step()
        finally:
            for future in waiting:
                future.cancel()


def is_built(root: Path, stamp: str) -> bool:
    """Whether a folder was completed with the same stamp."""
    path = root / STAMP
    try:
        return path.is_file() and path.read_text(encoding="utf-8").strip() == stamp
    except (OSError, UnicodeDecodeError):
        return False


def demo_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """The job ``demo-evidence``: {"out"?, "split"?, "seed"?}; returns where it lies."""
    root = Path(str(arguments.get("out") or home.demo))
    build_demo(
        root,
        split=str(arguments.get("split", "test")),
        seed=int(arguments.get("seed", 0)),
        control=control,
    )
    return {"out": str(root), "evidence": str(root / "Evidence")}
