"""Which pictures below a data root may stay, and which copies are whole enough to be taken.

Owns ``triptych_pictures.json`` at the root: for each image root and source the settings under which
its pictures are being made, written before the first of them, so that a build that is cut off and
one that follows with other settings never mix. Refuses pictures that end too early.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from db.errors import NotWritable
from engine.errors import EvidenceError
from studies.medheb.builders.alone import alone
from studies.medheb.lines import write_lines

STATE = "triptych_pictures.json"
POINTER = b"version https://git-lfs.github.com/spec/"
# how a file starts, and what stands near the end of a whole one
_ENDS = ((b"\xff\xd8\xff", b"\xff\xd9"), (b"\x89PNG", b"IEND"))
_LAST = 1024  # bytes at the end that are looked at


def since(
    root: Path, image_root: str, source: str, settings: Mapping[str, Any], *, other: bool
) -> int:
    """The time from which the pictures of a source count as made under these settings.

    Args:
        root: the data root.
        image_root: of the task, below the root.
        source: id of the card.
        settings: all of the build.
        other: the task that is there was built with other settings.

    Returns:
        Nanoseconds on the clock of the disk; what is not newer is written anew. 0 for all.

    Raises:
        NotWritable: the root cannot be written.
    """
    now = json.loads(json.dumps(dict(settings), default=str))
    with alone(root):
        return _since(root, image_root, source, now, other=other)


def _since(root: Path, image_root: str, source: str, now: Mapping[str, Any], *, other: bool) -> int:
    known = _read(root)
    here = known.setdefault(image_root, {})
    entry = here.get(source)
    if isinstance(entry, dict) and entry.get("settings") == now:
        return int(entry.get("since", 0))
    start = _clock(root) if entry is not None or other else 0
    here[source] = {"settings": now, "since": start}
    write_lines(root / STATE, json.dumps(known, indent=1, sort_keys=True).splitlines())
    return start


def _read(root: Path) -> dict[str, dict[str, Any]]:
    """What is known; a damaged file is none, and then the tasks' own settings decide."""
    try:
        document = json.loads((root / STATE).read_text(encoding="utf-8"))
        return {str(key): dict(value) for key, value in document.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _clock(root: Path) -> int:
    """Now, as the disk that holds the root counts it."""
    probe = root / f".{STATE}.now"
    try:
        root.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        return probe.stat().st_mtime_ns
    except PermissionError as error:
        raise NotWritable(
            f"{root} cannot be written ({error.strerror}). Choose another data root."
        ) from error
    finally:
        probe.unlink(missing_ok=True)


def is_pointer(path: Path) -> bool:
    """Whether a file only points at the real one (Git LFS)."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(POINTER)) == POINTER
    except OSError:
        return False


def whole(content: bytes, name: str, decode: Callable[[], object]) -> bytes:
    """The bytes of a picture that is to be copied as it is.

    Args:
        content: of the file.
        name: of it, for messages.
        decode: raises EvidenceError if the pixels cannot be read; asked only where the end of the
            file does not tell.

    Raises:
        EvidenceError: it is empty, a pointer, or not whole.
    """
    if not content:
        raise EvidenceError(name, "damaged", "the file is empty; download it again")
    if content.startswith(POINTER):
        says = "this is a Git LFS pointer, not the picture; fetch it with git lfs pull"
        raise EvidenceError(name, "missing", says)
    told = (content.startswith(start) and end in content[-_LAST:] for start, end in _ENDS)
    if not any(told):
        decode()
    return content
