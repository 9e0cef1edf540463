"""PanNuke as the hub's copy keeps it: parquet rows of a patch, its tissue and one mask a nucleus.

Gives the same records as the official arrays, under the same names. Refuses tissues and classes
outside the copy's lists, and lists of masks and classes that differ in length.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from studies.medheb.builders import regions
from studies.medheb.builders.record import Box, Fault, Record
from studies.medheb.sources.nuclei import NUCLEI, TISSUES, regions_of, tissue_label
from studies.medheb.sources.parquet import pictured_rows, split_files

COLUMNS = ("instances", "categories", "tissue")


def mirror_files(folder: Path, number: int) -> list[Path]:
    """The parquet files of a fold; empty where there are none.

    Raises:
        EvidenceError: parts of it are missing.
    """
    return split_files(folder, f"fold{number}")


def read_mirror(folder: Path, number: int, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The patches of one fold.

    Raises:
        EvidenceError: a table cannot be read.
    """
    for one in pictured_rows(mirror_files(folder, number), needs=COLUMNS):
        if isinstance(one, Fault):
            yield one
            continue
        key, cells = f"fold{number}_{one.number:04d}", one.cells
        try:
            tissue = _name(tuple(TISSUES), cells["tissue"])
            boxes, size = _boxes(cells)
        except (ValueError, TypeError, OSError, UnidentifiedImageError) as error:
            yield Fault(one.where, f"is no patch of PanNuke ({error})")
            continue
        picture = replace(one.picture, name=f"{key}{Path(one.picture.name).suffix}")
        label, found = tissue_label(tissue, settings), regions_of(boxes, *size, settings)
        yield Record(key, key, "", (label,), (picture,), regions=found)


def _name(names: tuple[str, ...], code: Any) -> str:
    if not isinstance(code, int) or not 0 <= code < len(names):
        raise ValueError(f"the code {code!r} is none of {len(names)}")
    return names[code]


def _boxes(cells: Mapping[str, Any]) -> tuple[dict[str, list[Box]], tuple[int, int]]:
    """The boxes of all nuclei by class, and height and width of the patch."""
    found: dict[str, list[Box]] = defaultdict(list)
    size = (0, 0)
    for mask, code in zip(cells["instances"], cells["categories"], strict=True):
        with Image.open(io.BytesIO(mask["bytes"])) as image:
            pixels = np.asarray(image)
        size = (pixels.shape[0], pixels.shape[1])
        box = regions.of_mask(pixels)
        if box is not None:
            found[_name(tuple(NUCLEI), code)].append(box)
    return found, size
