"""From records to rows of a task's index file, in the columns of the release.

Owns who is asked about whom in each family: the positive first, then the others the pool rule
names. Pools that are a union over rows (answers, reports, regions, pairs) list the positive alone
and are ranked ``global``. Refuses nothing: a record that cannot be placed is a fault, the rest goes
on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.control import Control
from engine.errors import EvidenceError
from studies.medheb.builders import choose
from studies.medheb.builders.card import TaskPlan
from studies.medheb.builders.media import Media, names_of
from studies.medheb.builders.record import Fault, Record
from studies.medheb.tasks import Task

Row = dict[str, Any]
LABEL_POOLS = {"source": "labels:source", "family": "labels:family", "fixed": "labels:fixed"}


@dataclass
class Making:
    """One task in the making.

    Attributes:
        task: its registry row; instruction and query text come from there.
        plan: how its source makes it.
        media: puts pictures there.
        settings: of the build, all of them.
        labels: the source's classes.
        every_label: the classes of all label tasks, duplicates merged.
        control: asked between rows.
        notes: sentences about what was left out or chosen.
        faults: records that could not be placed.
        every: all records of the source, also those that are not evaluated.
    """

    task: Task
    plan: TaskPlan
    media: Media
    settings: Mapping[str, Any]
    labels: Sequence[str]
    every_label: Sequence[str]
    control: Control = field(default_factory=Control)
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    every: Sequence[Record] = ()

    @property
    def seed(self) -> int:
        """Of every random choice."""
        return int(self.settings["seed"])

    @property
    def cap(self) -> int:
        """Most rows."""
        return int(self.settings["cap"])

    def start(self, **columns: Any) -> Row:
        """A row's first columns: the task's instruction and query text, and what is given."""
        text = self.task.qry_text
        return {
            "qry_inst": self.task.qry_inst,
            "qry_text": "" if text.startswith(("<", "{")) else text,
            **columns,
        }

    def placed(self, records: Iterable[Record], make: Callable[[Record], Row]) -> Iterator[Row]:
        """The rows of the records that can be placed; a fault for each that cannot."""
        for record in records:
            self.control.check()
            try:
                yield make(record)
            except EvidenceError as error:
                self.faults.append(Fault(record.key, str(error)))
            self.control.step()

    def seen(self, record: Record, role: str = "") -> str | list[str] | list[list[str]]:
        """The names of what a record shows: a volume's slices, one picture, or several."""
        if role or not record.pictures:
            name = role or next(iter(record.volumes))
            return self.media.volume(record.volumes[name])
        names = names_of(self.media, record.pictures)
        return names[0] if len(names) == 1 else names


@dataclass(frozen=True)
class Made:
    """Rows and how they are ranked.

    Attributes:
        rows: of the index file.
        pool: the recorded name of the pool.
        eval_type: ``local`` or ``global``.
    """

    rows: tuple[Row, ...]
    pool: str
    eval_type: str


def _video(row: Row, making: Making, *, target: bool = False) -> Row:
    """The release's word for slices shown as one sequence, on the side that holds them."""
    if making.task.parser.startswith("volume"):
        row["tgt_modality" if target else "qry_modality"] = "video"
    return row


def by_label(making: Making, records: Sequence[Record]) -> Made:
    """Which class is it? The classes are the candidates (family I-Lab)."""
    kept = choose.level(choose.single_label(records), making.cap, making.seed)

    def row(record: Record) -> Row:
        gold = record.labels[0]
        others = _other_labels(making, record)
        names = _listed(making.seen(record), making)
        made = making.start(qry_img_path=names, tgt_text=[gold, *others], qry_label=gold)
        return _video(made, making)

    pool = LABEL_POOLS[str(making.settings["label_pool"])]
    return Made(tuple(making.placed(kept, row)), pool, "local")


def _other_labels(making: Making, record: Record) -> list[str]:
    gold, pool = record.labels[0], str(making.settings["label_pool"])
    if pool == "source":
        return [label for label in making.labels if label != gold]
    same = gold.strip().lower()
    others = [label for label in making.every_label if label.strip().lower() != same]
    if pool == "family":
        return others
    salt = f"labels {record.key}"
    shuffled = choose.order_by_seed(others, making.seed, str, salt=salt)
    return shuffled[: int(making.settings["fixed_labels"]) - 1]


