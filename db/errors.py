"""The tree of expected failures of the store.

StoreError
├── StoreLocked     another program holds the database
├── StoreTooNew     written by a newer version of this program
├── StoreDamaged    not a database, or its integrity check fails
├── DiskFull        no room left to write
├── NotWritable     the folder cannot be written
├── SettingsDamaged the settings file cannot be read
└── RatingRefused   the study is unblinded, the item unknown, or the chain broken
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
