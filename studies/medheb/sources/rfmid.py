"""RFMiD 1.0: fundus photographs with 45 findings, from both layouts it is handed out in.

Picture numbers start anew in every part, so keys name the part. Classes are found by the names of
columns. Refuses RFMiD 2.0, another data set, and rows that contradict their own risk column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.tables import is_one, read_table

CODES = {
    "DR": "diabetic retinopathy", "ARMD": "age-related macular degeneration", "MH": "media haze",
    "DN": "drusen", "MYA": "myopia", "BRVO": "branch retinal vein occlusion",
    "TSLN": "tessellation", "ERM": "epiretinal membrane", "LS": "laser scars",
    "MS": "macular scar", "CSR": "central serous retinopathy", "ODC": "optic disc cupping",
    "CRVO": "central retinal vein occlusion", "TV": "tortuous vessels",
    "AH": "asteroid hyalosis", "ODP": "optic disc pallor", "ODE": "optic disc edema",
    "ST": "optociliary shunt", "AION": "anterior ischemic optic neuropathy",
    "PT": "parafoveal telangiectasia", "RT": "retinal traction", "RS": "retinitis",
    "CRS": "chorioretinitis", "EDN": "exudation", "RPEC": "retinal pigment epithelium changes",
    "MHL": "macular hole", "RP": "retinitis pigmentosa", "CWS": "cotton wool spots",
    "CB": "coloboma", "ODPM": "optic disc pit maculopathy", "PRH": "preretinal hemorrhage",
    "MNF": "myelinated nerve fibers", "HR": "hemorrhagic retinopathy",
    "CRAO": "central retinal artery occlusion", "TD": "tilted disc",
    "CME": "cystoid macular edema", "PTCR": "post-traumatic choroidal rupture",
    "CF": "choroidal folds", "VH": "vitreous hemorrhage", "MCA": "macroaneurysm",
    "VS": "vasculitis", "BRAO": "branch retinal artery occlusion", "PLQ": "plaque",
    "HPED": "hemorrhagic pigment epithelial detachment", "CL": "collateral",
}  # fmt: skip
RISK, NORMAL = "Disease_Risk", "normal"
# part of the benchmark: end of its table's name, and its picture folder in either layout
PARTS = {
    "train": ("rfmid_training_labels.csv", ("Training", "a. Training Set")),
    "valid": ("rfmid_validation_labels.csv", ("Validation", "b. Validation Set")),
    "test": ("rfmid_testing_labels.csv", ("Test", "c. Testing Set")),
}
DEEP = 5


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The pictures of all parts that are there; Test is tested."""
    tables, places = _look_round(folder)
    records: list[Record] = []
    for part, (name, folders) in PARTS.items():
        place = next((places[one] for one in folders if one in places), None)
        if name not in tables or place is None:
            if part == "test":
                yield Fault(str(folder), "there is no table and folder of the test part in it")
            continue
        for one in _part(part, tables[name], place, settings):
            if isinstance(one, Fault):
                yield one
            else:
                records.append(one)
    yield from _common(records, int(settings["least"]))


def _look_round(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Tables by their name in small letters, picture folders by theirs; mirrors nest both."""
    tables: dict[str, Path] = {}
    places: dict[str, Path] = {}
    wanted = {name for _, folders in PARTS.values() for name in folders}
    level = [folder]
    for _ in range(DEEP):
        for place in level:
            name = place.name if place.name in wanted else ""
            if name and next(place.glob("*.png"), None) is not None:
                places.setdefault(name, place)
            for table in sorted(place.glob("*.csv")):
                tables.setdefault(table.name.lower().split(". ")[-1], table)
        level = [one for place in level for one in sorted(place.iterdir()) if one.is_dir()]
    return tables, places


def _part(
    part: str, table: Path, place: Path, settings: Mapping[str, Any]
) -> Iterator[Record | Fault]:
    try:
        rows = read_table(table, ("ID", RISK))
    except EvidenceError as error:
        yield Fault(table.name, error.reason)
        return
    seen: set[str] = set()
    for line, row in rows:
        where, path = f"{table.name}, line {line}", place / f"{row['ID']}.png"
        labels = _labels(row, settings)
        if isinstance(labels, str):
            yield Fault(where, labels)
        elif row["ID"] in seen or not path.is_file():
            yield Fault(where, f"there is no {path.name}, or it has a row already")
        else:
            seen.add(row["ID"])
            # the image root is the test folder
            name = path.name if part == "test" else f"{part}/{path.name}"
            key = f"{part}/{row['ID']}"
            yield Record(key, key, part, labels, (Picture(name, path),))


def _labels(row: Mapping[str, str], settings: Mapping[str, Any]) -> tuple[str, ...] | str:
    """The positive classes of a row, or what is wrong with it. A new column is a class too."""
    try:
        codes = [name for name in row if name not in ("ID", RISK) and is_one(row[name])]
        risk = is_one(row[RISK])
    except ValueError as error:
        return str(error)
    if codes and not risk:
        return f"no disease risk, but {', '.join(codes)}"
    if not codes:
        return (NORMAL,) if not risk and settings["normal"] == "keep" else ()
    names = CODES if settings["wording"] == "names" else {}
    return tuple(names.get(code, code) for code in codes)


def _common(records: list[Record], least: int) -> Iterator[Record]:
    """The records without those of a class that has too few single-label test pictures."""
    counts = Counter(r.labels[0] for r in records if r.split == "test" and len(r.labels) == 1)
    for record in records:
        if len(record.labels) != 1 or counts[record.labels[0]] >= least:
            yield record


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """How many classes remain."""
    records = [one for one in read(folder, settings) if isinstance(one, Record)]
    classes = {r.labels[0] for r in records if r.split == "test" and len(r.labels) == 1}
    return (
        f"{len(classes)} classes have at least {settings['least']} test pictures with one finding; "
        "a comment in the release speaks of 30.",
    )


CARDS = (
    SourceCard(
        id="rfmid",
        title="Retinal Fundus Multi-disease Image Dataset (RFMiD 1.0)",
        form="2d",
        modality="colour fundus photography",
        anatomy="ophthalmology",
        access="registration",
        licence="CC BY 4.0",
        url="https://ieee-dataport.org/open-access/retinal-fundus-multi-disease-image-dataset-rfmid",
        obtain="Download Test_Set.zip (and, if wanted, the other two) with a free account of IEEE "
        "DataPort, or the all-classes bundle of the RIADD challenge, and unpack it.",
        expects=tuple(
            f"{way}*RFMiD_Testing_[lL]abels.csv" for way in ("", "*/", "*/*/", "*/*/*/")
        ),
        read=read,
        plans=(
            TaskPlan("rfmid/i2i", "exemplars"),
            TaskPlan("rfmid/t2i", "text-exemplars"),
        ),
        labels=(*CODES.values(), NORMAL),
        settings=(
            Choice(
                "normal", "keep", ("keep", "drop"),
                "pictures without disease risk as the class normal; which 30 classes the authors "
                "kept is unknown",
            ),
            Choice(
                "least", 2, (),
                "test pictures with one finding that a class must have to be kept",
            ),
            Choice(
                "wording", "names", ("names", "codes"),
                "diseases in full or as the columns' abbreviations; the authors' are unknown",
            ),
        ),
        held_out=True,
        found=found,
    ),
)  # fmt: skip
