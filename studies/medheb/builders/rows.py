"""From records to rows of a task's index file, in the columns of the release.

Owns who is asked about whom in each family: the positive first, then the others the pool rule
names. Pools that are a union over rows (answers, reports, regions, pairs) list the positive alone
and are ranked ``global``. Refuses nothing: a record that cannot be placed is a fault, the rest goes
on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from studies.medheb.builders import choose
from studies.medheb.builders.exemplars import exemplars, text_exemplars
from studies.medheb.builders.making import Made, Making, Row, listed, video
from studies.medheb.builders.record import Record

LABEL_POOLS = {"source": "labels:source", "family": "labels:family", "fixed": "labels:fixed"}


def by_label(making: Making, records: Sequence[Record]) -> Made:
    """Which class is it? The classes are the candidates (family I-Lab)."""
    kept = choose.level(choose.single_label(records), making.cap, making.seed)

    def row(record: Record) -> Row:
        gold = record.labels[0]
        others = _other_labels(making, record)
        names = listed(making.seen(record), making)
        made = making.start(qry_img_path=names, tgt_text=[gold, *others], qry_label=gold)
        return video(made, making)

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
            made["qry_img_path"] = listed(names, making)
            video(made, making)
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
    """Which volume does this text describe? All of the evaluated rows (T-I by report).

    A text that two volumes share points at neither, so the first of them alone stays.
    """
    asked = making.plan.options["query"]
    told = [record for record in records if record.texts.get(asked, "").strip()]
    kept = list({record.texts[asked].strip(): record for record in reversed(told)}.values())[::-1]
    if len(kept) < len(told):
        making.notes.append(f"{len(told) - len(kept)} records repeat another's text: left out.")

    def row(record: Record) -> Row:
        names = making.seen(record, making.plan.options.get("volume", ""))
        made = making.start(tgt_text=[""], tgt_img_path=[listed(names, making)])
        return video({**made, "qry_text": record.texts[asked]}, making, target=True)

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
            qry_img_path=listed(names, making),
            tgt_text=[""],
            tgt_img_path=[making.media.volume(record.volumes[found])],
        )
        made["qry_modality"] = "image" if asked == "picture" else "video"
        return video(made, making, target=True)

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
