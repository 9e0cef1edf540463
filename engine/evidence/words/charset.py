"""Bytes of a text file to words: which encoding they are in, by rules first and by guess last.

Owns the order of the rules: byte order marks, escape sequences, zero bytes, strict UTF-8, the
shapes of East Asian and Cyrillic and Greek text, the letters of European languages. Refuses bytes
that are no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
ESCAPES = ((b"\x1b$B", "iso2022_jp"), (b"\x1b$@", "iso2022_jp"), (b"\x1b$)C", "iso2022_kr"))
WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
SAMPLE = 24_000
HAN = re.compile(r"[\u4e00-\u9fff]")
KANA = re.compile(r"[\u3041-\u30fa\u30fc]")
HALF_KANA = re.compile(r"[\uff61-\uff9f]")
HANGUL = re.compile(r"[\uac00-\ud7a3]")
STOPS = re.compile(r"[\u3001\u3002\uff0c\uff1a]")
HIGH = re.compile(rb"[\x80-\xff]")
LOWER_BESIDE = re.compile(r"[a-z][\u4e00-\u9fff\uac00-\ud7a3]|[\u4e00-\u9fff\uac00-\ud7a3][a-z]")
ODD = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd\uffff]")
CASE_FLIP = re.compile(r"[a-zа-яёα-ωάέήίόύώ][A-ZА-ЯЁΑ-ΩΆΈΉΊΌΎΏ]")
FREQUENT = {
    "cyrillic": "оеаинтсрвлкмдпуяызьбгчйхжюшцщэфъё",
    "greek": "αοιετσνηυρπκμλςόίάγέήδώωχύθφβξζψ",
}
LANGUAGES = {
    "western": ("äöüÄÖÜßẞ", "éèêëàâçîïôûùœæÉÈÀÂÇÊÎÔ", "áéíóúñüÁÉÍÓÚÑ", "àèéìòùÀÈÉÌÒÙ",
                "ãõáéíóúâêôçàÃÕÁÉÍÓÚÇ", "åäöæøÅÄÖÆØé", "éëïöüèáó", "áéíóúýðþæöÁÉÍÓÚÝÐÞÆÖ"),
    "central": ("ąćęłńóśźżĄĆĘŁŃÓŚŹŻ", "áčďéěíňóřšťúůýžÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ", "áéíóöőúüűÁÉÍÓÖŐÚÜŰ",
                "áäčďéíĺľňóôŕšťúýžÁÄČĎÉÍĽŇÓÔŔŠŤÚÝŽ", "ăâîşţșțĂÂÎŞŢ", "čćšžđČĆŠŽĐ"),
    "turkish": ("çğıöşüÇĞİÖŞÜâî",),
}  # fmt: skip
# the first of equals wins: Windows-1252 before its sisters, those before the older sets
SINGLE = (
    ("cp1252", "western"), ("cp1250", "central"), ("cp1254", "turkish"), ("cp1251", "cyrillic"),
    ("cp1253", "greek"), ("koi8_r", "cyrillic"), ("iso8859_2", "central"),
    ("iso8859_5", "cyrillic"), ("iso8859_7", "greek"), ("cp850", "western"), ("cp852", "central"),
    ("cp866", "cyrillic"), ("mac_roman", "western"),
)  # fmt: skip
SYMBOLS = frozenset("°µ²³±·«»„“”‘’‚–—…•§©®½¼¾×€ºª¡¿\u00a0\u00ad№´`¨‰†™£¢")
INSIDE = re.compile(r"(?<=[^\W\d_])(?:[^\w\s\x00-\x7f’´·–\u00ad]|[¹²³ªº¼½¾])(?=[^\W\d_])")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
SURE, PLAUSIBLE = 0.9, 0.6


def decode(raw: bytes) -> tuple[str, str] | None:
    """Words and the encoding they were in; line ends stay as they are.

    Returns:
        None if the bytes are no text.
    """
    for mark, encoding in MARKS:
        if raw.startswith(mark):
            text = _strict(raw, encoding)
            return None if text is None else (text, encoding)
    if b"\0" in raw:
        bare = raw.rstrip(b"\0")  # padding of fixed blocks
        if not bare:
            return None
        return _wide(raw) if b"\0" in bare else decode(bare)
    eastern = _wide_eastern(raw)
    if eastern is not None:
        return eastern
    if len(CONTROL.findall(raw[:SAMPLE])) > 0.02 * min(len(raw), SAMPLE) + 2:
        return None
    for escape, encoding in ESCAPES:
        if escape in raw and (text := _strict(raw, encoding)) is not None:
            return text, encoding
    if (text := _strict(raw, "utf-8") or _nearly_utf8(raw)) is not None:
        return text, "utf-8"
    for encoding in filter(None, (guess(raw), "cp1252", "latin-1")):
        if (text := _strict(raw, encoding)) is not None:
            return text, encoding
    return None


def _nearly_utf8(raw: bytes) -> str | None:
    """UTF-8 of which a few bytes were lost: one bad byte must not spoil every other letter."""
    text = raw.decode("utf-8", "replace")
    bad, good = text.count("\ufffd"), sum(one > "\x7f" for one in text)
    return text if good - bad >= 4 and bad <= max(1.0, 0.1 * (good - bad)) else None


def guess(raw: bytes) -> str | None:
    """The 8-bit or East Asian encoding that makes the most sense; None if none does."""
    sample = raw[:SAMPLE]
    if len(raw) > SAMPLE:  # end at a line, never inside a character
        sample = sample[: sample.rfind(b"\n") + 1 or SAMPLE]
    eastern = _east_asian(sample)
    if eastern is not None:
        return eastern
    scores = [(_score(sample, name, kind), name) for name, kind in SINGLE]
    best = max(score for score, _ in scores)
    if best >= PLAUSIBLE:
        return next(name for score, name in scores if score == best)
    from charset_normalizer import from_bytes  # the last resort is seldom asked

    found = from_bytes(sample).best()
    return None if found is None or found.encoding == "ascii" else str(found.encoding)


def _strict(raw: bytes, encoding: str) -> str | None:
    try:
        return raw.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _wide(raw: bytes) -> tuple[str, str] | None:
    """UTF-16 or UTF-32 without a mark: the reading with the most plain letters."""
    best: tuple[float, str, str] | None = None
    for encoding in WIDE:
        text = (_strict(raw, encoding) or "").rstrip("\0")
        if not text or ODD.search(text):
            continue
        common = sum(one.isascii() or _eastern(one) for one in text) / len(text)
        share = sum(one.isascii() or "À" <= one <= "ӿ" or _eastern(one) for one in text) / len(text)
        share = share if common >= 0.05 else 0.0  # words have spaces between them
        if best is None or share > best[0]:
            best = (share, text, encoding)
    return (best[1], best[2]) if best is not None and best[0] >= SURE else None


def _wide_eastern(raw: bytes) -> tuple[str, str] | None:
    """UTF-16 without a mark and without one zero byte: East Asian words and their full stops."""
    high = len(HIGH.findall(raw[:SAMPLE])) / min(len(raw), SAMPLE) if raw else 0.0
    if len(raw) % 2 or len(raw) < 8 or high < 0.3:
        return None
    for encoding in WIDE[:2]:
        text = _strict(raw, encoding)
        if text is None or ODD.search(text) or not STOPS.search(text):
            continue
        if sum(map(_eastern, text)) >= SURE * len(text):
            return text, encoding
    return None


def _eastern(letter: str) -> bool:
    return "\u3000" <= letter <= "\u30ff" or "\u4e00" <= letter <= "\u9fff" or (
        "\uac00" <= letter <= "\ud7a3" or "\uff00" <= letter <= "\uffef"
    )  # fmt: skip


def _east_asian(sample: bytes) -> str | None:
    """Shift-JIS, EUC-JP, EUC-KR, GB18030 or Big5 by the scripts that come out."""
    japanese = {name: _japanese(sample, name) for name in ("cp932", "euc_jp")}
    best = max(japanese, key=lambda name: japanese[name])
    if japanese[best] >= 0.15:
        return "shift_jis" if best == "cp932" and _strict(sample, "shift_jis") else best
    for name in ("euc_kr", "cp949"):
        text = _strict(sample, name) or ""
        letters = _letters(text)
        if len(LOWER_BESIDE.findall(text)) > 0.2 * len(letters):  # European words, misread
            continue
        if letters and len(HANGUL.findall(letters)) >= SURE * len(letters) and (
            name == "euc_kr" or _paired(sample)
        ):  # fmt: skip
            return name
    for name, level in (("gb18030", ("gb2312", 0xB0, 0xD7)), ("big5", ("big5", 0xA4, 0xC6))):
        if _chinese(sample, name, *level):
            return name
    return None


def _japanese(sample: bytes, name: str) -> float:
    """The share of kana in what is not ASCII; 0 where half-width or odd signs come out."""
    letters = _letters(_strict(sample, name))
    if not letters or len(HALF_KANA.findall(letters)) > 0.1 * len(letters):
        return 0.0
    known = len(KANA.findall(letters)) + len(HAN.findall(letters))
    return len(KANA.findall(letters)) / len(letters) if known >= SURE * len(letters) else 0.0


def _chinese(sample: bytes, name: str, strict: str, low: int, high: int) -> bool:
    """True if nearly all is hanzi, and most of them are those of the set's first level."""
    text = _strict(sample, name) or ""
    letters = _letters(text)
    if not letters or len(HAN.findall(letters)) < SURE * len(letters):
        return False
    if len(LOWER_BESIDE.findall(text)) > 0.2 * len(letters):  # European words, misread
        return False
    codes = [one.encode(strict, "ignore") for one in letters]
    common = sum(len(code) == 2 and low <= code[0] <= high for code in codes)
    return common >= 0.75 * len(letters)


