"""Evidence into a collection: folder by folder, resumable, with what was left out and why.

Files that are known and unchanged are not read again; of a changed file its folder is, or its
series where the folder is large. Nothing that names a patient is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from db.collections import add_collection, salt
from db.home import Home
from db.indexing import known_files, note_unread, series_files, siblings
from db.session import Store, open_store
from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence.digest import companions
from engine.evidence.files import PARTED
from engine.evidence.open import failed, find_evidence
from engine.evidence.study import Evidence
from studies.clean_copies import copy_clean
from studies.evidence_rows import unread_row, usable, why_left_out
from studies.import_buffer import READER, Buffer, Part, indexed
from studies.walk import ODD, Folder, count_files, nameable, printable, walk
from studies.whole import judged

AT_ONCE = 2000  # files read between two marks of what is done
HEADERS = (".hdr", ".hdr.gz", ".mhd", ".nhdr")
CONTAINERS = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz", *PARTED)
NAMED_MOST = 2000  # left-out files told by name; of the rest only how many for which reason


@dataclass
class Taken:
    """What an import did.

    Attributes:
        added: objects that can be searched with.
        unchanged: files that were not read again.
        left_out: ``{"path", "reason"}`` of the first files that were not taken.
        reasons: how many were left out for each reason.
    """

    added: int = 0
    unchanged: int = 0
    left_out: list[dict[str, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def leave_out(self, path: Path | str, reason: str) -> None:
        """Note a file that was not taken."""
        self.reasons[reason] += 1
        if len(self.left_out) < NAMED_MOST:
            self.left_out.append({"path": printable(path), "reason": reason})


def import_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Index ``paths`` into ``collection``; with ``deidentify_to`` copies of them made there.

    ``options`` names what the copies keep, in the words of ``triptych import --option``.
    """
    name = printable(str(arguments["collection"])).strip() or "Collection"
    roots = [Path(path) for path in arguments["paths"]]
    target = arguments.get("deidentify_to")
    taken, done = Taken(), dict[str, Any]()
    with open_store(home) as store:
        if target:
            options = [str(option) for option in arguments.get("options") or ()]
            copied = copy_clean(roots, Path(target), options=options, salt=salt(store),
                                control=control, leave_out=taken.leave_out)  # fmt: skip
            roots = [Path(target)]
            lost = taken.reasons.total()  # of the sources; the collection does not hold them
            told = {"folder": str(target), "not_copied": lost}
            done["deidentified"] = copied.document() | told
        import_paths(store, roots, name, control, taken=taken)
    return done | {
        "collection": name,
        "added": taken.added,
        "unchanged": taken.unchanged,
        "left_out": taken.left_out,
        "left_out_count": taken.reasons.total(),
        "reasons": dict(taken.reasons.most_common()),
        "saved": ("collection",),
    }


def import_paths(
    store: Store, roots: Sequence[Path], name: str, control: Control, *, taken: Taken | None = None
) -> Taken:
    """Index everything below the roots; what is stored already is not read again.

    Args:
        store: the home's database.
        roots: files and folders.
        name: the collection; made if missing.
        control: asked before every file, told after it.
        taken: what was done before, to go on counting.

    Raises:
        Cancelled: the user asked to stop; what was read until then is stored.
        StoreError: what SQLite refused.
    """
    add_collection(store, name)
    work = _Import(store, name, control, taken or Taken())
    control.begin(count_files(roots), unit="files", phase="reading evidence")
    told: list[dict[str, str]] = []
    try:
        for group in _grouped(walk(roots, told=told)):
            places = set().union(*(folder.places for folder in group))
            known = known_files(store, name, places, reader=READER)
            for folder in group:
                work.folder(folder, known)
    finally:
        work.buffer.flush()
    for row in told:
        work.taken.leave_out(row["path"], row["reason"])
    note_unread(store, name, roots, [unread_row(row["path"], row["reason"]) for row in told])
    return work.taken


def _grouped(folders: Iterator[Folder]) -> Iterator[list[Folder]]:
    """Folders in groups of some thousand files: one question to the store for each."""
    group: list[Folder] = []
    files = 0
    for folder in folders:
        group.append(folder)
        files += len(folder.files)
        if files >= AT_ONCE:
            yield group
            group, files = [], 0
    if group:
        yield group


