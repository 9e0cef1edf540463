"""Open data sets at stable addresses: a dataset of the hub, or a record of Zenodo.

Owns what each publisher lists (names, sizes, checksums) and which files are wanted; the bytes are
moved, resumed and held to their checksums by ``engine.transfer``. Never sends the hub's token to
anybody else.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from engine.card import HUB_PAGE, ModelCard
from engine.control import Control
from engine.download import SPARE
from engine.errors import WeightsMissing, WeightsRefused
from engine.hub import SECONDS, Hub, HubFile, Listing, in_words
from engine.meter import Meter
from engine.transfer import Part, fetch
from engine.weights import MEMO, read_record

HUB, ZENODO = "hub", "zenodo"
ZENODO_ADDRESS = "https://zenodo.org"


@dataclass(frozen=True)
class Remote:
    """Where open files lie.

    Attributes:
        place: ``hub`` or ``zenodo``.
        name: ``owner/name`` there, or the record's number.
        wanted: patterns of the files that serve by default.
    """

    place: str
    name: str
    wanted: tuple[str, ...]

    @property
    def page(self) -> str:
        """What a person opens."""
        if self.place == HUB:
            return f"{HUB_PAGE}datasets/{self.name}"
        return f"{ZENODO_ADDRESS}/records/{self.name}"


class DatasetHub(Hub):
    """A dataset of the hub."""

    kind = "dataset"


class Zenodo(Hub):
    """A record of Zenodo, spoken to through the hub's own library of connections."""

    def __init__(self, card: ModelCard, folder: Path, *, address: str = ZENODO_ADDRESS) -> None:
        super().__init__(card, folder)
        self.endpoint = address.rstrip("/")

    def listing(self) -> Listing:
        """Every file of the record.

        Raises:
            WeightsMissing, WeightsRefused: each a sentence for a person.
        """
        record = self.card.hub_id or ""
        try:
            answer = self._session.get(f"{self.endpoint}/api/records/{record}", timeout=SECONDS)
            self._tools.hf_raise_for_status(answer)
            files = tuple(_listed(one) for one in answer.json()["files"])
        except (*self._expected(), ValueError, KeyError, TypeError) as error:
            raise self.explain(error) from error
        return Listing(record, f"record-{record}", files)

    def explain(self, error: Exception) -> WeightsMissing:
        """The sentence for what Zenodo answered."""
        status = int(getattr(getattr(error, "response", None), "status_code", 0) or 0)
        if status == 404:
            says = f"Zenodo knows no record {self.card.hub_id}"
        elif status:
            says = f"Zenodo answers {status}; try again later"
        elif isinstance(error, ValueError | KeyError | TypeError):
            says = f"{self.endpoint} does not answer like Zenodo"
        else:
            says = (
                f"{self.endpoint} cannot be reached ({type(error).__name__}); is the network "
                "down, or does it need a proxy"
            )
        return WeightsMissing(f"{self.card.title} could not be downloaded: {says}. {self.by_hand}")

    def _address(self, listing: Listing, file: HubFile) -> tuple[str, dict[str, str]]:
        name = quote(file.path, safe="")
        return f"{self.endpoint}/api/records/{listing.hub_id}/files/{name}/content", {}


def _listed(one: Any) -> HubFile:
    """A file of Zenodo's answer.

    Raises:
        WeightsRefused: its name leads out of the folder.
    """
    name = PurePosixPath(str(one["key"]))
    if name.is_absolute() or ".." in name.parts or "\\" in str(name) or ":" in str(name):
        raise WeightsRefused(f"The record lists a file named {str(name)!r}; it is not taken.")
    kind, _, digest = str(one.get("checksum") or "").partition(":")
    return HubFile(str(name), int(one["size"]), "", "", digest if kind == "md5" else "")


class DataPart(Part):
    """A part that grows by files which an earlier fetch did not ask for."""

    def gaps(self) -> bool:
        """Whether files of this very version are here and others that are wanted are not."""
        record = read_record(self.folder)
        if record is None or record.get("revision") != self.listing.commit:
            return False
        return any(not (self.folder / file.path).is_file() for file in self.files)


def find_part(
    remote: Remote,
    *,
    title: str,
    licence: str,
    folder: Path,
    wanted: Sequence[str] = (),
    address: str = ZENODO_ADDRESS,
) -> DataPart:
    """Ask a publisher what there is; nothing is fetched.

    Args:
        remote: where.
        title: of the data set.
        licence: in words.
        folder: where it will lie.
        wanted: patterns, in place of the remote's own.
        address: of Zenodo.

    Raises:
        WeightsMissing: it cannot be asked now.
        WeightsRefused: no file fits, or the folder is somebody else's.
    """
    if folder.exists() and read_record(folder) is None:
        raise WeightsRefused(
            f"There is a folder {folder} that this program did not download. Move it away, or "
            "choose another with --to."
        )
    card = ModelCard(
        id=folder.name, title=title, family="", loader=None, hub_id=remote.name, revision=None,
        licence=licence, gated=False, dim=0, forms=(), memory_mb=0, demo=False, note="",
    )  # fmt: skip
    hub = DatasetHub(card, folder) if remote.place == HUB else Zenodo(card, folder, address=address)
    hub.by_hand = f"By hand: take the files from {remote.page} and put them into {folder}."
    listing = hub.listing()
    patterns = tuple(wanted) or remote.wanted
    files = [f for f in listing.files if any(fnmatchcase(f.path, one) for one in patterns)]
    if not files:
        names = ", ".join(sorted(file.path for file in listing.files)[:20])
        raise WeightsRefused(f"{remote.page} holds no {' or '.join(patterns)}; there are: {names}.")
    files += _earlier(folder, listing, files)
    return DataPart(card, folder, hub, listing, tuple(sorted(files, key=lambda file: file.size)))


def _earlier(folder: Path, listing: Listing, files: Sequence[HubFile]) -> list[HubFile]:
    """Files of the same version that an earlier fetch brought: they stay."""
    record = read_record(folder) or {}
    if record.get("revision") != listing.commit:
        return []
    names = {str(one["path"]) for one in record["files"]} - {file.path for file in files}
    return [f for f in listing.files if f.path in names and (folder / f.path).is_file()]


def is_whole(part: DataPart) -> bool:
    """Whether everything that is wanted is here already, at its length."""
    record = read_record(part.folder) or {}
    return record.get("revision") == part.listing.commit and all(
        (part.folder / file.path).is_file()
        and (part.folder / file.path).stat().st_size == file.size
        for file in part.files
    )


def room_for(part: DataPart) -> tuple[int, int]:
    """Bytes that are needed and bytes that are free where they go."""
    place = part.folder
    while not place.exists():
        place = place.parent
    return max(0, part.size - part.here), shutil.disk_usage(place).free


def fetch_part(part: DataPart, *, control: Control) -> int:
    """Fetch what is wanted.

    Returns:
        Bytes that came over the network.

    Raises:
        WeightsMissing: it cannot be had now, or the disk has no room; what has arrived stays.
        WeightsRefused: a checksum differs.
        Cancelled: the user asked to stop; what has arrived stays.
    """
    need, free = room_for(part)
    if need and need + SPARE > free:
        raise WeightsMissing(
            f"{part.card.title} needs {in_words(need)}, {in_words(free)} free at "
            f"{part.folder.parent}. Make room there, or choose another folder with --to."
        )
    meter = Meter(control)
    control.begin(part.size, unit="bytes", phase=f"Fetching {part.card.title}")
    fetch(part, meter, memo=part.folder.parent / f".{part.folder.name}.{MEMO}")
    return meter.fetched
