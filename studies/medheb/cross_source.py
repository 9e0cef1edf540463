"""Retrieval across two hospitals: MIMIC-CXR asks, CheXpert-Plus answers, relevance is graded.

Owns the making of that one task (paper 5.5) as a data root of its own, so that the benchmark's 107
stay 107: which studies ask, who stands in each list, and the findings of each in the rows, from
which relevance follows. Refuses a folder that holds other tasks. Pictures are copied as they are,
both sides alike; nothing is equalised again.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from db.home import Home
from engine.control import Control
from engine.errors import EvidenceError
from studies.errors import StudyError
from studies.medheb.builders.built import KEEP_FAULTS, Built, write_built
from studies.medheb.builders.card import Choice, SourceCard, settle, settled
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.choose import order_by_seed
from studies.medheb.builders.media import Media
from studies.medheb.builders.record import Fault
from studies.medheb.builders.rows import Made, Row
from studies.medheb.builders.write import write_index
from studies.medheb.graded import BETWEEN, jaccard
from studies.medheb.lines import write_lines
from studies.medheb.paper import MINIATURE
from studies.medheb.sources.fourteen import FINDINGS, StudyLabels
from studies.medheb.tasks import COLUMNS, REGISTRY, Task, load_tasks

ASKS, ANSWERS = "mimic_cxr", "chexpert_plus"
TASK = Task(
    id="mimic_cxr/cross-chexpert",
    family="I-I",
    source=ASKS,
    form="2d",
    split="held-out",
    query="image",
    candidate="image",
    qry_inst="Find chest X-ray images that share the most disease findings with the given image:",
    qry_text="<image>",
    release_name="MIMIC_CheXpert_cross",
    parser="image_i2i_vg",
    eval_type="local",
    data_path="2D_Task/CrossSource/mimic_to_chexpert_test.json",
    image_root="2D_Images/CrossSource",
)
POOL = "cross-source"
SETTINGS = (
    Choice(
        "queries", 300, (),
        "how many studies ask; all printed Hit values are multiples of 1/300",
    ),
    Choice(
        "pool", 10, (),
        "how many candidates stand in each list, drawn anew for each query (0: all); not printed, "
        "a guess: with lists of ten and usual prevalences a random ranking has NDCG@5 0.43 and "
        "NDCG@10 0.64, next to the weakest printed 0.46 and 0.63; with twenty 0.31 and 0.41",
    ),
    Choice("seed", 42, (), "of the choice of queries and candidates"),
    Choice(
        "uncertain", "absent", ("absent", "present"),
        "what a finding labelled uncertain (-1) counts as; not printed",
    ),
    Choice(
        "hit", "half", ("half", "strict", "loose"),
        "what counts as a hit: overlap of at least a half, equal findings, or any in common; not "
        "printed (any in common fits the printed values best, see bench show)",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One study that takes part.

    Attributes:
        study: as its source labels it.
        findings: what counts as there.
    """

    study: StudyLabels
    findings: frozenset[str]

    @property
    def label(self) -> str:
        """The findings as one label of a row."""
        return BETWEEN.join(name for name in FINDINGS if name in self.findings)


