"""A table under the family table: head, rows, notes, and the numbers behind them.

Owns the plain shape that every further table has, and laying it out as text, Markdown and LaTeX.
Computes nothing; the makers of sections are modules of their own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDTH = 100
Rows = Sequence[Sequence[str]]
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


@dataclass(frozen=True)
class Section:
    """One table.

    Attributes:
        name: its key in the JSON document.
        title: its heading.
        head: names of the columns; the first names the row.
        rows: cells as they are shown, as many as ``head`` has.
        notes: sentences under it.
        document: the numbers, as JSON holds them.
    """

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)


def columns(rows: Rows) -> str:
    """Rows in columns of their own width, the first to the left, the others to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def section_text(section: Section) -> str:
    """A section for the terminal."""
    parts = [*textwrap.wrap(section.title, WIDTH)]
    if section.rows:
        parts.append(columns([section.head, *section.rows]))
    for note in section.notes:
        parts += textwrap.wrap(note, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(parts)


def section_markdown(section: Section) -> str:
    """A section for a document."""
    blocks = [f"## {section.title}"]
    if section.rows:
        blocks.append(pipes(section.head, section.rows))
    blocks += section.notes
    return "\n\n".join(blocks)


def pipes(head: Sequence[str], rows: Rows) -> str:
    """A Markdown table; short rows are filled up."""
    width = len(head)
    lines = [list(head), ["---"] * width]
    lines += [list(row) + [""] * (width - len(row)) for row in rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def section_latex(section: Section) -> str:
    """A section as a LaTeX table with booktabs rules."""
    return booktabs(section.title, section.head, section.rows, section.notes, name=section.name)


def booktabs(
    title: str, head: Sequence[str], rows: Rows, notes: Sequence[str] = (), *, name: str
) -> str:
    """A LaTeX table; it wants the package booktabs and nothing else."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex(title)}}}",
        rf"\label{{tab:{name}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        " & ".join(map(tex, head)) + r" \\",
        r"\midrule",
    ]
    for row in rows:
        filled = [*row, *[""] * (len(head) - len(row))]
        lines.append(" & ".join(map(tex, filled)) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip{{\footnotesize {tex(note)}\par}}" for note in notes]
    return "\n".join([*lines, r"\end{table}"])


def tex(text: str) -> str:
    """A text that LaTeX sets as it stands."""
    return "".join(_TEX.get(letter, letter) for letter in text)
