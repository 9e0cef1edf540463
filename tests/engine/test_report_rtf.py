"""Rich text reports as words, against a second reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from striprtf.striprtf import rtf_to_text

from engine.evidence.open import read_file
from engine.evidence.words.rtf import rtf_text

REPORT = (
    rb"{\rtf1\ansi\ansicpg1252\deff0\uc1{\fonttbl{\f0\fnil\fcharset0 Arial;}"
    rb"{\f1\fnil\fcharset204 Arial Cyr;}{\f2\fcharset128 MS Mincho;}}"
    rb"{\colortbl ;\red0\green0\blue0;}{\*\generator Writer;}" + b"\r\n"
    rb"\viewkind4\pard\b BEFUND:\b0\par Gr\'f6\'dfe normal, \u8222?Raumforderung\u8220? nein.\par "
    rb"\f1\'ed\'ee\'f0\'ec\'e0\f0\par \f2\'8f\'8a\'8c\'a9\f0\par a\{b\}c\\d\tab e\line f\'e4\par}"
)
PEERS = [
    REPORT,
    rb"{\rtf1\ansi Hello {\b bold {\i both}} end\par second}",
    rb"{\rtf1\ansi\ansicpg1250 z\'b3oty\par}",
    rb"{\rtf1\ansi\uc2 \u960??x\u-10179??\u-8704??y}",
    rb"{\rtf1\ansi\ansicpg1252 a\emdash b\endash c\bullet d\lquote e\rquote f}",
]


@pytest.mark.parametrize("raw", PEERS)
def test_words_are_those_of_a_second_reader(raw: bytes) -> None:
    halves = rtf_to_text(raw.decode("latin-1"))
    wanted = halves.encode("utf-16", "surrogatepass").decode("utf-16")
    assert rtf_text(raw).split() == wanted.replace("–", "–").split()


def test_lines_and_letters_of_a_report() -> None:
    assert rtf_text(REPORT).split("\n") == [
        "BEFUND:", "Größe normal, „Raumforderung“ nein.", "норма", "所見", "a{b}c\\d\te", "fä",
    ]  # fmt: skip


def test_authors_headers_and_pictures_stay_out() -> None:
    raw = (
        rb"{\rtf1\ansi{\info{\author Dr Muster}{\title Muster^Max}}{\header Patient: Muster\par}"
        rb"{\pict\wmetafile8 4d7573746572}{\*\userprops{\propname Muster}}Befund\par"
        rb"{\object{\*\objdata 4d757374}}{\footer Muster}\bin6 Mustertext}"
    )
    assert rtf_text(raw) == "Befund\ntext"


@pytest.mark.parametrize(
    "raw",
    [
        rb"{\rtf1", b"{\\rtf1 " + b"{" * 100_000, b"{\\rtf1 " + b"}" * 5000 + b"x",
        rb"{\rtf1 \u99999999 \'zz \bin99999999 abc", b"{\\rtf1 \\", rb"{\rtf1\ansicpg99999 a\'e4}",
    ],
)  # fmt: skip
def test_broken_rich_text_gives_what_is_there(raw: bytes) -> None:
    assert isinstance(rtf_text(raw), str)


@pytest.mark.parametrize("name", ["a.rtf", "a.txt", "a"])
def test_rich_text_is_told_by_its_content(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(REPORT)
    found = read_file(path)
    assert (found.kind, found.source["object"]) == ("report", "rich text")
    assert (found.text or "").startswith("BEFUND:")
