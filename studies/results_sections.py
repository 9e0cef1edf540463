"""A table under the family table: head, rows, notes, and the numbers behind them.

Owns the plain shape that every further table has, and laying it out as text, Markdown and LaTeX.
Computes nothing; the makers of sections are modules of their own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from string import ascii_uppercase
from typing import Any

WIDTH = 100
SHORT = 10  # the longest name of a column that keeps its place in a wide table
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
    """A section for the terminal, in 100 columns: long heads become letters, wide tables parts."""
    parts = [*textwrap.wrap(section.title, WIDTH)]
    if section.rows:
        head, legend = _lettered(section)
        parts.append("\n\n".join(_within(head, section.rows)))
        parts += textwrap.wrap(legend, WIDTH, break_on_hyphens=False)
    for note in section.notes:
        parts += textwrap.wrap(note, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(parts)


def _lettered(section: Section) -> tuple[tuple[str, ...], str]:
    """The head as it is where it fits, else with letters for long names, and what they mean."""
    if len(columns([section.head, *section.rows]).splitlines()[0]) <= WIDTH:
        return section.head, ""
    long = [name for name in section.head[1:] if len(name) > SHORT]
    letters = dict(zip(long, _letters(), strict=False))
    legend = ", ".join(f"{letter} {name}" for name, letter in letters.items())
    return tuple(letters.get(name, name) for name in section.head), legend


def _letters() -> Iterator[str]:
    """A to Z, then A1 to Z1 and so on."""
    for turn in count():
        yield from (f"{letter}{turn or ''}" for letter in ascii_uppercase)


def _within(head: Sequence[str], rows: Rows) -> list[str]:
    """The table in parts of at most 100 columns, each with the names of the rows."""
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    parts: list[list[int]] = [[0]]
    room = WIDTH - widths[0]
    for place in range(1, len(head)):
        if widths[place] + 2 > room and len(parts[-1]) > 1:
            parts.append([0])
            room = WIDTH - widths[0]
        parts[-1].append(place)
        room -= widths[place] + 2
    return [columns([[row[place] for place in part] for row in (head, *rows)]) for part in parts]


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
