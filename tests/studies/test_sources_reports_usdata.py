"""USData: lists of pictures a report, parts as keys of each organ's JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.errors import StudyError
from studies.medheb.tasks import load_tasks
from tests.studies.sources_2d_checks import build, noise, records_of, rows_of, save
from tests.studies.sources_report_checks import free_of, report_task, texts_of

TASK = "usdata/i2r"
ORGANS = {
    "Thyroid": "甲状腺右叶大小约_2DS_，回声均匀。",
    "Mammary": "双侧乳腺_Loc_见结节，大小约_3DS_ mm。",
    "Liver": "肝脏大小正常，_r_未见异常。",
}


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder = tmp_path / "USData"
    for organ, text in ORGANS.items():
        parts: dict[str, list] = {}
        for start, part in enumerate(("train", "val", "test")):
            parts[part] = []
            for place in range(3):
                uid = start * 100 + place
                names = [f"{uid}_1.jpeg", f"{uid}_2.jpeg"]
                for side, name in enumerate(names):
                    save(folder / f"{organ}_report" / name, noise(len(organ), uid, side))
                # the first two of each organ share one text
                finding = f"{text}{part}{max(place, 1)}"
                parts[part].append(
                    {
                        "uid": uid, "finding": finding, "image_path": names, "labels": 3,
                        "split": part,
                    }
                )  # fmt: skip
        document = json.dumps(parts, ensure_ascii=False)
        (folder / f"new_{organ}2.json").write_bytes(b"\xef\xbb\xbf" + document.encode())
    (folder / "key_technical_words.txt").write_text("words")
    return folder


def change(folder: Path, organ: str, part: str, place: int, **fields: object) -> None:
    path = folder / f"new_{organ}2.json"
    parts = json.loads(path.read_text("utf-8-sig"))
    parts[part][place] |= fields
    path.write_text(json.dumps(parts))


@pytest.mark.parametrize("nested", [False, True])
def test_lists_of_pictures_ask_for_their_report(official: Path, tmp_path: Path, nested: bool):
    if nested:
        for organ in ORGANS:
            inner = official / f"{organ}_report"
            inner.rename(official / "x")
            inner.mkdir()
            (official / "x").rename(inner / inner.name)
    document = build("usdata", official.parent if nested else official, tmp_path / "data")
    assert document["faults"] == []
    read = report_task(TASK, tmp_path / "data", pool=6)
    assert len(read.queries) == 9
    assert {len(query.item.images) for query in read.queries} == {2}
    assert all("test" in query.gold for query in read.queries)
    (task,) = [one for one in load_tasks(tmp_path / "data") if one.id == TASK]
    row = next(r for r in rows_of(TASK, tmp_path / "data") if "Liver" in r["qry_img_path"][0])
    assert [Path(name).name[-6] for name in row["qry_img_path"]] == ["1", "2"]
    written = tmp_path / "data" / task.image_root / row["qry_img_path"][1]
    (source,) = official.rglob(row["qry_img_path"][1])
    assert (np.asarray(Image.open(written)) == np.asarray(Image.open(source))).all()


def test_placeholders_and_language_stay_and_no_number_of_a_record_is_told(
    official: Path, tmp_path: Path
):
    change(
        official,
        "Liver",
        "test",
        2,
        finding="肝脏_SCM_于2021-03-04检查，2021年3月4日，检查号：A123",
    )
    build("usdata", official, tmp_path / "data")
    texts = texts_of(report_task(TASK, tmp_path / "data", pool=6))
    assert "甲状腺右叶大小约_2DS_，回声均匀。test1" in texts
    assert "肝脏_SCM_于___检查，___，检查号：___" in texts
    free_of(texts, ["A123", "2021"])


def test_one_organ_can_be_asked_alone(official: Path):
    records, faults = records_of("usdata", official, organs="breast")
    assert {record.key.split("/")[0] for record in records} == {"breast"}
    assert (len(records), faults) == (3, [])


def test_bad_records_are_faults_and_other_parts_are_not_tested(official: Path, tmp_path: Path):
    change(official, "Liver", "test", 0, image_path=["../x.jpeg"])
    change(official, "Liver", "test", 1, uid=0)  # stands in the training part
    change(official, "Thyroid", "test", 0, image_path=None)
    change(official, "Thyroid", "test", 1, uid=202)
    (official / "new_Mammary2.json").unlink()
    records, faults = records_of("usdata", official)
    told = {fault.where: fault.reason for fault in faults}
    assert "is not in Liver_report" in told["new_Liver2.json, test 0"]
    assert "another part" in told["new_Liver2.json, test 1"]
    assert "no pictures" in told["new_Thyroid2.json, test 0"]
    assert "already" in told["new_Thyroid2.json, test 2"]
    assert "no breast" in told["new_Mammary2.json"]
    assert len(records) == 2
    with pytest.raises(StudyError, match="does not look like USData"):
        records_of("usdata", official / "Liver_report")


def test_a_single_picture_by_its_own_name_is_a_list_of_one(official: Path, tmp_path: Path):
    change(official, "Liver", "test", 2, image_path="deep/er/202_1.jpeg")
    build("usdata", official, tmp_path / "data", organs="liver")
    rows = rows_of(TASK, tmp_path / "data")
    assert [row["qry_img_path"] for row in rows][2] == "Liver_report/202_1.jpeg"
