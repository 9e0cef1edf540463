"""Makes the three demo models: ``python -m studies.demo.nano.make_models --out resources/models``.

Owns the recipe and its order: vocabularies, the two generalists from nothing, MedEmb nano from the
Qwen3-VL nano. Seeded, on the CPU, under an hour on two free cores. Every folder gets its weights,
card and ``training_log.json``. Training goes through the adapters' own preprocessing.
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from engine.models import qwen3_vl, siglip
from engine.models.common import quiet
from engine.models.load import load_encoder
from engine.train import BatchRow, EncoderTrainee, train
from studies.demo.nano.cards import write_card
from studies.demo.nano.folders import (
    folder_bytes,
    new_qwen_folder,
    new_siglip_folder,
    save_weights,
    weights_digest,
    write_settings,
)
from studies.demo.nano.generic_pairs import generic_texts
from studies.demo.nano.make_tokenizers import train_qwen_tokenizer, train_siglip_tokenizer
from studies.demo.nano.quicker import quicken, remembered_slices
from studies.demo.nano.recipes import BASE, MEDEMB, RECIPES, SIGLIP, Recipe, stream_of
from studies.demo.nano.score import Scores, score
from studies.demo.nano.streams import Shown, dev_pairs, texts_of
from studies.demo.train_pairs import training_pairs

Line = dict[str, float]
LOG = logging.getLogger("nano")
EVERY = 25  # steps per line of the log


@dataclass(frozen=True)
class Making:
    """One run of the script."""

    out: Path
    seed: int
    scale: float
    first_stage: int
    dev: Sequence[Shown]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make all three, or those named by ``--only``."""
    chosen = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    torch.set_num_threads(chosen.threads)
    LOG.info("Rendering %d pairs to follow the training.", chosen.dev)
    dev = dev_pairs(count=chosen.dev, slices=64)
    making = Making(chosen.out, chosen.seed, chosen.scale, chosen.stage, dev)
    if not chosen.only:
        make_folders(chosen.out, seed=chosen.seed)
    for recipe in RECIPES:
        if not chosen.only or recipe.name in chosen.only:
            make_model(recipe, making)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Make the demo models.")
    parser.add_argument("--out", type=Path, required=True, help="folder of the three folders")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the steps, to try out")
    parser.add_argument("--threads", type=int, default=2, help="processor threads")
    parser.add_argument("--dev", type=int, default=480, help="pairs to follow the training with")
    parser.add_argument("--only", nargs="*", default=[], help="continue from folders in --out")
    parser.add_argument("--stage", type=int, default=0, help="with --only: begin at this stage")
    return parser


def make_folders(out: Path, *, seed: int) -> None:
    """Learn the vocabularies and write the two untrained models."""
    texts = [*_registry_texts(), *generic_texts(seed=seed, count=3000)]
    tasks = ("chest/t2t", "question/t2t")
    texts += texts_of(training_pairs(seed=seed, count=12_000, tasks=tasks))
    new_qwen_folder(out / BASE, train_qwen_tokenizer(texts), seed=seed)
    new_siglip_folder(out / SIGLIP, train_siglip_tokenizer(texts), seed=seed)


def _registry_texts() -> list[str]:
    """Instructions and questions of the benchmark's registry, so that they are whole words."""
    path = Path(__file__).resolve().parents[3] / "resources" / "tasks.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [row[column] for row in rows for column in ("qry_inst", "qry_text")] * 3


def make_model(recipe: Recipe, making: Making) -> None:
    """Train one model, stage by stage, and write its folder."""
    folder = making.out / recipe.name
    if recipe.name == MEDEMB and making.first_stage == 0:
        shutil.copytree(making.out / BASE, folder, dirs_exist_ok=True)
        write_settings(folder)
    started = time.monotonic()
    lines = _kept_lines(folder) if making.first_stage else []
    for stage in range(making.first_stage, len(recipe.stages)):
        lines += _train_stage(recipe, stage, making)
    scores = score(load_trainee(folder), making.dev)
    LOG.info("%s: %s", recipe.name, scores)
    document = _log(recipe, making, scores) | {
        "seconds of the last call": round(time.monotonic() - started),
        "weights sha256": weights_digest(folder),
        "steps": lines,
    }
    _write_log(folder, document)
    write_card(folder, why=recipe.why, scores=scores)
    LOG.info("%s: %d bytes", recipe.name, folder_bytes(folder))


