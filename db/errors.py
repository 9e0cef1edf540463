"""The tree of expected failures of the store.

StoreError
├── StoreLocked     another program holds the database
├── StoreTooNew     written by a newer version of this program
├── StoreDamaged    not a database, or its integrity check fails
├── DiskFull        no room left to write
├── NotWritable     the folder cannot be written
├── SettingsDamaged the settings file cannot be read
├── ServerGone      the database server cannot be reached, or went away
├── LoginRefused    the server does not let this person in, or has no such database
├── DriverMissing   the package that talks to the server is not installed
└── RatingRefused   the study is unblinded, the item unknown, or the chain broken
    └── AnsweredAlready  another window was quicker, or the answer was kept before
"""

from __future__ import annotations


class StoreError(Exception):
    """An expected failure of the store; ``str(error)`` is a sentence for a person."""


class StoreLocked(StoreError):
    """Another program holds the database."""


class StoreTooNew(StoreError):
    """The database was written by a newer version."""


class StoreDamaged(StoreError):
    """The file is not a database or is damaged."""


class DiskFull(StoreError):
    """No room left on the disk."""


class NotWritable(StoreError):
    """The folder cannot be written."""


class SettingsDamaged(StoreError):
    """The settings file cannot be read."""


class RatingRefused(StoreError):
    """A rating that may not be stored."""


class AnsweredAlready(RatingRefused):
    """That place has its answer: from another window, or from before a connection broke."""


class ServerGone(StoreError):
    """The database server cannot be reached, or went away."""


class LoginRefused(StoreError):
    """The server does not let this person in, or has no such database."""


class DriverMissing(StoreError):
    """The package that talks to the server is not installed."""
