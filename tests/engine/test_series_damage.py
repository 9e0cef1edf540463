"""Series with damaged headers: every file ends as evidence or as an error with a sentence."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EvidenceError
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.orient import upright
from engine.evidence.show import describe
from engine.evidence.stack import open_stack
from engine.evidence.study import Evidence
from engine.evidence.tilt import even, straighten
from tests.engine.test_series_frames import enhanced
from tests.engine.test_series_groups import picture

BYTES = (0x00, 0x20, 0x2D, 0x31, 0x39, 0x45, 0x5C, 0xFF)


def sources(folder: Path) -> dict[str, bytes]:
    """A tilted series of two time points, and a file of six frames out of order."""
    folder.mkdir()
    for time in range(2):
        for place in range(4):
            picture(
                folder, f"{time}{place}", 10 * time + place, (0, 0.3 * place, place),
                AcquisitionNumber=time, SliceLocation=place, TriggerTime=4 * time,
                EchoTime=3 + time, FrameOfReferenceUID="1.2.3", RescaleSlope=1,
                RescaleIntercept=-4,
            )  # fmt: skip
    frames = [
        (float(place), {"TemporalPositionIndex": time, "DimensionIndexValues": [place + 1, time]})
        for time in (1, 2) for place in (2, 0, 1)
    ]  # fmt: skip
    enhanced(folder / "frames", frames)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def damaged(raw: bytes, chance: random.Random) -> bytes:
    """A few bytes changed, mostly into what headers are made of."""
    changed = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 5))):
        changed[chance.randrange(300, len(raw))] = chance.choice(
            (*BYTES, chance.randrange(256))
        )  # fmt: skip
    return bytes(changed)


def use(evidence: Evidence) -> None:
    """Everything a viewer does with a series."""
    describe(evidence)
    if evidence.shape is None or evidence.error is not None:
        return
    filled, loaded = open_stack(evidence).fill(), load_pixels(evidence)
    assert np.array_equal(filled.array, loaded.array, equal_nan=loaded.array.dtype.kind == "f")
    assert filled.window == loaded.window
    for pixels in (upright(loaded), straighten(loaded), even(loaded)):
        if pixels.geometry is not None:
            assert len(pixels.geometry.origin_Z3) == len(pixels.array)
            pixels.geometry.index(pixels.geometry.point((0, 0, 0)))


@pytest.mark.parametrize("seed", range(4))
def test_damage_in_headers_never_escapes(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    files = sources(tmp_path / "source")
    folder = tmp_path / "damaged"
    folder.mkdir()
    for _ in range(20):
        for name, raw in files.items():
            (folder / name).write_bytes(damaged(raw, chance) if chance.random() < 0.4 else raw)
        found = list(find_evidence([folder], salt=b"s"))
        seen = [path for one in found for path in one.members]
        left_out = sum("duplicate" in note for one in found for note in one.notes)
        assert len(seen) == len(set(seen))
        assert left_out or len(seen) == len(files)
        for evidence in found:
            with suppress(EvidenceError):
                use(evidence)
