"""Sections by heading rules, in several languages, with exact offsets."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.evidence.words.sections import NAMES, part_of, sections

REPORTS = [
    (
        "CHEST RADIOGRAPH\n\nINDICATION: Cough.\nCOMPARISON: None.\nTECHNIQUE: Two views.\n\n"
        "FINDINGS:\nThe lungs are clear.\nHEART: normal.\n\nIMPRESSION:\n1. No acute disease.\n",
        [("other", "CHEST RADIOGRAPH"), ("history", "Cough."), ("comparison", "None."),
         ("technique", "Two views."), ("findings", "The lungs are clear.\nHEART: normal."),
         ("impression", "1. No acute disease.")],
    ),
    ("FINDINGS: Clear lungs. IMPRESSION: Normal chest.",
     [("findings", "Clear lungs."), ("impression", "Normal chest.")]),
    ("Findings: Clear. Impression: Normal.", [("findings", "Clear."), ("impression", "Normal.")]),
    ("Klinische Angaben:\r\nHusten.\r\n\r\nBefund\r\nFrei.\r\n\r\nBeurteilung:\r\nUnauffällig.",
     [("history", "Husten."), ("findings", "Frei."), ("impression", "Unauffällig.")]),
    ("Fragestellung: Fraktur?\nTechnik: 2 Ebenen\nBefund: keine\nEmpfehlung: MRT",
     [("history", "Fraktur?"), ("technique", "2 Ebenen"), ("findings", "keine"),
      ("recommendation", "MRT")]),
    ("1. Technique\nTDM sans injection\n2. RÉSULTATS\nPas d'anomalie.\n3. CONCLUSION\nNormal.",
     [("technique", "TDM sans injection"), ("findings", "Pas d'anomalie."),
      ("impression", "Normal.")]),
    ("Renseignements cliniques : toux\nRésultats : clair\nAu total : normal",
     [("history", "toux"), ("findings", "clair"), ("impression", "normal")]),
    ("HALLAZGOS - Pulmones claros.\nIMPRESIÓN DIAGNÓSTICA: normal",
     [("findings", "- Pulmones claros."), ("impression", "normal")]),
    ("Quesito clinico: tosse\nReferto\nNon lesioni.\nConclusioni\nNormale.",
     [("history", "tosse"), ("findings", "Non lesioni."), ("impression", "Normale.")]),
    ("## Findings\nok\n**Impression:** fine", [("findings", "ok"), ("impression", "fine")]),
    ("Findings\rclear\rImpression\rnormal", [("findings", "clear"), ("impression", "normal")]),
    ("Impression (final):\nText", [("impression", "Text")]),
    ("Imaging Report\n  Findings\n    Finding: Mass\n  Impressions\n    big",
     [("other", "Imaging Report"), ("findings", ""), ("findings", "Mass"), ("impression", "big")]),
    ("所見：異常なし\n診断：正常", [("findings", "異常なし"), ("impression", "正常")]),
    ("影像所见：未见异常。\n诊断意见：正常",
     [("findings", "未见异常。"), ("impression", "正常")]),
    ("소견: 정상\n결론: 정상임", [("findings", "정상"), ("impression", "정상임")]),
    ("Описание: без изменений\nЗАКЛЮЧЕНИЕ\nнорма",
     [("findings", "без изменений"), ("impression", "норма")]),
    ("FINDINGS: a\nADDENDUM: b", [("findings", "a"), ("other", "b")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), REPORTS, ids=[text[:20] for text, _ in REPORTS])
def test_sections_of_reports(text: str, wanted: list[tuple[str, str]]) -> None:
    found = sections(text)
    assert [(one.name, one.text) for one in found] == wanted


@pytest.mark.parametrize("text", [text for text, _ in REPORTS])
def test_offsets_are_exact_and_without_gaps(text: str) -> None:
    found = sections(text)
    assert not text[: found[0].start].strip()
    assert found[-1].end == len(text)
    for one, other in pairwise(found):
        assert one.end == other.start
    for one in found:
        assert one.name in NAMES
        whole = text[one.start : one.end]
        assert whole.startswith(one.heading)
        assert whole[len(one.heading) :].strip() == one.text


@pytest.mark.parametrize(
    "text",
    ["", "   ", "The finding is that of a mass; the impression is bad.",
     "Results were negative and the conclusion was clear.", "12:30 seen by the team",
     "LUNGS: clear\nHEART: normal", "no: colon: here"],
)  # fmt: skip
def test_no_heading_gives_one_whole(text: str) -> None:
    (one,) = sections(text)
    assert (one.name, one.heading, one.start, one.end) == ("whole", "", 0, len(text))
    assert one.text == text.strip()


def test_parts_of_one_name_are_joined() -> None:
    text = "FINDINGS: a\nIMPRESSION: b\nADDENDUM: c\nIMPRESSION: d"
    assert part_of(text, "impression") == "b\nd"
    assert part_of(text, "history") == ""


@pytest.mark.parametrize(
    "text", ["A" * 200_000, "WORD " * 50_000, "I. " * 50_000, "x:\n" * 50_000, "- " * 50_000,
             "FINDINGS: a\n" * 10_000, "(" * 50_000, "**" * 50_000, " " * 100_000],
    ids=["letters", "words", "numbers", "colons", "dashes", "headings", "brackets", "stars",
         "spaces"],
)  # fmt: skip
@pytest.mark.timeout(20)
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert sections(text)
