"""The tables as LaTeX: a document that compiles by itself, tables that can be cut out of it.

Owns escaping and the frame. Needs booktabs, longtable and lscape, which every distribution has.
"""

from __future__ import annotations

import re
import unicodedata

from studies.preference.analysis.schema import Analysis
from studies.preference.kit.grid import Grid, words_of
from studies.preference.kit.layout import grids_of
from studies.preference.kit.report import opening

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
}
HEAD = r"""\documentclass[10pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs,longtable,lscape}
\usepackage[margin=15mm]{geometry}
\setlength{\tabcolsep}{3pt}
\begin{document}
\begin{landscape}
\scriptsize
"""
FOOT = r"""\end{landscape}
\end{document}
"""


def to_latex(analysis: Analysis) -> str:
    """The document with every table; the hash stands in its first line and under each table."""
    told = "".join(f"\\noindent {plain(line)}\\par\n" for line in opening(analysis))
    tables = "".join(_table(grid, analysis.hash) for grid in grids_of(analysis, tasks="include"))
    return f"% study hash {analysis.hash or '-'}\n{HEAD}{told}{tables}{FOOT}"


def plain(text: str) -> str:
    """Text as LaTeX prints it: special signs escaped, letters no font of TeX has spelled out."""
    out = "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
    out = re.sub(r"(?<=[\d\]]) (?=\\%)", r"~", out)
    out = re.sub(r"(?<![\w.])-(?=\d)", r"$-$", out)
    return "".join(map(_letter, out))


def _letter(letter: str) -> str:
    """What pdfLaTeX cannot print becomes its base letter, or a question mark."""
    if ord(letter) < 0x180 and letter.isprintable():
        return letter
    base = unicodedata.normalize("NFKD", letter)[:1]
    return base if base.isascii() and base.isalnum() else "?"


def _table(grid: Grid, study_hash: str) -> str:
    width = len(grid.heads)
    first = "p{42mm}" if width > 3 else "p{80mm}"
    each = "r" if width > 3 else "l"
    head = " & ".join(_stacked(head) for head in grid.heads) + r" \\"
    body = "\n".join(
        " & ".join(_stacked(words_of(cell)) if place else plain(words_of(cell))
                   for place, cell in enumerate(row)) + r" \\"
        for row in grid.rows
    )  # fmt: skip
    notes = "\n".join(
        rf"\multicolumn{{{width}}}{{p{{240mm}}}}{{{plain(note)}}} \\"
        for note in (*grid.notes, f"Study hash {study_hash or '-'}.")
    )
    return (
        f"\n% {grid.name}\n\\begin{{longtable}}{{{first}{each * (width - 1)}}}\n"
        f"\\caption{{{plain(grid.title)}}}\\\\\n"
        f"\\toprule\n{head}\n\\midrule\n\\endhead\n"
        f"{body}\n\\bottomrule\n{notes}\n\\end{{longtable}}\n"
    )


def _stacked(text: str) -> str:
    """A share with its interval and n on lines of their own, so that ten columns fit a page."""
    value, bracket, rest = text.partition(" [")
    interval, closing, n = rest.partition("] ")
    if not bracket or not closing:
        return plain(text)
    lines = (value, f"[{interval}]", n)
    return r"\shortstack[r]{" + r"\\".join(_line(line) for line in lines) + "}"


def _line(text: str) -> str:
    # a bracket that opens a line would be read as an option of the line break
    return "{" + plain(text) + "}"
