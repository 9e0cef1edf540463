"""A whole study, read by simulated readers: handed out, answered, merged, unblinded, published.

``python -m tests.whole_study FOLDER PASSPHRASE OUT`` takes a built study's folder. Two readers get
packs, answer every item and every guess in homes of their own and hand their answers back; one
takes some answers back and flags some items. The kit lies in OUT afterwards.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from db.home import Home
from studies.preference.analysis.readers import READERS, Hidden, Reader, at_guessing, at_work
from studies.preference.key import key_from_bytes
from studies.preference.kit.publish import publish
from studies.preference.merge import Merged, merge
from studies.preference.packs import make_pack, open_pack, return_answers
from studies.preference.session import Session
from studies.preference.study import open_study
from studies.preference.unblind import unblind
from studies.preference.verify import OPEN_KEY, verify

WORTH = {"only_a": 1.2, "only_b": -1.2}
TESTED = 0.4
EACH_FLAGGED, EACH_CHANGED = 61, 23


def hidden_of(path: Path, passphrase: str) -> dict[str, Hidden]:
    """What decides about each item, from the opened key of a copy that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copytree(path, copy)
        unblind(copy, passphrase, "for the simulated readers")
        key = key_from_bytes((copy / OPEN_KEY).read_bytes())
    found = {}
    for item_id, one in key.items.items():
        worth = WORTH.get(one.stratum, 0.0) + TESTED
        sign = 1 if one.left == one.first else -1
        found[item_id] = Hidden(sign * worth, one.stratum == "both", one.left == "A")
    return found


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


def hand_out(path: Path, passphrase: str, readers: dict[str, Reader]) -> tuple[Merged, ...]:
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


def main() -> int:
    """The whole life of one study."""
    path, passphrase, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    tired = replace(READERS["tiring"], name="second", tiring=0.5)
    for one in hand_out(path, passphrase, {"Ann": READERS["unbiased"], "Bob": tired}):
        sys.stdout.write(f"{one.sentence}\n")
    faults = verify(path)
    sys.stdout.write("verified\n" if not faults else "\n".join(faults) + "\n")
    unblind(path, passphrase, "simulated reading finished")
    started = time.perf_counter()
    files = publish(path, out)
    sys.stdout.write(f"{len(files)} files in {time.perf_counter() - started:.1f} s\n")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
