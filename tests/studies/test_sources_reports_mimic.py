"""MIMIC-CXR: sections by their odd headings, one frontal picture a study, the official split."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from studies.errors import StudyError
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.record import Fault
from studies.medheb.sources.fourteen import FINDINGS, StudyLabels
from studies.medheb.sources.mimic_cxr import study_labels
from studies.medheb.sources.mimic_sections import BY_HAND, name_of, sections
from studies.medheb.sources.scrubbed import scrubbed
from tests.studies.sources_2d_checks import build, noise, records_of, rows_of, save
from tests.studies.sources_report_checks import free_of, report_task, texts_of

I2R, T2T = "mimic_cxr/i2r", "mimic_cxr/t2t"

HEAD = "                                 FINAL REPORT\n EXAMINATION:  CHEST (PA AND LAT)\n \n"
REPORTS = {
    "50000001": HEAD + " INDICATION:  ___F with cough // eval\n \n FINDINGS: \n \n"
    " The lungs are clear.  No effusion in\n the left base, as on ___.\n \n"
    " IMPRESSION: \n \n No acute cardiopulmonary process.\n",
    "50000002": HEAD + " FINIDNGS:  Large heart.\n \n IMPRESSON:  Cardiomegaly.\n",
    "50000003": " CHEST, PA AND LATERAL:\n \n HISTORY:  Fever.\n \n"
    " PORTABLE CHEST:  Right base opacity seen by Dr. Miller on 1/23/2012.\n \n"
    " CONCLUSION:  Pneumonia; patient 10000003, study s50000003, MRN 4711-22.\n"
    " NOTIFICATION:  Told to Dr. Smith by phone 617-555-0100.\n",
    "50000004": HEAD + " FINDINGS AND IMPRESSION:  Tube in place. No change.\n",
    "50000005": " CHEST ___.\n \n COMPARISON:  ___.\n \n One view shows a nodule.\n \n"
    " No other abnormality is seen here.\n",
    "50000006": HEAD + " FINDINGS:  Clear again.\n \n IMPRESSION: No acute cardiopulmonary"
    " process.\n",
    "50000007": HEAD + " FINDINGS:  First reading.\n \n COMPARISON:  None.\n \n Findings: "
    "Second reading. IMPRESSION: Same text.\n",
    "50000008": HEAD + " FINDINGS:  Edema.\n \n IMPRESSION:  Edema.\n",
}
SUBJECTS = {number: f"100000{number[-2:]}" for number in REPORTS}
# picture (of a study, by its last digit): view
VIEWS = {
    "1": {"aaa": "LATERAL", "bbb": "AP", "zzz": "PA", "yyy": "PA"},
    "2": {"ccc": "AP", "ddd": "LL"},
    "3": {"eee": "PA"},
    "4": {"fff": "PA"},
    "5": {"ggg": "PA"},
    "6": {"hhh": "PA"},
    "7": {"iii": "LATERAL"},  # no frontal one
    "8": {"jjj": "PA"},
}
SHOWN = {"1": "yyy", "2": "ccc", "3": "eee", "4": "fff", "5": "ggg", "6": "hhh", "8": "jjj"}


def place(number: str) -> str:
    return f"files/p{SUBJECTS[number][:2]}/p{SUBJECTS[number]}/s{number}"


def packed(path: Path, header: str, rows: list[list[str]]) -> None:
    with gzip.open(path, "wt", newline="") as stream:
        stream.write("\r\n".join([header, *(",".join(row) for row in rows)]) + "\r\n")


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder = tmp_path / "physionet"
    jpg = folder / "mimic-cxr-jpg" / "2.1.0"
    split, metadata = [], []
    for number in REPORTS:
        for dicom, view in VIEWS[number[-1]].items():
            split.append([dicom, number, SUBJECTS[number], "test"])
            metadata.append([dicom, SUBJECTS[number], number, view, "2500", "2000"])
            save(jpg / place(number) / f"{dicom}.jpg", noise(ord(dicom[0])))
    split += [["kkk", "59999991", "19999991", "train"], ["lll", "59999992", "19999992", "validate"]]
    packed(jpg / "mimic-cxr-2.0.0-split.csv.gz", "dicom_id,study_id,subject_id,split", split)
    packed(
        jpg / "mimic-cxr-2.0.0-metadata.csv.gz",
        "dicom_id,subject_id,study_id,ViewPosition,Rows,Columns", metadata,
    )  # fmt: skip
    with zipfile.ZipFile(folder / "mimic-cxr-reports.zip", "w") as archive:
        for number, text in REPORTS.items():
            archive.writestr(f"{place(number)}.txt", text)
        archive.writestr("files/p19/p19999991/s59999991.txt", " FINDINGS:  Of training.\n")
    labels(jpg)
    return folder


def labels(jpg: Path) -> None:
    """The tables of labels, in an order of columns of their own."""
    order = sorted(FINDINGS)

    def row(number: str, **values: str) -> list[str]:
        return [
            SUBJECTS[number],
            number,
            *(values.get(name.replace(" ", "_"), "") for name in order),
        ]

    packed(
        jpg / "mimic-cxr-2.0.0-chexpert.csv.gz", ",".join(["subject_id", "study_id", *order]),
        [
            row("50000001", No_Finding="1.0", Support_Devices="1.0", Pneumonia="0.0"),
            row("50000002", Cardiomegaly="1.0", Edema="-1.0"),
            row("50000003", Pneumonia="2.0"),
            row("50000007", Pneumonia="1.0"),
            ["19999991", "59999991", *["1.0"] * 14],
        ],
    )  # fmt: skip
    hand = ["Airspace Opacity" if name == "Lung Opacity" else name for name in order]
    values = ["1" if name == "Airspace Opacity" else "0" for name in hand]
    (jpg / "mimic-cxr-2.1.0-test-set-labeled.csv").write_text(
        ",".join(["study_id", *hand]) + "\n" + ",".join(["50000003", *values]) + "\n"
    )


def unpacked(folder: Path, into: Path) -> None:
    with zipfile.ZipFile(folder / "mimic-cxr-reports.zip") as archive:
        archive.extractall(into)
    (folder / "mimic-cxr-reports.zip").unlink()


def test_sections_of_reports():
    found = {number: sections(text) for number, text in REPORTS.items()}
    assert found["50000001"]["findings"].startswith("The lungs are clear.")
    assert found["50000001"]["findings"].endswith("as on ___.")
    assert found["50000001"]["impression"] == "No acute cardiopulmonary process."
    assert found["50000002"] == {"findings": "Large heart.", "impression": "Cardiomegaly."}
    assert found["50000003"]["findings"].startswith("Right base opacity")
    assert "NOTIFICATION" not in found["50000003"]["impression"]
    assert found["50000004"] == {"impression": "Tube in place. No change."}
    assert found["50000005"] == {}  # the last paragraph is not findings
    assert found["50000007"] == {"findings": "Second reading.", "impression": "Same text."}
    assert sections("IMPRESSION:") == {}


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("FINDNGS", "findings"), ("FINDING", "findings"), ("REFERENCE FINDINGS", "findings"),
        ("IMPESSION", "impression"), ("MPRESSION", "impression"), ("CONCLUSION", "impression"),
        ("FINDINGS/IMPRESSION", "impression"), ("Findings And Impression", "impression"),
        ("CHEST, TWO VIEWS", "findings"), ("AP AND LATERAL VIEWS", "findings"),
        ("IDICATION", "indication"), ("COMPARISION", "comparison"),
        ("COMPARISON CHEST FILM", "comparison chest film"), ("WET READ", "wet read"),
        ("RECOMMENDATION(S)", "recommendations"), ("EXAMINATION", "examination"),
    ],
)  # fmt: skip
def test_headings(heading: str, name: str):
    assert name_of(heading) == name


def test_what_is_scrubbed_of_a_text():
    said = {
        "Seen 1-23-2012 and January 3, 2012.": "Seen ___ and ___.",
        "MRN: 12-34, Accession Number AB99; call 650-555-0123": (
            "MRN: ___, Accession Number ___; call ___"
        ),
        "Dr. Anna Smith, a@b.org, 123456789.": "Dr. ___, ___, ___.",
        "RIB 8 MAY BE BROKEN; rib 8 may be; on 8 May, MAY 3, 2012": (
            "RIB 8 MAY BE BROKEN; rib 8 may be; on ___, ___"
        ),
        "Read by Anna B. Smith, M.D. and SMITH MD; DO NOT USE.": (
            "Read by ___, M.D. and ___ MD; DO NOT USE."
        ),
        "study s5001 of p77777": "study ___ of ___",
        "C5-6, T12-L1, 3.5 x 2.1 cm, 12/30, in 2011, since ___.": (
            "C5-6, T12-L1, 3.5 x 2.1 cm, 12/30, in 2011, since ___."
        ),
    }
    for text, clean in said.items():
        assert scrubbed(text, ("s5001", "p77777", "12")) == clean


@pytest.mark.parametrize("arrangement", ["archive", "apart", "one tree"])
def test_one_frontal_picture_and_the_findings_of_every_study(
    official: Path, tmp_path: Path, arrangement: str
):
    if arrangement != "archive":
        apart = official / "reports"
        unpacked(official, apart if arrangement == "apart" else official / "mimic-cxr-jpg/2.1.0")
    document = build("mimic_cxr", official, tmp_path / "data")
    read = report_task(I2R, tmp_path / "data")
    rows = {
        Path(row["qry_img_path"]).stem: row["tgt_text"][0]
        for row in rows_of(I2R, tmp_path / "data")
    }
    assert rows == {
        "yyy": "The lungs are clear. No effusion in the left base, as on ___.",
        "ccc": "Large heart.",
        "eee": "Right base opacity seen by Dr. ___ on ___.",
        "hhh": "Clear again.",
        "jjj": "Edema.",
    }
    assert document["faults"] == []
    free_of(texts_of(read), [*REPORTS, *SUBJECTS.values(), "Miller"])


def test_findings_lead_to_their_impression_and_equal_ones_are_one_candidate(
    official: Path, tmp_path: Path
):
    build("mimic_cxr", official, tmp_path / "data")
    read = report_task(T2T, tmp_path / "data", pool=4)
    pairs = {query.item.text: query.gold for query in read.queries}
    assert pairs["Second reading."] == "Same text."  # without a frontal picture
    assert pairs["Clear again."] == "No acute cardiopulmonary process."
    assert "Edema." not in pairs  # both sections say the same
    assert len(pairs) == 5
    (one,) = [gold for text, gold in pairs.items() if text and text.startswith("Right base")]
    assert one == "Pneumonia; patient ___, study ___, MRN ___."
    free_of(texts_of(read), [*REPORTS, *SUBJECTS.values(), "Smith", "0100"])
    assert not list((tmp_path / "data").glob("p1*"))  # a text task writes no pictures
    assert all("qry_img_path" not in row for row in rows_of(T2T, tmp_path / "data"))


def test_only_the_official_test_part_is_read(official: Path):
    records, _ = records_of("mimic_cxr", official)
    assert {record.key for record in records} == {f"s{number}" for number in REPORTS}
    assert {record.split for record in records} == {"test"}
    assert {record.group for record in records} == set(SUBJECTS.values())


def test_sections_and_blanks_can_be_chosen(official: Path):
    def report(number: str, **settings: str) -> str:
        records, _ = records_of("mimic_cxr", official, **settings)
        return next(one.texts["report"] for one in records if one.key == f"s{number}")

    assert report("50000004") == ""
    assert report("50000004", report="findings_else_impression") == "Tube in place. No change."
    assert report("50000002", report="both") == "Large heart. Cardiomegaly."
    assert report("50000002", report="impression") == "Cardiomegaly."
    assert report("50000001", blanks="remove").endswith("left base, as on .")


def test_what_is_missing_is_told_and_the_rest_goes_on(official: Path, tmp_path: Path):
    jpg = official / "mimic-cxr-jpg" / "2.1.0"
    (jpg / place("50000002") / "ccc.jpg").unlink()
    (jpg / place("50000001") / "yyy.jpg").unlink()  # the other PA takes its place
    unpacked(official, official / "reports")
    (official / "reports" / f"{place('50000003')}.txt").unlink()
    hand = sorted(BY_HAND)[0]
    with gzip.open(jpg / "mimic-cxr-2.0.0-split.csv.gz", "at") as stream:
        stream.write(f"mmm,{hand},10000099,test\r\n")
    records, faults = records_of("mimic_cxr", official)
    told = {fault.where: fault.reason for fault in faults}
    assert set(told) == {"s50000002", "s50000003", f"s{hand}"}
    assert "words alone" in told["s50000002"]
    pictures = {r.key: [p.name for p in r.pictures] for r in records}
    assert pictures["s50000002"] == []
    assert pictures["s50000001"] == ["p10/p10000001/s50000001/zzz.jpg"]
    (jpg / "mimic-cxr-2.0.0-metadata.csv.gz").unlink()
    records, faults = records_of("mimic_cxr", official)
    assert not any(record.pictures for record in records)
    assert "no view is known" in faults[0].reason
    with pytest.raises(StudyError, match="does not look like MIMIC-CXR"):
        records_of("mimic_cxr", official / "reports")


def test_labels_of_studies_by_name_of_finding(official: Path):
    card = source_card("mimic_cxr")

    def found(**given: str) -> tuple[dict[str, StudyLabels], list[Fault]]:
        every = list(study_labels(official, settle(card, given)))
        good = {one.key: one for one in every if isinstance(one, StudyLabels)}
        return good, [one for one in every if isinstance(one, Fault)]

    good, faults = found()
    assert set(good) == {"s50000001", "s50000002"}  # no frontal picture, no label: no entry
    assert good["s50000001"].positive == {"No Finding", "Support Devices"}
    assert good["s50000002"].positive == {"Cardiomegaly"}
    assert good["s50000002"].uncertain == {"Edema"}
    assert good["s50000002"].group == SUBJECTS["50000002"]
    assert good["s50000001"].picture.name == "p10/p10000001/s50000001/yyy.jpg"
    assert [(fault.where, fault.reason) for fault in faults] == [
        ("mimic-cxr-2.0.0-chexpert.csv.gz, line 4", "Pneumonia is 2.0, not 1, 0 or -1")
    ]
    good, _ = found(labels_file="hand")
    assert {key: one.positive for key, one in good.items()} == {"s50000003": {"Lung Opacity"}}
