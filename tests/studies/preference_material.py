"""Small made-up lists of two made-up models over real files, for the tests of studies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from db.home import Home
from engine.evidence.item import ImageRef, Item, VolumeRef
from studies.preference.build import BuiltStudy, build_from
from studies.preference.key import Arm
from studies.preference.lists import Comparison, Listed
from studies.preference.protocol import Protocol
from studies.preference.wish import Material, Wish

MODEL_A, MODEL_B = "veiledmodel-alpha", "maskedmodel-beta"
PASSPHRASE = "open sesame"
GOLD, STRATUM_WORDS = "hushgold", ("only_a", "only_b")
# Nothing of this may be found in what a rater holds.
SECRETS = (
    MODEL_A,
    MODEL_B,
    "Veiled Title",
    "Masked Title",
    "rev-4711-abc",
    "weights-0815-def",
    "fingerprint-99",
    "hiddensource",
    GOLD,
    "secretfolder",
    "quietpatient",
    *STRATUM_WORDS,
)
# (A's order, B's order) over candidates 0..4; candidate 0 is right
ORDERS = (
    ((0, 1, 2), (0, 2, 1)),
    ((0, 1, 2), (1, 0, 2)),
    ((3, 1, 0), (0, 4, 2)),
    ((1, 2, 3), (4, 3, 0)),
    ((2, 1, 0), (2, 1, 0)),
    ((0, 3, 4), (2, 1, 3)),
)


def _picture(path: Path, seed: int, *, colour: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = (24, 32, 3) if colour else (24, 32)
    pixels = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    told = PngInfo()
    told.add_text("Comment", f"quietpatient {GOLD}")
    Image.fromarray(pixels).save(path, pnginfo=told)
    return path


def _item(root: Path, form: str, name: str, seed: int) -> Item:
    if form == "text":
        return Item(text=f"statement number {seed}")
    if form == "2d":
        return Item(images=(ImageRef(_picture(root / name, seed, colour=seed % 2 == 0)),))
    slices = tuple(_picture(root / name / f"slice_{i:03}.png", 100 * seed + i) for i in range(3))
    return Item(volumes=(VolumeRef(slices),))


def comparisons(root: Path, task: str, family: str, form: str, count: int) -> tuple:
    """``count`` queries of one task, the top-1 patterns of ``ORDERS`` in turn."""
    made = []
    for row in range(count):
        base = abs(hash_of(task)) % 1000 + 10 * row
        names = [
            f"secretfolder/{GOLD if n == 0 else 'other'}_{task.replace('/', '_')}_{row}_{n}.png"
            for n in range(5)
        ]
        listed = [Listed(n, _item(root, form, n, base + i)) for i, n in enumerate(names)]
        order_a, order_b = ORDERS[row % len(ORDERS)]
        query = _item(
            root, form, f"secretfolder/query_{task.replace('/', '_')}_{row}.png", base + 9
        )
        made.append(
            Comparison(
                task_id=task,
                family=family,
                form=form,
                split="id",
                row=row,
                query=query,
                gold=names[0],
                list_a=tuple(listed[i] for i in order_a),
                list_b=tuple(listed[i] for i in order_b),
            )
        )
    return tuple(made)


def hash_of(word: str) -> int:
    return sum((place + 1) * ord(letter) for place, letter in enumerate(word))


def material(root: Path, *, per_task: int = 12) -> Material:
    tasks = {
        "hiddensource/i2i": ("I-I", "2d", per_task),
        "hiddensource/bridge": ("MB-VR", "3d", per_task // 2),
        "hiddensource/t2t": ("T-T", "text", per_task),
    }
    arm_a = Arm(MODEL_A, "Veiled Title", "rev-4711-abc", "weights-0815-def", "fingerprint-99")
    arm_b = Arm(MODEL_B, "Masked Title", "rev-4711-abc", "weights-0815-def", "fingerprint-99")
    made = {task: comparisons(root, task, *rest) for task, rest in tasks.items()}
    return Material((arm_a, arm_b), made, {"hiddensource/gone": "no file"})


def wish(**changes: object) -> Wish:
    """A wish; fields of the protocol may stand among the others (no warm-up unless asked for)."""
    of_protocol = {n: v for n, v in changes.items() if n in Protocol.__dataclass_fields__}
    others = {name: value for name, value in changes.items() if name not in of_protocol}
    values = {"title": "Chest 2026", "total": 24, "seed": 11, "passphrase": PASSPHRASE}
    protocol = Protocol(**{"warmup": 0, "repeat_share": 0.0, "guess_items": 0, **of_protocol})
    return Wish(**{**values, "protocol": protocol, **others})


def small_study(tmp_path: Path, *, per_task: int = 12, **changes: object) -> BuiltStudy:
    """A study of three tasks in a home below ``tmp_path``."""
    home = Home(tmp_path / "home").make()
    return build_from(home, material(tmp_path / "evidence", per_task=per_task), wish(**changes))
