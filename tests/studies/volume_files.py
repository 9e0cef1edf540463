"""Small volumes in the official formats, and the way from a source's folder to its tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
from PIL import Image

from engine.control import Control
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import build_job
from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks


def nii(
    path: Path,
    values: np.ndarray,
    spacing: tuple[float, float, float] = (1.0, 1.0, 1.0),
    *,
    slope: float = 1.0,
    intercept: float = 0.0,
    affine: np.ndarray | None = None,
) -> Path:
    """Write [X, Y, Z] values as they are stored, with a slope and intercept beside them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = nib.Nifti1Image(values, np.diag([*spacing, 1.0]) if affine is None else affine)
    picture.header.set_slope_inter(slope, intercept)
    nib.save(picture, path)
    return path


def ball(seed: int, shape: tuple[int, int, int] = (20, 24, 16), *, top: int = 300) -> np.ndarray:
    """A grey ball on nothing: int16, 0 outside."""
    rng = np.random.default_rng(seed)
    axes = np.meshgrid(*[np.linspace(-1, 1, n) for n in shape], indexing="ij")
    inside = sum(axis**2 for axis in axes) < 0.6 + 0.02 * (seed % 10)
    values = rng.integers(20, top, shape) * inside
    return values.astype(np.int16)


def chest(seed: int, shape: tuple[int, int, int] = (40, 36, 20)) -> np.ndarray:
    """A body with lungs in air, in Hounsfield units: int16."""
    x, y, _ = np.meshgrid(*[np.linspace(-1, 1, n) for n in shape], indexing="ij")
    hu = np.full(shape, -1000, np.int16)
    hu[(x / 0.8) ** 2 + (y / 0.7) ** 2 < 1] = 40
    for side in (-0.4, 0.4):
        hu[((x - side) / 0.25) ** 2 + (y / 0.45) ** 2 < 1] = -850
    hu[(np.abs(x) < 0.1) & (np.abs(y - 0.5) < 0.1)] = 700
    return hu + np.random.default_rng(seed).integers(-15, 16, shape, dtype=np.int16)


def build(source: str, folder: Path, data: Path, **arguments: Any) -> dict[str, Any]:
    """Run the build job."""
    given = {"source": source, "folder": str(folder), "data": str(data), **arguments}
    return build_job(None, given, Control())  # type: ignore[arg-type]


def tasks_of(source: str, data: Path) -> dict[str, TaskData]:
    """The tasks of a source read back; none may have a row that fails."""
    plans = {plan.task for plan in source_card(source).plans}
    found = {}
    for task in load_tasks(data):
        if task.id in plans and (data / task.data_path).is_file():
            found[task.id] = read_task(task, data)
            assert not found[task.id].failures
    return found


def slices_of(item: Any) -> tuple[str, ...]:
    """The files of an item's volume."""
    return tuple(str(path) for path in item.volumes[0].paths)


def shown(item: Any) -> np.ndarray:
    """The grey values of an item's volume, [S, H, W]."""
    return np.stack([np.asarray(Image.open(path)) for path in slices_of(item)])


def no_query_in_its_pool(data: TaskData) -> None:
    """No candidate shows what the query shows, nor do two candidates of a row."""
    for query in data.queries:
        seen = [slices_of(c.item) for c in query.candidates if c.item.volumes]
        if query.item.volumes:
            assert slices_of(query.item) not in seen
        assert len(set(seen)) == len(seen)


def texts_of(data: TaskData) -> str:
    """Every text that a model would be handed, in one."""
    parts = []
    for query in data.queries:
        for item in (query.item, *(c.item for c in query.candidates)):
            parts += [item.text or "", item.instruction or ""]
    return "\n".join(parts)
