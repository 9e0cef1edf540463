"""A whole study, read by simulated readers: handed out, answered, merged, unblinded, published.

``python -m tests.whole_study FOLDER PASSPHRASE OUT [--readers N]`` takes a built study's folder,
of any number of models. Each reader gets a pack, answers every item and every guess in a home of
its own, takes some answers back, flags some items and hands the answers back. The kit lies in OUT
afterwards. What was said and measured goes to the standard output.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from db.home import Home
from studies.preference.analysis.readers import READERS, Hidden, Reader, at_guessing, at_work
from studies.preference.key import KeyItem, key_from_bytes
from studies.preference.kit.publish import publish
from studies.preference.merge import Merged, merge
from studies.preference.packs import make_pack, open_pack, return_answers
from studies.preference.session import Session
from studies.preference.study import open_study
from studies.preference.unblind import unblind
from studies.preference.verify import OPEN_KEY, verify
from studies.preference.wish import LETTERS

WORTH = {"only_a": 1.2, "only_b": -1.2}
STEP = 0.4  # by which each model is worth more than the next
EACH_FLAGGED, EACH_CHANGED = 61, 23
NAMES = ("Ann", "Bob", "Cem", "Dea", "Eva", "Finn", "Gul", "Hal")
HABITS = (
    READERS["unbiased"],
    replace(READERS["tiring"], name="second", tiring=0.5),
    READERS["left-biased"],
    READERS["guessing"],
)


def readers_of(count: int) -> dict[str, Reader]:
    """So many readers by name, their habits in turn."""
    names = [NAMES[n] if n < len(NAMES) else f"Reader {n + 1}" for n in range(count)]
    return {name: HABITS[n % len(HABITS)] for n, name in enumerate(names)}


def hidden_of(path: Path, passphrase: str) -> dict[str, Hidden]:
    """What decides about each item, from the opened key of a copy that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copytree(path, copy)
        unblind(copy, passphrase, "for the simulated readers")
        key = key_from_bytes((copy / OPEN_KEY).read_bytes())
    return {item_id: _hidden(one) for item_id, one in key.items.items()}


def _hidden(one: KeyItem) -> Hidden:
    """The list with the right answer first is better, and the list of the earlier model."""
    apart = LETTERS.index(one.second) - LETTERS.index(one.first)
    worth = WORTH.get(one.stratum, 0.0) + STEP * apart
    sign = 1 if one.left == one.first else -1
    return Hidden(sign * worth, one.stratum == "both", one.left == LETTERS[0])


def read(session: Session, reader: Reader, hidden: dict[str, Hidden], seed: int) -> int:
    """Answer everything; every so many items one is flagged, one is changed."""
    answer, guess = at_work(reader, hidden, seed), at_guessing(reader, hidden, seed)
    while (shown := session.current()) is not None:
        word, details = answer(shown)
        if shown.position % EACH_FLAGGED == 0:
            session.answer("cannot", item_id=shown.item_id, reason="Picture too dark", **details)
            continue
        session.answer(word, item_id=shown.item_id, **details)
        if shown.position % EACH_CHANGED == 0 and session.undo() is not None:
            session.answer("both", item_id=shown.item_id, **details)
    for shown in session.guesses():
        session.guess(shown.item_id, guess(shown))
    return session.answered


def hand_out(path: Path, passphrase: str, readers: Mapping[str, Reader]) -> tuple[Merged, ...]:
    """Packs out, answers in."""
    hidden = hidden_of(path, passphrase)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for seed, (name, reader) in enumerate(readers.items()):
            pack = make_pack(path, Path(folder), rater=name, specialty="radiology", years=9 + seed)
            home = Home(Path(folder) / f"home-{seed}").make()
            mine = open_pack(home, pack)
            started = time.perf_counter()
            with open_study(mine) as study:
                answers = read(study.session(name), reader, hidden, seed)
            spent = time.perf_counter() - started
            sys.stdout.write(
                f"{name}: pack {pack.stat().st_size / 1e6:.1f} MB, {answers} answers, "
                f"{1000 * spent / answers:.1f} ms each\n"
            )
            files.append(str(return_answers(mine, Path(folder))))
        return merge(path, files)


def whole(
    path: Path, passphrase: str, out: Path, *, readers: Mapping[str, Reader], draws: int = 10_000
) -> tuple[str, ...]:
    """The whole life of one study; the faults that verification found before unblinding."""
    for one in hand_out(path, passphrase, readers):
        sys.stdout.write(f"{one.sentence}\n")
    faults = verify(path)
    sys.stdout.write("verified\n" if not faults else "\n".join(faults) + "\n")
    unblind(path, passphrase, "simulated reading finished")
    started = time.perf_counter()
    files = publish(path, out, draws=draws)
    sys.stdout.write(f"{len(files)} files in {time.perf_counter() - started:.1f} s\n")
    return faults


def main() -> int:
    """What the command line asks for."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=Path, help="of a built study")
    words.add_argument("passphrase")
    words.add_argument("out", type=Path, help="folder of the kit")
    words.add_argument("--readers", type=int, default=2, metavar="N")
    told = words.parse_args()
    readers = readers_of(max(1, told.readers))
    return 1 if whole(told.folder, told.passphrase, told.out, readers=readers) else 0


if __name__ == "__main__":
    raise SystemExit(main())
