"""MMDental: dental cone-beam CTs and the records of visits, one table row a visit.

All patients are cut once, so the task of volumes and the task of texts agree on who is tested. A
volume is shown as twenty slices of each plane in canonical orientation, as the release has it. The
table may be in another encoding than UTF-8 and hold HTML entities. By default the first visit that
tells enough speaks for a patient: joined visits would leak later treatment into the diagnosis.
Reports pass ``scrubbed``.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EvidenceError
from engine.evidence.files import open_file
from studies.medheb.builders import choose, volumes
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Pixels, Record, Volume
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.scrubbed import scrubbed
from studies.medheb.sources.stacks import Grid, Values, plain_name, read_grid
from studies.medheb.sources.words import telling

TABLES = ("medical_records.csv", "Train-Labeled.csv")
ENCODINGS = ("utf-8-sig", "gb18030")
PER_PLANE = 20
MARGIN = 0.05  # of an axis, left out at both ends
WIDER = 1.2  # how far the upper end of the window moves out
REPORTS = {"diagnosis": ("diagnosis",), "oral check and diagnosis": ("oralcheck", "diagnosis")}
TEETH = re.compile(r"[1-8][1-8](?:[/.-][1-8][1-8])+")  # no days
Visit = Mapping[str, str]


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a volume with its report, and one a visit that is asked about."""
    visits, faults = _visits(root)
    yield from faults
    files = _volumes(root)
    tested = _tested({*visits, *files}, files, settings)
    for patient, path in files.items():
        text = _report(visits.get(patient, ()), settings)
        if not text:
            reason = "no diagnosis" if patient in visits else "no row in the table"
            yield Fault(f"volume {patient}", f"there is {reason} of this patient")
            continue
        shown = Volume(patient, partial(plane_slices, path))
        yield Record(
            f"volume/{patient}", patient, tested[patient], volumes={"cbct": shown},
            texts={"report": text},
        )  # fmt: skip
    for patient, of in visits.items():
        for place, (diagnosis, treatment) in enumerate(_asked(of, settings)):
            yield Record(
                f"visit/{patient}/{place}", patient, tested[patient],
                texts={"diagnosis": diagnosis, "treatment": treatment},
            )  # fmt: skip


def _tested(
    patients: set[str], files: Mapping[str, Path], settings: Mapping[str, Any]
) -> dict[str, str]:
    """The side of each patient, level over those with and without a volume."""
    every = [
        Record(patient, patient, stratum="volume" if patient in files else "texts")
        for patient in sorted(patients)
    ]
    seed, share = int(settings["seed"]), float(settings["test_share"])
    chosen = {record.key for record in choose.side_of_test(every, seed=seed, share=share)}
    return {patient: "test" if patient in chosen else "train" for patient in patients}


def _volumes(root: Path) -> dict[str, Path]:
    """The volumes by patient, in the order of their numbers."""
    found: dict[str, Path] = {}
    for path in sorted(root.glob("**/*.nii*")):
        name = plain_name(path)
        if name.isdecimal() and path.parent.name == name:
            found.setdefault(name, path)
    return dict(sorted(found.items(), key=lambda one: int(one[0])))


def _visits(root: Path) -> tuple[dict[str, list[Visit]], list[Fault]]:
    """The visits of each patient in the table's order.

    Raises:
        EvidenceError: there is no table, or it cannot be read.
    """
    path = next((found for name in TABLES if (found := find_inside(root, name))), None)
    if path is None:
        raise EvidenceError(TABLES[0], "missing", "there is no such table")
    rows = list(csv.reader(io.StringIO(_text(path), newline="")))
    names = [_column(name) for name in rows[0]] if rows else []
    lacking = {"filename", "diagnosis", "treatmentplan"} - set(names)
    if lacking:
        raise EvidenceError(path, "unsupported", f"there is no column {', '.join(sorted(lacking))}")
    visits: dict[str, list[Visit]] = defaultdict(list)
    faults = []
    for place, cells in enumerate(rows[1:], 1):
        row = dict(zip(names, (_cell(cell) for cell in cells), strict=False))
        patient = _number(row.get("filename", ""))
        if patient is not None:
            visits[patient].append(row)
        elif any(row.values()):
            faults.append(Fault(f"{path.name}, row {place}", "names no patient by a number"))
    return dict(visits), faults


def _text(path: Path) -> str:
    with open_file(path) as stream:
        content = stream.read()
    for encoding in ENCODINGS:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise EvidenceError(path, "damaged", f"is no text in {' or '.join(ENCODINGS)}")


def _column(name: str) -> str:
    """A column's name without what spellings differ in."""
    return re.sub(r"[^a-z]", "", name.lower())


