"""Stand-ins with the shapes that ``app`` relies on: a study, a session, a view."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from app.presenters.machine import Machine
from db.settings import Settings
from studies.preference.protocol import Protocol


@dataclass(frozen=True)
class Panel:
    kind: str
    media_ids: tuple[str, ...]
    text: str
    box: tuple[int, int, int, int] | None = None
    boxes: tuple = ()


@dataclass(frozen=True)
class Presentation:
    query: Panel
    left: tuple[Panel, ...]
    right: tuple[Panel, ...]
    prompt: str
    position: int
    total: int
    kind: str = "item"
    block: str = "2d"

    @property
    def item_id(self) -> str:
        return f"i{self.position}"


def picture(seed: int, shape: tuple[int, ...] = (96, 96)) -> np.ndarray:
    """A smooth picture that differs by seed."""
    rows, columns = np.mgrid[0 : shape[-2], 0 : shape[-1]] / max(shape[-2:])
    base = np.sin(rows * (3 + seed % 5) * 3) + np.cos(columns * (2 + seed % 7) * 3)
    base = (base - base.min()) / (base.max() - base.min()) * 220
    if len(shape) == 3:
        depth = np.linspace(0.3, 1.0, shape[0])[:, None, None]
        base = base[None] * depth
    return base.astype(np.uint8)


def image_item(position: int, total: int, *, kind: str = "image") -> Presentation:
    """Seven pictures or volumes."""
    ids = [f"{kind}{position * 7 + number}" for number in range(7)]
    panels = [Panel(kind, (media,), "") for media in ids]
    return Presentation(
        panels[0], tuple(panels[1:4]), tuple(panels[4:]),
        "Find a picture of the same category.", position, total,
    )  # fmt: skip


class FakeStudy:
    """A study in memory, its own session; answers are kept in ``answers`` in order."""

    def __init__(
        self, total: int = 4, *, kind: str = "image", items: list | None = None, **protocol: Any
    ) -> None:
        self.items = items or [image_item(n + 1, total, kind=kind) for n in range(total)]
        self.protocol = Protocol(**{"warmup": 0, "guess_items": 0, **protocol})
        self.row = SimpleNamespace(study_id="s1")
        self.answers: list[tuple[int, str, dict[str, Any]]] = []
        self.notes: list[str] = []
        self.guessed: list[tuple[str, str]] = []
        self.to_guess: list[Presentation] = []
        self.done = 0
        self.fail: Exception | None = None
        self.gone: Exception | None = None
        self.closed = 0
        self.known = True
        self.profile: dict[str, Any] | None = None

    @property
    def session(self) -> FakeStudy:
        return self

    @property
    def settled(self) -> bool:
        return bool(self.guessed)

    @property
    def warmups(self) -> int:
        return sum(item.kind == "warmup" for item in self.items)

    @property
    def left(self) -> dict[str, int]:
        return dict(Counter(item.block for item in self.items[self.done :]))

    def current(self) -> Presentation | None:
        return self.items[self.done] if self.done < len(self.items) else None

    def answer(self, answer: str, **timing: Any) -> Presentation | None:
        if self.fail is not None:
            raise self.fail
        self.answers.append((self.done + 1, answer, timing))
        self.done += 1
        return self.current()

    def undo(self) -> Presentation | None:
        self.answers.append((self.done, "undo", {}))
        self.done -= 1
        return self.current()

    def taken_back(self, position: int) -> Any:
        said = [one for one in self.answers if one[0] == position]
        if position <= self.done or not said or said[-1][1] != "undo":
            return None
        kept = next(one[2] for one in reversed(said) if one[1] != "undo")
        return SimpleNamespace(**{name: kept.get(name)
                                  for name in ("confidence", "comment", "usefulness")})  # fmt: skip

    def upcoming(self, count: int = 2) -> tuple[Presentation, ...]:
        return tuple(self.items[self.done + 1 : self.done + 1 + count])

    def note_pause(self, kind: str) -> None:
        self.notes.append(kind)

    def guesses(self) -> tuple[Presentation, ...]:
        return () if self.current() is not None else tuple(self.to_guess)

    def guess(self, item_id: str, answer: str) -> tuple[Presentation, ...]:
        if self.fail is not None:
            raise self.fail
        self.guessed.append((item_id, answer))
        self.to_guess = [one for one in self.to_guess if one.item_id != item_id]
        return tuple(self.to_guess)

    def media(self, media_id: str) -> np.ndarray:
        seed = int("".join(letter for letter in media_id if letter.isdigit()))
        return picture(seed, (12, 64, 64) if media_id.startswith("volume") else (96, 96))

    def close(self) -> None:
        self.closed += 1


@dataclass(frozen=True, eq=False)
class FakeOpened:
    """A fake study with somebody seated; its file is gone while ``study.gone`` is set."""

    study: FakeStudy
    session: FakeStudy | None
    presentation: Presentation | None
    protocol: Protocol
    seat: str = ""

    def guarded(self, work: Any) -> Any:
        if self.study.gone is not None:
            raise self.study.gone
        return work()


class FakeSource:
    """Lists one study, or none."""

    def __init__(self, study: FakeStudy | None, *, seat: str = "") -> None:
        self.study, self.seat = study, seat
        self.packs: list[Path] = []
        self.returned: list[Path] = []
        self.fail: Exception | None = None

    def list_studies(self, _home: object) -> tuple[Any, ...]:
        if self.study is None:
            return ()
        info = SimpleNamespace(
            id="s1", title="Chest", items=len(self.study.items), path=Path("s1"), hash="0" * 64,
            answered=self.study.done, places=len(self.study.items), unblinded=False, fault="",
            reads=f"{len(self.study.items)} items", seats=(),
            far=(self.study.done, len(self.study.items)),
            seat=self.seat,
        )  # fmt: skip
        return (info,)

    def sit(self, _path: Path, rater: str, profile: dict[str, Any] | None) -> FakeOpened:
        study = self.study
        assert study is not None
        if study.gone is not None:
            raise study.gone
        study.rater = rater
        if profile:
            study.profile = dict(profile)
        if profile is None and not study.known:
            return FakeOpened(study, None, None, study.protocol, self.seat)
        study.known = True
        return FakeOpened(study, study, study.current(), study.protocol, self.seat)

    def answers_name(self, _path: object, rater: str) -> str:
        return f"Chest-{rater}.triptych-answers"

    def open_pack(self, _home: object, file: Path) -> Path:
        if self.fail is not None:
            raise self.fail
        self.packs.append(file)
        return Path("studies") / "s1"

    def return_answers(self, _path: Path, out: Path) -> Path:
        if self.fail is not None:
            raise self.fail
        self.returned.append(out)
        return out


class Signal:
    """A signal without Qt."""

    def __init__(self) -> None:
        self._calls: list[Any] = []

    def connect(self, call: Any) -> None:
        self._calls.append(call)

    def emit(self, *values: Any) -> None:
        for call in list(self._calls):
            call(*values)


class FakeView:
    """Records every call of a setter; signals are made when asked for."""

    def __init__(self, *signals: str) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        for name in signals:
            setattr(self, name, Signal())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def record(*values: Any, **named: Any) -> None:
            self.calls.append((name, values, named))

        return record

    def last(self, name: str) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Arguments of the latest call of a setter."""
        for called, values, named in reversed(self.calls):
            if called == name:
                return values, named
        return None

    def names(self) -> list[str]:
        return [name for name, _values, _named in self.calls]


