"""USData: Chinese ultrasound reports of breast, thyroid and liver, each with its pictures.

Owns the three lists by organ and the official parts inside them. Texts stay as they are, in Chinese
and with their placeholders for measurements (``_2DS_``, ``_Loc_``); they pass ``scrubbed``. Equal
texts are one candidate. The field ``labels`` is a cluster of the authors' method, no diagnosis, and
is not read. No patient is named; a record of the test part that stands in another part too is
refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.scrubbed import scrubbed
from studies.medheb.sources.words import Found, read_json, telling
from studies.medheb.tasks import stays_inside


@dataclass(frozen=True)
class Organ:
    """Where one organ's part lies: the file of its list and the folder of its pictures."""

    table: str
    pictures: str


ORGANS = {
    "thyroid": Organ("new_Thyroid2.json", "Thyroid_report"),
    "breast": Organ("new_Mammary2.json", "Mammary_report"),
    "liver": Organ("new_Liver2.json", "Liver_report"),
}
OTHER_PARTS = ("train", "val")


@telling
def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The records of the test part."""
    wanted = tuple(ORGANS) if settings["organs"] == "all" else (settings["organs"],)
    for name in wanted:
        organ = ORGANS[name]
        table = find_inside(folder, organ.table)
        place = find_inside(folder, organ.pictures)
        if table is None or place is None:
            yield Fault(organ.table, f"it or {organ.pictures} is not in {folder}: no {name}")
            continue
        if (place / organ.pictures).is_dir():
            place = place / organ.pictures
        yield from _records(name, table, place)


def _records(name: str, table: Path, place: Path) -> Iterator[Found]:
    parts = read_json(table)
    if not isinstance(parts, dict) or not isinstance(parts.get("test"), list):
        yield Fault(table.name, "has no list of a test part")
        return
    elsewhere = {
        str(one.get("uid"))
        for part in OTHER_PARTS
        for one in parts.get(part) or ()
        if isinstance(one, dict)
    }
    seen: set[str] = set()
    for number, one in enumerate(parts["test"]):
        where = f"{table.name}, test {number}"
        uid = str(one.get("uid", "")) if isinstance(one, dict) else ""
        if not uid or uid in seen:
            yield Fault(where, "is no record, or one of that number is there already")
        elif uid in elsewhere:
            yield Fault(where, "stands in another part too: not tested")
        else:
            seen.add(uid)
            yield _record(where, f"{name}/{uid}", one, place)


def _record(where: str, key: str, one: Mapping[str, Any], place: Path) -> Found:
    listed, words = one.get("image_path"), one.get("finding")
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(names, list) or not names or not isinstance(words, str):
        return Fault(where, "lists no pictures, or has no text")
    pictures = []
    for listed_name in names:
        path = _file(place, listed_name)
        if path is None:
            return Fault(where, f"its picture {listed_name!r} is not in {place.name}")
        pictures.append(Picture(f"{place.name}/{path.name}", path))
    return Record(
        key, key, "test", pictures=tuple(pictures), texts={"report": scrubbed(words)},
        stratum=key.split("/")[0],
    )  # fmt: skip


def _file(place: Path, name: object) -> Path | None:
    """A picture by its name below the organ's folder, or by its last part alone."""
    if not isinstance(name, str) or not stays_inside(name):
        return None
    plain = PurePosixPath(name.replace("\\", "/"))
    places = (place / plain, place / plain.name)
    return next((path for path in places if path.is_file()), None)


CARDS = (
    SourceCard(
        id="usdata",
        title="USData (ultrasound reports)",
        form="2d",
        modality="ultrasound with reports",
        anatomy="multi_region",
        access="open",
        licence="None stated",
        url="https://github.com/LijunRio/Ultrasound-Report-Generation",
        obtain="Fetch the archive that the project's page leads to and unpack it.",
        expects=tuple(
            f"{way}{organ.table}" for way in ("", "*/", "*/*/") for organ in ORGANS.values()
        ),
        read=read,
        plans=(TaskPlan("usdata/i2r", "text", {"target": "report"}),),
        settings=(
            Choice(
                "organs", "all", ("all", *ORGANS),
                "the three organs in one pool, which makes it easier, or one alone; the authors' "
                "pool, and whether they translated the texts, is not stated",
            ),
        ),
    ),
)  # fmt: skip
