"""The ways in which a name is spelt in running text: accents, umlauts, endings, East Asian forms.

Owns the patterns of one name. Refuses to know which names are looked for, and where.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
APOSTROPHES, HYPHENS = "'’‘`´ʼ", "-\u2010\u2011"
UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "ø": "oe", "æ": "ae"}
STROKES = {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "ß": "s"}
VOWELS = "аеёиоуыэюяйь"
# forms of address behind a family name of one letter, which is a word of its own elsewhere
TITLES = "様|さん|氏|殿|君|先生|女士|小姐|同志|患者|씨|님|환자|선생"


@cache
def _accented() -> dict[str, str]:
    """The letters of European languages by the plain letter that they are written on."""
    found: dict[str, str] = {}
    for code in range(0xDF, 0x180):
        letter = chr(code)
        base = STROKES.get(letter) or unicodedata.normalize("NFKD", letter)[0]
        if letter.islower() and base != letter and base.isascii():
            found[base] = found.get(base, "") + letter
    return found


def spelt(part: str, *, ended: bool = False) -> str:
    """A pattern, to be used without regard to case, of one Latin, Cyrillic or Greek name.

    Args:
        part: the name as the header writes it.
        ended: True for its forms with an ending: Müllers, Ивановой.
    """
    letters = unicodedata.normalize("NFC", part.casefold().replace("ß", "ß"))
    ending = "(?:[’']?s|e[ns]|n)" if ended else ""
    if ended and re.fullmatch(r"[а-яё]{4,}", letters):
        letters, ending = letters.rstrip(VOWELS), "[а-яё]{1,3}"
    found, at = [], 0
    while at < len(letters):
        pair = letters[at : at + 2]
        one = next((sign for sign, two in UMLAUTS.items() if two == pair), None)
        if one is not None:
            found.append(f"(?:{_letter(pair[0])}{_letter(pair[1])}|{one})")
        else:
            found.append(_letter(pair[0]))
        at += 1 + (one is not None)
    first = f"[{APOSTROPHES}]?" if len(letters) > 4 and letters[1:2].isalpha() else ""
    return found[0] + first + "".join(found[1:]) + ending


def _letter(letter: str) -> str:
    """A letter with and without its accent, in one sign or two."""
    if letter in APOSTROPHES:
        return f"[{APOSTROPHES}]? ?"
    if letter in HYPHENS:
        return f"[{HYPHENS} –]?"
    base = STROKES.get(letter) or unicodedata.normalize("NFKD", letter)[0]
    if not base.isascii() or not base.isalpha():
        return re.escape(letter)
    both = f"[{base}{_accented().get(base, '')}]"
    marks = r"[\u0300-\u036f]?"
    return f"(?:{both}{marks}|{UMLAUTS[letter]})" if letter in UMLAUTS else both + marks


def eastern(group: str) -> list[str]:
    """Patterns of an East Asian name: the whole of it, then parts that can stand alone.

    Args:
        group: family and given name, between them a caret or a space.
    """
    parts = [one for one in re.split(r"[\^\s,=・･]+", group) if EASTERN.search(one)]
    between = r"[\s・･,、^]{0,2}"
    found = []
    if len(parts) > 1:
        plain = [re.escape(one) for one in parts]
        found += [between.join(plain), between.join(reversed(plain))]
    found += [re.escape(one) for one in sorted(parts, key=len, reverse=True) if len(one) > 1]
    if parts and len(parts[0]) == 1:
        found.append(rf"{re.escape(parts[0])}(?=\s?(?:{TITLES}))")
    return found
