"""A small study of three models lives its whole life, read by three simulated readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from db.home import Home
from studies.preference.build import build_from
from studies.preference.kit import figures
from studies.preference.kit.reading import report_from
from studies.preference.planner import PlanWish, plan
from studies.preference.study import open_study
from studies.preference.verify import verify
from tests import whole_study
from tests.studies.preference_material import PASSPHRASE, wish
from tests.studies.test_preference_models import of_three

PLAN = plan(PlanWish(total=27, models=3, readers=3, tasks=3, icc=0.02))
READERS = whole_study.readers_of(3)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The study's folder and its kit."""
    folder = tmp_path_factory.mktemp("whole")
    asked = wish(total=27, warmup=1, repeat_share=0.15, repeat_gap=4, guess_items=6, planned=PLAN)
    built = build_from(Home(folder / "home").make(), of_three(folder / "evidence"), asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "figure_files", lambda *_a, **_k: {})  # drawn in tests of their own
        faults = whole_study.whole(
            built.path, PASSPHRASE, folder / "kit", readers=READERS, draws=100
        )
    assert faults == ()
    return built.path, folder / "kit"


def test_every_answer_of_every_reader_is_in_the_kit(lived: tuple[Path, Path]) -> None:
    path, kit = lived
    with open_study(path) as study:
        info = study.info()
    assert info.unblinded
    assert [(pack.rater, pack.answered) for pack in info.packs] == [
        (name, pack.items) for name, pack in zip(READERS, info.packs, strict=True)
    ]
    assert verify(path) == ()
    summary = json.loads((kit / "summary.json").read_text("utf-8"))
    assert summary["raters"] == ["R1", "R2", "R3"]
    assert [(pair["first"], pair["second"]) for pair in summary["pairs"]] == [
        ("A", "B"), ("A", "C"), ("B", "C"),
    ]  # fmt: skip
    shown = sum(pair["overall"]["n"] for pair in summary["pairs"])
    assert shown == summary["flow"]["analysed"] == 3 * info.items - summary["flow"]["flagged"]


def test_the_kit_tells_the_plan_and_is_computed_again(lived: tuple[Path, Path]) -> None:
    _, kit = lived
    methods = (kit / "methods.md").read_text("utf-8")
    assert methods.count(PLAN.sentence) == 3
    assert "Planned were 27 items for 3 raters" in methods
    summary = json.loads((kit / "summary.json").read_text("utf-8"))
    again = report_from(kit)
    assert [one.overall.net.value for one in again.pairs] == [
        pair["overall"]["net"]["value"] for pair in summary["pairs"]
    ]


def test_readers_have_names_of_their_own() -> None:
    many = whole_study.readers_of(12)
    assert len(many) == 12
    assert list(many)[8:10] == ["Reader 9", "Reader 10"]
    assert many["Reader 9"] == many["Ann"]
