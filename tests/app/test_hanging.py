"""Hanging rules: what hangs where, on made-up evidence without a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.presenters.hanging import RULES, hang
from app.views.viewer import LAYOUTS
from engine.errors import EvidenceError
from engine.evidence.study import Evidence


def one(kind="image", *, slices=1, **more):
    path = Path(f"{more.get('modality')}-{slices}.dcm")
    known = {"subject": "p", "study": "s", "day": 100, "shape": (slices, 64, 64)}
    return Evidence(path=path, members=(path,), kind=kind, **{**known, **more})


def breast(side, view, **more):
    return one(modality="MG", laterality=side, view=view, **more)


def ct(plane="LPS", **more):
    more = {"slices": 50, "orientation": plane, "modality": "CT", "body_part": "CHEST", **more}
    return one("volume", **more)


def test_every_rule_is_whole():
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        rows, columns = LAYOUTS[rule.layout]
        assert len(rule.slots) <= rows * columns
        assert rule.text or rule.id == "single"


def test_nothing_to_hang():
    assert hang([]) is None
    assert hang([one("report", text="words"), one("error", error=EvidenceError("x", "bad", "y"))
                 ]) is None  # fmt: skip


def test_a_single_series_hangs_alone_and_the_longest_comes_first():
    hung = hang([one(modality="CT"), ct()])
    assert (hung.rule, hung.layout, hung.rows) == ("single", "1", (1,))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
def test_four_mammograms_hang_back_to_back(order):
    views = [breast("L", "MLO"), breast("R", "CC"), breast("L", "CC"), breast("R", "MLO")]
    found = [views[place] for place in order]
    hung = hang(found)
    assert (hung.rule, hung.layout) == ("mammogram", "2x2")
    shown = [(found[row].laterality, found[row].view) for row in hung.rows]
    assert shown == [("R", "CC"), ("L", "CC"), ("R", "MLO"), ("L", "MLO")]
    assert hung.flipped == frozenset()


def test_a_breast_whose_chest_wall_looks_outwards_is_flipped():
    # Right breast on the left: its chest wall, to the back of the patient, belongs to the right.
    found = [breast("R", "CC", orientation="AL"), breast("L", "CC", orientation="AR")]
    hung = hang(found)
    assert (hung.rule, hung.rows, hung.flipped) == ("mammogram-cc", (0, 1), frozenset({0}))
    found = [breast("R", "CC", directions="PL"), breast("L", "CC", directions="PR")]
    assert hang(found).flipped == frozenset({1})


def test_a_half_mammogram_is_no_mammogram_hanging():
    assert hang([breast("R", "CC"), breast("R", "MLO")]).rule == "single"


def test_frontal_beside_lateral():
    lateral, frontal = one(modality="DX", view="LL"), one(modality="DX", view="PA")
    hung = hang([lateral, frontal])
    assert (hung.rule, hung.rows) == ("radiograph-pair", (1, 0))
    other = one(modality="DX", view="PA", study="another", day=None)
    assert hang([lateral, other]).rule == "single"


def test_the_newer_study_hangs_left_of_its_prior():
    prior, current = ct(study="old", day=10), ct(study="new", day=400, slices=40)
    hung = hang([prior, current])
    assert (hung.rule, hung.layout, hung.rows) == ("prior", "1x2", (1, 0))
    assert "left" in hung.text


@pytest.mark.parametrize(
    "other",
    [
        {"subject": "q"}, {"subject": None}, {"modality": "MR"}, {"body_part": "ABDOMEN"},
        {"day": None}, {"day": 400}, {"orientation": "LIP"},
    ],
)  # fmt: skip
def test_what_is_not_a_prior_does_not_hang_as_one(other):
    current = ct(study="new", day=400)
    hung = hang([ct(**{"study": "old", "day": 10, **other}), current])
    assert hung.rule != "prior"


def test_planes_of_one_study():
    found = [ct("PIR", modality="MR"), ct("LPS", modality="MR"), ct("LIP", modality="MR")]
    assert hang(found).rows == (1, 2, 0)
    assert hang(found).rule == "planes"
    assert hang(found[1:]).rule == "two-planes"
    assert hang(found[:2]).rule == "two-planes-sagittal"
    other = [found[0], ct("LPS", modality="MR", study="another", day=100)]
    assert hang(other).rule == "single"


def test_of_two_equal_studies_the_newer_hangs():
    old = [breast("R", "CC", study="old", day=1), breast("L", "CC", study="old", day=1)]
    new = [breast("R", "CC", study="new", day=9), breast("L", "CC", study="new", day=9)]
    assert hang([*old, *new]).rows in ((2, 3), (2, 0))  # the study itself, or breast and prior
    assert hang([*old, *new]).rule == "mammogram-cc"


def test_unreadable_pictures_never_hang():
    broken = ct(error=EvidenceError("x", "truncated", "cut short"))
    assert hang([broken, one(modality="CT")]).rows == (1,)
