"""De-identified copies of damaged DICOM files: written or refused in words, and naming nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.evidence.identity.deidentify_files import deidentify_folder
from tests.fuzz import bases, mutate
from tests.fuzz.makers import PLANTED

SALT = b"a secret of this test alone, long"
MUTANTS, SEED = 400, 4
# names stood in what was copied as it is
FINDINGS: list[tuple[str, dict[str, Any]]] = [
    ("the index of a disc that calls itself a CT picture",
     {"base": "made:dicom_disc",
      "edits": [["element", "02000200", "312e322e3834302e31303030382e352e312e342e312e312e32"]]}),
    ("a length in the file meta that swallowed the header",
     {"base": "made:dicom_big_endian",
      "edits": [["flip", 262, 1], ["set", 161, "0080"], ["cut", 949], ["delete", 417, 1000],
                ["flip", 804, 2]]}),
]  # fmt: skip


def written(recipe: dict[str, Any], folder: Path) -> list[bytes]:
    """The copies of a mutant's files."""
    source, target = folder / "source", folder / "target"
    source.mkdir(parents=True)
    for name, raw in mutate.make(recipe).items():
        (source / name).write_bytes(raw)
    deidentify_folder([source], target, options=frozenset(), salt=SALT)
    return [path.read_bytes() for path in target.rglob("*") if path.is_file()]


def names_in(raw: bytes) -> list[str]:
    return [word for word in PLANTED.split("^") if word.lower().encode() in raw.lower()]


@pytest.mark.parametrize("found", FINDINGS, ids=lambda found: found[1]["base"])
def test_a_finding_stays_mended(tmp_path: Path, found: tuple[str, dict[str, Any]]) -> None:
    for raw in written(found[1], tmp_path):
        assert names_in(raw) == []


def test_no_copy_of_a_mutant_names_the_patient(tmp_path: Path) -> None:
    names = [name for name in bases.names(handed=False) if "dicom" in name]
    mutator, copies = mutate.Mutator(names, SEED), 0
    for number in range(MUTANTS):
        recipe = mutator.recipe(number)
        for raw in written(recipe, tmp_path / str(number)):
            copies += 1
            assert names_in(raw) == [], recipe
    assert copies > MUTANTS / 3