def _cell(cell: str) -> str:
    return " ".join(html.unescape(cell).split())


def _number(text: str) -> str | None:
    """A patient's number as folders write it."""
    match = re.fullmatch(r"0*(\d+)(?:\.0)?(?:\.nii(?:\.gz)?)?", text)
    return None if match is None else match[1]


def _report(visits: Sequence[Visit], settings: Mapping[str, Any]) -> str:
    """The text that a volume is matched with; empty where no visit has a diagnosis."""
    columns = REPORTS[str(settings["report"])]
    told = [visit for visit in visits if visit.get("diagnosis")]
    kept = told if settings["visits"] == "joined" else told[:1]
    texts = [" ".join(filter(None, (visit.get(one, "") for one in columns))) for visit in kept]
    return scrubbed(" ".join(dict.fromkeys(texts)), keep=TEETH)


def _asked(visits: Sequence[Visit], settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Diagnosis and treatment plan of the visits that are asked about."""
    both = [
        (
            scrubbed(visit.get("diagnosis", ""), keep=TEETH),
            scrubbed(visit.get("treatmentplan", ""), keep=TEETH),
        )
        for visit in visits
    ]
    both = [pair for pair in both if all(pair)]
    if settings["visits"] == "joined" and both:
        first, second = (" ".join(dict.fromkeys(texts)) for texts in zip(*both, strict=True))
        return [(first, second)]
    return both[:1] if settings["visits"] == "first" else list(dict.fromkeys(both))


def plane_slices(path: Path) -> list[Pixels]:
    """Twenty slices each, axial, coronal, sagittal, each transposed: pictures of three sizes.

    Raises:
        EvidenceError: the volume cannot be read.
    """
    values = canonical(read_grid(path))
    filled = values[values != 0]
    basis = filled if filled.size else values
    low, high = (float(end) for end in np.percentile(basis, (0.5, 99.5)))
    top = low + WIDER * (high - low)
    return [
        np.ascontiguousarray(volumes.between(np.moveaxis(values, axis, 0)[place], low, top).T)
        for axis in (2, 1, 0)
        for place in _places(values.shape[axis])
    ]


def _places(count: int) -> list[int]:
    last = count - 1
    return [int(place) for place in np.linspace(MARGIN * last, (1 - MARGIN) * last, PER_PLANE)]


def canonical(grid: Grid) -> Values:
    """The values with axes running to the right, the front and the head; as stored if unknown."""
    if grid.steps is None:
        return grid.values
    # steps run to the left and the back; the canonical axes run the other way
    steps = grid.steps * np.array([[-1.0], [-1.0], [1.0]])
    share = np.abs(steps) / np.maximum(np.linalg.norm(steps, axis=0), 1e-12)
    order, flips = [0, 0, 0], [False, False, False]
    for _ in range(3):
        world, axis = np.unravel_index(int(np.argmax(share)), share.shape)
        order[world], flips[world] = int(axis), bool(steps[world, axis] < 0)
        share[world, :], share[:, axis] = -1, -1
    turned = grid.values.transpose(order)
    return turned[tuple(slice(None, None, -1 if flip else 1) for flip in flips)]


def _is_volume(record: Record) -> bool:
    return record.key.startswith("volume/")


def _is_visit(record: Record) -> bool:
    return record.key.startswith("visit/")


CARDS = (
    SourceCard(
        id="mmdental",
        title="MMDental",
        form="3d",
        modality="dental cone-beam CT and records of visits",
        anatomy="neuro_head_neck",
        access="open",
        licence="CC BY 4.0",
        url="https://doi.org/10.6084/m9.figshare.28505276",
        obtain="Download MMDental.zip (68 GB) from its figshare record and unpack it; no account "
        "is needed. The table of records alone serves the task of texts.",
        expects=tuple(f"{way}{name}" for way in ("", "*/", "*/*/") for name in TABLES),
        read=read,
        stable=True,
        plans=(
            TaskPlan("mmdental/i2r", "text", {"target": "report", "volume": "cbct"}, _is_volume),
            TaskPlan(
                "mmdental/t2t", "text", {"query": "diagnosis", "target": "treatment"}, _is_visit
            ),
        ),
        settings=(
            Choice(
                "report", "diagnosis", tuple(REPORTS),
                "whether the paper's text is the diagnosis alone or the oral check with it",
            ),
            Choice(
                "visits", "first", ("first", "all", "joined"),
                "which visits of a patient speak: the first that tells enough, each, or all joined "
                "(which leaks later treatment)",
            ),
        ),
    ),
)  # fmt: skip
