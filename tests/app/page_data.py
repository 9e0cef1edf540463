"""Made-up values for views: ordinary, empty, huge and ugly."""

from __future__ import annotations

from app.shown import (
    EvidenceShown,
    HeatShown,
    ModelShown,
    PreviewShown,
    ProgressShown,
    QueryDetail,
    QueryShown,
    RankedShown,
    RecordShown,
    ScoreRow,
    ScoreShown,
    ScoreTable,
    SettingShown,
    StepShown,
    StudyShown,
    TaskShown,
)
from app.shown_study import ReaderShown

FAMILIES = ("I-I", "MB-VR", "I-Lab", "I-Rep", "T-I", "VQA", "VG", "T-T")


def model(key: str = "a", *, title: str = "Model A", usable: bool = True) -> ModelShown:
    return ModelShown(
        key, title, "siglip", "Apache-2.0", False, "34 MB", 64, "2D, 3D, text", usable, usable,
        True, note="Demo model.", fits=True, why="fits this machine", state="ready",
    )  # fmt: skip


def evidence(count: int, title: str = "case/ct") -> list[EvidenceShown]:
    return [
        EvidenceShown(str(n), f"{title} {n}", "volume", "3d", "CT", "64 × 96 × 96", n % 2 == 1,
                      body_part="CHEST", warnings=("text?", "face?")[: n % 3], kin=n % 4, tip=title)
        for n in range(count)
    ]  # fmt: skip


def preview(text: str = "FINDINGS: none") -> PreviewShown:
    facts = (("Kind", "volume"), ("Folder", text))
    return PreviewShown("1", text, facts, text, (text,), text, (("findings", text, text),), (text,))


def scores(columns: int, rows: int, title: str = "Model") -> ScoreTable:
    chance = ScoreRow("", "Chance", tuple(ScoreShown(7.0) for _ in range(columns)))
    made = tuple(
        ScoreRow(
            f"m{n}", f"{title} {n}",
            tuple(ScoreShown((n * 13 + c * 7) % 101, (0.0, 100.0), 3, 7.0) if c != 2 else None
                  for c in range(columns)),
        )
        for n in range(rows)
    )  # fmt: skip
    return ScoreTable(tuple(f"{FAMILIES[c % 8]} ({c})" for c in range(columns)), (chance, *made))


def heat(tasks: int, models: int, name: str = "task") -> HeatShown:
    return HeatShown(
        tuple(f"{name}/{n}" for n in range(tasks)),
        tuple(FAMILIES[n * 8 // max(1, tasks)] for n in range(tasks)),
        tuple(f"{name} model {n}" for n in range(models)),
        tuple(
            tuple(None if (t + m) % 9 == 0 else (t * 3 + m * 11) % 101 for m in range(models))
            for t in range(tasks)
        ),
        tuple(5.0 for _ in range(tasks)),
    )


def queries(count: int, text: str = "which lobe") -> list[QueryShown]:
    return [QueryShown(str(n), text, n % 9 + 1, 9, text, 0.5) for n in range(count)]


def ranked(count: int, text: str = "case", *, gold: int = 2) -> tuple[RankedShown, ...]:
    return tuple(
        RankedShown(str(n), n + 1, f"{text} {n}", text, 0.9 - n / 100, str(n), n == gold)
        for n in range(count)
    )


def record(text: str = "SigLIP") -> RecordShown:
    settings = tuple(SettingShown(text, text, "ours", text, f"{text}: {text}") for _ in range(20))
    return RecordShown(text, (("Preset", text), ("Texts", text)), settings, text)


def detail(count: int = 9, text: str = "which lobe") -> QueryDetail:
    return QueryDetail(text, text, text, "q", 3, count, ranked(count, text))


def tasks(count: int, name: str = "task") -> list[TaskShown]:
    return [
        TaskShown(f"{name}/{n}", FAMILIES[n % 8], "2d", "id", None if n % 5 == 4 else n)
        for n in range(count)
    ]


def progress(count: int, text: str = "task") -> list[ProgressShown]:
    states = ("done", "running", "waiting", "failed", "missing")
    return [ProgressShown(text, "I-I", text, states[n % 5], n, n, text) for n in range(count)]


def study(title: str = "Chest", state: str = "reading") -> StudyShown:
    return StudyShown("s1", title, state, 3, 9, "ab" * 32, "30 Nov 2026")


def reader(text: str = "AB") -> ReaderShown:
    return ReaderShown(text, text, text, text, text, "warn")


def steps(text: str = "sentence") -> list[StepShown]:
    return [
        StepShown(key, key.capitalize(), state, text, "Do it" if state != "later" else "")
        for key, state in (("build", "done"), ("read", "next"), ("verify", "failed"),
                           ("unblind", "later"))
    ]  # fmt: skip