class _Import:
    """One import in hand."""

    def __init__(self, store: Store, name: str, control: Control, taken: Taken) -> None:
        self.store = store
        self.name = name
        self.taken = taken
        self.buffer = Buffer(store, name, control)
        self._control = control
        self._salt = salt(store)
        self._counts: Counter[str] = Counter()

    def folder(self, folder: Folder, known: dict[str, dict[str, tuple[int, int]]]) -> None:
        """Read what is new or changed in a folder, with what belongs to it."""
        self._control.check()
        before = {
            str(Path(place, name)): facts
            for place in folder.places
            for name, facts in known.get(place, {}).items()
        }
        changed = [path for path, facts in folder.files.items() if before.get(path) != facts]
        gone = [path for path in before if path not in folder.files] if folder.path else []
        if not changed and not gone:
            self._unchanged(len(folder.files))
            return
        todo = self._todo(folder, changed, gone, fresh=not before)
        self.buffer.drop([indexed(path, before[path]) for path in gone])
        self._unchanged(len(folder.files) - len(todo))
        self._counts.clear()
        self._read(folder, todo)

    def _unchanged(self, count: int) -> None:
        if count:
            self.taken.unchanged += count
            self._control.step(count)

    def _todo(
        self, folder: Folder, changed: list[str], gone: list[str], *, fresh: bool
    ) -> list[str]:
        """The files to read: all of a small folder, else those that changed and their kin."""
        if fresh or len(folder.files) <= AT_ONCE:
            return list(folder.files)
        self.buffer.flush()
        wanted = {*changed, *siblings(self.store, self.name, [*changed, *gone])}
        for path in folder.files:
            unit = {path, *map(str, _companions(path))}
            if len(unit) > 1 and not wanted.isdisjoint(unit):
                wanted |= unit
        return [path for path in folder.files if path in wanted]

    def _read(self, folder: Folder, todo: list[str]) -> None:
        """Read files in batches, so that a kill costs one batch; grown series come together."""
        units = _units(todo)
        most = AT_ONCE
        while units:
            batch = _next_batch(units, most)
            part = Part(self._control, len(batch))
            facts = {path: folder.files[path] for path in batch}
            whole = len(batch) == len(folder.files)
            with self.buffer.batch(facts) as add:
                found = self._find(batch, part)
                again = 0
                if not whole and not _alone(batch):
                    found, again = self._with_earlier(folder, batch, list(found))
                for evidence in found:
                    add(self._counted(evidence))
            part.finish()
            if again > len(batch) // 4:
                most *= 2  # series lie scattered over the names: fewer, larger batches

    def _with_earlier(
        self, folder: Folder, batch: list[str], found: list[Evidence]
    ) -> tuple[Iterator[Evidence], int]:
        """Series that began in an earlier batch or import, read whole; how many files that took."""
        tokens = {one.series for one in found if one.series is not None}
        if not tokens:
            return iter(found), 0
        self.buffer.flush_done()
        earlier = series_files(self.store, self.name, folder.places, tokens)
        named = set(batch)
        grown = {token for token, files in earlier.items() if not files <= named}
        if not grown:
            return iter(found), 0
        again = {str(path) for one in found if one.series in grown for path in one.members}
        again |= {path for token in grown for path in earlier[token] if path in folder.files}
        self.taken.added -= sum(self._counts.pop(token, 0) for token in grown)
        self.buffer.also({path: folder.files[path] for path in again})
        kept = (one for one in found if one.series not in grown)
        return chain(kept, self._find(sorted(again), Part(self._control, 0))), len(again)

    def _find(self, batch: Sequence[str], control: Control) -> Iterator[Evidence]:
        """What the files are; the index of a disc leads nowhere, since the walk goes there too."""
        paths = [Path(path) for path in batch]
        return find_evidence(paths, salt=self._salt, control=control, follow=False)

    def _counted(self, evidence: Evidence) -> Evidence:
        """An object as it is stored: what is damaged, or named as no database can, is an error."""
        if all(nameable(path) for path in (evidence.path, *evidence.members)):
            evidence = judged(evidence)
        else:  # a member of an archive
            path = Path(printable(evidence.path))
            evidence = failed(path, EvidenceError(path, "odd_name", ODD))
        if usable(evidence):
            self.taken.added += 1
            self._counts[evidence.series or ""] += 1
        else:
            self.taken.leave_out(evidence.path, why_left_out(evidence))
        return evidence


def _companions(path: str) -> list[Path]:
    """The data files that belong to a header file; most files cost no look."""
    return companions(Path(path)) if path.lower().endswith(HEADERS) else []


def _units(files: list[str]) -> list[list[str]]:
    """What must be read together: a header with its data, every other file by itself."""
    there, taken = set(files), set[str]()
    units = []
    for path in files:
        parts = [str(part) for part in _companions(path) if str(part) in there]
        if parts:
            units.append([path, *parts])
            taken.update(parts)
    heads = {unit[0] for unit in units}
    units += [[path] for path in files if path not in taken and path not in heads]
    return units[::-1]


def _next_batch(units: list[list[str]], most: int) -> list[str]:
    """Take up to so many files off the end; a container is a batch of its own."""
    batch: list[str] = []
    while units and len(batch) < most and not (batch and _alone(units[-1])):
        batch += units.pop()
        if _alone(batch):
            break
    return batch


def _alone(batch: list[str]) -> bool:
    """Whether a batch is one file that may hold many thousand objects."""
    return len(batch) == 1 and batch[0].lower().endswith(CONTAINERS)
