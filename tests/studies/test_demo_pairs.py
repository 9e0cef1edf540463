"""Training pairs: all families, train patients only, never the held-out source."""

from __future__ import annotations

import numpy as np

from studies.demo.registry import demo_tasks
from studies.demo.train_pairs import MAKERS, Counts, Pair, training_pairs

COUNTS = Counts(chest=8, brain=6, pathology=12, skin=12, text=50)


def _pairs(count: int, *, tasks: tuple[str, ...] | None = None) -> list[Pair]:
    return list(training_pairs(seed=0, count=count, slices=4, counts=COUNTS, tasks=tasks))


def test_pairs_cover_the_families_with_the_wording_of_the_tasks() -> None:
    pairs = _pairs(2 * len(MAKERS))
    tasks = {task.id: task for task in demo_tasks()}
    assert {pair.family for pair in pairs} == {task.family for task in tasks.values()}
    for pair in pairs:
        task = tasks[pair.task]
        assert task.split == "id"
        assert pair.instruction == pair.query.instruction == task.qry_inst
        assert pair.target.instruction is None
        assert pair.family == task.family
        shown = {"image": pair.query.images, "volume": pair.query.volumes}
        assert all(bool(seen) == (kind in task.query) for kind, seen in shown.items())
        assert bool(pair.query.texts) == ("text" in task.query)
        assert bool(pair.target.texts) == (task.candidate == "text")


def test_the_held_out_source_and_test_patients_stay_away() -> None:
    held = {task.id for task in demo_tasks() if task.split == "held-out"}
    assert held
    assert not held & set(MAKERS)
    assert set(MAKERS) | held == {task.id for task in demo_tasks()}
    pairs = _pairs(40, tasks=("chest/t2r", "pathology/t2r", "brain/t1-t2"))
    for pair in pairs:
        assert "-TR" in pair.group
        assert "CHESTB" not in pair.group


def test_pairs_repeat_with_the_seed_and_keep_shapes() -> None:
    chosen = ("chest_ct/t2i", "brain/vqa", "skin/i2i")
    first, again = _pairs(6, tasks=chosen), _pairs(6, tasks=chosen)
    for a, b in zip(first, again, strict=True):
        assert (a.task, a.group, a.query.texts) == (b.task, b.group, b.query.texts)
        for x, y in zip(
            (*a.query.images, *a.target.volumes), (*b.query.images, *b.target.volumes), strict=True
        ):
            assert np.array_equal(x, y)
    for pair in first:
        for volume in (*pair.query.volumes, *pair.target.volumes):
            assert volume.shape == (4, 96, 96, 3)
            assert volume.dtype == np.uint8
        for image in (*pair.query.images, *pair.target.images):
            assert image.shape[2] == 3


def test_equal_targets_share_a_group() -> None:
    pairs = _pairs(60, tasks=("skin/i2l", "chest/t2t", "skin/t2i"))
    for family in ("I-Lab", "T-T"):
        groups = {pair.target.texts: pair.group for pair in pairs if pair.family == family}
        assert len(set(groups.values())) == len(groups)
    images = {pair.group for pair in pairs if pair.family == "T-I"}
    assert images <= {
        f"skin:{label}"
        for label in (
            "Melanoma",
            "Melanocytic nevus",
            "Basal cell carcinoma",
            "Seborrheic keratosis",
            "Vascular lesion",
            "Dermatofibroma",
        )
    }
