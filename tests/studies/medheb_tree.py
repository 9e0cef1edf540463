"""Writes small data roots in the release layout for the tests: real files, all seven parsers."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from studies.medheb.tasks import COLUMNS

PLAIN = dict.fromkeys(COLUMNS, "") | {
    "source": "made",
    "form": "2d",
    "split": "id",
    "eval_type": "local",
}


def task_row(task_id: str, family: str, parser: str, **changes: str) -> dict[str, str]:
    """A registry row with sensible file names."""
    name = task_id.replace("/", "_")
    row = PLAIN | {
        "id": task_id,
        "family": family,
        "parser": parser,
        "release_name": name,
        "data_path": f"2D_Task/{name}/{name}_test.json",
        "image_root": f"2D_Images/{name}",
    }
    return row | changes


def write_registry(root: Path, rows: Iterable[dict[str, str]]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    with (root / "tasks.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def write_index(root: Path, row: dict[str, str], rows: Sequence[Any]) -> Path:
    path = root / row["data_path"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def write_picture(root: Path, row: dict[str, str], name: str, *, side: int = 8) -> str:
    """A picture whose content follows from its name alone."""
    path = root / row["image_root"] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    seed = hashlib.sha256(f"{row['image_root']}/{name}".encode()).digest()
    pixels = np.random.default_rng(list(seed)).integers(0, 256, (side, side), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return name


def write_volume(root: Path, row: dict[str, str], name: str, slices: int = 4) -> list[str]:
    return [write_picture(root, row, f"{name}/slice_{i:03d}.png") for i in range(slices)]


def small_root(root: Path, *, queries: int = 12) -> Path:
    """Nine tasks over the eight families, one of them held out, one per parser and pool."""
    makers = (_same_class, _bridge, _label, _report, _find, _find_volume, _ask, _region, _text)
    rows = []
    for maker in makers:
        row, index = maker(root, queries)
        write_index(root, row, index)
        rows.append(row)
    write_registry(root, rows)
    return root


def _same_class(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("skin/i2i", "I-I", "image_i2i_vg")
    index = []
    for i in range(count):
        names = [write_picture(root, row, f"{i}_{c}.png") for c in range(4)]
        index.append(
            {
                "qry_inst": "<|image_1|>\nFind the same category image:",
                "qry_text": "<image>",
                "qry_img_path": write_picture(root, row, f"{i}_q.png"),
                "tgt_text": [""] * 4,
                "tgt_img_path": names,
            }
        )
    return row, index


def _bridge(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("brain/t1-t2", "MB-VR", "volume_i2i", form="3d", eval_type="global")
    row |= {"data_path": "3D_Task/brain/b_test.json", "image_root": "3D_Images/brain"}
    index = [
        {
            "qry_inst": "Find the T2 volume of this patient:",
            "qry_text": "",
            "qry_img_path": write_volume(root, row, f"{i}_t1"),
            "qry_modality": "video",
            "tgt_text": [""],
            "tgt_img_path": [write_volume(root, row, f"{i}_t2")],
            "tgt_modality": "video",
        }
        for i in range(count)
    ]
    return row, index


def _label(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("chest/i2l", "I-Lab", "image_cls", split="held-out")
    labels = ["effusion", "pneumonia", "no finding"]
    index = [
        {
            "qry_inst": "Classify:",
            "qry_text": "What is shown?",
            "qry_img_path": write_picture(root, row, f"{i}.png"),
            "tgt_text": labels[i % 3 :] + labels[: i % 3],
        }
        for i in range(count)
    ]
    return row, index


def _report(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("knee/i2r", "I-Rep", "volume_i2t", form="3d")
    reports = [f"Report {i}: a tear of grade {i}." for i in range(count)]
    index = [
        {
            "qry_inst": "Find the report:",
            "qry_text": "",
            "qry_img_path": write_volume(root, row, f"{i}"),
            "tgt_text": [reports[i], *reports[:i], *reports[i + 1 :]],
        }
        for i in range(count)
    ]
    return row, index


def _find(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("skin/t2i", "T-I", "image_t2i")
    index = [
        {
            "qry_inst": "Find a picture of:",
            "qry_text": f"naevus number {i}",
            "tgt_text": [""] * 3,
            "tgt_img_path": [write_picture(root, row, f"{i}_{c}.png") for c in range(3)],
        }
        for i in range(count)
    ]
    return row, index


def _find_volume(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("ct/t2i", "T-I", "volume_t2i", form="3d", eval_type="global")
    index = [
        {
            "qry_inst": "Find the volume:",
            "qry_text": f"nodule of {i} mm",
            "tgt_text": [""],
            "tgt_img_path": [write_volume(root, row, f"{i}")],
        }
        for i in range(count)
    ]
    return row, index


def _ask(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("path/vqa", "VQA", "image_qa")
    index = [
        {
            "qry_inst": "Answer:",
            "qry_text": f"Question {i}?",
            "qry_img_path": [write_picture(root, row, f"{i}.png")],
            "tgt_text": [f"answer {i}", "yes", "no", f"answer {i}"],
        }
        for i in range(count)
    ]
    return row, index


def _region(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("cxr/t2r", "VG", "image_i2i", eval_type="global")
    index = [
        {
            "qry_inst": "Locate:",
            "qry_text": "nodule",
            "qry_img_path": write_picture(root, row, f"{i}.png"),
            "tgt_text": ["<|image_1|>\n"],
            "tgt_img_path": [write_picture(root, row, f"{i}_a.png")]
            if i % 2
            else [write_picture(root, row, f"{i}_{part}.png") for part in "ab"],
        }
        for i in range(count)
    ]
    return row, index


def _text(root: Path, count: int) -> tuple[dict[str, str], list[Any]]:
    row = task_row("notes/t2t", "T-T", "text_qa", form="text", image_root="")
    row |= {"data_path": "Text_Task/notes/notes_new.json"}
    texts = [f"Impression {i}: stable." for i in range(count)]
    index = [
        {
            "qry_inst": "Find the impression:",
            "qry_text": f"Findings {i}: unchanged.",
            "tgt_text": [texts[i], *texts[:i], *texts[i + 1 :]],
        }
        for i in range(count)
    ]
    return row, index
