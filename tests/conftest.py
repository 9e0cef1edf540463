"""What every test gets: no display, a home of its own, and a look for what was left behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before anything imports Qt or matplotlib.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("MPLBACKEND", "Agg")
# Before anything loads torch: see studies.worker.share_processors.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pytest

from db.home import ENVIRONMENT, Home

GRACE_SECONDS = 3.0
# Helpers of libraries that live as long as the interpreter, by design.
LASTING = ("resource_tracker", "semaphore_tracker", "forkserver")
# Files that take longest go first, so that no core waits for one of them at the end.
PEERS = "tests/peers/"
LONGEST = ("test_demo_end_to_end.py", "test_audit.py", "test_architecture.py")
UGLY_WORDS = (
    "",
    " ",
    "M\u00fcller-\u0141ukasiewicz \u5927\u91cc",
    "\u0645\u0631\u064a\u0636 ABC \u202etxt.exe",
    "<b>bold</b><img src=x> &amp; <script>alert(1)</script>",
    "a" * 5000,
    "line\r\nline\rline\n\n\n\tend",
    "\U0001fac1\U0001f9e0 100 % %s {0} \\n",
    "quote ' \" ; DROP TABLE rating; --",
    "\ufeffbyte order mark \u2028 separator \x00 null",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """On several cores a file stays whole, and so do the peers, whose last test counts them all."""
    from xdist.scheduler import LoadFileScheduling

    class WholeFiles(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return PEERS if file.startswith(PEERS) else file

    config.option.loadscopereorder = False  # the longest first, not the most numerous
    return WholeFiles(config, log)


def children() -> set[tuple[int, str]]:
    """Processes started by this one that still live: (pid, command line); Linux only."""
    found = set()
    for listing in Path("/proc/self/task").glob("*/children"):
        try:
            pids = listing.read_text().split()
        except OSError:
            continue
        for pid in pids:
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            found.add((int(pid), command.replace(b"\0", b" ").decode(errors="replace")))
    return {entry for entry in found if not any(word in entry[1] for word in LASTING)}


def threads() -> set[threading.Thread]:
    """Threads that would keep the interpreter alive."""
    return {one for one in threading.enumerate() if one.is_alive() and not one.daemon}


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test ever meets the user's own home."""
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path_factory.getbasetemp() / "home-of-nobody"))


@pytest.fixture(autouse=True)
def nothing_left_behind(own_home: None) -> Iterator[None]:
    """Fail a test that leaves a thread or a process running."""
    threads_before, children_before = threads(), children()
    yield
    end = time.monotonic() + GRACE_SECONDS
    while True:
        left = [one.name for one in threads() - threads_before]
        left += [command for _, command in children() - children_before if command]
        if not left:
            return
        if time.monotonic() > end:
            pytest.fail(f"left running: {', '.join(left)}")
        time.sleep(0.02)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with all its folders, under a path with a space and an umlaut."""
    return Home(tmp_path / "hom\u00e9 of a test").make()


@pytest.fixture(params=UGLY_WORDS, ids=range(len(UGLY_WORDS)))
def ugly(request: pytest.FixtureRequest) -> str:
    """A text as the world sends them."""
    return str(request.param)
