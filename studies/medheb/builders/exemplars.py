"""Tasks of class by example: one of the query's class, one of each other (families I-I and T-I).

Owns that no candidate is of the query's own patient or group, that exactly one is of its class, and
that what turns out unreadable is replaced by another. Refuses nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from engine.errors import EvidenceError
from studies.medheb.builders import choose
from studies.medheb.builders.making import Made, Making, Row, listed, video
from studies.medheb.builders.record import Record


def _classes(records: Sequence[Record]) -> dict[str, Sequence[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[record.labels[0]].append(record)
    return dict(found)


def _without(
    classes: Mapping[str, Sequence[Record]], broken: set[str]
) -> dict[str, Sequence[Record]]:
    if not broken:
        return dict(classes)
    left = {name: [r for r in of if r.key not in broken] for name, of in classes.items()}
    return {name: of for name, of in left.items() if of}


def exemplars(making: Making, records: Sequence[Record]) -> Made:
    """Which picture is of the same class? One of another patient, one of each other class (I-I)."""
    single = choose.single_label(records)
    classes = _classes(single)
    alone = {name for name, of in classes.items() if len({record.group for record in of}) < 2}
    if alone:
        making.notes.append(
            f"Classes with one patient or group on the test side have no positive and are no "
            f"queries: {', '.join(sorted(alone))}."
        )
    asked = [record for record in single if record.labels[0] not in alone]

    def row(record: Record) -> Row:
        query = listed(making.seen(record), making)

        def pool(broken: set[str]) -> list[Record]:
            left = _without(classes, broken)
            same = [r for r in left.get(record.labels[0], ()) if r.group != record.group]
            if not same:
                raise EvidenceError(record.key, "missing", "no other of its class can be read")
            chosen = choose.pick(same, making.seed, salt=f"positive {record.key}")
            return [chosen, *choose.one_each(left, record, making.seed, salt="i2i")]

        found = making.readable(pool)
        made = making.start(
            qry_img_path=query,
            tgt_text=[""] * len(found),
            tgt_img_path=[listed(names, making) for _, names in found],
            qry_label=record.labels[0],
            tgt_label=[one.labels[0] for one, _ in found],
            **making.told_of(one for one, _ in found),
        )
        return video(video(made, making), making, target=True)

    kept = choose.level(asked, making.cap, making.seed)
    return Made(tuple(making.placed(kept, row)), "exemplars", "local")


def text_exemplars(making: Making, records: Sequence[Record]) -> Made:
    """Which picture is of this class? The sampled one, one of each other class (T-I by label)."""
    single = choose.single_label(records)
    classes = _classes(single)

    def row(record: Record) -> Row:
        making.seen(record)

        def pool(broken: set[str]) -> list[Record]:
            left = _without(classes, broken)
            return [record, *choose.one_each(left, record, making.seed, salt="t2i")]

        found = making.readable(pool)
        made = making.start(
            tgt_text=[""] * len(found),
            tgt_img_path=[listed(names, making) for _, names in found],
            qry_label=record.labels[0],
            tgt_label=[one.labels[0] for one, _ in found],
            **making.told_of(one for one, _ in found),
        )
        return video({**made, "qry_text": record.labels[0]}, making, target=True)

    kept = choose.level(single, making.cap, making.seed)
    return Made(tuple(making.placed(kept, row)), "exemplars", "local")
