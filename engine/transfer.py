"""Bytes of one repository into one folder: resumed, counted, held to the hub's checksums.

A repository grows in a hidden folder beside its place and takes its name only when every file is
whole, so a half download is never taken for a model. Refuses a file whose checksum differs, and
one under a pickle's name that does not open like safetensors.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.alone import alone
from engine.card import ModelCard
from engine.control import Control
from engine.errors import WeightsMissing, WeightsRefused
from engine.families import DISGUISED
from engine.hub import Cut, Hub, HubFile, Listing
from engine.meter import Meter
from engine.models.medimageinsight_files import is_safetensors
from engine.removal import delete_recorded
from engine.weights import (
    CONVERT,
    RECORD,
    growing_folder,
    memo_key,
    missing_files,
    read_record,
    remember_hashes,
)

TRIES = 5  # in a row without one new byte
PAUSE = 1.0  # seconds before another try, then twice as many
PIECE = 1 << 20
STRAY = re.compile(r"\.[0-9a-f]{12}\.part$")  # of an earlier version; not what a user laid there
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EPERM)


@dataclass(frozen=True)
class Part:
    """One repository of a download: the model, or the base it sits on.

    Attributes:
        card: of it.
        folder: where the whole model will lie.
        hub: the hub for it.
        listing: what the repository holds.
        files: those that are wanted, the small ones first.
    """

    card: ModelCard
    folder: Path
    hub: Hub
    listing: Listing
    files: tuple[HubFile, ...]

    @property
    def growing(self) -> Path:
        """The hidden folder in which the download grows."""
        return growing_folder(self.folder)

    @property
    def size(self) -> int:
        """Bytes of all wanted files."""
        return sum(file.size for file in self.files)

    @property
    def here(self) -> int:
        """Bytes of an earlier try."""
        return sum(min(file.size, size_of(self.held(file))) for file in self.files)

    def partial(self, file: HubFile) -> Path:
        """Where a file grows; named by its content, so that another version's is never taken."""
        mark = file.listed[:12]
        return self.growing / f"{file.path}.{mark}.part"

    def held(self, file: HubFile) -> Path:
        """Where an earlier try left a file: growing, named already, or in a folder with gaps."""
        named = self.growing / file.path
        if self.partial(file).exists() or named.exists() or not self.gaps():
            return named if named.exists() else self.partial(file)
        return self.folder / file.path

    def gaps(self) -> bool:
        """Whether this very commit was downloaded once and files have gone since."""
        record = read_record(self.folder)
        if record is None or record.get("revision") != self.listing.commit:
            return False
        return bool(missing_files(self.folder, record))


def fetch(part: Part, meter: Meter, *, memo: Path) -> None:
    """Fetch a repository and put it in its place.

    Args:
        part: says which, and whereto.
        meter: counts the bytes.
        memo: remembers the checksums for the hash over the whole.

    Raises:
        WeightsMissing: it cannot be had now; what has arrived stays.
        WeightsRefused: a checksum differs.
        Cancelled: the user asked to stop; what has arrived stays.
    """
    with alone(part.folder, part.card.title):
        try:
            _take_up(part)
            for file in part.files:
                _fetch(part, file, meter)
            meter.flush()
            _finish(part, memo)
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise WeightsMissing(
                f"{part.card.title} cannot be written to {part.folder.parent} ({error.strerror}). "
                "What has arrived stays; mend that and run the same command again."
            ) from error


def _take_up(part: Part) -> None:
    """Give what an earlier try left the names under which it is looked at again."""
    if part.gaps() and not part.growing.exists():
        part.folder.replace(part.growing)
        (part.growing / RECORD).unlink()
    for file in part.files:
        named, partial = part.growing / file.path, part.partial(file)
        partial.parent.mkdir(parents=True, exist_ok=True)
        if named.exists() and not partial.exists():
            named.replace(partial)


def _fetch(part: Part, file: HubFile, meter: Meter) -> None:
    """Bring one file to its full length, from where it stands, and hold it to its checksum."""
    path = part.partial(file)
    if size_of(path) > file.size:
        path.unlink()
    digest = _digest(file)
    _read(path, digest, meter)
    tries = 0
    while (have := size_of(path)) < file.size or not path.exists():
        try:
            digest = _stream(part, file, digest, meter)
        except Cut as cut:
            tries = 1 if size_of(path) > have else tries + 1
            if tries > TRIES:
                raise _gave_up(part, file, cut) from cut
            meter.flush()
            meter.control.say(f"The connection broke at {file.path} ({cut}); going on.")
            _pause(meter.control, PAUSE * 2 ** (tries - 1))
    _hold(file, path, digest)


