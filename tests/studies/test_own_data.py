"""Own tables and collections through task making, running and the tables beside the benchmark."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from db.home import Home
from engine.control import Control
from studies.cli_bench_results import shown
from studies.collection import import_job
from studies.errors import BadRequest, StudyError
from studies.medheb.own import own_job
from studies.medheb.own_columns import recognise
from studies.medheb.pools import build_pools
from studies.medheb.release import read_task
from studies.medheb.tasks import OWN, load_tasks
from studies.results import load_results, to_json, to_text
from studies.run import bench_job
from tests.shared import shared_path
from tests.studies.medheb_tree import small_root

LABELS = ("benign", "malignant", "normal")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").make()


def picture(path: Path, number: int, side: int = 32) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(number).integers(0, 256, (side, side), np.uint8)
    Image.fromarray(pixels).save(path)
    return path


def table(path: Path, rows: list[dict[str, object]], delimiter: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def cases(folder: Path, patients: int = 24) -> list[dict[str, object]]:
    """Two pictures a patient, with everything that a column can hold."""
    rows: list[dict[str, object]] = []
    for number in range(2 * patients):
        name = f"MRN77{number // 2:05d}_{number % 2}.png"
        picture(folder / "pictures" / name, number)
        rows.append(
            {
                "Image Path": f"pictures/{name}",
                "Patient_ID": f"MRN77{number // 2:05d}",
                "Diagnosis": LABELS[number // 2 % 3],
                "Report": f"Seen on 12/03/2021 for MRN77{number // 2:05d}: nodule of {number} mm.",
                "Question": f"How large is nodule {number}?",
                "Answer": f"{number} mm",
            }
        )
    return rows


def own(home: Home, path: Path | str, root: Path, name: str | None = None, **settings: object):
    given = {"table": str(path), "data": str(root), "name": name, "settings": settings}
    return own_job(home, given, Control())


def read_own(root: Path, task_id: str):
    task = next(one for one in load_tasks(root) if one.id == task_id)
    return read_task(task, root)


def test_a_table_yields_the_tasks_of_its_columns(tmp_path: Path, home: Home):
    path = table(tmp_path / "in" / "Nodules 1.csv", cases(tmp_path / "in"))
    done = own(home, path, tmp_path / "data")
    kinds = {task.rpartition("/")[2]: one for task, one in done["tasks"].items()}
    assert set(kinds) == {"i2l", "i2i", "t2i", "i2r", "vqa"}
    assert done["source"] == "own/nodules-1"
    assert done["found"]["label"] == "Diagnosis"
    assert "patient = 'Patient_ID'" in done["columns"]
    assert {one["pool"] for one in kinds.values()} == {
        "labels:source", "exemplars", "split", "answers",
    }  # fmt: skip
    assert all(one["rows"] == 12 for one in kinds.values()), kinds
    assert not done["faults"]
    registry = load_tasks(tmp_path / "data")
    assert len(registry) == 107 + 5, "the benchmark's own rows stay"


def test_no_patient_stands_on_both_sides_or_among_his_own_candidates(tmp_path: Path, home: Home):
    rows = cases(tmp_path / "in")
    own(home, table(tmp_path / "in" / "a.csv", rows), tmp_path / "data")
    contents = {}
    for row in rows:
        contents[(tmp_path / "in" / str(row["Image Path"])).read_bytes()] = row["Patient_ID"]
    tested: dict[str, set[object]] = {}
    for kind in ("i2l", "i2r", "vqa", "i2i"):
        read = read_own(tmp_path / "data", f"own/a/{kind}")
        who = [contents[query.item.images[0].path.read_bytes()] for query in read.queries]
        tested[kind] = set(who)
        assert set(Counter(who).values()) == {2}, "both pictures of each"
    assert len({frozenset(patients) for patients in tested.values()}) == 1, "one split for all"
    read = read_own(tmp_path / "data", "own/a/i2i")
    for query in read.queries:
        mine = contents[query.item.images[0].path.read_bytes()]
        others = [contents[c.item.images[0].path.read_bytes()] for c in query.candidates]
        assert mine not in others
        assert len(others) == 3
        assert [read.labels[c.name] for c in query.candidates].count(query.label) == 1


def test_no_identifier_reaches_a_text_or_a_name(tmp_path: Path, home: Home):
    own(home, table(tmp_path / "in" / "a.csv", cases(tmp_path / "in")), tmp_path / "data")
    for index in (tmp_path / "data").rglob("*_test.json"):
        text = index.read_text("utf-8")
        assert "MRN77" not in text, index
        assert "12/03" not in text
    assert not list((tmp_path / "data").rglob("*MRN77*"))
    queries = read_own(tmp_path / "data", "own/a/i2r").queries
    assert all("nodule of" in query.gold for query in queries)
    own(home, tmp_path / "in" / "a.csv", tmp_path / "data", scrub="no")
    assert "MRN77" in read_own(tmp_path / "data", "own/a/i2r").queries[0].gold


def test_named_parts_win_and_a_patient_in_two_is_left_out(tmp_path: Path, home: Home):
    rows = cases(tmp_path / "in")
    for number, row in enumerate(rows):
        row["Split"] = "Testing" if number >= 10 else "train"
    rows[9]["Split"] = "Testing"  # of the patient whose other picture is in train
    own(home, table(tmp_path / "in" / "a.csv", rows), tmp_path / "data")
    read = read_own(tmp_path / "data", "own/a/vqa")
    assert len(read.queries) == 38
    assert read.built is not None
    assert any("in the test part and in another" in note for note in read.built.notes)


def test_one_picture_under_two_patients_is_never_on_both_sides(tmp_path: Path, home: Home):
    rows = cases(tmp_path / "in")
    for number, row in enumerate(rows):
        row["Split"] = "test" if number >= 10 else "train"
    column = next(name for name, value in rows[0].items() if str(value).endswith(".png"))
    rows[30][column] = rows[0][column]  # tested, and another patient's in train
    own(home, table(tmp_path / "in" / "a.csv", rows), tmp_path / "data")
    read = read_own(tmp_path / "data", "own/a/i2r")
    assert len(read.queries) == 36, "that patient's other picture is left out too"
    assert read.built is not None
    assert any("in the test part and in another" in note for note in read.built.notes)
    own(home, table(tmp_path / "in" / "a.csv", [*rows[::-1]]), tmp_path / "back")
    assert len(read_own(tmp_path / "back", "own/a/i2r").queries) == 36, "in any order of rows"


def test_pictures_of_two_classes_are_told(tmp_path: Path, home: Home):
    rows = cases(tmp_path / "in")
    column = next(name for name, value in rows[0].items() if value in LABELS)
    rows.append({**rows[0], column: next(one for one in LABELS if one != rows[0][column])})
    own(home, table(tmp_path / "in" / "a.csv", rows), tmp_path / "data")
    built = read_own(tmp_path / "data", "own/a/i2l").built
    assert built is not None
    assert any("1 pictures or volumes have more than one class" in note for note in built.notes)


def test_boxes_become_regions_and_rows_of_one_picture_one(tmp_path: Path, home: Home):
    rows: list[dict[str, object]] = []
    for number in range(6):
        picture(tmp_path / "in" / f"{number}.png", number)
        for left in (0, 16):
            rows.append(
                {"file": f"{number}.png", "class": "cyst" if left else "stone",
                 "xmin": left, "ymin": 2, "xmax": left + 12, "ymax": 20.5}
            )  # fmt: skip
    rows.append({**rows[0], "xmax": 0})
    rows.append({**rows[0], "xmin": "left"})
    done = own(
        home, table(tmp_path / "in" / "b.tsv", rows, "\t"), tmp_path / "data", test_share=0.5
    )
    assert list(done["tasks"]) == ["own/b/t2r"]
    assert [fault["where"] for fault in done["faults"]] == ["b.tsv, line 14", "b.tsv, line 15"]
    read = read_own(tmp_path / "data", "own/b/t2r")
    assert len(read.queries) == 6
    assert {query.item.text for query in read.queries} == {"cyst", "stone"}
    with Image.open(read.queries[0].candidates[0].item.images[0].path) as crop:
        assert crop.size == (12, 19)
    own(home, tmp_path / "in" / "b.tsv", tmp_path / "data", "words", region="class")
    assert {t.id for t in load_tasks(tmp_path / "data") if t.split == OWN} == {
        "own/b/t2r", "own/words/t2r",
    }  # fmt: skip


def test_texts_alone_as_lines_of_json(tmp_path: Path, home: Home):
    path = tmp_path / "notes.jsonl"
    rows = [
        {"findings": f"Opacity {n}.", "Impression": f"Pneumonia {n}.", "patientId": n // 2}
        for n in range(20)
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")
    done = own(home, path, tmp_path / "data", cap="4")
    assert list(done["tasks"]) == ["own/notes/f2i"]
    assert done["tasks"]["own/notes/f2i"]["rows"] == 4
    assert done["settings"]["cap"] == 4


def test_volumes_pair_by_patient(tmp_path: Path, home: Home):
    rows: list[dict[str, object]] = []
    for number in range(16):
        modality = ("CT", "MR")[number % 2]
        folder = f"v{number}"
        for at in range(3):
            picture(tmp_path / "in" / folder / f"{at}.png", 100 * number + at, side=16)
        rows.append({"Scan": folder, "Modality": modality, "Subject": f"p{number // 2}"})
    done = own(home, table(tmp_path / "in" / "vols.csv", rows, ";"), tmp_path / "data")
    assert set(done["tasks"]) == {"own/vols/ct-mr", "own/vols/mr-ct"}
    read = read_own(tmp_path / "data", "own/vols/ct-mr")
    assert build_pools(read).name == "split"
    assert len(read.queries) == 2
    assert len(read.queries[0].item.volumes[0].paths) == 3


def test_bad_rows_are_named_and_bad_tables_refused(tmp_path: Path, home: Home):
    rows = cases(tmp_path / "in")
    (tmp_path / "in" / str(rows[3]["Image Path"])).unlink()
    (tmp_path / "in" / str(rows[4]["Image Path"])).write_bytes(b"no picture")
    path = table(tmp_path / "in" / "a.csv", rows)
    done = own(home, path, tmp_path / "data", test_share=0.9, cap=20)
    assert [fault["where"] for fault in done["faults"]] == ["a.csv, line 5"]
    assert "no such file" in done["faults"][0]["reason"]
    told = [f["reason"] for one in done["tasks"].values() for f in one["faults"]]
    assert not told or all("cannot" in reason or ":" in reason for reason in told)
    with pytest.raises(BadRequest, match="no column 'Grade'"):
        own(home, path, tmp_path / "data", label="Grade")
    with pytest.raises(StudyError, match="no setting 'colour'"):
        own(home, path, tmp_path / "data", colour="red")
    with pytest.raises(BadRequest, match="neither a table on disk nor a collection"):
        own(home, "Nowhere", tmp_path / "data")
    lonely = table(tmp_path / "in" / "c.csv", [{"file": "pictures/MRN7700000_0.png", "size": 3}])
    with pytest.raises(BadRequest, match=r"Nothing to ask.*image = 'file'; not used: size"):
        own(home, lonely, tmp_path / "data")
    (tmp_path / "d.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadRequest, match="no table"):
        own(home, tmp_path / "d.csv", tmp_path / "data")


def test_a_collection_gives_what_it_has(tmp_path: Path, home: Home):
    for number in range(10):
        picture(tmp_path / "in" / f"case{number}" / "view.png", number)
        text = f"FINDINGS: opacity of {number} mm."
        (tmp_path / "in" / f"case{number}" / "report.txt").write_text(text, encoding="utf-8")
    import_job(home, {"paths": [str(tmp_path / "in")], "collection": "My cases"}, Control())
    done = own(home, "My cases", tmp_path / "data")
    assert list(done["tasks"]) == ["own/my-cases/i2r"]
    assert done["tasks"]["own/my-cases/i2r"]["rows"] == 3
    for query in read_own(tmp_path / "data", "own/my-cases/i2r").queries:
        path = query.item.images[0].path
        number = next(
            n for n in range(10)
            if (tmp_path / "in" / f"case{n}" / "view.png").read_bytes() == path.read_bytes()
        )  # fmt: skip
        assert f"opacity of {number} mm" in query.gold


def test_columns_are_known_by_their_words():
    found = recognise(["PatientID", "img_path", "Finding Labels", "x", "y", "w", "h", "Age"], {})
    assert found == {
        "image": "img_path", "label": "Finding Labels", "patient": "PatientID",
        "x1": "x", "y1": "y", "width": "w", "height": "h",
    }  # fmt: skip
    odd = recognise(["IMG_FILE", "Diagnosis", "PatID"], {})
    assert odd == {"image": "IMG_FILE", "label": "Diagnosis", "patient": "PatID"}
    given = {"label": "Age", "patient": "none"}
    assert recognise(["PatientID", "label", "Age"], given) == {"label": "Age"}


def test_own_tasks_stand_outside_every_column(tmp_path: Path, home: Home):
    root = small_root(tmp_path / "data", queries=10)
    before = len(load_tasks(root))
    bench_job(home, {"data": str(root), "models": ["random"]}, Control())
    alone = load_results(home)
    done = own(home, table(tmp_path / "in" / "a.csv", cases(tmp_path / "in")), root)
    assert len(load_tasks(root)) == before + 5, "rows of the root's own registry stay"
    again = bench_job(home, {"data": str(root), "models": ["random"]}, Control())
    assert (again["already"], again["computed"]) == (9, 5)
    results = load_results(home)
    assert len(results.own) == 5
    assert results.of == alone.of
    assert results.scored == alone.scored
    (mine,), (theirs,) = results.models, alone.models
    assert mine.columns == theirs.columns
    assert mine.cv == theirs.cv
    assert results.chance.columns == alone.chance.columns
    assert results.regimes() == alone.regimes()
    assert results.paper().marks == alone.paper().marks
    document, text = shown(home, data=root, form="text", paper=True)
    assert set(document["own"]) == {"own/a"}
    assert {t["task"] for t in document["tasks"] if t["split"] == OWN} == set(done["tasks"])
    assert "own/a/i2l" in text
    assert "no part of the benchmark" in text
    _, other = shown(home, data=root, form="markdown", paper=False)
    assert "mean of own/a" in other
    own(home, table(tmp_path / "in" / "a.csv", cases(tmp_path / "in")[:4]), root)
    assert len(load_tasks(root)) < before + 5, "rows of an older build go"


def test_own_data_alone_is_a_run(tmp_path: Path, home: Home):
    own(home, table(tmp_path / "in" / "a.csv", cases(tmp_path / "in")), tmp_path / "data")
    report = bench_job(home, {"data": str(tmp_path / "data"), "models": ["random"]}, Control())
    assert report["computed"] == 5
    text = to_text(load_results(home))
    assert "None of the 107 tasks of the benchmark was run here: own data alone." in text
    (model,) = to_json(load_results(home))["models"]
    assert model["all"] is None


def test_the_real_pneumonia_set_as_a_table_and_as_a_collection(tmp_path: Path, home: Home):
    path = shared_path("data/sets/medmnist/pneumoniamnist.npz")
    done = own(home, path, tmp_path / "data", words="0:normal,1:pneumonia", cap=100)
    assert {task: one["rows"] for task, one in done["tasks"].items()} == {
        f"own/pneumoniamnist/{kind}": 100 for kind in ("i2l", "i2i", "t2i")
    }
    read = read_own(tmp_path / "data", "own/pneumoniamnist/i2l")
    assert Counter(query.label for query in read.queries) == {"normal": 50, "pneumonia": 50}
    taken = {"paths": [str(path)], "collection": "Chest"}
    assert import_job(home, taken, Control())["added"] == 3882 + 524 + 624
    again = own(home, "Chest", tmp_path / "data", words="0:normal,1:pneumonia", cap=100)
    assert set(again["tasks"]) == {f"own/chest/{kind}" for kind in ("i2l", "i2i", "t2i")}
    twin = read_own(tmp_path / "data", "own/chest/i2l")
    assert Counter(query.label for query in twin.queries) == {"normal": 50, "pneumonia": 50}
    given = {"data": str(tmp_path / "data"), "models": ["random"], "tasks": "own/*"}
    assert bench_job(home, given, Control())["computed"] == 6
    scores = {t["task"]: t for t in to_json(load_results(home))["tasks"]}
    for task in scores.values():
        assert task["n"] == 100
        assert task["chance"]["hit@1"] == pytest.approx(50)
        low, high = task["chance_interval"]["hit@1"]
        assert low - 5 <= task["scores"]["random"]["hit@1"] <= high + 5


def test_the_real_pubmedqa_as_a_table(tmp_path: Path, home: Home):
    path = shared_path("data/sets/pubmedqa/ori_pqal.json")
    done = own(home, path, tmp_path / "data", "PubMed", label="none", test_share=0.1)
    assert done["found"] == {"question": "QUESTION", "answer": "LONG_ANSWER"}
    assert done["tasks"]["own/pubmed/t2t"]["rows"] == 100
    bench_job(home, {"data": str(tmp_path / "data"), "models": ["random"]}, Control())
    (task,) = to_json(load_results(home))["tasks"]
    assert task["chance"]["hit@1"] == pytest.approx(1.0, abs=0.02)
