"""MedPix 2.0 in miniature: the repository with its cases, and the hub's copy of questions.

Owns the layout and its oddities: picture names without their ending, keys that are missing in place
of null, ``TAC`` here and ``CT`` there for one modality, and the copy whose column ``image_id`` is
the picture itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import (
    picture_bytes,
    write_json,
    write_json_lines,
    write_parquet,
    write_picture,
    write_table,
)
from studies.medheb.mini.questions import finding, organ, place, sentence
from studies.medheb.mini.shared import Pixels, look, number

LOCATIONS = (
    "Head", "Thorax", "Abdomen", "Spine and Muscles", "Reproductive and Urinary System",
)  # fmt: skip
PARTS = (("train", 5), ("dev", 2), ("test", 6))
HUB = {"train": "Train", "dev": "Valid", "test": "Test"}
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """``MedPix-2-0/...`` and ``MEDPIX-ClinQA/data/*.parquet``."""
    base = folder / "MedPix-2-0"
    cases: dict[str, list[Row]] = {}
    pictures: dict[str, list[Row]] = {}
    hub: dict[str, list[Row]] = {}
    start = 0
    for part, count in PARTS:
        cases[part] = [_case(seed, case) for case in range(start, start + count)]
        pictures[part] = [one for case in cases[part] for one in _described(case)]
        hub[part] = [_asked(case, one) for case in cases[part] for one in _described(case)]
        start += count
        for case in cases[part]:
            for name in case["TAC"] + case["MRI"]:
                write_picture(base / "images" / f"{name}.png", _pixels(case, name))
    _write_tables(base, cases, pictures)
    for part, rows in hub.items():
        path = folder / "MEDPIX-ClinQA" / "data" / f"{HUB[part]}-00000-of-00001.parquet"
        write_parquet(path, rows)


def _case(seed: int, case: int) -> Row:
    """A case of two pictures; some have no treatment, for whoever expects the key."""
    uid = f"MPX{number(4, seed, 'medpix', case)}"
    names = [f"{uid}_synpic{number(5, seed, 'synpic', case, shot)}" for shot in range(2)]
    told = {
        "Title": f"{finding(case).capitalize()} of the {organ(case)}",
        "History": f"{30 + case} year old with pain.",
        "Exam": "Tender.",
        "Findings": sentence(case, seed, "medpix"),
        "Differential Diagnosis": f"{finding(case + 1)}; {finding(case + 2)}",
        "Case Diagnosis": f"{finding(case)} of the {organ(case)}, {place(case)}",
        "Diagnosis By": "Imaging",
        "Treatment & Follow Up": "Follow up in a year.",
        "Discussion": sentence(case, seed, "discussion"),
    }
    if case % 3 == 2:
        del told["Treatment & Follow Up"], told["Exam"]
    topic = {"Title": told["Title"], "Disease Discussion": sentence(case, seed), "ACR Code": "3.1"}
    topic |= {"Category": "Diffuse", "Keywords": finding(case)}
    slices = {"TAC": names, "MRI": []} if case % 2 else {"TAC": [], "MRI": names}
    return {"U_id": uid, **slices, "Case": told, "Topic": topic, "kind": case}


def _described(case: Row) -> list[Row]:
    kind = case["kind"]
    rows = []
    for shot, name in enumerate(case["TAC"] + case["MRI"]):
        told = {
            "ACR Codes": "3.1", "Age": "45", "Caption": sentence(kind, name),
            "Modality": "CT - noncontrast",
            "Plane": ("Axial", "Coronal")[shot], "Sex": "female",
        }  # fmt: skip
        if not case["TAC"]:
            told["Modality"] = "MR - T2W"
        if shot:
            del told["Age"]
        rows.append(
            {
                "Type": "CT" if case["TAC"] else "MR", "U_id": case["U_id"], "image": name,
                "Description": told, "Location": organ(kind).capitalize(),
                "Location Category": LOCATIONS[kind % 5],
            }
        )  # fmt: skip
    return rows


def _asked(case: Row, one: Row) -> Row:
    """A row of the hub's copy."""
    content = picture_bytes(_pixels(case, one["image"]))
    second = one["image"].endswith(tuple((case["TAC"] + case["MRI"])[1:]))
    pair = (
        ("What is the diagnosis?", case["Case"]["Case Diagnosis"]),
        ("What does the picture show?", case["Case"]["Findings"]),
    )[second]
    return {
        "image_id": {"bytes": content, "path": f"{one['image']}.png"}, "mode": one["Type"],
        "case_id": case["U_id"], "question": pair[0], "answer": pair[1],
    }  # fmt: skip


def _pixels(case: Row, name: str) -> Pixels:
    return look(case["kind"], name, grey=True)


def _write_tables(base: Path, cases: dict[str, list[Row]], pictures: dict[str, list[Row]]) -> None:
    plain = {
        part: [{k: v for k, v in case.items() if k != "kind"} for case in rows]
        for part, rows in cases.items()
    }
    write_json(base / "Case_topic.json", [case for rows in plain.values() for case in rows])
    write_json(base / "Descriptions.json", [one for rows in pictures.values() for one in rows])
    for part in plain:
        write_json_lines(base / "splitted_dataset" / f"data_{part}.jsonl", plain[part])
        write_json_lines(base / "splitted_dataset" / f"descriptions_{part}.jsonl", pictures[part])
    uids = {part: [case["U_id"] for case in rows] for part, rows in plain.items()}
    write_json(base / "splitted_dataset" / "uid_list.json", uids)
    rows = [
        {"Type": one["Type"], "U_id": one["U_id"], "ID_Image": one["image"]}
        for found in pictures.values()
        for one in found
    ]
    columns = ["Type", "U_id", "ID_Image", "Img_Large", "URL_Article_image"]
    write_table(base / "images_overview.csv", rows, columns)
