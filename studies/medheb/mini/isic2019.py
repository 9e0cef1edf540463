"""ISIC 2019 in miniature: training and test pictures, metadata, one-hot tables of floats.

Owns the layout and its oddities: training names ending in ``_downsampled``, lesions photographed
more than once, lesions without an id, and a class that only the test part knows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_picture, write_table
from studies.medheb.mini.shared import look, number

CLASSES = ("MEL", "NV", "BCC", "AK", "BKL", "DF", "VASC", "SCC", "UNK")
TRAIN, TEST = 8, 4  # pictures per class
PLACES = ("anterior torso", "head/neck", "lower extremity", "")


def write(folder: Path, *, seed: int) -> None:
    """``ISIC_2019_{Training,Test}_Input`` and their tables."""
    for part, count in (("Training", TRAIN), ("Test", TEST)):
        kinds = [k for k in range(len(CLASSES) - (part == "Training")) for _ in range(count)]
        truth, told = [], []
        for place, kind in enumerate(kinds):
            name = f"ISIC_{number(7, seed, part, place)}"
            name += "_downsampled" if part == "Training" and place % 3 == 0 else ""
            pixels = look(kind, seed, "isic2019", part, place, size=48, width=64)
            write_picture(folder / f"ISIC_2019_{part}_Input" / f"{name}.jpg", pixels, quality=90)
            truth.append(_truth(name, kind))
            told.append(_told(name, place, seed))
        extra = ["score_weight", "validation_weight"] if part == "Test" else []
        columns = ["image", *CLASSES, *extra]
        write_table(folder / f"ISIC_2019_{part}_GroundTruth.csv", truth, columns)
        lesion = ["lesion_id"] if part == "Training" else []
        columns = ["image", "age_approx", "anatom_site_general", *lesion, "sex"]
        write_table(folder / f"ISIC_2019_{part}_Metadata.csv", told, columns)


def _truth(name: str, kind: int) -> dict[str, Any]:
    hot = {code: float(place == kind) for place, code in enumerate(CLASSES)}
    return {"image": name, **hot, "score_weight": 1.0, "validation_weight": 0.0}


def _told(name: str, place: int, seed: int) -> dict[str, Any]:
    """The first two pictures of a class show one lesion; every tenth picture names none."""
    shown = place - (place % TRAIN == 1)
    lesion = "" if place % 10 == 9 else f"BCN_{number(7, seed, 'lesion', shown)}"
    return {
        "image": name, "age_approx": 30.0 + 5 * (place % 9), "lesion_id": lesion,
        "anatom_site_general": PLACES[place % 4], "sex": ("male", "female")[place % 2],
    }  # fmt: skip