def cross_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Build the task.

    Args:
        home: not used; all jobs are called so.
        arguments: ``queries`` and ``candidates`` (folders of the two sources), ``data`` (a folder
            of its own) and optionally ``settings``; ``mimic_cxr.NAME`` and ``chexpert_plus.NAME``
            are settings of a source.
        control: asked between rows, told the progress.

    Raises:
        StudyError: a setting, or a folder that holds something else.
        EvidenceError: a source's tables are missing or damaged.
    """
    given = dict(arguments.get("settings") or {})
    own = {name: value for name, value in given.items() if "." not in name}
    settings = settled("The task across sources", SETTINGS, own)
    faults: list[Fault] = []
    sides = []
    for source, folder in ((ASKS, "queries"), (ANSWERS, "candidates")):
        control.begin(0, unit="studies", phase=f"Reading labels of {source}")
        card = source_card(source)
        chosen = settle(card, _of(source, given))
        found = _labels(card, Path(arguments[folder]), chosen)
        sides.append(_taking_part(found, str(settings["uncertain"]), faults, control))
        settings |= {f"{source}.{name}": value for name, value in chosen.items()}
    root = Path(arguments["data"])
    built = build_cross(sides[0], sides[1], root, settings, faults=faults, control=control)
    for place in (Path(arguments["queries"]), Path(arguments["candidates"])):
        _mark_generated(place, root)
    return {
        "data": str(arguments["data"]),
        "task": TASK.id,
        "rows": built.rows,
        "notes": list(built.notes),
        "faulty": built.faulty,
        "faults": [{"where": where, "reason": reason} for where, reason in built.faults],
        "settings": dict(built.settings),
    }


def _mark_generated(folder: Path, root: Path) -> None:
    """What was made of the miniature stays marked as such."""
    for place in (folder, folder.parent):
        if (place / MINIATURE).is_file():
            text = (place / MINIATURE).read_text(encoding="utf-8")
            write_lines(root / MINIATURE, text.splitlines())


def _of(source: str, given: Mapping[str, Any]) -> dict[str, Any]:
    start = f"{source}."
    return {n.removeprefix(start): value for n, value in given.items() if n.startswith(start)}


def _labels(
    card: SourceCard, folder: Path, settings: Mapping[str, Any]
) -> Iterator[StudyLabels | Fault]:
    if not folder.is_dir():
        raise StudyError(f"{folder}: there is no such folder; give the files of {card.title}.")
    module = importlib.import_module(card.read.__module__)
    found: Iterator[StudyLabels | Fault] = module.study_labels(folder, settings)
    return found


def _taking_part(
    found: Iterable[StudyLabels | Fault], uncertain: str, faults: list[Fault], control: Control
) -> list[Side]:
    """Studies with at least one finding, by key; the others share nothing with anybody."""
    sides = []
    for study in found:
        control.check()
        if isinstance(study, Fault):
            faults.append(study)
            continue
        there = study.positive | (study.uncertain if uncertain == "present" else frozenset())
        if there:
            sides.append(Side(study, there))
        control.step()
    return sorted(sides, key=lambda side: side.study.key)


def build_cross(
    asking: Sequence[Side],
    answering: Sequence[Side],
    root: Path,
    settings: Mapping[str, Any],
    *,
    faults: Sequence[Fault] = (),
    control: Control = Control(),
) -> Built:
    """Write the task.

    Args:
        asking: the query side, each with a finding.
        answering: the candidate side, sorted by key.
        root: a folder that holds nothing else.
        settings: of ``SETTINGS``, all of them.
        faults: met while reading.
        control: asked between rows.

    Raises:
        StudyError: the folder holds other tasks, or a side is empty.
        NotWritable: the folder cannot be written.
    """
    _own_root(root)
    if not asking or len(answering) < 2:
        raise StudyError("One of the two sources has no frontal study with a finding.")
    media, met = Media(root / TASK.image_root), list(faults)
    control.begin(int(settings["queries"]), unit="rows", phase="Building the task across sources")
    rows: list[Row] = []
    dropped = 0
    for side in order_by_seed(asking, int(settings["seed"]), lambda s: s.study.key, salt="cross"):
        if len(rows) == int(settings["queries"]):
            break
        control.check()
        drawn = _drawn(side, answering, settings)
        if not jaccard(side.findings, drawn[0].findings):
            dropped += 1
            continue
        try:
            rows.append(_row(side, drawn, media))
        except EvidenceError as error:
            met.append(Fault(side.study.key, str(error)))
        control.step()
    if not rows:
        raise StudyError("No query has a candidate with a finding in common.")
    return _write(root, rows, settings, met, _notes(asking, answering, rows, dropped))


def _own_root(root: Path) -> None:
    known = {task.id for task in load_tasks(root)} if (root / REGISTRY).is_file() else set()
    others = any(root.glob("*_Task.yaml")) and not known
    if others or known - {TASK.id}:
        raise StudyError(f"{root} holds other tasks; give the task across sources its own folder.")


def _drawn(side: Side, answering: Sequence[Side], settings: Mapping[str, Any]) -> list[Side]:
    """A query's list, the candidate with most in common first, the others as drawn."""
    wanted = min(int(settings["pool"]) or len(answering), len(answering))
    chosen = list(answering) if wanted == len(answering) else []
    if not chosen:
        places = _places(f"{settings['seed']}\0{side.study.key}", wanted, len(answering))
        chosen = [answering[place] for place in places]
    best = max(chosen, key=lambda one: jaccard(side.findings, one.findings))
    return [best, *(one for one in chosen if one is not best)]


def _places(salt: str, wanted: int, total: int) -> list[int]:
    """Different places below ``total``, by hashes of the salt alone."""
    found: dict[int, None] = {}
    count = 0
    while len(found) < wanted:
        mark = hashlib.sha256(f"{salt}\0{count}".encode()).digest()
        found.setdefault(int.from_bytes(mark[:8], "big") % total)
        count += 1
    return list(found)


def _row(side: Side, drawn: Sequence[Side], media: Media) -> Row:
    return {
        "qry_inst": TASK.qry_inst,
        "qry_text": "",
        "qry_img_path": _put(media, ASKS, side),
        "tgt_text": [""] * len(drawn),
        "tgt_img_path": [_put(media, ANSWERS, one) for one in drawn],
        "qry_label": side.label,
        "tgt_label": [one.label for one in drawn],
    }


def _put(media: Media, source: str, side: Side) -> str:
    picture = side.study.picture
    return media.picture(replace(picture, name=f"{source}/{picture.name}"))


def _notes(
    asking: Sequence[Side], answering: Sequence[Side], rows: Sequence[Row], dropped: int
) -> tuple[str, ...]:
    shares = [
        f"{name} {_share(asking, name):.1f} and {_share(answering, name):.1f} %"
        for name in FINDINGS
    ]
    return (
        f"{len(rows)} queries of {len(asking)} studies, lists drawn from {len(answering)} studies; "
        "studies without a finding take no part.",
        f"{dropped} queries had nothing in common with their list and were passed over.",
        f"Studies with a finding, {ASKS} and {ANSWERS}: {'; '.join(shares)}.",
    )


def _share(sides: Sequence[Side], name: str) -> float:
    return 100 * sum(name in side.findings for side in sides) / len(sides)


def _write(
    root: Path,
    rows: Sequence[Row],
    settings: Mapping[str, Any],
    faults: Sequence[Fault],
    notes: tuple[str, ...],
) -> Built:
    values = [getattr(TASK, name) for name in COLUMNS]
    root.mkdir(parents=True, exist_ok=True)
    write_lines(root / REGISTRY, [_csv(COLUMNS), _csv(values)])
    path = write_index(root, TASK, Made(tuple(rows), POOL, "local"))
    kept = tuple((fault.where, fault.reason) for fault in faults[:KEEP_FAULTS])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    built = Built(ASKS, POOL, dict(settings), len(rows), kept, len(faults), notes, digest)
    write_built(root, {TASK.id: built})
    return built


def _csv(values: Iterable[str]) -> str:
    return ",".join(f'"{value}"' if "," in value else value for value in values)
