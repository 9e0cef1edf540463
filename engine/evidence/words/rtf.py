"""Rich text (RTF) to plain words: the control words that reports use.

Owns groups, code pages of fonts, and escaped letters. Refuses what is no text of the body:
pictures, objects, page headers and the information group, which names authors and patients.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+"
    rb"|([^\\{}\r\n]+)|\\"
)
_SKIPPED = """
    fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer
    footerl footerr footerf themedata colorschememapping datastore latentstyles listtable
    listoverridetable rsidtbl generator xmlnstbl filetbl revtbl userprops fldinst nonshppict
    shpinst bkmkstart bkmkend pgdsctbl mmathPr template
"""
SKIPPED = frozenset(_SKIPPED.split())
WORDS = {
    "par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "cell": "\t", "tab": "\t",
    "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "emspace": " ", "enspace": " ", "softline": "\n",
}  # fmt: skip
SIGNS = {b"~": "\u00a0", b"_": "-", b"-": "", b"\n": "\n", b"\r": "\n"}
CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
DEPTH = 500


def is_rtf(raw: bytes) -> bool:
    """True for the first bytes of an RTF file."""
    return raw.lstrip()[:5] == b"{\\rtf"


@dataclass(frozen=True)
class _State:
    """What a group inherits: whether it is skipped, its font's code page, the skip after a u."""

    skipped: bool = False
    fonts: bool = False
    font: int | None = None
    after: int = 1


class _Reader:
    """Walks the tokens; bytes are kept until something else comes, then decoded together."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.raw = bytearray()
        self.stack: list[_State] = []
        self.state = _State()
        self.page = "cp1252"
        self.pages: dict[int, str] = {}
        self.left = 0  # characters that stand in for a \u and are to be passed over
        self.star = False

    def flush(self) -> None:
        page = self.pages.get(-1 if self.state.font is None else self.state.font) or self.page
        if self.raw:
            self.out.append(self.raw.decode(page, "replace"))
            self.raw.clear()

    def write(self, text: str) -> None:
        if not self.state.skipped:
            self.flush()
            self.out.append(text)

    def bytes_in(self, raw: bytes) -> None:
        """Text of the file; the first ``left`` bytes repeat a letter given by its number."""
        passed = min(self.left, len(raw))
        self.left -= passed
        if not self.state.skipped:
            self.raw += raw[passed:]

    def brace(self, sign: bytes) -> None:
        self.flush()
        self.left = 0
        if sign == b"{":
            if len(self.stack) < DEPTH:
                self.stack.append(self.state)
        elif self.stack:
            self.state = self.stack.pop()

    def word(self, name: str, number: int | None) -> None:
        """A control word."""
        if self.star or name in SKIPPED:
            self.state = replace(
                self.state, skipped=True, fonts=self.state.fonts or name == "fonttbl"
            )
        elif name == "ansicpg" and number:
            self.page = f"cp{number}" if _known(f"cp{number}") else self.page
        elif name in ("f", "deff"):
            self.flush()
            self.state = replace(self.state, font=number)
        elif name == "fcharset" and self.state.fonts and self.state.font is not None:
            # 0 is ANSI: the code page of the document
            self.pages[self.state.font] = CHARSETS.get(number, "") if number else ""
        elif name == "uc":
            self.state = replace(self.state, after=max(0, number or 0))
        elif name == "u" and number is not None:
            self.write(_letter(number))
            self.left = self.state.after
        elif name in WORDS:
            self.write(WORDS[name])
        self.star = False


def _known(page: str) -> bool:
    try:
        codecs.lookup(page)
    except LookupError:
        return False
    return True


def _letter(number: int) -> str:
    """A 16-bit unit as RTF writes it, negative from 32768 on; halves of a pair stay halves."""
    return chr(number % 65536)


def rtf_text(raw: bytes) -> str:
    """The words of an RTF file; lines end with a newline."""
    reader, at = _Reader(), 0
    while found := TOKEN.match(raw, at):
        at = found.end()
        word, number, code, sign, brace, plain = found.groups()
        if word == b"bin":
            at += max(0, int(number or 0))
        elif word:
            reader.word(word.decode("ascii"), None if number is None else int(number))
        elif code:
            reader.bytes_in(bytes([int(code, 16)]))
        elif sign == b"*":
            reader.star = True
        elif sign in (b"\\", b"{", b"}"):
            reader.bytes_in(sign)
        elif sign:
            reader.write(SIGNS.get(sign, ""))
        elif brace:
            reader.brace(brace)
        elif plain:
            reader.bytes_in(plain)
    reader.flush()
    whole = "".join(reader.out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub(r"[ \t]+\n", "\n", whole).strip("\n")
