"""The rows of every demo task, positive first, in the columns its parser reads.

Owns which candidates a row lists: all labels of the source, one exemplar of each class, the
unique answers or reports of the split, the patient's own volume or crops. Names pictures, draws
none; ``layout`` writes them under the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from studies.demo import chest_case, pathology, phantom_brain, skin
from studies.demo.bank import Bank
from studies.demo.chest_case import ChestCase
from studies.demo.names import (
    Sizes,
    asked_nuclei,
    asked_regions,
    film_name,
    lesion_name,
    nucleus_names,
    patch_name,
    region_name,
    slice_names,
)
from studies.demo.phantom_brain import BrainCase
from studies.demo.registry import DemoTask
from studies.demo.shapes import generator
from studies.demo.words import (
    advice,
    brain_questions,
    chest_questions,
    chest_report,
)

Row = dict[str, Any]


def rows_of(task: DemoTask, bank: Bank, sizes: Sizes) -> list[Row]:
    """The rows of a task."""
    rng = generator(bank.seed, bank.split, "rows", task.id)
    return ROWS[task.id](task, bank, sizes, rng)


Maker = Callable[[DemoTask, Bank, Sizes, np.random.Generator], list[Row]]


def _query(task: DemoTask, text: str = "", **columns: object) -> Row:
    return {"qry_inst": task.qry_inst, "qry_text": text, **columns}


def _first(positive: str, everything: Sequence[str]) -> list[str]:
    """The positive, then the others in order, each once."""
    return list(dict.fromkeys((positive, *everything)))


def _same(first: int, total: int, classes: int, rng: np.random.Generator) -> int:
    """Another patient of the same class."""
    return int(rng.choice([i for i in range(first % classes, total, classes) if i != first]))


def _others(first: int, total: int, classes: int, rng: np.random.Generator) -> list[int]:
    """One patient of each other class."""
    wrong = [other for other in range(classes) if other != first % classes]
    return [int(rng.choice(range(other, total, classes))) for other in wrong]


def _skin_i2i(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    files = [lesion_name(bank, i) for i in range(sizes.skin)]
    return _exemplar_rows(task, files, len(skin.LABELS), rng)


def _pathology_i2i(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    files = [patch_name(bank, i) for i in range(sizes.pathology)]
    return _exemplar_rows(task, files, len(pathology.LABELS), rng)


def _exemplar_rows(
    task: DemoTask, files: Sequence[str], classes: int, rng: np.random.Generator
) -> list[Row]:
    rows = []
    for first, name in enumerate(files):
        same = _same(first, len(files), classes, rng)
        picks = [files[i] for i in (same, *_others(first, len(files), classes, rng))]
        rows.append(_query(task, qry_img_path=name, tgt_text=[""] * len(picks), tgt_img_path=picks))
    return rows


def _brain_volume(bank: Bank, sizes: Sizes, index: int, contrast: str) -> list[str]:
    return slice_names(f"{contrast}/{bank.brain_case(index).patient}", sizes.shape[0])


def _chest_volume(bank: Bank, sizes: Sizes, index: int) -> list[str]:
    return slice_names(f"slices/{bank.chest_case(index).patient}", sizes.shape[0])


def _brain_i2i(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    rows = []
    for first in range(sizes.brain):
        classes = len(phantom_brain.LABELS)
        same = _same(first, sizes.brain, classes, rng)
        picks = [same, *_others(first, sizes.brain, classes, rng)]
        rows.append(
            _query(
                task,
                qry_img_path=_brain_volume(bank, sizes, first, "t2"),
                qry_modality="video",
                tgt_text=[""] * len(picks),
                tgt_img_path=[_brain_volume(bank, sizes, i, "t2") for i in picks],
                tgt_modality="video",
            )
        )
    return rows


def _brain_cross(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    asked, wanted = ("t1", "t2") if task.id == "brain/t1-t2" else ("t2", "t1")
    return [
        _query(
            task,
            qry_img_path=_brain_volume(bank, sizes, index, asked),
            qry_modality="video",
            tgt_text=[""],
            tgt_img_path=[_brain_volume(bank, sizes, index, wanted)],
            tgt_modality="video",
        )
        for index in range(sizes.brain)
    ]


def _xray_ct(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    return [
        _query(
            task,
            qry_img_path=[film_name(bank, index)],
            qry_modality="image",
            tgt_text=[""],
            tgt_img_path=[_chest_volume(bank, sizes, index)],
            tgt_modality="video",
        )
        for index in range(sizes.chest)
    ]


def _film_i2l(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    count = sizes.held_out if task.source == "chest_b" else sizes.chest
    rows = []
    for index in range(count):
        label = bank.chest_case(index, source=task.source).label
        name = film_name(bank, index, source=task.source)
        labels = _first(label, chest_case.LABELS)
        rows.append(_query(task, task.qry_text, qry_img_path=name, tgt_text=labels))
    return rows


def _skin_i2l(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    return [
        _query(
            task,
            task.qry_text,
            qry_img_path=lesion_name(bank, index),
            tgt_text=_first(bank.lesion(index).label, skin.LABELS),
        )
        for index in range(sizes.skin)
    ]


def _chest_ct_i2l(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    return [
        _query(
            task,
            task.qry_text,
            qry_img_path=_chest_volume(bank, sizes, index),
            qry_modality="video",
            tgt_text=_first(bank.chest_case(index).label, chest_case.LABELS),
        )
        for index in range(sizes.chest)
    ]


def _chest_i2r(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    reports = [chest_report(bank.chest_case(index)).text for index in range(sizes.chest)]
    rows = []
    for index, report in enumerate(reports):
        texts = _first(report, reports)
        if task.form == "3d":
            names = _chest_volume(bank, sizes, index)
            row = _query(task, qry_img_path=names, qry_modality="video", tgt_text=texts)
        else:
            row = _query(task, qry_img_path=film_name(bank, index), tgt_text=texts)
        rows.append(row)
    return rows


def _skin_t2i(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    files = [lesion_name(bank, i) for i in range(sizes.skin)]
    return _category_rows(task, files, skin.LABELS, rng)


def _chest_t2i(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    count = sizes.held_out if task.source == "chest_b" else sizes.chest
    files = [film_name(bank, i, source=task.source) for i in range(count)]
    return _category_rows(task, files, chest_case.LABELS, rng)


def _category_rows(
    task: DemoTask, files: Sequence[str], labels: Sequence[str], rng: np.random.Generator
) -> list[Row]:
    """Each picture is the positive once, beside one of each other class."""
    rows = []
    for index, name in enumerate(files):
        others = _others(index, len(files), len(labels), rng)
        picks = [name, *(files[i] for i in others)]
        row = _query(
            task, labels[index % len(labels)], tgt_text=[""] * len(picks), tgt_img_path=picks
        )
        rows.append(row)
    return rows


def _chest_ct_t2i(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    return [
        _query(
            task,
            chest_report(bank.chest_case(index)).text,
            tgt_text=[""],
            tgt_img_path=[_chest_volume(bank, sizes, index)],
        )
        for index in range(sizes.chest)
    ]


def _asked(
    pairs: Sequence[Sequence[tuple[str, str]]], rng: np.random.Generator
) -> list[tuple[str, str]]:
    """One question per patient, going round so that every kind is asked."""
    start = int(rng.integers(100))
    return [questions[(start + i) % len(questions)] for i, questions in enumerate(pairs)]


def _chest_vqa(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    asked = _asked([chest_questions(bank.chest_case(i)) for i in range(sizes.chest)], rng)
    answers = [reply for _, reply in asked]
    return [
        _query(task, text, qry_img_path=film_name(bank, index), tgt_text=_first(reply, answers))
        for index, (text, reply) in enumerate(asked)
    ]


def _brain_vqa(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    asked = _asked([brain_questions(bank.brain_case(i)) for i in range(sizes.brain)], rng)
    answers = [reply for _, reply in asked]
    return [
        _query(
            task,
            text,
            qry_img_path=_brain_volume(bank, sizes, index, "t2"),
            qry_modality="video",
            tgt_text=_first(reply, answers),
        )
        for index, (text, reply) in enumerate(asked)
    ]


def _chest_t2r(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    return [
        _query(
            task,
            region,
            qry_img_path=film_name(bank, index),
            tgt_text=[""],
            tgt_img_path=[region_name(bank, index, region)],
        )
        for index, region in asked_regions(sizes)
    ]


def _pathology_t2r(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    """All crops of a class together are one candidate, hence one text for several pictures."""
    return [
        _query(
            task,
            kind,
            qry_img_path=patch_name(bank, index),
            tgt_text=[""],
            tgt_img_path=nucleus_names(bank, index, kind),
        )
        for index, kind in asked_nuclei(bank, sizes)
    ]


def _text_rows(task: DemoTask, pairs: Sequence[tuple[str, str]]) -> list[Row]:
    replies = [reply for _, reply in pairs]
    return [_query(task, text, tgt_text=_first(reply, replies)) for text, reply in pairs]


def _chest_t2t(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    reports = [chest_report(bank.chest_case(index)) for index in range(sizes.chest)]
    return _text_rows(task, [(report.findings, report.impression) for report in reports])


def _question_t2t(task: DemoTask, bank: Bank, sizes: Sizes, rng: np.random.Generator) -> list[Row]:
    chests = [bank.chest_case(i) for i in range(sizes.chest // 2)]
    brains = [bank.brain_case(i) for i in range(sizes.brain // 2)]
    cases: list[ChestCase | BrainCase] = [*chests, *brains]
    return _text_rows(task, [advice(case, rng) for case in cases])


ROWS: Mapping[str, Maker] = {
    "skin/i2i": _skin_i2i,
    "pathology/i2i": _pathology_i2i,
    "brain/i2i": _brain_i2i,
    "brain/t1-t2": _brain_cross,
    "brain/t2-t1": _brain_cross,
    "chest/xray-ct": _xray_ct,
    "chest/i2l": _film_i2l,
    "skin/i2l": _skin_i2l,
    "chest_ct/i2l": _chest_ct_i2l,
    "chest_b/i2l": _film_i2l,
    "chest/i2r": _chest_i2r,
    "chest_ct/i2r": _chest_i2r,
    "skin/t2i": _skin_t2i,
    "chest/t2i": _chest_t2i,
    "chest_ct/t2i": _chest_ct_t2i,
    "chest_b/t2i": _chest_t2i,
    "chest/vqa": _chest_vqa,
    "brain/vqa": _brain_vqa,
    "chest/t2r": _chest_t2r,
    "pathology/t2r": _pathology_t2r,
    "chest/t2t": _chest_t2t,
    "question/t2t": _question_t2t,
}