def _letters(text: str | None) -> str:
    """What is neither ASCII nor punctuation nor a full-width form."""
    if text is None or ODD.search(text):
        return ""
    return "".join(
        one for one in text
        if one > "\x7f" and one.isalpha() and not "\uff00" <= one <= "\uff60"
    )  # fmt: skip


def _paired(sample: bytes) -> bool:
    """True if high bytes mostly stand beside high bytes, as in Korean text."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    return bool(runs) and sum(len(run) > 1 for run in runs) >= 0.7 * len(runs)


def _score(sample: bytes, name: str, kind: str) -> float:
    """How well an encoding's letters fit a language that is written in it, at most 1."""
    text = _strict(sample, name)
    if text is None or ODD.search(text):
        return -1.0
    high = [one for one in text if one > "\x7f" and one not in SYMBOLS]
    odd = len(INSIDE.findall(text)) + len(CASE_FLIP.findall(text)) * (kind in FREQUENT)
    if not high:
        return 1.0 - odd / 10
    if kind in FREQUENT:
        fit = _by_frequency(text, high, FREQUENT[kind])
    else:
        fit = max(_share(high, letters) for letters in LANGUAGES[kind])
    return fit - odd / len(high)


def _share(high: Iterable[str], letters: str) -> float:
    many = list(high)
    return sum(one in letters for one in many) / len(many)


def _by_frequency(text: str, high: list[str], order: str) -> float:
    """1 if letters are as frequent as in the language; whole words are in one script."""
    mixed = len(re.findall(r"[a-zA-Z][^\x00-\x7f\W\d_]|[^\x00-\x7f\W\d_][a-zA-Z]", text))
    if mixed > 0.1 * len(high):
        return -1.0
    ranks = [order.find(one.lower()) for one in high]
    known = [rank for rank in ranks if rank >= 0]
    early = sum(rank < 12 for rank in known) / max(1, len(known))
    return len(known) / len(high) - max(0.0, 0.6 - early)
