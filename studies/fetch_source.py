"""The job behind ``triptych bench fetch``: the files of an open source, once a person consents.

Owns what is told before the first byte (size, licence, page, room) and whom it refuses: whatever
needs an account or an agreement is only said where to apply for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from db.home import Home
from engine.control import Control
from engine.hub import in_words
from engine.remote import ZENODO_ADDRESS, DataPart, fetch_part, find_part, is_whole, room_for
from studies.errors import BadRequest
from studies.medheb.builders.card import ACCESS, SourceCard
from studies.medheb.builders.catalogue import source_card

NAMED = 10  # files that are told by name
PACKED = (".zip", ".tar", ".tar.gz", ".tgz")


def fetch_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Tell what a source's files are, and fetch them if the user said yes.

    Args:
        home: not used; all jobs are called so.
        arguments: ``source`` (id), ``folder`` (gets a folder of the source's id), ``yes``, and
            optionally ``files`` (patterns in place of the source's own) and ``zenodo`` (address).
        control: told sentences and bytes, asked whether to stop.

    Returns:
        ``source``, ``folder``, ``size``, ``need`` and ``free`` in bytes, ``files``, ``whole``
        (everything is here), ``fetched`` (bytes), ``said``.

    Raises:
        BadRequest: the source is not open, or has no address that stays.
        WeightsMissing: not to be had now; what has arrived stays and is taken up again.
        WeightsRefused: a wrong checksum, or a folder that is not ours.
        Cancelled: the user asked to stop; what has arrived stays.
    """
    card = source_card(str(arguments["source"]))
    _is_open(card)
    parts = [
        find_part(
            remote, title=card.title, licence=card.licence, wanted=arguments.get("files") or (),
            folder=_folder(card, Path(arguments["folder"]), number),
            address=arguments.get("zenodo") or ZENODO_ADDRESS,
        )
        for number, remote in enumerate(card.files)
    ]  # fmt: skip
    whole = all(map(is_whole, parts))
    said = [_told(card, part, remote.page) for part, remote in zip(parts, card.files, strict=True)]
    fetched = 0
    if arguments.get("yes") and not whole:
        for sentence in said:
            control.say(sentence)
        fetched = sum(fetch_part(part, control=control) for part in parts if not is_whole(part))
        whole = True
        said += _after(parts)
    files = [{"path": f.path, "size": f.size} for part in parts for f in part.files]
    need = 0 if whole else sum(room_for(part)[0] for part in parts)
    return {
        "source": card.id, "folder": str(parts[0].folder), "files": files,
        "size": sum(part.size for part in parts), "need": need, "free": room_for(parts[0])[1],
        "whole": whole, "fetched": fetched, "said": said,
    }  # fmt: skip


def _is_open(card: SourceCard) -> None:
    if card.access != "open":
        raise BadRequest(
            f"{card.title} is not for this program to fetch ({ACCESS[card.access]}). Apply and "
            f"read at {card.url}. {card.obtain}"
        )
    if not card.files:
        raise BadRequest(
            f"{card.title} is open, but no address of its files is known that stays. Page: "
            f"{card.url}. {card.obtain}"
        )


def _folder(card: SourceCard, above: Path, number: int) -> Path:
    return above / (card.id if number == 0 else f"{card.id}-{number + 1}")


def _told(card: SourceCard, part: DataPart, page: str) -> str:
    names = [file.path for file in part.files]
    some = ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")
    sums = "with" if all(file.listed for file in part.files) else "not all with"
    here = f" {in_words(part.here)} are here from an earlier try." if part.here else ""
    return (
        f"{card.title}: {in_words(part.size)} in {len(names)} files ({some}), {sums} checksums. "
        f"Licence: {card.licence}. Page: {page}. They go to {part.folder}.{here}"
    )


def _after(parts: Sequence[DataPart]) -> list[str]:
    packed = [f.path for part in parts for f in part.files if f.path.lower().endswith(PACKED)]
    return [f"Unpack {', '.join(packed)} there before building."] if packed else []
