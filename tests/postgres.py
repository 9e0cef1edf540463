"""A PostgreSQL server for the tests: made, started and stopped here, on a socket in a temp folder.

Where no server is installed a test that needs one is skipped, and fails in CI.
"""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

USER = "triptych"
HBA = """local all guarded scram-sha-256
local all all trust
"""
# Nothing here outlives the test run, so the disk need not be waited for.
OPTIONS = (
    "listen_addresses=''",
    "fsync=off",
    "full_page_writes=off",
    "shared_buffers=16MB",
    "max_connections=40",
    "lc_messages=C",
)


def _binaries() -> Path | None:
    """Where initdb lies: on the path, or where Debian puts it."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    there = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))  # noqa: PTH207
    return Path(there[-1]).parent if there else None


def server_binaries() -> Path:
    """Where the server's programs lie; skips the test where there are none, fails in CI."""
    if (binaries := _binaries()) is not None:
        return binaries
    sentence = "no PostgreSQL server is installed (initdb is not there); it is needed here"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)


def _other_user() -> str | None:
    """Somebody to run the server as: it refuses to be run by root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    import pwd

    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    return None


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        folder: its data and its socket.
    """

    folder: Path
    binaries: Path
    user: str | None

    @property
    def database(self) -> str:
        """The address of its database, without a study."""
        return self.address(USER)

    def address(self, user: str, password: str = "", *, host: Path | None = None) -> str:
        who = f"{user}:{password}" if password else user
        return f"postgresql://{who}@/postgres?host={host or self.folder}"

    def study(self) -> str:
        """The address of a study that nobody has made yet."""
        return f"{self.database}&schema=study_{secrets.token_hex(6)}"

    def run(self, program: str, *arguments: str) -> None:
        command = [str(self.binaries / program), *arguments]
        done = subprocess.run(
            command, user=self.user, cwd=self.folder, capture_output=True, text=True, check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"

    def start(self) -> None:
        options = " ".join(
            f"-c {one}" for one in (*OPTIONS, f"unix_socket_directories='{self.folder}'")
        )
        log = self.folder / "log"
        self.run("pg_ctl", "-D", str(self.data), "-l", str(log), "-o", options, "-w", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")

    @property
    def data(self) -> Path:
        """The server's own folder."""
        return self.folder / "data"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A running server with a superuser who needs no password."""
    binaries = server_binaries()
    # not below pytest's own folder: that one is closed to the user that runs the server
    folder = Path(tempfile.mkdtemp(prefix="triptych-pg-"))
    made = Server(folder, binaries, _other_user())
    try:
        if made.user is not None:
            shutil.chown(folder, made.user)
        made.run("initdb", "-D", str(made.data), "-U", USER, "-A", "trust", "-E", "UTF8",
                 "--locale=C", "--no-sync", "--no-instructions")  # fmt: skip
        (made.data / "pg_hba.conf").write_text(HBA)
        made.start()
        yield made
        made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a study is to be made: a file, then a server."""
    if request.param == "file":
        return tmp_path / "study.sqlite"
    return request.getfixturevalue("server").study()
