"""The one place that talks to the hub: which files a repository holds, and their bytes.

Owns the endpoint, offline mode and the words for every way the hub can refuse. The token is read
by the hub's own library from its own store; it is never kept, shown or logged here.
``huggingface_hub`` is imported when it is needed, so that windows may import this module.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from engine.card import ModelCard
from engine.device import INSTALL
from engine.errors import EngineMissing, WeightsMissing, WeightsRefused

TRUE = ("1", "true", "yes", "on")
SECONDS = 10.0  # without a byte, then the connection counts as cut
LATER = (408, 429, 500, 502, 503, 504)  # worth another try
UNITS = ("bytes", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class HubFile:
    """One file of a repository.

    Attributes:
        path: below the repository's root, with slashes.
        size: in bytes.
        sha256: of a large file (LFS, xet), empty for a small one.
        blob: git's SHA-1 of a small file.
        md5: where a publisher lists nothing better.
    """

    path: str
    size: int
    sha256: str
    blob: str
    md5: str = ""

    @property
    def listed(self) -> str:
        """The checksum that its publisher lists; empty if there is none."""
        return self.sha256 or self.md5 or self.blob


@dataclass(frozen=True)
class Listing:
    """What a repository holds at one commit.

    Attributes:
        hub_id: of the repository.
        commit: 40 hex digits.
        files: all of them.
    """

    hub_id: str
    commit: str
    files: tuple[HubFile, ...]


class Cut(Exception):
    """The connection broke, or the hub asked to come back later: worth another try."""


def in_words(count: int) -> str:
    """A number of bytes for a person, for example ``4.4 GB``."""
    size, unit = float(count), 0
    while size >= 999.5 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {UNITS[unit]}" if unit < 2 else f"{size:.1f} {UNITS[unit]}"


def offline() -> bool:
    """Whether the user switched the hub off (``HF_HUB_OFFLINE``, ``TRANSFORMERS_OFFLINE``)."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").lower() in TRUE for name in names)


def has_token() -> bool | None:
    """Whether the hub's own store holds a token, never which; None without its library."""
    try:
        return importlib.import_module("huggingface_hub").get_token() is not None
    except ImportError:
        return None


