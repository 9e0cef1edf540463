"""LC25000: lung and colon tiles in one folder per class, 1,250 originals turned and flipped.

The copies of one original carry no common name, so they are looked for in the pixels and kept
together: on one side of the cut, and never each other's positive. A ``Test_Set`` folder, as one
mirror has it, is the test part; otherwise the tiles are cut 7:3. Held out from training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.folders import find_inside, pictures_in
from studies.medheb.sources.looks import NEAR, by_family, families, rings

CODES = {
    "colon_aca": "colon adenocarcinoma", "colon_n": "benign colonic tissue",
    "lung_aca": "lung adenocarcinoma", "lung_n": "benign lung tissue",
    "lung_scc": "lung squamous cell carcinoma",
}  # fmt: skip
TEST = "Test_Set"
DEEP = 4


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The tiles of all classes, or those of the test folder."""
    test = find_inside(folder, TEST) if settings["split"] == "folder" else None
    for code, label in CODES.items():
        tiles = _tiles(test or folder, code)
        if not tiles:
            yield Fault(code, f"there is no folder {code} with tiles in {test or folder}")
        faults, groups = _groups(tiles, settings)
        yield from faults
        for name, group in groups.items():
            words = label if settings["wording"] == "words" else code
            picture = Picture(name, tiles[name])
            yield Record(name, group, "test" if test else "", (words,), (picture,))


def _tiles(root: Path, code: str) -> dict[str, Path]:
    """The tiles of a class by their name; mirrors nest or part the class folders."""
    found: dict[str, Path] = {}
    level = [root]
    for _ in range(DEEP):
        for place in level:
            for path in pictures_in(place / code) if (place / code).is_dir() else ():
                name = f"{code}/{path.name}"
                found[f"{place.name}/{name}" if name in found else name] = path
        level = [
            one
            for place in level
            for one in sorted(place.iterdir())
            if one.is_dir() and one.name not in CODES
        ]
    return found


def _groups(
    tiles: Mapping[str, Path], settings: Mapping[str, Any]
) -> tuple[list[Fault], dict[str, str]]:
    """What could not be read, and each tile's group."""
    if settings["near_copies"] == "keep":
        return [], {name: name for name in tiles}
    faults, prints = [], {}
    for name, path in tiles.items():
        try:
            prints[name] = rings(path)
        except EvidenceError as error:
            faults.append(Fault(name, error.reason))
    found = families(list(prints.values()), float(settings["near"]))
    return faults, by_family(list(prints), found)


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which split was taken, and what was done about copies."""
    test = settings["split"] == "folder" and find_inside(folder, TEST) is not None
    split = f"The folder {TEST} is the test part." if test else "No test folder: cut 7:3."
    if settings["near_copies"] == "keep":
        return (split, "Turned and flipped copies of one original were not looked for.")
    return (
        split,
        "Turned and flipped copies of one original were looked for in the pixels of each class "
        f"(nearer than {settings['near']} of the median distance) and kept together; no list of "
        "the originals exists to check this against.",
    )


CARDS = (
    SourceCard(
        id="lc25000",
        title="LC25000 (Lung and Colon Cancer Histopathological Images)",
        form="2d",
        modality="histopathology (H&E tiles)",
        anatomy="pathology",
        access="open",
        licence="Free for research, as its authors say; no licence text",
        url="https://github.com/tampapath/lung_colon_image_set",
        obtain="Download LC25000.zip through the links of its repository, or the mirror "
        "javaidahmadwani/lc25000 on Kaggle, which has the test folder, and unpack it.",
        expects=tuple(f"{way}lung_scc" for way in ("", "*/", "*/*/", "*/*/*/")),
        read=read,
        plans=(
            TaskPlan("lc25000/i2l", "label"),
            TaskPlan("lc25000/i2i", "exemplars"),
            TaskPlan("lc25000/t2i", "text-exemplars"),
        ),
        labels=tuple(CODES.values()),
        settings=(
            Choice(
                "split", "folder", ("folder", "cut"),
                f"the folder {TEST} as the test part where there is one, or 7:3 of all tiles",
            ),
            Choice(
                "near_copies", "looks", ("looks", "keep"),
                "turned and flipped copies of one original kept together by their looks, or taken "
                "as different tiles; whether the authors minded them is unknown",
            ),
            Choice(
                "near", NEAR, (),
                "how near two tiles of a class must be to be copies, as a share of the median",
            ),
            Choice(
                "wording", "words", ("words", "folder"),
                "classes in words or as the folders' names; the authors' are unknown",
            ),
        ),
        held_out=True,
        found=found,
    ),
)  # fmt: skip
