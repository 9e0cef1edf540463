"""What the build says to somebody who gives it something wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.control import Control
from studies.errors import StudyError
from studies.medheb.builders import job
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card, source_cards
from studies.medheb.sources import kvasir
from tests.studies.sources_2d_checks import noise, save


def asked(folder: Path, data: Path, source: str = "kvasir", **more: object) -> None:
    given = {"source": source, "folder": str(folder), "data": str(data), **more}
    job.build_job(None, given, Control())  # type: ignore[arg-type]


@pytest.fixture
def official(tmp_path: Path) -> Path:
    for number, code in enumerate(kvasir.CODES):
        save(tmp_path / "kvasir-dataset-v2" / code / "a.jpg", noise(number))
    return tmp_path / "kvasir-dataset-v2"


def test_the_folder_of_the_source_is_no_data_root(official: Path):
    before = sorted(official.rglob("*"))
    with pytest.raises(StudyError, match="give another for the data root"):
        asked(official, official)
    assert sorted(official.rglob("*")) == before


def test_a_pattern_of_another_source_is_told_before_anything_is_read(
    official: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(job, "read_records", lambda *_: pytest.fail("read"))
    with pytest.raises(StudyError, match="feeds kvasir/i2l, kvasir/i2i, kvasir/t2i"):
        asked(official, tmp_path / "data", tasks="aptos2019/i2l")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("card", source_cards(), ids=lambda card: card.id)
def test_a_wrong_folder_is_answered_shortly_and_with_the_way_to_the_files(card, tmp_path: Path):
    (tmp_path / "official" / "holiday").mkdir(parents=True)
    with pytest.raises(StudyError) as told:
        asked(tmp_path / "official", tmp_path / "data", card.id)
    words = str(told.value).removeprefix(str(tmp_path))
    assert "does not look like" in words
    assert card.obtain in words
    assert "*/*" not in words.replace(card.obtain, "")
    assert words.count(" and no ") <= 5
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("cap", 0, "at least 1"),
        ("cap", "-5", "at least 1"),
        ("cap", "many", "a whole number"),
        ("test_share", 1, "at least 0.01 and at most 0.99"),
        ("test_share", "nan", "at least 0.01 and at most 0.99"),
        ("fixed_labels", 1, "at least 2"),
    ],
)
def test_numbers_that_make_no_task_are_refused(name: str, value: object, says: str):
    with pytest.raises(StudyError, match=says):
        settle(source_card("kvasir"), {name: value})


def test_every_default_lies_within_its_own_bounds():
    for card in source_cards():
        given = {choice.name: choice.default for choice in card.settings}
        assert settle(card, given) == settle(card, {})