def _listed(names: Any, making: Making) -> Any:
    """Volume parsers want a list of slices even where there is one."""
    return [names] if making.task.parser.startswith("volume") and isinstance(names, str) else names


def _classes(records: Sequence[Record]) -> dict[str, Sequence[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[record.labels[0]].append(record)
    return dict(found)


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
        same = [r for r in classes[record.labels[0]] if r.group != record.group]
        chosen = choose.pick(same, making.seed, salt=f"positive {record.key}")
        others = choose.one_each(classes, record, making.seed, salt="i2i")
        listed = [_listed(making.seen(one), making) for one in (chosen, *others)]
        made = making.start(
            qry_img_path=_listed(making.seen(record), making),
            tgt_text=[""] * len(listed),
            tgt_img_path=listed,
            qry_label=record.labels[0],
            tgt_label=[one.labels[0] for one in (chosen, *others)],
        )
        return _video(_video(made, making), making, target=True)

    kept = choose.level(asked, making.cap, making.seed)
    return Made(tuple(making.placed(kept, row)), "exemplars", "local")


def text_exemplars(making: Making, records: Sequence[Record]) -> Made:
    """Which picture is of this class? The sampled one, one of each other class (T-I by label)."""
    single = choose.single_label(records)
    classes = _classes(single)

    def row(record: Record) -> Row:
        others = choose.one_each(classes, record, making.seed, salt="t2i")
        listed = [_listed(making.seen(one), making) for one in (record, *others)]
        made = making.start(
            tgt_text=[""] * len(listed),
            tgt_img_path=listed,
            qry_label=record.labels[0],
            tgt_label=[one.labels[0] for one in (record, *others)],
        )
        return _video({**made, "qry_text": record.labels[0]}, making, target=True)

    kept = choose.level(single, making.cap, making.seed)
    return Made(tuple(making.placed(kept, row)), "exemplars", "local")


def by_text(making: Making, records: Sequence[Record]) -> Made:
    """Which text belongs to it? All texts of the evaluated rows (I-Rep, VQA, T-T).

    Options: ``query`` and ``target``, the roles of the texts; without ``query`` the picture asks
    alone; ``volume`` names the volume where a record has several. Settings of a source may ask for
    a level sample (``sampling``) or a pool over the whole source (``pool``).
    """
    asked, answered = making.plan.options.get("query"), making.plan.options["target"]
    kept = [r for r in records if r.texts.get(answered, "").strip()]
    if asked is not None:
        kept = [record for record in kept if record.texts.get(asked, "").strip()]
    if len(kept) < len(records):
        making.notes.append(f"{len(records) - len(kept)} records without a text were left out.")

    def row(record: Record) -> Row:
        made = making.start(tgt_text=[record.texts[answered]])
        if asked is not None:
            made["qry_text"] = record.texts[asked]
        if making.task.image_root and (record.pictures or record.volumes):
            names = making.seen(record, making.plan.options.get("volume", ""))
            made["qry_img_path"] = _listed(names, making)
            _video(made, making)
        return made

    pool = "answers" if making.task.family == "VQA" else "split"
    rows = tuple(making.placed(_sampled(making, kept), row))
    if rows and making.settings.get("pool") == "all":
        pool = f"{pool}:all"
        rows[0]["tgt_text"] += _other_texts(making, rows, answered)
    return Made(rows, pool, "global")


def _sampled(making: Making, records: Sequence[Record]) -> list[Record]:
    """At most ``cap`` records; level over strata where the source's ``sampling`` says so."""
    if making.settings.get("sampling") == "level":
        return choose.level(records, making.cap, making.seed, kind=lambda record: record.stratum)
    return choose.capped(records, making.cap, making.seed)


def _other_texts(making: Making, rows: Sequence[Row], role: str) -> list[str]:
    """Texts of records that are not evaluated, for a pool over the whole source.

    They go into the list of one row, since lists are joined.
    """
    there = {row["tgt_text"][0] for row in rows}
    texts = dict.fromkeys(record.texts.get(role, "") for record in making.every)
    return [text for text in texts if text.strip() and text not in there]


def text_to_volume(making: Making, records: Sequence[Record]) -> Made:
    """Which volume does this text describe? All of the evaluated rows (T-I by report)."""
    asked = making.plan.options["query"]
    kept = [record for record in records if record.texts.get(asked, "").strip()]

    def row(record: Record) -> Row:
        names = making.seen(record, making.plan.options.get("volume", ""))
        made = making.start(tgt_text=[""], tgt_img_path=[_listed(names, making)])
        return _video({**made, "qry_text": record.texts[asked]}, making, target=True)

    kept = choose.capped(kept, making.cap, making.seed)
    return Made(tuple(making.placed(kept, row)), "split", "global")


def pairs(making: Making, records: Sequence[Record]) -> Made:
    """Which is of the same patient under the other modality? One each (MB-VR).

    Options: ``query`` and ``target``, roles of volumes; ``query`` may be ``picture``.
    """
    asked, found = making.plan.options["query"], making.plan.options["target"]

    def both(record: Record) -> bool:
        has = bool(record.pictures) if asked == "picture" else asked in record.volumes
        return has and found in record.volumes

    kept = [record for record in records if both(record)]

    def row(record: Record) -> Row:
        names = making.seen(record, "" if asked == "picture" else asked)
        made = making.start(
            qry_img_path=_listed(names, making),
            tgt_text=[""],
            tgt_img_path=[making.media.volume(record.volumes[found])],
        )
        made["qry_modality"] = "image" if asked == "picture" else "video"
        return _video(made, making, target=True)

    kept = choose.capped(kept, making.cap, making.seed)
    return Made(tuple(making.placed(kept, row)), "split", "global")


def by_region(making: Making, records: Sequence[Record]) -> Made:
    """Which crop is meant? All crops of the evaluated rows, each text once a picture (VG)."""
    asked = _spread(records, making)
    without = sum(not record.regions for record in records)
    if without:
        making.notes.append(f"{without} of {len(records)} test pictures have no region to ask for.")

    def row(pair: Record) -> Row:
        region = pair.regions[0]
        stem = pair.pictures[0].name.rsplit(".", 1)[0]
        crops = [
            making.media.crop(pair, box, f"crops/{stem}_{'_'.join(map(str, box))}.png")
            for box in region.boxes
        ]
        made = making.start(
            qry_img_path=making.media.picture(pair.pictures[0]),
            tgt_text=[""],
            tgt_img_path=[crops],
            qry_label=region.text,
        )
        return {**made, "qry_text": region.text}

    return Made(tuple(making.placed(asked, row)), "regions", "global")


def _spread(records: Sequence[Record], making: Making) -> list[Record]:
    """At most ``cap`` (picture, text) pairs: texts by turns, pictures not used yet first."""
    waiting: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        for region in {one.text: one for one in record.regions}.values():
            pair = Record(
                f"{record.key}\0{region.text}", record.group, pictures=record.pictures,
                regions=(region,),
            )  # fmt: skip
            waiting[region.text].append(pair)
    for text, of in waiting.items():
        waiting[text] = choose.order_by_seed(of, making.seed, lambda r: r.key, salt="regions")
    turns = choose.order_by_seed(waiting, making.seed, str, salt="texts")
    return _by_turns(waiting, turns, making.cap)


def _by_turns(waiting: dict[str, list[Record]], turns: Sequence[str], cap: int) -> list[Record]:
    chosen: list[Record] = []
    used: set[str] = set()  # pictures, by name
    while len(chosen) < cap and any(waiting.values()):
        for text in turns:
            if not waiting[text] or len(chosen) >= cap:
                continue
            fresh = next(
                (one for one in waiting[text] if one.pictures[0].name not in used), waiting[text][0]
            )
            waiting[text].remove(fresh)
            used.add(fresh.pictures[0].name)
            chosen.append(fresh)
    return chosen


MAKERS: Mapping[str, Callable[[Making, Sequence[Record]], Made]] = {
    "label": by_label,
    "exemplars": exemplars,
    "text-exemplars": text_exemplars,
    "text": by_text,
    "text-to-volume": text_to_volume,
    "pairs": pairs,
    "region": by_region,
}
