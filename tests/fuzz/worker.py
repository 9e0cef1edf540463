"""One process that makes and reads mutants, within bounds of memory and time.

Speaks JSON lines: a recipe in, a report out. What a library prints meanwhile is caught and
reported. Bounds are the operating system's where it has them (resource is missing on Windows).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from tests.fuzz import bases, mutate
from tests.fuzz.check import Finding, Report, examine
from tests.fuzz.makers import PLANTED

MEMORY = 3 << 30  # address space beyond what the libraries take at the start
GROWTH = 700 << 20  # resident memory that a small file may cost; half a gigabyte may be claimed
# libtiff tells damage on standard error before it fails; it names functions, tags and lines only
CHATTER = re.compile(r"(tempfile\.tif|_?TIFF\w+|\w+Decode|MissingRequired): .*|\s*")
SECONDS = 10.0  # of computing, for one mutant


def main() -> int:
    """Serve recipes until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with tempfile.TemporaryFile() as heard:
        os.dup2(heard.fileno(), 1)
        os.dup2(heard.fileno(), 2)
        warm()
        limit_memory()
        for line in sys.stdin:
            out.write(json.dumps(answer(json.loads(line), heard)) + "\n")
            out.flush()
    return 0


def warm() -> None:
    """Load every library once, so that bounds are about the mutants."""
    for name in ("made:mha", "made:tiff_float_tiled", "made:dicom_cine_jpeg", "made:pdf"):
        run({"base": name, "edits": []})


def limit_memory() -> None:
    """No more address space than now and ``MEMORY``."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        bound = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextlib.contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """The process is ended by the system if it computes longer."""
    timer = getattr(signal, "setitimer", None)
    if timer is None:
        yield
        return
    timer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        timer(signal.ITIMER_PROF, 0)


def answer(recipe: mutate.Recipe, heard: BinaryIO) -> dict[str, Any]:
    """The report on one recipe as plain data."""
    heard.seek(0, os.SEEK_END)
    before, peak = heard.tell(), peak_memory()
    with limit_time(SECONDS):
        report, size = run(recipe)
    findings = list(report.findings)
    sys.stdout.flush()
    sys.stderr.flush()
    words = _heard(heard, before)
    if not all(CHATTER.fullmatch(line) for line in words.splitlines()):
        findings.append(Finding("printed", f"something is printed: {_source(words)}", words))
    grown = peak_memory() - peak
    if grown > GROWTH + 100 * size:
        findings.append(Finding("memory", "much memory for a small file", f"{grown >> 20} MB"))
    return {
        "findings": [[one.kind, one.what, one.detail] for one in findings],
        "ends": report.ends, "pixels": report.pixels, "grown": grown,
    }  # fmt: skip


def _heard(heard: BinaryIO, before: int) -> str:
    """What was printed since."""
    heard.seek(0, os.SEEK_END)
    end = heard.tell()
    heard.seek(before)
    return heard.read(min(end - before, 1 << 16)).decode("utf-8", "replace")


def _source(words: str) -> str:
    """The first word of what a library said, without numbers: equal ones are one finding."""
    return re.sub(r"[0-9]+", "0", words.strip().split(":")[0])[:40]


def run(recipe: mutate.Recipe) -> tuple[Report, int]:
    """Write a mutant into a folder of its own and examine it; also the bytes it takes."""
    files = mutate.make(recipe)
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    try:
        for name, raw in files.items():
            (folder / name).write_bytes(raw)
        cut = bool(recipe["edits"]) and all(edit[0] == "cut" for edit in recipe["edits"])
        cut = cut and recipe["base"] not in bases.OPEN_ENDED
        whole = unharmed(recipe["base"]) if cut else None
        name = recipe.get("name", bases.load(recipe["base"]).target)
        name += ".zip" if recipe.get("wrap") == "zip" else ""
        secrets = secrets_of(recipe["base"])
        report = examine(folder, secrets=secrets, whole=whole, cut=name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return report, sum(len(raw) for raw in files.values())


@cache
def unharmed(name: str) -> frozenset[str]:
    """Hashes of the pictures of a base."""
    return frozenset(run({"base": name, "edits": []})[0].pixels)


@cache
def secrets_of(name: str) -> tuple[str, ...]:
    """Words of the patient in a base: the planted ones, or those of a handed DICOM file."""
    if name.startswith("made:"):
        return (PLANTED.split("^")[0], PLANTED.split("^")[1])
    import pydicom

    try:
        dataset = pydicom.dcmread(bases.ROOT / name.split("+")[0], stop_before_pixels=True)
        found = [str(dataset.get(word, "")) for word in ("PatientName", "PatientID")]
    except Exception:  # noqa: BLE001 (no DICOM file, or one that only a forgiving reader takes)
        return ()
    return tuple(one for one in found if len(one) > 4)


def peak_memory() -> int:
    """The most resident memory so far in bytes, 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


if __name__ == "__main__":
    sys.exit(main())
