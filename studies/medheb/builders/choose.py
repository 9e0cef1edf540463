"""Which records are tested: splits by group, caps that keep classes level, all from one seed.

Owns every random choice of a build. A choice depends on the seed and the records' keys alone, never
on their order on disk, so that two machines build the same benchmark. Pure; touches no file.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from studies.medheb.builders.record import Record

Thing = TypeVar("Thing")
TRAIN, TEST = "train", "test"


def order_by_seed(
    things: Iterable[Thing], seed: int, key: Callable[[Thing], str], *, salt: str = ""
) -> list[Thing]:
    """The things shuffled by the hash of seed, salt and key."""
    return sorted(things, key=lambda thing: (_hash(f"{seed}\0{salt}\0{key(thing)}"), key(thing)))


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def side_of_test(
    records: Sequence[Record], *, official: str = TEST, seed: int = 42, share: float = 0.3
) -> list[Record]:
    """The records that are tested.

    Args:
        records: of one source.
        official: name of the official part that plays the test, where records name one.
        seed: of the cut where there is no official one.
        share: of the groups of each stratum on the test side, at least one where there are two.

    Returns:
        The official part if any record names a part; else 7:3 (or as ``share`` says) by group,
        level over strata: a group is of its records' most frequent label or stratum.
    """
    if any(record.split for record in records):
        return [record for record in records if record.split == official]
    chosen = _test_groups(records, seed, share)
    return [record for record in records if record.group in chosen]


def _test_groups(records: Sequence[Record], seed: int, share: float) -> set[str]:
    strata: dict[str, list[str]] = defaultdict(list)
    for group, stratum in _stratum_of_groups(records).items():
        strata[stratum].append(group)
    chosen: set[str] = set()
    for stratum, groups in strata.items():
        shuffled = order_by_seed(groups, seed, str, salt=f"split {stratum}")
        count = round(share * len(shuffled))
        if len(shuffled) > 1:
            count = min(max(count, 1), len(shuffled) - 1)
        chosen.update(shuffled[:count])
    return chosen


def _stratum_of_groups(records: Sequence[Record]) -> dict[str, str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        counts[record.group][record.stratum or "/".join(record.labels)] += 1
    return {
        group: min(found, key=lambda name: (-found[name], name)) for group, found in counts.items()
    }


def single_label(records: Iterable[Record]) -> list[Record]:
    """The records with exactly one positive class."""
    return [record for record in records if len(set(record.labels)) == 1]


def first_label(record: Record) -> str:
    """The class of a record that has one."""
    return record.labels[0]


def level(
    records: Sequence[Record],
    cap: int,
    seed: int,
    *,
    kind: Callable[[Record], str] = first_label,
) -> list[Record]:
    """At most ``cap`` records, equally many of each class (or of what ``kind`` tells).

    The remainder goes to the first classes; what a rare class lacks is refilled at random from the
    rest (medheb_release.md 4.2). The result is in the order of the records.
    """
    if len(records) <= cap:
        return list(records)
    classes: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        classes[kind(record)].append(record)
    names = sorted(classes)
    quota = {
        name: cap // len(names) + (place < cap % len(names)) for place, name in enumerate(names)
    }
    chosen: set[str] = set()
    for name in names:
        shuffled = order_by_seed(classes[name], seed, lambda r: r.key, salt="level")
        chosen.update(record.key for record in shuffled[: quota[name]])
    rest = [record for record in records if record.key not in chosen]
    refill = order_by_seed(rest, seed, lambda r: r.key, salt="refill")[: cap - len(chosen)]
    chosen.update(record.key for record in refill)
    return [record for record in records if record.key in chosen]


def capped(records: Sequence[Record], cap: int, seed: int) -> list[Record]:
    """At most ``cap`` records, at random, in their order."""
    if len(records) <= cap:
        return list(records)
    shuffled = order_by_seed(records, seed, lambda record: record.key, salt="cap")
    chosen = {record.key for record in shuffled[:cap]}
    return [record for record in records if record.key in chosen]


def one_each(
    by_class: dict[str, Sequence[Record]], query: Record, seed: int, *, salt: str
) -> list[Record]:
    """One record of each class but the query's, never of the query's own group, by class name."""
    found = []
    for name in sorted(by_class):
        if name == query.labels[0]:
            continue
        others = [record for record in by_class[name] if record.group != query.group]
        if others:
            found.append(pick(others, seed, salt=f"{salt} {query.key} {name}"))
    return found


def pick(records: Sequence[Record], seed: int, *, salt: str) -> Record:
    """One of the records, by the hash of seed and salt; the records must not be empty."""
    number = int.from_bytes(_hash(f"{seed}\0{salt}")[:8], "big")
    return sorted(records, key=lambda record: record.key)[number % len(records)]
