"""LC25000: five folders of tiles that are copies of fewer originals."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.medheb.builders import choose
from studies.medheb.builders.built import read_built
from studies.medheb.sources import looks
from tests.studies.sources_2d_checks import build, checked, records_of

FOLDERS = {
    "colon_aca": ("colon_image_sets", "colonca"), "colon_n": ("colon_image_sets", "colonn"),
    "lung_aca": ("lung_image_sets", "lungaca"), "lung_n": ("lung_image_sets", "lungn"),
    "lung_scc": ("lung_image_sets", "lungscc"),
}  # fmt: skip
SIDE, COPIES = 128, 4


def tile(*seed: int) -> Image.Image:
    """Coloured discs on a coloured ground: an original."""
    dice = np.random.default_rng(list(seed))
    ground = np.full((SIDE, SIDE, 3), dice.integers(170, 230, 3), np.uint8)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    for _ in range(90):
        middle, radius = dice.integers(0, SIDE, 2), dice.integers(3, 22)
        disc = (rows - middle[0]) ** 2 + (columns - middle[1]) ** 2 < radius**2
        ground[disc] = dice.integers(60, 220, 3)
    return Image.fromarray(ground)


def turned(image: Image.Image, *seed: int) -> Image.Image:
    """As an augmentation program does: turned, cut to what is filled, enlarged, flipped."""
    dice = np.random.default_rng(list(seed))
    angle = float(dice.uniform(-25, 25))
    turn = np.deg2rad(abs(angle))
    inner = SIDE / (np.cos(turn) + np.sin(turn))
    edge = (SIDE - inner) / 2
    image = image.rotate(angle, Image.Resampling.BICUBIC)
    image = image.resize(
        (SIDE, SIDE), Image.Resampling.BICUBIC, (edge, edge, edge + inner, edge + inner)
    )
    if dice.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return image.transpose(Image.Transpose.FLIP_TOP_BOTTOM) if dice.random() < 0.5 else image


def write(folder: Path, originals: int, *, flat: bool = False) -> dict[str, tuple[int, int]]:
    """Tiles by turns: copies of one original are far apart by number. Name to its original."""
    truth = {}
    for number, (code, (above, stem)) in enumerate(FOLDERS.items()):
        place = folder / ("" if flat else above) / code
        place.mkdir(parents=True)
        for count in range(originals * COPIES):
            source = count % originals
            name = f"{stem}{count + 1}.jpeg"
            turned(tile(number, source), number, count).save(place / name, quality=90)
            truth[f"{code}/{name}"] = (number, source)
    return truth


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, tuple[int, int]]]:
    folder = tmp_path_factory.mktemp("lc") / "lung_colon_image_set"
    return folder, write(folder, 8)


def test_copies_of_one_original_are_found_and_kept_on_one_side(official, tmp_path: Path):
    folder, truth = official
    records, faults = records_of("lc25000", folder)
    assert faults == []
    assert len(records) == 5 * 8 * COPIES
    groups: dict[str, set[tuple[int, int]]] = {}
    for record in records:
        groups.setdefault(record.group, set()).add(truth[record.key])
    assert all(len(sources) == 1 for sources in groups.values())  # no two originals in one
    assert len(groups) <= 44  # of 40: nearly every copy is found
    side = choose.side_of_test(records)
    tested = {truth[record.key] for record in side}
    left = {truth[record.key] for record in records if record not in side}
    assert len(tested & left) <= 4
    build("lc25000", folder, tmp_path / "data")
    tasks = checked("lc25000", tmp_path / "data", records, classes=5)
    assert {len(one.queries) for one in tasks.values()} == {len(side)}
    assert "cut 7:3" in read_built(tmp_path / "data")["lc25000/i2l"].notes[0]


def test_an_outer_folder_of_a_mirror_changes_nothing(official):
    folder, _ = official
    inner = records_of("lc25000", folder, near_copies="keep")[0]
    outer = records_of("lc25000", folder.parent, near_copies="keep")[0]
    assert [record.key for record in inner] == [record.key for record in outer]
    assert {record.group for record in inner} == {record.key for record in inner}
    assert inner[0].key == "colon_aca/colonca1.jpeg"


@pytest.mark.parametrize("flat", [True, False])
def test_a_test_folder_is_the_test_part(official, tmp_path: Path, flat: bool):
    folder, _ = official
    mirror = tmp_path / "lung_colon_image_set"
    shutil.copytree(folder, mirror / "Train_and_Validation_Set")
    write(mirror / "Test_Set", 3, flat=flat)
    records, faults = records_of("lc25000", tmp_path)
    assert faults == []
    assert (len(records), {record.split for record in records}) == (60, {"test"})
    build("lc25000", tmp_path, tmp_path / "data")
    checked("lc25000", tmp_path / "data", records, classes=5)
    assert "Test_Set is the test part" in read_built(tmp_path / "data")["lc25000/i2i"].notes[0]
    every, _ = records_of("lc25000", tmp_path, split="cut", near_copies="keep")
    assert len(every) == 60 + 160
    assert len({record.pictures[0].name for record in every}) == 220


def test_a_broken_tile_and_a_missing_class_are_named(official, tmp_path: Path):
    folder = tmp_path / "copy"
    shutil.copytree(official[0], folder)
    (folder / "lung_image_sets" / "lung_n" / "lungn3.jpeg").write_bytes(b"no picture")
    shutil.rmtree(folder / "colon_image_sets" / "colon_aca")
    records, faults = records_of("lc25000", folder, wording="folder")
    assert [fault.where for fault in faults] == ["colon_aca", "lung_n/lungn3.jpeg"]
    assert len(records) == 4 * 32 - 1
    assert {record.labels[0] for record in records} == set(FOLDERS) - {"colon_aca"}


def test_fingerprints_stay_under_turns_and_flips_and_differ_otherwise(tmp_path: Path):
    prints = []
    for number, image in enumerate((tile(1), tile(1).rotate(90), turned(tile(1), 5), tile(2))):
        image.save(tmp_path / f"{number}.png")
        prints.append(looks.rings(tmp_path / f"{number}.png"))
    apart = looks._distances(np.stack(prints), np.stack(prints))
    assert apart[0, 0] < 0.5  # rounding of the squares
    assert apart[0, 1] < apart[0, 2] < apart[0, 3] / 2
    assert np.allclose(apart, apart.T, atol=1e-2)
    assert looks.families(prints[:2]) == [0, 1]  # too few to say what is usual


def test_families_of_blocks_are_those_of_the_whole(monkeypatch):
    dice = np.random.default_rng(1)
    middles = dice.normal(100, 30, (6, looks.RINGS, 6)).astype(np.float32)
    prints = [middles[place % 6] + dice.normal(0, 1, (looks.RINGS, 6)) for place in range(30)]
    whole = looks.families([one.astype(np.float32) for one in prints])
    assert whole == [place % 6 for place in range(30)]
    monkeypatch.setattr(looks, "BLOCK", 7)
    assert looks.families([one.astype(np.float32) for one in prints]) == whole
