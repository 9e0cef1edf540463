"""Made-up values for the Statistics page: every kind of chart and table, ordinary and ugly."""

from __future__ import annotations

from app.shown_statistics import (
    AnswerLine,
    Bar,
    Bars,
    Behind,
    Branch,
    Cell,
    Dot,
    Field,
    Forest,
    Grid,
    Line,
    Matrix,
    OpenedShown,
    Panel,
    Piece,
    Sheet,
    StatisticsShown,
    Stop,
    Strip,
    Strips,
    WingShown,
)

PARTS = (("better", "first", 5), ("both useful", "both", 2), ("neither useful", "neither", 1),
         ("worse", "second", 2))  # fmt: skip


def behind(title: str) -> Behind:
    return Behind(title, (("kind", "item"),))


def bar(title: str, group: str = "") -> Bar:
    pieces = tuple(
        Piece(word, fill, count, 10.0 * count, 5.0 * count, min(100.0, 15.0 * count),
              f"{title} {word}: {10 * count}.0 % [1, 2] ({count} of 10).",
              behind(f"{title} {word}"))
        for word, fill, count in PARTS
    )  # fmt: skip
    return Bar(title, 10, pieces, (30.0, 10.0, 60.0), "decided 71.4 [35.9, 91.8] of 7", group,
               f"{title}, n = 10", behind(title))  # fmt: skip


def bars(count: int = 3, title: str = "Group") -> Bars:
    made = tuple(bar(f"{title} {n}", f"{title} kind {n // 3}") for n in range(count))
    return Bars(f"{title} shares", f"{title} better", f"{title} worse", made)


def forest(count: int = 3, title: str = "Group") -> Forest:
    fields = (Field(f"{title} net", title, title, -40, 40, 0), Field(title, "", "", 0, 100, 50))
    branches = tuple(
        Branch(f"{title} {n}", 10 + n, (Dot(n - 2.0, n - 9.0, n + 5.0, "1 [2, 3]", f"{title} {n}"),
                                        Dot(None, None, None, "none", f"{title} {n} none")),
               f"{title} kind {n // 3}" if n else "", n == 0, behind(f"{title} {n}"))
        for n in range(count)
    )  # fmt: skip
    return Forest(title, fields, branches)


def strips(count: int = 10, title: str = "Ties") -> Strips:
    stops = tuple(
        Stop(f"{n}–{n + 9}", None if n == 2 else 9.0 * n, 5.0 * n, 10.0 * n, f"{n}",
             f"{title}, places {n}", behind(title))
        for n in range(count)
    )  # fmt: skip
    return Strips(title, "place", (Strip(title, 100, "%", stops), Strip(title, 9, "s", stops)))


def matrix(title: str = "Two readings") -> Matrix:
    cells = tuple(
        tuple(Cell(3 * row + place, f"{title}: {row}, {place}", row == place, behind(title))
              for place in range(3))
        for row in range(3)
    )  # fmt: skip
    words = (title, "B", "tie")
    return Matrix(title, "first ↓", "second →", words, words, cells)


def grid(count: int = 3, title: str = "Table") -> Grid:
    lines = tuple(
        Line((f"{title} {n}", str(n), "49.1 % [44.8, 53.3] (260 of 530)"), f"{title} tip {n}",
             behind(f"{title} {n}") if n != 1 else None)
        for n in range(count)
    )  # fmt: skip
    return Grid(title, ("Group", "n", f"{title} better"), lines, ("", "how many", title))


def shown(count: int = 3, text: str = "Model") -> StatisticsShown:
    parts = (bars(count, text), forest(count, text), strips(), matrix(text), matrix(text),
             grid(count, text))  # fmt: skip
    panels = (Panel("p", text, text, parts, (text,)), Panel("q", text, text))
    return StatisticsShown(text, text, (text, text), (Sheet("a", "One", panels),
                                                       Sheet("b", "Two", panels)))  # fmt: skip


def answers(count: int = 3, text: str = "task") -> list[AnswerLine]:
    return [AnswerLine(n + 1, text, "2D", text, text, text, str(n), "9.0 s", text)
            for n in range(count)]  # fmt: skip


def opened(text: str = "Model") -> OpenedShown:
    return OpenedShown(
        text, "1 of 3", WingShown(f"{text} A", "first", "✓ The right answer is number 2", 2, True),
        WingShown(f"{text} B", "second", "The right answer is not among the three"),
        (("Answer", text), ("Time", "9.0 s")), text,
    )  # fmt: skip