class NowTasks:
    """Tasks that happen at once, on the caller's thread."""

    def run(self, owner: object, work: Any, done: Any = None, failed: Any = None) -> None:
        try:
            value = work()
        except Exception as error:
            if failed is None:
                raise
            failed(error)
            return
        if done is not None:
            done(value)

    query = run


class FakeSettings:
    """Settings in memory."""

    def __init__(self, **values: Any) -> None:
        self.current = Settings(**values)

    def save(self, settings: Settings, *, origin: str = "") -> None:
        self.current = settings


class Notes:
    """Collects notices."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def __getattr__(self, _kind: str) -> Any:
        if _kind.startswith("__"):
            raise AttributeError(_kind)
        return lambda text, **_more: self.sentences.append(text)


def fake_services(**more: Any) -> Any:
    """Services without Qt and without disk."""
    told: list[tuple[str, ...]] = []
    quiet: list[bool] = []
    went: list[tuple[str, Any]] = []
    parts: dict[str, Any] = {
        "home": SimpleNamespace(root=Path("home")),
        "store": None,
        "settings": FakeSettings(),
        "tasks": NowTasks(),
        "jobs": None,
        "notify": Notes(),
        "changes": SimpleNamespace(tell=lambda *kinds, origin="": told.append(kinds)),
        "open_evidence": lambda paths: None,
        "go": lambda page, argument=None: went.append((page, argument)),
        "quiet": quiet.append,
        "full_screen": lambda: None,
        "machine": Machine(),
        "told": told,
        "quiets": quiet,
        "went": went,
    }
    return SimpleNamespace(**{**parts, **more})
