"""The rules that every task of a data root keeps, each as a function that lists who breaks it."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from engine.evidence.item import Item
from studies.medheb.builders import choose
from studies.medheb.builders.card import TaskPlan
from studies.medheb.builders.record import Record
from studies.medheb.pools import Pools
from studies.medheb.release import TaskData

SLICE = re.compile(r"/slice_\d+\.png$")
NAMED = re.compile(
    r"(?i)(^|_|\s|\b)(id|ids|uid|qid|pmid|volumename|filename|figure_path|image_path|image_name|"
    r"image|path|paths|dicom_id|subject_id|study_id|patient id|deid_patient_id|path_to_image)$"
)
SHORTEST, DIGITS = 5, 2  # letters and digits of what cannot be a measurement or a word
# which way each family is ranked, and against which kind of pool
POOLS = {
    "I-I": {"exemplars"},
    "T-I": {"exemplars", "split"},
    "I-Lab": {"labels:source"},
    "VQA": {"answers"},
    "I-Rep": {"split"},
    "T-T": {"split"},
    "MB-VR": {"split"},
    "VG": {"regions"},
}


@cache
def looks(path: Path) -> str:
    """What is in a picture, whatever its format; empty for one that is the same all over."""
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    return shown(pixels)


def shown(pixels: np.ndarray) -> str:
    """A digest of [H, W] or [H, W, 3]; empty where all pixels are equal."""
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=2)
    if (pixels == pixels[:1, :1]).all():
        return ""
    return hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()


def seen(item: Item) -> tuple[frozenset[str], frozenset[str]]:
    """What an item shows: its pictures, and the slices of its volumes."""
    pictures = frozenset(looks(image.path) for image in item.images)
    slices = frozenset(looks(path) for volume in item.volumes for path in volume.paths)
    return pictures - {""}, slices - {""}


def same_picture(first: Item, second: Item) -> bool:
    """True if the two share a picture, or half of the slices of either."""
    pictures, slices = seen(first)
    others, other_slices = seen(second)
    if pictures & (others | other_slices) or others & slices:
        return True
    fewer = min(len(slices), len(other_slices))
    return fewer > 0 and 2 * len(slices & other_slices) >= fewer


def own_picture(data: TaskData, pools: Pools) -> list[str]:
    """Queries whose own picture is among their candidates."""
    return [
        f"{data.task.id} row {query.row}: its own picture is {pools.candidates[member].name}"
        for query, members in zip(data.queries, pools.members, strict=True)
        for member in members
        if same_picture(query.item, pools.candidates[member].item)
    ]


def positive_first(data: TaskData, pools: Pools) -> list[str]:
    """Queries whose first candidate is not the positive, or is of another class."""
    wrong = []
    for query, members in zip(data.queries, pools.members, strict=True):
        first = pools.candidates[members[0]].name
        label = data.labels.get(first, first) if query.label else ""
        if first != query.gold or query.candidates[0].name != query.gold:
            wrong.append(f"{data.task.id} row {query.row}: the positive is not first")
        elif data.task.family in ("I-I", "T-I", "I-Lab") and label != query.label:
            wrong.append(f"{data.task.id} row {query.row}: the positive is of {label}")
    return wrong


def one_of_a_class(data: TaskData, pools: Pools) -> list[str]:
    """Queries whose pool of exemplars holds a class twice, their own above all, or a picture."""
    wrong = []
    for query, members in zip(data.queries, pools.members, strict=True):
        listed = [pools.candidates[member] for member in members]
        classes = [data.labels.get(one.name, "") for one in listed]
        where = f"{data.task.id} row {query.row}"
        if classes.count(query.label) != 1:
            wrong.append(f"{where}: {classes.count(query.label)} of {query.label}")
        if len(set(classes)) < len(classes) or "" in classes:
            wrong.append(f"{where}: a class twice or none")
        whole = [seen(one.item) for one in listed]
        if len(set(whole)) < len(whole):
            wrong.append(f"{where}: a picture twice")
    return wrong


def pool_named(data: TaskData, pools: Pools) -> list[str]:
    """Tasks whose pool has no name, another family's, or candidates that share a name."""
    wrong = []
    if data.built is None:
        return [f"{data.task.id}: nothing is known about how it was made"]
    if pools.name != data.built.pool or pools.name not in POOLS[data.task.family]:
        wrong.append(f"{data.task.id}: the pool is called {pools.name}")
    local = pools.name in ("exemplars", "labels:source")
    if pools.local != local:
        wrong.append(f"{data.task.id}: {pools.name} is ranked {data.task.eval_type}")
    if len({one.name for one in pools.candidates}) < len(pools.candidates):
        wrong.append(f"{data.task.id}: two candidates of one name")
    if min(pools.sizes) < 2:
        wrong.append(f"{data.task.id}: a query without a wrong candidate")
    return wrong


