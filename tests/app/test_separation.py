"""No number that can be read separates the arms; and a planted separation of each kind is seen.

The lists are of noise that is alike for both models, so that nothing shown can differ.
"""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.presenters.review_media import board_item
from app.widgets.triptych import TriptychBoard
from db.home import Home
from engine.evidence.item import ImageRef, Item
from studies.preference.build import build_from
from studies.preference.key import Arm
from studies.preference.lists import Comparison, Listed
from studies.preference.packs import make_pack
from studies.preference.study import open_study
from studies.preference.unblind import unblind
from studies.preference.wish import Material
from tests.app.separation import Sides, separations, shown, sign_test, stored
from tests.studies.preference_material import PASSPHRASE, wish

ITEMS = 40
CANDIDATES = 8


def noise(path: Path, random: np.random.Generator) -> Item:
    """A small picture of noise; no two have anything in common."""
    pixels = random.integers(0, 256, (10, 12), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return Item(images=(ImageRef(path),))


def material(root: Path) -> Material:
    """Both models draw their lists by lot from the same candidates."""
    random = np.random.default_rng(3)
    root.mkdir()
    made = []
    for row in range(ITEMS):
        listed = [Listed(f"hidden/{row}-{n}", noise(root / f"{row}-{n}.png", random))
                  for n in range(CANDIDATES)]  # fmt: skip
        lists = [tuple(listed[n] for n in random.permutation(CANDIDATES)[:3]) for _ in "AB"]
        query = noise(root / f"{row}-q.png", random)
        made.append(
            Comparison(task_id="hidden/i2i", family="I-I", form="2d", split="id", row=row,
                       query=query, gold=listed[0].name, list_a=lists[0], list_b=lists[1])
        )  # fmt: skip
    return Material((Arm("veiled", "Veiled"), Arm("masked", "Masked")), {"hidden/i2i": tuple(made)})


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The coordinator's folder of a study of noise."""
    root = tmp_path_factory.mktemp("noise")
    home = Home(root / "home").make()
    return build_from(home, material(root / "evidence"), wish(total=ITEMS, identical="show")).path


@pytest.fixture(scope="module")
def key(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    """Item to whether A stands left, from a copy that is unblinded."""
    copy = tmp_path_factory.mktemp("opened") / "study"
    shutil.copytree(built, copy)
    return {name: item.left == "A" for name, item in
            unblind(copy, PASSPHRASE, "to test").key.items.items()}  # fmt: skip


def told(sides: dict[str, Sides], key: dict[str, bool]) -> set[str]:
    """Names of the values that separate the arms."""
    names = sorted(sides)
    found = separations([sides[name] for name in names], [key[name] for name in names])
    return {one.name for one in found}


def test_the_sign_test_is_exact() -> None:
    assert sign_test(5, 10) == 1.0
    assert sign_test(10, 10) == pytest.approx(2 / 1024)
    assert sign_test(260, 382) == pytest.approx(1.37e-12, rel=0.01), "the paper's own counts"


def test_nothing_stored_separates_the_arms(built: Path, key: dict[str, bool],
                                           tmp_path: Path) -> None:  # fmt: skip
    """In the coordinator's file and in a pack."""
    sides = stored(built / "study.sqlite")
    assert len(sides) > ITEMS * 0.8
    assert len(next(iter(sides.values())).left) > 30, "the walk sees the columns"
    assert told(sides, key) == set()
    copy = tmp_path / "study"
    shutil.copytree(built, copy)
    pack = make_pack(copy, tmp_path / "AB.triptych", rater="AB")
    assert told(stored(pack), key) == set()


def media_of(file: Path, key: dict[str, bool], arm: str) -> list[str]:
    """Media of one model's lists that the other does not show in the same item."""
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT item_id, left, right FROM item").fetchall()
    found = []
    for name, left, right in rows:
        own, other = (left, right) if key.get(name) == (arm == "A") else (right, left)
        ids = [{m for panel in json.loads(side) for m in panel["media_ids"]}
               for side in (own, other)]  # fmt: skip
        found += sorted(ids[0] - ids[1])
    return found


def plant_order(file: Path, key: dict[str, bool]) -> None:
    """A's media have the smaller keys: they come first when the table is listed."""
    change(file, media_of(file, key, "A"), lambda n, _row: {"key": n + 1})


def plant_parity(file: Path, key: dict[str, bool]) -> None:
    """A's media have even keys, B's odd ones."""
    for arm, odd in (("A", 0), ("B", 1)):
        names = media_of(file, key, arm)
        change(file, names, lambda n, row, odd=odd: {"key": row["key"] // 2 * 2 + odd + 2 * n})


def plant_name(file: Path, key: dict[str, bool]) -> None:
    """A's media have names one letter longer."""
    with closing(sqlite3.connect(file)) as connection:
        for name in set(media_of(file, key, "A")):
            connection.execute("UPDATE item SET left = replace(left, ?, ?)", (name, f"{name}0"))
            connection.execute("UPDATE item SET right = replace(right, ?, ?)", (name, f"{name}0"))
            connection.execute("UPDATE medium SET media_id = ? WHERE media_id = ?",
                               (f"{name}0", name))  # fmt: skip
        connection.commit()


def plant_packing(file: Path, key: dict[str, bool]) -> None:
    """A's pictures are packed less tightly: the same pixels, larger files."""

    def pack(_n: int, row: sqlite3.Row) -> dict[str, Any]:
        held = io.BytesIO()
        Image.open(io.BytesIO(row["content"])).save(held, format="PNG", compress_level=0)
        return {"content": held.getvalue() + b" " * 40}

    change(file, media_of(file, key, "A"), pack)


def plant_item(file: Path, key: dict[str, bool]) -> None:
    """Items with A on the left come first in the file."""
    with closing(sqlite3.connect(file)) as connection:
        for place, name in enumerate(sorted(key, key=lambda one: not key[one]), 1):
            connection.execute("UPDATE item SET rowid = ? WHERE item_id = ?", (place + 5000, name))
        connection.commit()


def change(file: Path, names: list[str], values: Callable[[int, Any], dict[str, Any]]) -> None:
    """Write other values into rows of the media."""
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        for number, name in enumerate(dict.fromkeys(names)):
            row = connection.execute("SELECT * FROM medium WHERE media_id = ?", (name,)).fetchone()
            for column, value in values(number, row).items():
                connection.execute(f"UPDATE OR IGNORE medium SET {column} = ? WHERE media_id = ?",
                                   (value, name))  # fmt: skip
        connection.commit()


@pytest.mark.parametrize("plant", [plant_order, plant_parity, plant_name, plant_packing,
                                   plant_item], ids=lambda plant: plant.__name__[6:])  # fmt: skip
def test_a_planted_separation_is_seen(plant: Any, built: Path, key: dict[str, bool],
                                      tmp_path: Path) -> None:  # fmt: skip
    copy = tmp_path / "study"
    shutil.copytree(built, copy)
    file = copy / "study.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in names.fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.commit()
    assert told(stored(file), key) == set()
    plant(file, key)
    assert told(stored(file), key), plant.__name__


@pytest.fixture
def board(qtbot: Any) -> TriptychBoard:
    board = TriptychBoard()
    qtbot.addWidget(board)
    board.resize(1280, 700)
    board.show()
    qtbot.waitExposed(board)
    return board


def walk(board: TriptychBoard, built: Path, tmp_path: Path, spoil: Any = None) -> dict[str, Sides]:
    """What both wings look like for every item of one reader."""
    copy = tmp_path / "read"
    if not copy.exists():
        shutil.copytree(built, copy)
    found = {}
    with open_study(copy) as study:
        session = study.session("AB")
        for presentation in iter(session.current, None):
            board.show_item(board_item(presentation, study.media))
            board.grab()
            if spoil is not None:
                spoil(board, presentation.item_id)
            found[presentation.item_id] = shown(board.left, board.right, board.width())
            session.answer("neither", item_id=presentation.item_id, answer_ms=1000)
    return found


def test_nothing_shown_separates_the_arms(
    board: TriptychBoard, built: Path, key: dict[str, bool], tmp_path: Path
) -> None:
    sides = walk(board, built, tmp_path)
    assert told(sides, key) == set()
    assert len(next(iter(sides.values())).left) > 30


def test_a_painting_that_favours_an_arm_is_seen(
    board: TriptychBoard, built: Path, key: dict[str, bool], tmp_path: Path
) -> None:
    """A pixel in the height of the first frame, a tooltip on the second, a style on the third."""

    def spoil(board: TriptychBoard, item: str) -> None:
        frames = (board.left, board.right) if key[item] else (board.right, board.left)
        height = board.left[1].height()
        for wing, spoilt in ((frames[0], 1), (frames[1], 0)):
            wing[0].resize(wing[0].width(), height - spoilt)
            wing[1].setToolTip("." * spoilt)
            wing[2].setStyleSheet("border: 0px;" * spoilt)

    found = told(walk(board, built, tmp_path, spoil), key)
    assert {"1: height", "2: length of toolTip", "3: length of styleSheet"} <= found