def _train_stage(recipe: Recipe, stage: int, making: Making) -> list[Line]:
    folder = making.out / recipe.name
    whole = recipe.stages[stage].settings
    settings = replace(whole, steps=max(1, round(whole.steps * making.scale)))
    trainee = load_trainee(folder)
    quicken(trainee.module)
    follower = Follower(recipe.name, stage, save=lambda: save_weights(trainee.module, folder))
    pairs = stream_of(recipe, stage, seed=making.seed)
    with remembered_slices():
        train(trainee, pairs, settings, on_batch=follower)
    return follower.finish()


def _kept_lines(folder: Path) -> list[Line]:
    text = (folder / "training_log.json").read_text(encoding="utf-8")
    return list(json.loads(text)["steps"])


def _write_log(folder: Path, document: dict[str, object]) -> None:
    text = json.dumps(document, indent=1)
    (folder / "training_log.json").write_text(text + "\n", encoding="utf-8")


def load_trainee(folder: Path) -> EncoderTrainee:
    """A model folder, ready to be trained or scored through its adapter."""
    with tempfile.TemporaryDirectory() as nothing:
        encoder = load_encoder(
            str(folder),
            weights_dir=Path(nothing),
            shipped_dir=folder.parent,
            device="cpu",
            dtype="float32",
        )
    adapter = siglip if isinstance(encoder, siglip.SiglipEncoder) else qwen3_vl

    def build_batch(*asked: object) -> dict[str, torch.Tensor]:
        with quiet():
            return adapter.build_batch(*asked)

    return EncoderTrainee(encoder, build_batch=build_batch, pool=adapter.pool)  # type: ignore[arg-type]


class Follower:
    """Gathers batches into lines of the log and keeps the weights at each line.

    Args:
        name: of the model.
        stage: number of the stage, from 0.
        save: keeps the weights.
    """

    def __init__(self, name: str, stage: int, *, save: Callable[[], None]) -> None:
        self.name, self.stage, self.save = name, stage, save
        self.lines: list[Line] = []
        self._rows: list[BatchRow] = []

    def __call__(self, row: BatchRow) -> None:
        """Take a batch; close a line when enough steps are together."""
        if self._rows and row.step // EVERY != self._rows[0].step // EVERY:
            self._close()
        self._rows.append(row)

    def _close(self) -> None:
        rows, self._rows = self._rows, []
        line: Line = {
            "stage": self.stage,
            "step": rows[-1].step + 1,
            "loss": round(sum(row.loss for row in rows) / len(rows), 4),
            "hit@1 in batch": round(100 * sum(row.hit_at_1 for row in rows) / len(rows), 1),
            "pairs": sum(row.pairs for row in rows),
            "rate": round(rows[-1].rate, 7),
        }
        self.lines.append(line)
        self.save()
        tasks = ", ".join(f"{task} {hit:.0f}" for task, hit in _by_task(rows).items())
        LOG.info("%s %s; %s", self.name, line, tasks)

    def finish(self) -> list[Line]:
        """All lines, the last rows included."""
        if self._rows:
            self._close()
        return self.lines


def _by_task(rows: Sequence[BatchRow]) -> dict[str, float]:
    hits: dict[str, list[float]] = {}
    for row in rows:
        hits.setdefault(row.task, []).append(100 * row.hit_at_1)
    return {task: sum(hits[task]) / len(hits[task]) for task in sorted(hits)}


def _log(recipe: Recipe, making: Making, scores: Scores) -> dict[str, object]:
    return {
        "model": recipe.name,
        "made by": "python -m studies.demo.nano.make_models --out resources/models",
        "seed": making.seed,
        "recipe": asdict(recipe),
        "scores": {
            "of": "pairs of generated patients outside training and demo, 12 candidates, 64 slices",
            **scores.to_dict(),
        },
    }


if __name__ == "__main__":
    main()
