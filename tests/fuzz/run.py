"""The mutation fuzzer's command: ``python -m tests.fuzz.run --mutants 20000 --seed 1 --jobs 2``.

Prints the number of mutants, seconds and findings by kind; writes each distinct finding, made as
small as it gets, as one JSON line (recipe and words) with ``--out``. Ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fuzz import bases
from tests.fuzz.minimise import smallest
from tests.fuzz.mutate import Mutator, Recipe
from tests.fuzz.pool import Worker


class Campaign:
    """Mutants shared among workers, and what they came to."""

    def __init__(self, mutator: Mutator, count: int) -> None:
        self._mutator, self._count = mutator, count
        self._lock = threading.Lock()
        self._next = 0
        self.ends: Counter[str] = Counter()
        self.times: Counter[str] = Counter()
        self.findings: dict[str, tuple[Recipe, list[str]]] = {}
        self.done = 0

    def take(self) -> Recipe | None:
        """The next recipe, None when all are taken."""
        with self._lock:
            if self._next >= self._count:
                return None
            self._next += 1
            return self._mutator.recipe(self._next - 1)

    def note(self, recipe: Recipe, answer: dict[str, Any]) -> None:
        """Count; keep the first recipe of every distinct finding."""
        with self._lock:
            self.done += 1
            self.ends.update(set(answer["ends"]) or {"nothing"})
            for finding in answer["findings"]:
                key = f"{finding[0]}: {finding[1]}"
                if key not in self.findings:
                    self.findings[key] = (recipe, finding)
                    say(f"  {key}\n    {json.dumps(recipe)[:300]}")
                self.times[key] += 1
            if self.done % 1000 == 0:
                say(f"{self.done} mutants, {len(self.findings)} findings")

    def work(self, stop: threading.Event) -> None:
        """One worker's share."""
        worker = Worker()
        try:
            while not stop.is_set() and (recipe := self.take()) is not None:
                self.note(recipe, worker.ask(recipe))
        finally:
            worker.close()


def say(sentence: str) -> None:
    """One line on standard output, at once."""
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="bases whose name holds this word")
    parser.add_argument("--out", type=Path, help="file for the findings, one JSON line each")
    wanted = parser.parse_args(arguments)
    names = [name for name in bases.names() if wanted.only in name]
    start = time.monotonic()
    campaign = Campaign(Mutator(names, wanted.seed), wanted.mutants)
    share(campaign, wanted.jobs)
    seconds = time.monotonic() - start
    say(f"{campaign.done} mutants of {len(names)} bases, seed {wanted.seed}: {seconds:.0f} s")
    say("ends: " + ", ".join(f"{word} {n}" for word, n in campaign.ends.most_common()))
    kinds = Counter(key.split(":")[0] for key in campaign.findings)
    say("distinct findings: " + (", ".join(f"{kind} {n}" for kind, n in kinds.items()) or "none"))
    keep(campaign, wanted.out)
    return 1 if campaign.findings else 0


def share(campaign: Campaign, jobs: int) -> None:
    """Let ``jobs`` workers do the mutants; Ctrl+C ends after those in hand."""
    stop = threading.Event()
    threads = [threading.Thread(target=campaign.work, args=(stop,)) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        stop.set()
        for thread in threads:
            thread.join()


def keep(campaign: Campaign, out: Path | None) -> None:
    """Print every distinct finding with how often it was met; write them small."""
    worker = Worker()
    rows = []
    try:
        for key, (recipe, finding) in campaign.findings.items():
            say(f"{campaign.times[key]:6d} x {key}")
            small = smallest(recipe, finding[:2], worker)
            rows.append({"recipe": small, "kind": finding[0], "what": finding[1],
                         "detail": finding[2]})  # fmt: skip
    finally:
        worker.close()
    if out is not None:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
