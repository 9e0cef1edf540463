"""A hub on this machine: what the real client library asks, with failures that a test orders.

Speaks model info, tree, access check, and files by HEAD and GET with ranges, entity tags and the
headers of large files; large ones are redirected to a second port, as to the hub's store.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" + "0" * 34
NEWER = "decade" + "0" * 34
RECORD = re.compile(r"/api/records/(\d+)(?:/files/([^/]+)/content)?")
LARGE = (".safetensors", ".pt", ".bin")
PAGE = re.compile(r"(?:/datasets)?/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
API = re.compile(
    r"/api/(?:models|datasets)/([^/]+/[^/]+?)(?:/(revision|tree|auth-check)(?:/([^/?]+))?)?/?"
)


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass
class Repository:
    """One repository: its files by commit, and how it behaves."""

    commits: dict[str, dict[str, bytes]]
    head: str = COMMIT
    gated: bool = False
    token: str = ""  # lets a reader in
    awaiting: bool = False
    wrong: dict[str, str] = field(default_factory=dict)  # path: the checksum it lists instead
    no_sizes: bool = False  # as some mirrors answer


@dataclass
class FakeHub:
    """Orders for failures, and what was asked."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    cut_after: dict[str, list[int]] = field(default_factory=dict)  # path: bytes, one per try
    answer: dict[str, list[int]] = field(default_factory=dict)  # path: status, one per try
    no_ranges: bool = False
    on_bytes: Callable[[], None] = lambda: None
    endpoint: str = ""
    store: str = ""

    def add(self, name: str, files: dict[str, bytes], **more: Any) -> Repository:
        self.repositories[name] = Repository({more.pop("commit", COMMIT): files}, **more)
        return self.repositories[name]

    def bodies(self, path: str) -> list[dict[str, str]]:
        """Headers of each request for a file's bytes."""
        return [head for method, where, head in self.asked if method == "GET" and path in where]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub
    store = False

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._serve(body=False)

    def do_GET(self) -> None:
        self._serve(body=True)

    def _serve(self, *, body: bool) -> None:
        try:
            self._route(body=body)
        except (BrokenPipeError, ConnectionResetError):  # the reader had enough
            self.close_connection = True

    def _route(self, *, body: bool) -> None:
        heads = {name.lower(): value for name, value in self.headers.items()}
        self.hub.asked.append((self.command, self.path, heads))
        path = unquote(urlsplit(self.path).path)
        if match := RECORD.fullmatch(path):
            self._record(match[1], match[2], body=body)
        elif match := PAGE.fullmatch(path):
            self._file(*match.groups(), body=body)
        elif match := API.fullmatch(path):
            self._api(*match.groups())
        else:
            self._fail(404, "")

    def _fail(self, status: int, code: str, message: str = "") -> None:
        self._answer(status, b'{"error": "no"}', {"X-Error-Code": code, "X-Error-Message": message})

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _known(self, name: str, commit: str | None) -> tuple[Repository, str] | None:
        repository = self.hub.repositories.get(name)
        if repository is None:
            self._fail(401, "RepoNotFound")
            return None
        asked = repository.head if commit in (None, "main") else str(commit)
        if asked not in repository.commits:
            self._fail(404, "RevisionNotFound")
            return None
        return repository, asked

    def _let_in(self, repository: Repository) -> bool:
        given = self.headers.get("Authorization", "")
        if not repository.gated or (repository.token and given == f"Bearer {repository.token}"):
            return True
        words = "Access to model x is restricted."
        if repository.awaiting:
            words = "Your request to access model x is awaiting a review from the repo authors."
        self._fail(403 if given else 401, "GatedRepo", words)
        return False

    def _api(self, name: str, kind: str | None, commit: str | None) -> None:
        if (found := self._known(name, commit)) is None:
            return
        repository, asked = found
        if kind == "auth-check" and not self._let_in(repository):
            return
        files = [self._listed(repository, p, c) for p, c in repository.commits[asked].items()]
        told = () if repository.no_sizes else ("size", "lfs")
        gated = "manual" if repository.gated else False
        document: Any = {"id": name, "modelId": name, "sha": asked, "gated": gated}
        document["siblings"] = [
            {"rfilename": one["path"], **{k: v for k, v in one.items() if k in told},
             "blobId": one["oid"]}
            for one in files
        ]  # fmt: skip
        self._answer(
            200,
            json.dumps(files if kind == "tree" else document).encode(),
            {"Content-Type": "application/json"},
        )

    def _record(self, number: str, name: str | None, *, body: bool) -> None:
        """A record of Zenodo, or the bytes of one of its files."""
        if number not in self.hub.repositories:
            self._fail(404, "")
            return
        repository = self.hub.repositories[number]
        files = repository.commits[repository.head]
        if name is not None:
            self._body(name, files[name], {"Accept-Ranges": "bytes"}, body=body)
            return
        listed = [
            {"key": path, "size": len(content), "checksum": "md5:" + (
                repository.wrong.get(path) or hashlib.md5(content).hexdigest())}
            for path, content in files.items()
        ]  # fmt: skip
        self._answer(
            200, json.dumps({"id": int(number), "files": listed}).encode(),
            {"Content-Type": "application/json"},
        )  # fmt: skip

    def _listed(self, repository: Repository, path: str, content: bytes) -> dict[str, Any]:
        row: dict[str, Any] = {"type": "file", "path": path, "size": len(content)}
        if path.endswith(LARGE):
            digest = repository.wrong.get(path) or hashlib.sha256(content).hexdigest()
            row["lfs"] = {"sha256": digest, "oid": digest, "size": len(content), "pointerSize": 130}
            return row | {"oid": blob_id(digest.encode())}
        return row | {"oid": repository.wrong.get(path) or blob_id(content)}

    def _file(self, name: str, commit: str, path: str, *, body: bool) -> None:
        if (found := self._known(name, commit)) is None:
            return
        repository, asked = found
        if not self.store and not self._let_in(repository):
            return
        content = repository.commits[asked].get(path)
        if content is None:
            self._fail(404, "EntryNotFound")
            return
        row = self._listed(repository, path, content)
        tag = row["lfs"]["sha256"] if "lfs" in row else row["oid"]
        headers = {"X-Repo-Commit": asked, "ETag": f'"{tag}"', "Accept-Ranges": "bytes"}
        if "lfs" in row and not self.store:
            place = f"{self.hub.store}/{name}/resolve/{asked}/{path}?signed=yes"
            linked = {"X-Linked-Size": str(len(content)), "X-Linked-Etag": f'"{tag}"'}
            self._answer(302, b"", headers | linked | {"Location": place})
        elif statuses := self.hub.answer.get(path):
            self._fail(statuses.pop(0), "")
        else:
            self._body(path, content, headers, body=body)

    def _body(self, path: str, content: bytes, headers: dict[str, str], *, body: bool) -> None:
        start = 0
        ranged = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if ranged and not self.hub.no_ranges:
            start = int(ranged[1])
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.send_response(206 if "Content-Range" in headers else 200)
        for key, value in {**headers, "Content-Length": str(len(content) - start)}.items():
            self.send_header(key, value)
        self.end_headers()
        cuts = self.hub.cut_after.get(path) or []
        end = min(len(content), start + cuts.pop(0)) if cuts else len(content)
        for at in range(start, end if body else start, 1 << 14):
            self.wfile.write(content[at : min(end, at + (1 << 14))])
            self.hub.on_bytes()
        if end < len(content):
            self.close_connection = True
            self.connection.shutdown(1)


@contextmanager
def running() -> Iterator[FakeHub]:
    """A hub and its store, on two free ports of this machine."""
    hub = FakeHub()
    servers = []
    for store in (False, True):
        handler = type("Bound", (Handler,), {"hub": hub, "store": store})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        servers.append((server, thread))
        address = f"http://127.0.0.1:{server.server_address[1]}"
        hub.endpoint, hub.store = (hub.endpoint, address) if store else (address, "")
    try:
        yield hub
    finally:
        for server, thread in servers:
            server.shutdown()
            server.server_close()
            thread.join()