def cache_folder() -> Path:
    """Where the hub's own programs keep their downloads."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(name):
            return Path(os.path.expandvars(os.environ[name])).expanduser()
    above = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or str(Path(above) / "huggingface")
    return Path(os.path.expandvars(home)).expanduser() / "hub"


def cached(card: ModelCard) -> Path | None:
    """The folder of an earlier download by any program, whole or not; no network."""
    if card.hub_id is None:
        return None
    folder = cache_folder() / f"models--{card.hub_id.replace('/', '--')}"
    commit = card.revision
    try:
        if commit is None or not card.pinned:
            branch = folder / "refs" / (commit or "main")
            commit = branch.read_text(encoding="utf-8").strip()
        found = folder / "snapshots" / commit
        return found if found.is_dir() else None
    except (OSError, ValueError):
        return None


def by_hand(card: ModelCard, folder: Path) -> str:
    """How to get the files without this program."""
    pinned = f" --revision {card.revision}" if card.revision else ""
    return (
        f"By hand, on a machine with network: hf download {card.hub_id}{pinned} "
        f'--exclude "*.bin" --local-dir {card.plain_id}, then copy that folder to {folder}.'
    )


class Hub:
    """The hub, for one model.

    Args:
        card: of the model; it has a hub id.
        folder: where its files will lie, for the words.

    Raises:
        EngineMissing: ``huggingface_hub`` is not installed.
        WeightsMissing: the hub is switched off.
    """

    kind = "model"  # of the repository, in the hub's word

    def __init__(self, card: ModelCard, folder: Path) -> None:
        self.card = card
        self.by_hand = by_hand(card, folder)
        if offline():
            raise WeightsMissing(
                f"{card.title} is not downloaded: the hub is switched off by HF_HUB_OFFLINE. "
                f"Unset it and try again. {self.by_hand}"
            )
        try:
            self._hub: Any = importlib.import_module("huggingface_hub")
            self._errors: Any = importlib.import_module("huggingface_hub.errors")
            self._tools: Any = importlib.import_module("huggingface_hub.utils")
            known: Any = importlib.import_module("huggingface_hub.constants")
        except ImportError as error:
            raise EngineMissing(f"A download needs huggingface_hub. Run: {INSTALL}") from error
        self.endpoint = (os.environ.get("HF_ENDPOINT") or known.ENDPOINT).rstrip("/")
        self._session: Any = self._tools.get_session()
        # httpx or its successor, whichever the library is built on
        client = sys.modules[type(self._session).__module__.partition(".")[0]]
        self._transport: Any = client.TransportError

    def listing(self) -> Listing:
        """Every file with size and checksum, at the card's revision or the newest commit.

        Raises:
            WeightsMissing, WeightsRefused: each a sentence for a person.
        """
        api = self._hub.HfApi(endpoint=self.endpoint)
        repository = self.card.hub_id or ""
        ask = api.dataset_info if self.kind == "dataset" else api.model_info
        try:
            info = ask(
                repository, revision=self.card.revision, files_metadata=True, timeout=SECONDS
            )
            if info.gated:
                api.auth_check(repository, repo_type=self.kind)
        except (*self._expected(), ValueError, KeyError, TypeError) as error:
            raise self.explain(error) from error
        return Listing(repository, info.sha, tuple(map(_file, info.siblings or ())))

    @contextmanager
    def stream(self, listing: Listing, file: HubFile, *, start: int) -> Iterator[Stream]:
        """Open a file at a byte.

        Args:
            listing: says the commit.
            file: one of its files.
            start: the first byte wanted.

        Yields:
            Where the bytes really start (0 if the hub ignores the wish) and the bytes.

        Raises:
            Cut: worth another try.
            WeightsMissing: it is not.
        """
        url, headers = self._address(listing, file)
        headers = {**headers, "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        try:
            with self._session.stream("GET", url, headers=headers, timeout=SECONDS) as response:
                if response.status_code >= 400:
                    response.read()
                self._tools.hf_raise_for_status(response)
                ranged = response.status_code == 206
                given = response.headers.get("content-range", "")
                if ranged and not given.startswith(f"bytes {start}-"):
                    raise Cut(f"the hub answers with {given or 'some part'}")
                yield Stream(start if ranged else 0, response.iter_raw())
        except self._transport as error:
            raise Cut(type(error).__name__) from error
        except self._expected() as error:
            if _status(error) in LATER:
                raise Cut(f"the hub answers {_status(error)}") from error
            raise self.explain(error) from error

    def _address(self, listing: Listing, file: HubFile) -> tuple[str, dict[str, str]]:
        """Where a file's bytes are, and the headers that let a reader in."""
        url = self._hub.hf_hub_url(
            listing.hub_id, file.path, revision=listing.commit, endpoint=self.endpoint,
            repo_type=self.kind,
        )  # fmt: skip
        return url, self._tools.build_hf_headers()

    def _expected(self) -> tuple[Any, ...]:
        return (self._transport, self._errors.HfHubHTTPError, ConnectionError, TimeoutError)

    def explain(self, error: Exception) -> WeightsMissing:
        """The sentence for what the hub answered."""
        card, errors, status = self.card, self._errors, _status(error)
        if isinstance(error, errors.GatedRepoError):
            return WeightsMissing(f"{self._gate(error)} {self.by_hand}")
        if isinstance(error, errors.RevisionNotFoundError):
            says = f"the hub does not know its revision {card.revision}; mend the card"
        elif isinstance(error, errors.RepositoryNotFoundError):
            says = (
                f"the hub knows no {card.hub_id}, or keeps it private; if you have access, run "
                "`hf auth login` first"
            )
        elif status == 401:
            says = "the hub does not accept the token in its store; run `hf auth login` again"
        elif status == 403:
            says = f"the hub refuses access (403); see {card.page}"
        elif status:
            says = f"the hub answers {status}; try again later"
        elif isinstance(error, (ValueError, KeyError, TypeError)):
            says = f"{self.endpoint} does not answer like a hub; look at HF_ENDPOINT"
        else:
            says = (
                f"{self.endpoint} cannot be reached ({type(error).__name__}); is the network "
                "down, or does it need a proxy"
            )
        return WeightsMissing(f"{card.title} could not be downloaded: {says}. {self.by_hand}")

    def _gate(self, error: Exception) -> str:
        told = f"{self.card.title} is published under terms ({self.card.licence})"
        if "awaiting" in str(error).lower():
            return (
                f"{told} and your request is awaiting the publisher's approval. "
                f"Its state: {self.card.page}"
            )
        login = "" if has_token() else ", run `hf auth login`"
        return (
            f"{told} that must be accepted first: open {self.card.page}, log in, accept the "
            f"terms{login}, and try again."
        )


@dataclass(frozen=True)
class Stream:
    """Bytes of a file.

    Attributes:
        start: position of the first byte.
        chunks: the bytes, as they arrive.
    """

    start: int
    chunks: Iterator[bytes]


def _status(error: Exception) -> int:
    return int(getattr(getattr(error, "response", None), "status_code", 0) or 0)


def _file(sibling: Any) -> HubFile:
    """A file of the hub's answer.

    Raises:
        WeightsRefused: its path leads out of the folder, or its size is not told.
    """
    path = PurePosixPath(sibling.rfilename)
    if path.is_absolute() or ".." in path.parts or "\\" in str(path) or ":" in str(path):
        raise WeightsRefused(f"The hub lists a file named {str(path)!r}; it is not taken.")
    lfs = sibling.lfs
    size = lfs.size if lfs else sibling.size
    if size is None:
        raise WeightsRefused(
            f"The hub lists {path} without its size, so it cannot be told whole from cut. If "
            "HF_ENDPOINT names a mirror, use another one."
        )
    return HubFile(str(path), int(size), str(lfs.sha256) if lfs else "", str(sibling.blob_id or ""))
