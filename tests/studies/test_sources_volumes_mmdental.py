"""MMDental from its official layout: visits, encodings, three planes in canonical orientation."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
from PIL import Image

from engine.control import Control
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import read_records
from studies.medheb.sources import mmdental
from studies.medheb.sources.stacks import read_grid
from tests.studies.volume_files import build, nii, slices_of, tasks_of, texts_of

COLUMNS = ["Filename", "Sex", "Age", "Main appeal", "Subsequent", "Present medical history",
           "Past medical history", "Oral Check", "Diagnosis", "Treatment plan", "Handle",
           "Doctor advices"]  # fmt: skip
WITH_VOLUME = (3, 12, 45, 49, 101, 300, 492)
SHAPE = (30, 26, 22)
TURNED = np.array([[0, 0.3, 0, 5], [-0.4, 0, 0, 5], [0, 0, -0.5, 5], [0, 0, 0, 1.0]])


def cbct(number: int) -> np.ndarray:
    values = np.random.default_rng(number).integers(-900, 2000, SHAPE).astype(np.int16)
    values[:2] = 0
    return values


def visit(number: int, check: str, diagnosis: str, plan: str) -> list[str]:
    return [str(number), "F", "30", "Pain", "", "", "", check, diagnosis, plan, "Done", "Rest"]


def rows() -> list[list[str]]:
    made = []
    for number in (*WITH_VOLUME[:-1], *range(600, 613)):
        word = f"kind {'abcdefghijklmnopqrstuvwxyz'[number % 26]}"
        made.append(visit(number, "Caries &amp; plaque", "", ""))  # nothing decided yet
        made.append(
            visit(number, "Deep\ncaries", f"Pulpitis of tooth 36, {word}", f"Filling {word}")
        )
        made.append(visit(number, "Better", "Healed", "Crown"))
    made.append(visit(700, "x", "Diagnosis alone", ""))
    made.append(["not a number", *[""] * 7, "x", "y", "", ""])
    return made


def write(path: Path, encoding: str) -> None:
    stream = io.StringIO()
    csv.writer(stream).writerows([COLUMNS, *rows()])
    path.write_bytes(stream.getvalue().replace("tooth 36", "tooth 36（牙）").encode(encoding))


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mmdental")
    for number in WITH_VOLUME:
        nii(root / "MMDental" / str(number) / f"{number}.nii.gz", cbct(number), affine=TURNED)
    write(root / "MMDental" / "medical_records.csv", "gb18030")
    return root


@pytest.fixture(scope="module")
def built(official: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, dict]:
    data = tmp_path_factory.mktemp("data")
    return build("mmdental", official, data), tasks_of("mmdental", data)


def test_both_tasks_agree_on_who_is_tested(official: Path, built: tuple[dict, dict]):
    card = source_card("mmdental")
    records, _ = read_records(card, official, settle(card, {}), Control())
    sides: dict[str, set[str]] = {}
    for record in records:
        sides.setdefault(record.group, set()).add(record.split)
    assert all(len(of) == 1 for of in sides.values())
    tested = {group for group, of in sides.items() if of == {"test"}}
    volumes = {Path(slices_of(q.item)[0]).parent.name for q in built[1]["mmdental/i2r"].queries}
    assert volumes <= tested
    assert len(volumes) == 2  # 30 % of seven
    assert len(built[1]["mmdental/t2t"].queries) == len(tested - {"700", "492"})


def test_the_first_telling_visit_speaks_and_entities_are_words(built: tuple[dict, dict]):
    document, tasks = built
    for query in tasks["mmdental/i2r"].queries:
        assert query.gold.startswith("Pulpitis of tooth 36（牙）, kind")
    for query in tasks["mmdental/t2t"].queries:
        assert not query.item.volumes
        assert query.item.text.split("kind")[1] == query.gold.split("kind")[1]
    assert "Healed" not in texts_of(tasks["mmdental/t2t"])
    reasons = {fault["where"]: fault["reason"] for fault in document["faults"]}
    assert "no row in the table" in reasons["volume 492"]
    assert any("row" in where and "number" in reason for where, reason in reasons.items())


def test_twenty_slices_of_each_plane_in_canonical_orientation(
    official: Path, built: tuple[dict, dict]
):
    query = built[1]["mmdental/i2r"].queries[0]
    paths = slices_of(query.item)
    number = int(Path(paths[0]).parent.name)
    file = official / "MMDental" / str(number) / f"{number}.nii.gz"
    turned = np.asanyarray(nib.as_closest_canonical(nib.load(file)).dataobj)
    assert np.array_equal(mmdental.canonical(read_grid(file)), turned)
    values = cbct(number)
    low, high = np.percentile(values[values != 0], (0.5, 99.5))
    assert len(paths) == 60
    for place, axis in enumerate((2, 1, 0)):
        last = turned.shape[axis] - 1
        chosen = np.linspace(0.05 * last, 0.95 * last, 20).astype(int)
        for step in (0, 19):
            wanted = turned.take(chosen[step], axis).T
            wanted = np.clip((wanted - low) / (1.2 * (high - low)), 0, 1) * 255
            seen = np.asarray(Image.open(paths[20 * place + step])).astype(int)
            assert np.abs(seen - wanted).max() <= 1


def test_visits_and_reports_are_settings(official: Path, tmp_path: Path):
    for visits, says in (("all", "Healed"), ("joined", "Healed")):
        given = {"visits": visits, "report": "oral check and diagnosis"}
        build("mmdental", official, tmp_path / visits, settings=given)
        tasks = tasks_of("mmdental", tmp_path / visits)
        assert says in texts_of(tasks["mmdental/t2t"])
        report = tasks["mmdental/i2r"].queries[0].gold
        assert report.startswith("Deep caries Pulpitis")
        assert ("Better Healed" in report) == (visits == "joined")


def test_equal_plans_are_one_candidate(official: Path, tmp_path: Path):
    build("mmdental", official, tmp_path, settings={"visits": "all"}, tasks="mmdental/t2t")
    (data,) = tasks_of("mmdental", tmp_path).values()
    names = [query.gold for query in data.queries]
    assert names.count("Crown") > 1
    crowns = {id(c) for q in data.queries for c in q.candidates if c.name == "Crown"}
    assert len(crowns) == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8"])
def test_other_encodings_and_the_challenge_edition(tmp_path: Path, encoding: str):
    root = tmp_path / "official"
    nii(root / "Train-Labeled" / "3" / "3.nii.gz", cbct(3))
    write(root / "Train-Labeled.csv", encoding)
    build("mmdental", root, tmp_path / "data", tasks="mmdental/t2t")
    assert "（牙）" in texts_of(tasks_of("mmdental", tmp_path / "data")["mmdental/t2t"])
