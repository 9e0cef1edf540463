"""Turns what PostgreSQL and psycopg say into the leaves of ``db.errors``.

Owns the sentences. Refuses to repeat the server's own words: they may quote what is private.
"""

from __future__ import annotations

from db.errors import (
    DiskFull,
    LoginRefused,
    NotWritable,
    ServerGone,
    StoreDamaged,
    StoreError,
    StoreLocked,
)

_GONE = ("08", "57P")
_BUSY = {"40001", "40P01", "55P03", "57014", "25P03", "25P02", "53200", "53000"}
_LOGIN = ("28", "3D")
# what libpq itself says, in English, before a server has answered
_NO_SLOT = ("connection slots", "too many c")
_UNREACHED = (
    "connection refused",
    "no such file",
    "failed to resolve",
    "could not translate",
    "timeout",
    "timed out",
    "unreachable",
    "no route",
    "is starting up",
    "is shutting down",
    "in recovery mode",
    "accepting connections",  # not yet, or not at all
    "server closed",
    "consuming input failed",
    "sending query",
    "connection is closed",
    "connection is lost",
    "terminating connection",
    "ssl syscall",
    "connection reset",
    "broken pipe",
)


def leaf_for_server(error: BaseException, place: str) -> StoreError | None:
    """The expected failure behind an error of psycopg, None for a bug.

    Args:
        error: a ``psycopg.Error``.
        place: the address that the sentence names, without its password.
    """
    state = getattr(error, "sqlstate", None)
    if state is None:
        return _without_state(error, place)
    if state.startswith(_GONE):
        return gone(place)
    if state.startswith(_LOGIN):
        return login_refused(place)
    return _of_state(state, place)


def _of_state(state: str, place: str) -> StoreError | None:
    if state in _BUSY:
        return StoreLocked(
            f"The study at {place} is busy with the answers of others. Nothing was kept; "
            "try again in a moment. If that lasts, tell the coordinator: triptych study verify "
            "with the study's address names the login that holds it up."
        )
    if state == "53300":
        return no_slot(place)
    if state == "53100":
        return DiskFull(
            f"No room is left on the disk of the server at {place}. Nothing was kept; tell its "
            "administrator, then try again. What was stored before is kept."
        )
    if state == "42501":
        return no_right(place)
    if state in ("25006", "58030"):
        return NotWritable(
            f"The server at {place} takes no changes at present. Nothing was kept; ask its "
            "administrator, then try again."
        )
    if state in ("XX001", "XX002"):
        return StoreDamaged(
            f"The server at {place} says that its data are damaged. Restore it from a backup."
        )
    return None


def _without_state(error: BaseException, place: str) -> StoreError | None:
    """What went wrong before the server gave a code, or on this side."""
    said = str(error).lower()
    kind = type(error).__name__
    if any(words in said for words in _NO_SLOT):
        return no_slot(place)
    if "nul (0x00)" in said:
        return NotWritable(
            f"A text holds the character zero, which {place} cannot store. Nothing was kept."
        )
    if kind in ("ProgrammingError", "ConnectionTimeout") or any(w in said for w in _UNREACHED):
        return gone(place) if kind != "ProgrammingError" else _no_option(said, place)
    if kind == "OperationalError":
        return login_refused(place) if "fatal" in said or "password" in said else gone(place)
    return None


def _no_option(said: str, place: str) -> StoreError | None:
    if "connection option" not in said:
        return None
    return LoginRefused(f"{place} holds a word that no server knows. Correct the address.")


def gone(place: str) -> ServerGone:
    """The sentence for a server that cannot be reached."""
    return ServerGone(
        f"The server at {place} cannot be reached. What it confirmed is kept there; try again "
        "once the network and the server are back."
    )


def no_slot(place: str) -> ServerGone:
    """The sentence for a server, or a login, that has all the connections it may have."""
    return ServerGone(
        f"The server at {place} takes no further connection at present. What it confirmed is kept "
        "there; close other programs that use it and try again, or tell its administrator."
    )


def login_refused(place: str) -> LoginRefused:
    """The sentence for a server that lets nobody in."""
    return LoginRefused(
        f"The server at {place} does not let you in: user, password or database is not right. "
        "Correct the address, or set PGPASSWORD or a password file."
    )


def no_study(place: str) -> LoginRefused:
    """The sentence for an address that leads to a server without that study."""
    return LoginRefused(
        f"There is no study at {place}. Check the address; the coordinator is told it when the "
        "study is shared."
    )


def no_right(place: str) -> NotWritable:
    """The sentence for somebody whom the server lets in, but not to this study."""
    return NotWritable(
        f"You may not do that at {place}. If it worked before, its coordinator has changed the "
        "rights: open the study again, with the newest version of this program. Ask its "
        "administrator for the right to use the schema, read its tables and write into them."
    )


def not_unicode(place: str) -> NotWritable:
    """The sentence for a database of an old encoding."""
    return NotWritable(
        f"The database at {place} is not kept in UTF-8, so it cannot hold every letter. Its "
        "administrator makes one that can with CREATE DATABASE ... ENCODING 'UTF8'."
    )
