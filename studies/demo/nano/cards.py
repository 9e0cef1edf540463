"""The README of a nano's folder. Owns its words."""

from __future__ import annotations

from pathlib import Path

from studies.demo.nano.folders import FAMILIES, LABEL, TITLES, parameter_count
from studies.demo.nano.score import Scores

CARD = """# {title}

**{label}**

A small model of the true `{architecture}` architecture with {parameters} parameters, {why}.
It exists so that the program can show every step with real computations on any machine. It has
seen no picture and no text of a real patient and has no clinical use.

| | |
|---|---|
| Family | {family} |
| Weights | `model.safetensors`, float16 on disk, computed with in float32 (exact) |
| Pictures | brought to about 96 x 96 pixels by the adapter's own resize (`triptych.json`) |
| Volumes | up to 64 slices; trained mostly on 6 to 24 of them, seldom on all 64 |
| Vector | 128 numbers, unit length |
| Made by | `python -m studies.demo.nano.make_models --out resources/models` |
| Licence | Apache-2.0 |

Hit@1 among 12 generated candidates of patients outside training and demo, in percent, beside
chance. The whole log is in `training_log.json`; the benchmark itself is run by the program.

| family | Hit@1 | chance |
|---|---|---|
{rows}
"""


def write_card(folder: Path, *, why: str, scores: Scores) -> None:
    """Write the README of a model folder."""
    rows = [f"| {name} | {hit:.1f} | {chance:.1f} |" for name, (hit, chance) in _rows(scores)]
    family = FAMILIES[folder.name]
    text = CARD.format(
        title=TITLES[folder.name],
        label=LABEL,
        architecture="SiglipModel" if family == "siglip" else "Qwen3VLModel",
        parameters=f"{parameter_count(folder):,}",
        why=why,
        family=family,
        rows="\n".join(rows),
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def _rows(scores: Scores) -> list[tuple[str, tuple[float, float]]]:
    return list(scores.families.items())
