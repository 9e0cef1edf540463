"""A home with one small run, for the tests of what is made of results."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from db.home import Home
from engine.control import Control
from studies.medheb.tasks import load_tasks
from studies.results import Results, load_results
from studies.run import bench_job
from tests.studies.medheb_tree import (
    small_root,
    task_row,
    write_index,
    write_picture,
    write_registry,
)

ORGANS = ("kidney-left", "kidney-right", "liver", "spleen")
OTHER = "random@max_slices=3"


@dataclass(frozen=True)
class Ran:
    """A home, its data and what was run."""

    home: Home
    root: Path

    def results(self) -> Results:
        return load_results(self.home, self.root)


def graded_root(root: Path, *, queries: int = 12) -> Path:
    """The small root, and a task of organs with sides."""
    small_root(root, queries=queries)
    with (root / "tasks.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    row = task_row("organamnist/i2i", "I-I", "image_i2i_vg")
    index = []
    for place in range(queries):
        organ = ORGANS[place % 4]
        others = [one for one in ORGANS if one != organ]
        names = [write_picture(root, row, f"{place}_{one}.png") for one in (organ, *others)]
        index.append(
            {
                "qry_inst": "Find:",
                "qry_text": "",
                "qry_img_path": write_picture(root, row, f"q{place}.png"),
                "tgt_text": [""] * 4,
                "tgt_img_path": names,
                "qry_label": organ,
                "tgt_label": [organ, *others],
            }
        )
    write_index(root, row, index)
    write_registry(root, [*rows, row])
    return root


def run_once(folder: Path, models: tuple[str, ...] = ("random", OTHER)) -> Ran:
    """Make the data and run the models over them."""
    home = Home(folder / "home").make()
    root = graded_root(folder / "data")
    bench_job(home, {"data": str(root), "models": list(models), "device": "cpu"}, Control())
    return Ran(home, root)


def authors_folder(ran: Ran, out: Path, *, best: bool = True) -> Path:
    """The run of ``random`` as the authors' program leaves it, here with every positive first."""
    for task in load_tasks(ran.root):
        form = {"2d": "2D", "3d": "3D", "text": "Text"}[task.form]
        folder = out / form
        folder.mkdir(parents=True, exist_ok=True)
        ours = next(ran.home.runs.rglob(f"random/{task.form}/{task.release_name}_pred.jsonl"))
        lines = [json.loads(line) for line in ours.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            gold = line["label"][0]
            if best:
                rest = [name for name in line["prediction"] if name != gold]
                line["prediction"] = [gold, *rest]
        kept = [
            {"prediction": line["prediction"], "label": line["label"], "rel_scores": None}
            for line in lines
        ]
        text = "".join(json.dumps(line) + "\n" for line in kept)
        (folder / f"{task.release_name}_pred.jsonl").write_text(text, encoding="utf-8")
    return out
