"""PMC-VQA: questions on figures of biomedical papers, in both versions of its tables.

Owns the way from options and letters to an answer's text: the option that the letter names, without
the letter. An answer that fits no option is refused unless a setting keeps it. Columns of early
revisions are read under their misspelt names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.tables import each_row
from studies.medheb.sources.words import Found, asked, folded, picture_at, telling, unpacked

LETTERS = "ABCD"
_LETTER = re.compile(r"^([A-D])\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Edition:
    """One test table.

    Attributes:
        table: its file.
        train: the training table that goes with it.
        folder: of the pictures.
        archive: that unpacks to the folder.
    """

    table: str
    train: str
    folder: str
    archive: str


EDITIONS = {
    "1": Edition("test.csv", "train.csv", "images", "images.zip"),
    "2": Edition("test_2.csv", "train_2.csv", "figures", "images_2.zip"),
    "1-clean": Edition("test_clean.csv", "train.csv", "images", "images.zip"),
}


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The questions of the chosen test table."""
    edition = _edition(root, settings)
    table = find_inside(root, edition.table)
    if table is None:
        raise EvidenceError(root / edition.table, "missing", "it is not there")
    folder = unpacked(root, edition.folder, edition.archive)
    if folder is None:
        says = f"there is neither the folder {edition.folder} nor {edition.archive} beside it"
        raise EvidenceError(table, "missing", says)
    trained = _trained(root, edition) if settings["train_figures"] == "drop" else frozenset()
    for line, row in each_row(table, ("Figure_path", "Question", "Choice A")):
        where, figure = f"{table.name}, line {line}", row["Figure_path"]
        if figure in trained:
            yield Fault(where, f"its figure stands in {edition.train} too: not tested")
            continue
        picture = picture_at(folder, figure, where)
        answer = _answer(row, keep=settings["unmatched"] == "keep")
        if isinstance(picture, Fault):
            yield picture
        elif answer is None:
            yield Fault(where, "its answer is none of its options")
        else:
            yield asked(
                where, f"{table.stem}/{line:06d}", row["Question"], answer, group=figure,
                pictures=(picture,),
            )  # fmt: skip


def _edition(root: Path, settings: Mapping[str, Any]) -> Edition:
    """The one asked for; else the first whose pictures are there, or whose table is."""
    if settings["version"] != "auto":
        return EDITIONS[str(settings["version"])]
    tabled = [one for one in EDITIONS.values() if find_inside(root, one.table) is not None]
    whole = [one for one in tabled if unpacked(root, one.folder, one.archive) is not None]
    return (whole or tabled or [EDITIONS["1"]])[0]


def _trained(root: Path, edition: Edition) -> frozenset[str]:
    path = find_inside(root, edition.train)
    if path is None:
        says = "it is needed to leave out figures of the training part, and is not there"
        raise EvidenceError(root / edition.train, "missing", says)
    return frozenset(row["Figure_path"] for _, row in each_row(path, ("Figure_path",)))


def _answer(row: Mapping[str, str], *, keep: bool) -> str | None:
    """The option that is right, without its letter; None where the answer fits none."""
    options = {letter: _option(row.get(f"Choice {letter}", ""), letter) for letter in LETTERS}
    written = row.get("Answer") or row.get("Anwser") or ""
    label = row.get("Answer_label") or row.get("Anwser_label") or ""
    for letter in (label.upper(), written.upper()):
        if options.get(letter):
            return options[letter]
    plain = _LETTER.sub("", written)
    same = [option for option in options.values() if option and folded(option) == folded(plain)]
    return same[0] if same else (plain or None) if keep else None


def _option(text: str, letter: str) -> str:
    """An option without its own letter; another letter in front belongs to the text."""
    found = _LETTER.match(text)
    return text[found.end() :].strip() if found and found[1].upper() == letter else text.strip()


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which table was read."""
    return (f"Read from {_edition(root, settings).table}.",)


CARDS = (
    SourceCard(
        id="pmc_vqa",
        title="PMC-VQA",
        form="2d",
        modality="figures of biomedical papers (mixed)",
        anatomy="multi_region",
        access="open",
        licence="Figures: each under the licence of its article; the set: see its card on the hub",
        url="https://huggingface.co/datasets/RadGenome/PMC-VQA",
        obtain="Download test.csv and images.zip (18.9 GB) for version 1, or test_2.csv and "
        "images_2.zip (2.2 GB) for version 2; the archives may stay packed. No account is needed.",
        files=(Remote("hub", "RadGenome/PMC-VQA", ("test.csv", "images.zip")),),
        expects=tuple(
            f"{way}{one.table}" for way in ("", "*/", "*/*/") for one in EDITIONS.values()
        ),
        read=read,
        plans=(TaskPlan("pmc_vqa/vqa", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "version", "auto", ("auto", *EDITIONS),
                "test.csv, test_2.csv (no compound figures) or the cleaned test.csv; auto takes "
                "them in this order, those with pictures first; the authors' is not stated",
            ),
            Choice(
                "unmatched", "drop", ("drop", "keep"),
                "answers that are none of their options: left out, or taken as they are written",
            ),
            Choice(
                "train_figures", "keep", ("keep", "drop"),
                "test questions on figures that the training table has too; the official split "
                "of version 2 shares figures",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