def _stream(part: Part, file: HubFile, digest: Any, meter: Meter) -> Any:
    """Append what comes; a hub that starts over starts the file over. Returns the digest."""
    path = part.partial(file)
    have = size_of(path)
    with part.hub.stream(part.listing, file, start=have) as stream:
        if stream.start != have:
            meter.add(-have, fetched=False)
            digest = _digest(file)
        with path.open("ab" if stream.start else "wb") as out:
            for chunk in stream.chunks:
                _look(part, file, chunk, at=out.tell())
                out.write(chunk)
                digest.update(chunk)
                meter.add(len(chunk))
                if out.tell() > file.size:
                    break
            out.flush()
            os.fsync(out.fileno())
    if size_of(path) < file.size:
        raise Cut("it ended early")
    return digest


def _look(part: Part, file: HubFile, chunk: bytes, *, at: int) -> None:
    """Hold the first bytes of a file under a pickle's name to the safetensors format.

    Raises:
        WeightsRefused: it is something else.
    """
    disguised = DISGUISED.get(part.card.family, ())
    if at or not disguised or not file.path.endswith(disguised) or len(chunk) < 9:
        return
    if not is_safetensors(chunk[:9], file.size):
        raise WeightsRefused(
            f"{file.path} of {part.card.hub_id} does not open like the safetensors file it is "
            f"expected to be; it was not fetched. {CONVERT}"
        )


def _gave_up(part: Part, file: HubFile, cut: Cut) -> WeightsMissing:
    return WeightsMissing(
        f"{part.card.title} did not arrive whole: the connection broke at {file.path} ({cut}), "
        f"{TRIES + 1} times without a new byte. What has arrived stays; run the same command "
        f"again. {part.hub.by_hand}"
    )


def _pause(control: Control, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        control.check()
        time.sleep(min(0.1, seconds))


def _digest(file: HubFile) -> Any:
    """SHA-256 of a large file, git's SHA-1 of a small one: what the hub lists."""
    if file.sha256:
        return hashlib.sha256()
    if file.md5:
        return hashlib.md5(usedforsecurity=False)
    return hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)


def _read(path: Path, digest: Any, meter: Meter) -> None:
    """Feed what is here into the digest."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        while piece := stream.read(PIECE):
            digest.update(piece)
            meter.add(len(piece), fetched=False)


def _hold(file: HubFile, path: Path, digest: Any) -> None:
    """Hold a whole file to the hub's checksum; another file is deleted.

    Raises:
        WeightsRefused: it is another.
    """
    listed = file.listed
    if size_of(path) != file.size or (listed and digest.hexdigest() != listed):
        path.unlink(missing_ok=True)
        raise WeightsRefused(
            f"{file.path} arrived with another checksum than the hub lists ({listed[:12]}) and "
            "was deleted. Run the same command again; if it stays so, something between here and "
            "the hub alters files, or the hub's copy is damaged."
        )


def _finish(part: Part, memo: Path) -> None:
    """Give the files their names, write the record, and put the folder in its place."""
    for file in part.files:
        part.partial(file).replace(part.growing / file.path)
    for stray in part.growing.rglob("*.part"):
        if STRAY.search(stray.name) and stray.is_file():
            stray.unlink()
    (part.growing / RECORD).write_text(json.dumps(_record(part), indent=1), encoding="utf-8")
    _make_room(part)
    part.growing.replace(part.folder)
    hashes = {part.folder / file.path: file.sha256 for file in part.files if file.sha256}
    remember_hashes(memo, {memo_key(path): digest for path, digest in hashes.items()})


def _record(part: Part) -> dict[str, Any]:
    return {
        "hub_id": part.card.hub_id,
        "revision": part.listing.commit,
        "asked": part.card.revision,
        "licence": part.card.licence,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "files": [
            {"path": file.path, "size": file.size, "sha256": file.sha256, "git_sha1": file.blob}
            | ({"md5": file.md5} if file.md5 else {})
            for file in part.files
        ],
    }


def _make_room(part: Part) -> None:
    """Take an older download out of the way; what a user laid beside it moves along."""
    record = read_record(part.folder)
    if record is None:
        return
    _, left = delete_recorded(part.folder, record)
    for name in left:
        target = part.growing / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            (part.folder / name).replace(target)
    delete_recorded(part.folder, {"files": []})


def size_of(path: Path) -> int:
    """Bytes of a file, 0 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
