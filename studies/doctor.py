"""What this machine has and lacks, and the line that mends it. Changes nothing."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from db.errors import StoreError
from db.home import Home
from db.session import open_store
from engine.catalog import model_cards
from engine.families import BROKEN
from engine.hub import has_token, in_words, offline
from studies.places import weights_here

FREE_GIB = 2


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Attributes:
        what: its name.
        state: ``ok``, ``note`` (works without) or ``fault``.
        says: one sentence.
        mend: the line that mends it, empty when there is nothing to mend.
    """

    what: str
    state: str
    says: str
    mend: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def examine(home: Home) -> tuple[Finding, ...]:
    """Look at everything, in the order a person would."""
    looks: tuple[Callable[[Home], Finding], ...] = (
        _python, _window, _display, _engine, _device, _disk, _database, _models, _hub,
    )  # fmt: skip
    return tuple(look(home) for look in looks)


def table(findings: tuple[Finding, ...]) -> str:
    """One line per finding, the mending line below it."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.state:5}  {finding.what:10}  {finding.says}")
        if finding.mend:
            lines.append(f"                   mend: {finding.mend}")
    return "\n".join(lines)


def _python(home: Home) -> Finding:
    says = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return Finding("Python", "ok", says)


def _window(home: Home) -> Finding:
    """Import Qt in another process: a missing system library ends that one, not us."""
    code = "import PySide6.QtWidgets, PySide6.QtSvg; print(PySide6.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode == 0:
        return Finding("Qt", "ok", f"PySide6 {done.stdout.strip()} loads")
    last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
    mend = "apt-get install libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1"
    return Finding("Qt", "fault", last, mend if sys.platform.startswith("linux") else "")


def _display(home: Home) -> Finding:
    if sys.platform in ("win32", "darwin"):
        return Finding("display", "ok", "the system's own")
    name = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if name:
        return Finding("display", "ok", name)
    return Finding("display", "note", "none is set; the commands work, no window opens")


def _engine(home: Home) -> Finding:
    wanted = (
        "torch", "torchvision", "transformers", "safetensors", "faiss", "sentencepiece", "ftfy",
    )  # fmt: skip
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        says = f"{', '.join(missing)} not installed; rating and viewing work, models do not"
        return Finding("engine", "note", says, 'pip install "triptych[engine]"')
    return Finding("engine", "ok", f"torch {_of('torch')}, transformers {_of('transformers')}")


def _of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def _device(home: Home) -> Finding:
    """Ask in another process: importing torch here would cost every other command seconds."""
    if importlib.util.find_spec("torch") is None:
        return Finding("device", "note", "unknown without torch")
    code = "from engine.device import choose_device as c; print(c().reason)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return Finding("device", "fault", last)
    return Finding("device", "ok", done.stdout.strip())


def _disk(home: Home) -> Finding:
    place = home.root
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / 2**30
    says = f"{free:.1f} GiB free for {home.root}"
    if free < FREE_GIB:
        return Finding("disk", "fault", says, "free some room or choose another --home")
    return Finding("disk", "ok", says)


def _database(home: Home) -> Finding:
    if not home.database.exists():
        return Finding("database", "ok", "none yet; it is made at first use")
    try:
        open_store(home).close()
    except StoreError as error:
        return Finding("database", "fault", str(error))
    return Finding("database", "ok", f"{home.database.name} opens")


def _models(home: Home) -> Finding:
    cards = model_cards(home.cards)
    here = {card.id: weights_here(card, home) for card in cards}
    whole = [card.id for card in cards if here[card.id].whole and not card.demo]
    lost = [card.title for card in cards if card.demo and not here[card.id].whole]
    broken = [card.note for card in cards if card.family == BROKEN]
    size = sum(one.size for one in here.values() if one.place and one.place.kind != "shipped")
    says = (
        f"{len(cards)} cards; weights here of {', '.join(whole)} ({in_words(size)}), and of "
        f"{sum(card.demo for card in cards) - len(lost)} demo models"
    )
    if lost:
        return Finding("models", "fault", f"{', '.join(lost)} missing", "install the program again")
    if broken:
        return Finding("models", "note", f"{says}. {broken[0]}", f"mend it in {home.cards}")
    half = [card.id for card in cards if here[card.id].half]
    if half:
        says += f"; half a download of {', '.join(half)}"
        return Finding("models", "note", says, f"triptych models download {half[0]}")
    return Finding("models", "ok", says)


def _hub(home: Home) -> Finding:
    """What downloads would use. Asks nobody: whether the hub answers is known at a download."""
    token = has_token()
    if token is None:
        says = "its library is not installed; models are copied by hand"
        return Finding("hub", "note", says, 'pip install "triptych[engine]"')
    words = "a token is in its store" if token else "no token in its store, needed behind gates"
    where = os.environ.get("HF_ENDPOINT")
    words += f"; asked at {where}" if where else ""
    if offline():
        says = f"switched off by HF_HUB_OFFLINE; {words}"
        return Finding("hub", "note", says, "unset HF_HUB_OFFLINE to download models")
    return Finding("hub", "ok", f"on; whether it can be reached shows at a download; {words}")
