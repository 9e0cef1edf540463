"""Lines above a plain report that name the patient are taken out; the report itself stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.evidence.open import read_file
from engine.evidence.words.letterhead import NOTE, taken_out
from tests.engine.report_files import pdf

M = "[removed]"
HEADS = [
    ("Name: Zaphodbeeble\nFindings: normal", f"Name: {M}\nFindings: normal"),
    ("Patient: Zaphodbeeble, Joe\nDOB: 03/02/1960\nMRN: 77-4411\n\nFINDINGS: Clear.",
     f"Patient: {M}\nDOB: {M}\nMRN: {M}\n\nFINDINGS: Clear."),
    ("Patient Name: ZAPHOD BEEBLE   DOB: Feb 3, 1960   MRN: Q7744\r\nLungs clear.",
     f"Patient Name: {M}   DOB: {M}   MRN: {M}\r\nLungs clear."),
    ("**Patient's name:** Dr. Jane O'Brien-Smith (F, 45)\n", f"**Patient's name:** {M} (F, 45)\n"),
    ("Patient             : Müller^Hans\nStudy : CT", f"Patient             : {M}\nStudy : CT"),
    ("Patientin: von der Heide, Ute, geb. 03.02.1960\nBefund: Herz normal.",
     f"Patientin: {M}, geb. {M}\nBefund: Herz normal."),
    ("Nom: Dupont\nPrénom: Élise\nNé le 3 février 1960\n", f"Nom: {M}\nPrénom: {M}\nNé le {M}\n"),
    ("Nombre: García López, Ana\nNHC: 44553\n", f"Nombre: {M}\nNHC: {M}\n"),
    ("姓名：王小明 性别：男\n病历号：A123456\n", f"姓名：{M} 性别：男\n病历号：{M}\n"),
    ("氏名: 山田 太郎\n生年月日: 1960年2月3日\n", f"氏名: {M}\n生年月日: {M}\n"),
    ("ФИО: Иванов Иван Иванович\nДата рождения: 03.02.1960\n",
     f"ФИО: {M}\nДата рождения: {M}\n"),
    ("Address: 1 Elm Street, Ulm\nPhone: +49 731 5550\nAccession: 20-5511",
     f"Address: {M}\nPhone: {M}\nAccession: {M}"),
    ("Name: Zaphod Clear\nFINDINGS: Mr Zaphod has a clear lung. Clear bases, Q 7.",
     f"Name: {M}\nFINDINGS: Mr {M} has a clear lung. Clear bases, Q 7."),
    ("Patient Name: Joe Beeble Sex: M Date of birth: 1960-02-03 MRN: 4411\nLungs: clear",
     f"Patient Name: {M} Sex: M Date of birth: {M} MRN: {M}\nLungs: clear"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), HEADS, ids=[text[:12] for text, _ in HEADS])
def test_identity_lines_lose_their_values(text: str, wanted: str) -> None:
    assert taken_out(text) == (wanted, True)


KEPT = [
    "Patient: 78-year-old man with cough.\nFindings: clear.",
    "Patient: Elderly man with cough",
    "Patient: Male, 45 years",
    "Patient             : Test^S R\nStudy : OFFIS",
    "Name: XXXX\nMRN: XX\nDOB: unknown",
    "Patient: [removed]\nName: [name]",
    "Patient: Stable. Patient position: supine",
    "Findings: normal.\nName: Schmorl nodes at L2\nPatient: Baker cyst",
    "The patient: Baker cyst is seen. Name the lesion: Hodgkin",
    "Accession of fluid. Tel aviv. ID of lesion: 4411",
    "Study name: Abdomen\nBorn at term. Geboren in der 38. Woche.",
    "Phone: none\nMRN pending",
]


@pytest.mark.parametrize("text", KEPT, ids=[text[:14] for text in KEPT])
def test_what_names_nobody_stays(text: str) -> None:
    found, changed = taken_out(text)
    assert (found, changed) == (text, False)
    assert found is text


def test_files_say_that_something_was_taken_out(tmp_path: Path) -> None:
    plain, rich, paper = (tmp_path / f"a.{end}" for end in ("txt", "rtf", "pdf"))
    plain.write_text("Name: Zaphodbeeble\nFindings: normal", encoding="utf-8")
    rich.write_text("{\\rtf1 Name: Zaphodbeeble\\par Findings: normal}", encoding="ascii")
    paper.write_bytes(pdf([["Name: Zaphodbeeble", "Findings: normal, with many more words."]]))
    for path in (plain, rich, paper):
        found = read_file(path)
        assert NOTE in found.notes
        assert found.text is not None
        assert "Zaphod" not in found.text
        assert "normal" in found.text
