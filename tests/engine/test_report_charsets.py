"""Plain texts in every usual encoding come out as the words that went in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import EvidenceError
from engine.evidence.open import find_evidence, read_file
from engine.evidence.words import charset

TEXTS = {
    "english": "FINDINGS: The lungs are clear. Temperature 38 °C. Nodule of 5 mm³, 2 µm.",
    "german": "Befund: Größe des Herzens regelrecht, kein Pleuraerguss.\r\nBeurteilung: kein "
              "Hinweis für „Raumforderung“ – Kontrolle.",
    "german-dos": "Befund: Größe des Herzens regelrecht. Überlagerung, Ödem.",
    "french": "Résultats : pas d’anomalie décelée. Cœur de taille normale. Épanchement modéré, "
              "côté opéré.",
    "spanish": "Hallazgos: pequeño nódulo en lóbulo superior. Impresión: ¿neumonía? Corazón.",
    "italian": "Referto: non si osservano lesioni. Cavità di normale ampiezza. Più evidente "
               "è l'opacità.",
    "portuguese": "Achados: não há alterações. Impressão: coração normal, opacificação à direita.",
    "swedish": "Utlåtande: Inga tecken på förändringar i lungor. Hjärtat är normalstort.",
    "polish": "Płuca bez zmian ogniskowych. Wniosek: śladowy płyn w jamie opłucnej, węzły chłonne "
              "niepowiększone, żebra prawidłowe.",
    "czech": "Nález: plíce bez ložiskových změn, srdce nezvětšeno. Závěr: žádné známky městnání, "
             "příčný rozměr přiměřený.",
    "hungarian": "A tüdő légtartalma megtartott, szűkület nem látható. Gyógyult törés, fűző.",
    "romanian": "Concluzii: plămânii fără modificări, inimă în limite normale, secţiuni şi ţesut.",
    "turkish": "Bulgular: Akciğer parankiminde aktif infiltrasyon izlenmedi. Sonuç: şüpheli "
               "görünüm yok, kalp boyutları normal sınırlarda.",
    "russian": "Заключение: очаговых изменений в легких не выявлено. КТ органов, 5 мм.",
    "russian-short": "Заключение: норма",
    "ukrainian": "Висновок: патологічних змін у легенях не виявлено. Її стан задовільний.",
    "greek": "Συμπέρασμα: δεν παρατηρούνται εστιακές αλλοιώσεις στους πνεύμονες. CT θώρακος.",
    "japanese": "所見：両肺野に明らかな異常陰影を認めません。\n診断：右上葉に5mmの結節影を認める。",
    "japanese-short": "胸部CT：右下葉にすりガラス影あり。",
    "chinese": "影像所见：双肺纹理清晰，未见明显病变。\n诊断意见：右肺上叶小结节，建议随访。CT",
    "taiwanese": "檢查所見：雙側肺野清晰，未見明顯病灶。診斷：右上肺葉小結節，建議追蹤。",
    "korean": "소견: 양측 폐야에 뚜렷한 이상 음영은 보이지 않음.\n결론: 우상엽의 결절. CT",
}  # fmt: skip
WIDE = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le",
        "utf-32-be")  # fmt: skip
OWN = [
    *(("english", one) for one in ("cp1252", "latin-1")), ("german", "cp1252"),
    ("german-dos", "latin-1"), ("german-dos", "cp850"), ("french", "cp1252"),
    ("spanish", "cp1252"), ("spanish", "latin-1"), ("italian", "cp1252"), ("portuguese", "cp1252"),
    ("swedish", "cp1252"), ("polish", "cp1250"), ("polish", "iso8859_2"), ("czech", "cp1250"),
    ("czech", "iso8859_2"), ("hungarian", "cp1250"), ("romanian", "cp1250"), ("turkish", "cp1254"),
    *(("russian", one) for one in ("cp1251", "koi8_r", "iso8859_5", "cp866")),
    ("russian-short", "cp1251"), ("russian-short", "koi8_r"), ("ukrainian", "cp1251"),
    ("greek", "cp1253"), ("greek", "iso8859_7"),
    *(("japanese", one) for one in ("shift_jis", "cp932", "euc_jp", "iso2022_jp")),
    ("japanese-short", "shift_jis"), ("japanese-short", "euc_jp"),
    *(("chinese", one) for one in ("gb18030", "gb2312", "gbk")), ("taiwanese", "big5"),
    ("korean", "euc_kr"), ("korean", "cp949"),
]  # fmt: skip


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("language", TEXTS)
def test_unicode_with_and_without_mark(language: str, encoding: str) -> None:
    text = TEXTS[language]
    found = charset.decode(text.encode(encoding))
    assert found is not None
    assert found[0] == text


@pytest.mark.parametrize(("language", "encoding"), OWN)
def test_older_encodings(language: str, encoding: str) -> None:
    raw = TEXTS[language].encode(encoding, "replace")
    found = charset.decode(raw)
    assert found is not None
    assert found[0] == raw.decode(encoding)


@pytest.mark.parametrize(("language", "encoding"), OWN[::3])
def test_long_texts_are_cut_for_the_guess_and_read_whole(language: str, encoding: str) -> None:
    raw = (TEXTS[language] + "\n").encode(encoding, "replace") * (30_000 // len(TEXTS[language]))
    found = charset.decode(raw)
    assert found is not None
    assert found[0] == raw.decode(encoding)


def test_what_is_no_text_is_refused() -> None:
    assert charset.decode(bytes(range(256)) * 8) is None
    assert charset.decode(b"\x00\x01\x02\x03" * 50) is None
    assert charset.decode(b"\x01\x02\x03\x04\x05" * 50) is None


def test_the_encoding_is_said_and_a_guess_is_named_as_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXTS["russian"].encode("cp1251"))
    found = read_file(path)
    assert found.source["encoding"] == "cp1251"
    assert found.text == TEXTS["russian"]
    assert any("guessed: cp1251" in note for note in found.notes)
    path.write_bytes(TEXTS["russian"].encode("utf-8"))
    os.utime(path, ns=(1, 1))
    assert read_file(path).notes == ()


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.log", "a.TEXT"])
def test_names_of_text_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("FINDINGS: ok", encoding="utf-8")
    (found,) = find_evidence([path])
    assert (found.kind, found.form, found.text) == ("report", "text", "FINDINGS: ok")


def test_binary_named_text_and_long_text_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(EvidenceError) as caught:
        read_file(path)
    assert caught.value.code == "not_text"
    path = tmp_path / "b.txt"
    path.write_bytes(b"a" * 8_000_001)
    with pytest.raises(EvidenceError) as caught:
        read_file(path)
    assert caught.value.code == "too_large"


def test_clinical_documents_are_named_only(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        '<?xml version="1.0"?>\n<ClinicalDocument xmlns="urn:hl7-org:v3">'
        "<recordTarget>Muster</recordTarget></ClinicalDocument>",
        encoding="utf-8",
    )
    (found,) = find_evidence([path])
    assert (found.kind, found.text) == ("document", None)
    assert found.source["object"] == "clinical document (HL7 CDA)"
    assert "Muster" not in repr(found)


def test_a_lost_byte_does_not_spoil_the_others(tmp_path: Path) -> None:
    text = "Größe und Länge der Läsion für übliche Maße ändern sich öfter"
    raw = text.encode().replace("ß".encode(), b"\xc3", 1)
    path = tmp_path / "a.txt"
    path.write_bytes(raw)
    found = read_file(path)
    assert found.text == text.replace("ß", "\ufffd", 1)
    assert any("damaged" in note for note in found.notes)


def test_padding_with_zeros_is_no_text() -> None:
    assert charset.decode("Größe".encode() + b"\0" * 20) == ("Größe", "utf-8")
    assert charset.decode("Größe".encode("utf-16-le") + b"\0\0") is not None