def texts_of(data: TaskData) -> set[str]:
    """Every text of a task that a model reads."""
    items = [query.item for query in data.queries]
    items += [one.item for query in data.queries for one in query.candidates]
    return {text for item in items for text in (item.text, item.instruction) if text}


def told(texts: Iterable[str], identifiers: Iterable[str]) -> list[str]:
    """The identifiers that stand in a text."""
    whole = "\n".join(texts).casefold()
    return sorted(one for one in identifiers if one.casefold() in whole)


def sides_apart(plan: TaskPlan, records: list[Record], settings: dict[str, Any]) -> list[str]:
    """Groups that stand on both sides of a task's split."""
    serving = [one for one in records if plan.serves is None or plan.serves(one)]
    share = float(settings["test_share"])
    tested = choose.side_of_test(serving, seed=int(settings["seed"]), share=share)
    keys = {one.key for one in tested}
    others = {one.group for one in serving if one.key not in keys}
    return [f"{plan.task}: {group}" for group in sorted(others & {one.group for one in tested})]


def names_of(record: Record) -> set[str]:
    """Under which names a record's pictures and volumes may lie in a data root."""
    return {one.name for one in (*record.pictures, *record.volumes.values())}


def shown_names(data: TaskData) -> set[str]:
    """Pictures and volumes of a task, below its image root; crops of a query are left out."""
    items = [query.item for query in data.queries]
    items += [one.item for query in data.queries for one in query.candidates]
    paths = {image.path for item in items for image in item.images}
    paths |= {path for item in items for volume in item.volumes for path in volume.paths}
    root = data.path.parents[2] / data.task.image_root
    names = {SLICE.sub("", path.relative_to(root).as_posix()) for path in paths}
    return {name for name in names if not name.startswith("crops/")}


def identifiers(folder: Path) -> set[str]:
    """What names somebody or something in a source's official files: paths, and columns of ids."""
    found: set[str] = set()
    for path in folder.rglob("*"):
        found |= tokens(path.name)
        if path.is_file():
            for value in _named_values(path):
                found |= tokens(value)
    return found


def tokens(value: object) -> set[str]:
    """The parts of a path or an id that are long enough to give somebody away."""
    parts = re.split(r"[/\\]", str(value))
    stems = {re.sub(r"(\.[a-zA-Z]+)+$", "", part).strip() for part in parts}
    return {one for one in stems if len(one) >= SHORTEST and len(re.findall(r"\d", one)) >= DIGITS}


def _named_values(path: Path) -> Iterator[object]:
    name = path.name.casefold()
    if name.endswith((".csv", ".csv.gz")):
        yield from _columns(path)
    elif name.endswith(".parquet"):
        for column in pq.read_schema(path).names:
            if NAMED.search(column):
                values = pq.read_table(path, columns=[column]).column(column).to_pylist()
                yield from (v["path"] or "" if isinstance(v, dict) else v for v in values)
    elif name.endswith((".json", ".jsonl")):
        yield from _of_json(path)


def _columns(path: Path) -> Iterator[object]:
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    lines = content.decode("utf-8-sig", "replace").splitlines()
    for row in csv.DictReader(lines):
        yield from (cell for column, cell in row.items() if NAMED.search((column or "").strip()))


def _of_json(path: Path) -> Iterator[object]:
    text = path.read_text("utf-8-sig")
    try:
        documents = [json.loads(text)]
    except ValueError:
        documents = [json.loads(line) for line in text.splitlines() if line.strip()]
    for document in documents:
        yield from _walked(document)


def _walked(value: Any, name: str = "") -> Iterator[object]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _walked(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _walked(one, name)
    elif NAMED.search(name):
        yield value


def tail(shares: Iterable[float], count: int) -> float:
    """How likely as many hits or fewer, or as many or more, are, whichever is rarer.

    Args:
        shares: the chance of each query, exact and independent.
        count: hits seen.
    """
    chances = np.ones(1)
    for share in shares:
        chances = np.convolve(chances, [1 - share, share])
    return float(min(chances[: count + 1].sum(), chances[count:].sum()))


def patients(records: Iterable[Record], pattern: str) -> dict[str, set[str]]:
    """The groups of each patient, as the names of pictures and volumes tell the patient."""
    found: dict[str, set[str]] = defaultdict(set)
    for record in records:
        for name in (record.key, *names_of(record)):
            for patient in re.findall(pattern, name):
                found[patient].add(record.group)
    return found
