"""Query and target pairs for training the demo models, in memory, from train patients only.

Owns the mixture over tasks. The wording is that of the task files (``sources``, ``words``); the
held-out source never appears here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.evidence.item import ModelInput
from studies.demo import pathology, phantom_brain, skin, sources
from studies.demo.bank import Bank, nucleus_crops, nucleus_kinds
from studies.demo.shapes import generator
from studies.demo.words import (
    REGIONS,
    advice,
    brain_questions,
    chest_questions,
    chest_report,
)

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Pair:
    """One positive pair.

    Attributes:
        family: one of the eight families.
        task: id of the task it is like, e.g. ``chest/i2r``.
        instruction: the query's instruction (also in ``query``).
        query: what the model sees as query.
        target: what it sees as candidate; no instruction.
        group: equal for targets that are clinically the same and so not each other's negatives.
    """

    family: str
    task: str
    instruction: str
    query: ModelInput
    target: ModelInput
    group: str


@dataclass(frozen=True)
class Counts:
    """How many train patients of each source are made (each once, when first drawn)."""

    chest: int = 320
    brain: int = 180
    pathology: int = 480
    skin: int = 600
    text: int = 6000


def training_pairs(
    *,
    seed: int,
    count: int,
    slices: int = 64,
    counts: Counts = Counts(),
    tasks: tuple[str, ...] | None = None,
) -> Iterator[Pair]:
    """Stream ``count`` pairs over all eight families.

    Args:
        seed: of the demo; the same seed gives the same pairs.
        count: how many pairs.
        slices: most slices of a volume (fewer are cheaper; the benchmark shows 64).
        counts: train patients per source.
        tasks: keys of ``MAKERS``; all by default.
    """
    bank = Bank(seed, "train", slices=slices)
    rng = generator(seed, "training pairs")
    names = tasks or tuple(MAKERS)
    order: list[str] = []
    for _ in range(count):
        if not order:
            order = [str(name) for name in rng.permutation(names)]
        name = order.pop()
        yield MAKERS[name](name, bank, counts, rng)


def ask(
    instruction: str,
    *,
    text: str | None = None,
    images: tuple[Bytes, ...] = (),
    volume: Bytes | None = None,
) -> ModelInput:
    """A query as a model sees it."""
    return _input(instruction, text, images, volume)


def answer(
    *, text: str | None = None, images: tuple[Bytes, ...] = (), volume: Bytes | None = None
) -> ModelInput:
    """A candidate as a model sees it."""
    return _input(None, text, images, volume)


def _input(
    instruction: str | None, text: str | None, images: tuple[Bytes, ...], volume: Bytes | None
) -> ModelInput:
    return ModelInput(
        instruction,
        () if text is None else (text,),
        tuple(_rgb(image) for image in images),
        () if volume is None else (_rgb(volume),),
    )


def _rgb(grey: Bytes) -> Bytes:
    """Three equal channels unless there are three already."""
    if grey.ndim in (3, 4) and grey.shape[-1] == 3:
        return grey
    return np.repeat(grey[..., None], 3, axis=-1)


Maker = Callable[[str, Bank, Counts, np.random.Generator], Pair]


def _pair(task: str, family: str, query: ModelInput, target: ModelInput, group: str) -> Pair:
    return Pair(family, task, query.instruction or "", query, target, group)


def _text_group(text: str) -> str:
    return f"text:{text.lower()}"


def _two_alike(rng: np.random.Generator, total: int, classes: int) -> tuple[int, int]:
    """Two different patients of one class (classes go round with the number)."""
    first = int(rng.integers(total))
    turns = len(range(first % classes, total, classes))
    step = int(rng.integers(1, turns)) if turns > 1 else 0
    second = first % classes + (first // classes + step) % turns * classes
    return first, second


def _skin_i2i(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    first, second = _two_alike(rng, counts.skin, len(skin.LABELS))
    a, b = bank.lesion(first), bank.lesion(second)
    query = ask(sources.SAME_IMAGE, images=(a.pixels,))
    return _pair(task, "I-I", query, answer(images=(b.pixels,)), f"skin:{b.label}")


def _pathology_i2i(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    first, second = _two_alike(rng, counts.pathology, len(pathology.LABELS))
    a, b = bank.patch(first), bank.patch(second)
    query = ask(sources.SAME_IMAGE, images=(a.pixels,))
    return _pair(task, "I-I", query, answer(images=(b.pixels,)), f"pathology:{b.label}")


def _brain_i2i(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    first, second = _two_alike(rng, counts.brain, len(phantom_brain.LABELS))
    a, b = bank.brain(first), bank.brain(second)
    query = ask(sources.SAME_MRI, volume=a.t2)
    return _pair(task, "I-I", query, answer(volume=b.t2), f"brain t2:{b.case.label}")


def _brain_cross(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    brain = bank.brain(int(rng.integers(counts.brain)))
    forward = task == "brain/t1-t2"
    query = ask(
        sources.T1_TO_T2 if forward else sources.T2_TO_T1, volume=brain.t1 if forward else brain.t2
    )
    target = answer(volume=brain.t2 if forward else brain.t1)
    return _pair(task, "MB-VR", query, target, f"patient:{brain.case.patient}")


def _xray_ct(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    chest = bank.chest(int(rng.integers(counts.chest)))
    query = ask(sources.XRAY_TO_CT, images=(chest.film.pixels,))
    return _pair(task, "MB-VR", query, answer(volume=chest.slices), f"patient:{chest.case.patient}")


def _chest_i2l(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    chest = bank.chest(int(rng.integers(counts.chest)))
    if task == "chest_ct/i2l":
        query = ask(sources.SLICES_QUESTION, text=sources.ASK_CHEST_CT, volume=chest.slices)
    else:
        query = ask(sources.IMAGE_QUESTION, text=sources.ASK_CHEST, images=(chest.film.pixels,))
    label = chest.case.label
    return _pair(task, "I-Lab", query, answer(text=label), _text_group(label))


def _skin_i2l(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    lesion = bank.lesion(int(rng.integers(counts.skin)))
    query = ask(sources.IMAGE_QUESTION, text=sources.ASK_SKIN, images=(lesion.pixels,))
    return _pair(task, "I-Lab", query, answer(text=lesion.label), _text_group(lesion.label))


def _chest_i2r(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    chest = bank.chest(int(rng.integers(counts.chest)))
    if task == "chest_ct/i2r":
        query = ask(sources.CT_REPORT, volume=chest.slices)
    else:
        query = ask(sources.XRAY_REPORT, images=(chest.film.pixels,))
    text = chest_report(chest.case).text
    return _pair(task, "I-Rep", query, answer(text=text), _text_group(text))


def _skin_t2i(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    lesion = bank.lesion(int(rng.integers(counts.skin)))
    query = ask(sources.IMAGE_OF_CATEGORY, text=lesion.label)
    return _pair(task, "T-I", query, answer(images=(lesion.pixels,)), f"skin:{lesion.label}")


def _chest_t2i(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    chest = bank.chest(int(rng.integers(counts.chest)))
    if task == "chest_ct/t2i":
        query = ask(sources.CT_OF_REPORT, text=chest_report(chest.case).text)
        return _pair(
            task, "T-I", query, answer(volume=chest.slices), f"patient:{chest.case.patient}"
        )
    query = ask(sources.IMAGE_OF_CATEGORY, text=chest.case.label)
    return _pair(
        task, "T-I", query, answer(images=(chest.film.pixels,)), f"chest:{chest.case.label}"
    )


def _chest_vqa(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    chest = bank.chest(int(rng.integers(counts.chest)))
    pairs = chest_questions(chest.case)
    question, reply = pairs[int(rng.integers(len(pairs)))]
    query = ask(sources.IMAGE_QUESTION, text=question, images=(chest.film.pixels,))
    return _pair(task, "VQA", query, answer(text=reply), _text_group(reply))


def _brain_vqa(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    brain = bank.brain(int(rng.integers(counts.brain)))
    pairs = brain_questions(brain.case)
    question, reply = pairs[int(rng.integers(len(pairs)))]
    query = ask(sources.MRI_QUESTION, text=question, volume=brain.t2)
    return _pair(task, "VQA", query, answer(text=reply), _text_group(reply))


def _chest_t2r(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    chest = bank.chest(int(rng.integers(counts.chest)))
    name = str(rng.choice(tuple(REGIONS)))
    query = ask(sources.REGION, text=name, images=(chest.film.pixels,))
    return _pair(
        task, "VG", query, answer(images=(chest.region(name),)), f"{chest.case.patient}:{name}"
    )


def _pathology_t2r(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    patch = bank.patch(int(rng.integers(counts.pathology)))
    kind = str(rng.choice(nucleus_kinds(patch)))
    query = ask(sources.REGION, text=kind, images=(patch.pixels,))
    return _pair(
        task, "VG", query, answer(images=nucleus_crops(patch, kind)), f"{patch.patient}:{kind}"
    )


def _impression(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    report = chest_report(bank.chest_case(int(rng.integers(counts.text))))
    query = ask(sources.IMPRESSION, text=report.findings)
    return _pair(task, "T-T", query, answer(text=report.impression), _text_group(report.impression))


def _advice(task: str, bank: Bank, counts: Counts, rng: np.random.Generator) -> Pair:
    index = int(rng.integers(counts.text))
    case = bank.chest_case(index) if rng.random() < 0.5 else bank.brain_case(index)
    question, reply = advice(case, rng)
    return _pair(
        task, "T-T", ask(sources.ANSWER, text=question), answer(text=reply), _text_group(reply)
    )


MAKERS: Mapping[str, Maker] = {
    "skin/i2i": _skin_i2i,
    "pathology/i2i": _pathology_i2i,
    "brain/i2i": _brain_i2i,
    "brain/t1-t2": _brain_cross,
    "brain/t2-t1": _brain_cross,
    "chest/xray-ct": _xray_ct,
    "chest/i2l": _chest_i2l,
    "skin/i2l": _skin_i2l,
    "chest_ct/i2l": _chest_i2l,
    "chest/i2r": _chest_i2r,
    "chest_ct/i2r": _chest_i2r,
    "skin/t2i": _skin_t2i,
    "chest/t2i": _chest_t2i,
    "chest_ct/t2i": _chest_t2i,
    "chest/vqa": _chest_vqa,
    "brain/vqa": _brain_vqa,
    "chest/t2r": _chest_t2r,
    "pathology/t2r": _pathology_t2r,
    "chest/t2t": _impression,
    "question/t2t": _advice,
}
