"""Which tasks a person's own data can feed, as rows of the registry beside the benchmark's.

Owns their ids (``own/<name>/<kind>``), wording and files. They are of the split ``own``: no column
of the benchmark ever averages over them. Refuses names that are no file names.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path

from studies.errors import BadRequest
from studies.medheb.builders.card import TaskPlan
from studies.medheb.builders.record import Record
from studies.medheb.lines import write_lines
from studies.medheb.own_entries import PAIR, ROW, SHOWN
from studies.medheb.tasks import COLUMNS, OWN, REGISTRY, Task, load_tasks, read_registry

FOLDERS = {"2d": "2D", "3d": "3D", "text": "Text"}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
CATEGORY = "Find {} that matches the given category:"
QUESTION = "Represent the given {} with the following question:"
Serves = Callable[[Record], bool]
Planned = tuple[Task, TaskPlan]
MOST_PAIRS = 2  # modalities that are paired, the most frequent ones


@dataclass(frozen=True)
class Kind:
    """One kind of task.

    Attributes:
        family: of the benchmark, whose maker, pool and scores it has.
        make: key of ``MAKERS``.
        parser: for pictures, volumes or texts.
        eval_type: as its pool is ranked.
        instruction: said to the model with each query.
        text: the query's text where the data give none.
    """

    family: str
    make: str
    parser: str
    eval_type: str
    instruction: str
    text: str = "<image>"


def own_name(name: str) -> str:
    """A name that can stand in ids and on disk.

    Raises:
        BadRequest: nothing is left of it.
    """
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.strip().lower()).strip("-_")[:40]
    if not _NAME.fullmatch(plain):
        raise BadRequest(f"{name!r} cannot name tasks; give letters or digits with --name.")
    return plain


def plans_of(name: str, records: Sequence[Record], label_question: str) -> tuple[Planned, ...]:
    """Every task that the records can feed.

    Args:
        name: of the data.
        records: of all kinds.
        label_question: asked of a picture whose class is to be named.
    """
    found: list[Planned] = []
    mixed = any(r.pictures for r in records) and any(r.volumes for r in records)
    for form, flat in (("2d", True), ("3d", False)):
        shown = [r for r in records if _is(r, SHOWN) and _shows(r, flat)]
        told = [r for r in records if _is(r, ROW) and _shows(r, flat)]
        tail = "-3d" if mixed and not flat else ""
        found += _label_tasks(name, form, shown, label_question, tail)
        found += _word_tasks(name, form, told, tail)
    found += _region_tasks(name, [r for r in records if _is(r, SHOWN) and r.regions])
    found += _pair_tasks(name, [r for r in records if _is(r, PAIR)])
    found += _text_tasks(name, [r for r in records if _is(r, ROW)])
    return tuple(found)


def _is(record: Record, how: str) -> bool:
    return record.key.startswith(f"{how} ")


def _shows(record: Record, flat: bool) -> bool:
    return bool(record.pictures) if flat else bool(record.volumes)


def _label_tasks(
    name: str, form: str, shown: Sequence[Record], question: str, tail: str
) -> Iterable[Planned]:
    labels = {label for record in shown for label in record.labels}
    if len(labels) < 2:
        return
    flat = form == "2d"
    thing, one = ("image", "an image") if flat else ("series", "a series")
    same = f"Find the same category {thing} with the provided {thing}:"
    kinds = {
        "i2l": Kind("I-Lab", "label", "image_cls" if flat else "volume_i2t", "local",
                    QUESTION.format(thing), question),
        "i2i": Kind("I-I", "exemplars", "image_i2i_vg" if flat else "volume_i2i", "local", same),
        "t2i": Kind("T-I", "text-exemplars", "image_t2i" if flat else "volume_t2i", "local",
                    CATEGORY.format(one), "{category}"),
    }  # fmt: skip
    for kind, how in kinds.items():
        yield _task(name, form, kind + tail, how, serves=_serves(SHOWN, flat))


def _word_tasks(name: str, form: str, told: Sequence[Record], tail: str) -> Iterable[Planned]:
    flat = form == "2d"
    thing = "image" if flat else "series"
    parser = "image_qa" if flat else "volume_i2t"
    options = {} if flat else {"volume": "volume"}
    role = next((r for r in ("report", "findings", "impression") if _have(told, r)), None)
    if role is not None:
        ask = f"Represent the given {thing} for radiology report retrieval:"
        how = Kind("I-Rep", "text", parser, "global", ask)
        yield _task(name, form, f"i2r{tail}", how, {**options, "target": role}, _serves(ROW, flat))
        if not flat:
            how = Kind("T-I", "text-to-volume", "volume_t2i", "global",
                       "Find a series that matches the given report:", "{report}")  # fmt: skip
            yield _task(name, form, "r2v", how, {**options, "query": role}, _serves(ROW, flat))
    if _have(told, "question", "answer"):
        how = Kind("VQA", "text", parser, "global", QUESTION.format(thing), "{question}")
        asked = {**options, "query": "question", "target": "answer"}
        yield _task(name, form, f"vqa{tail}", how, asked, _serves(ROW, flat))


def _serves(how: str, flat: bool) -> Serves:
    return lambda record: _is(record, how) and _shows(record, flat)


def _region_tasks(name: str, boxed: Sequence[Record]) -> Iterable[Planned]:
    if boxed:
        how = Kind("VG", "region", "image_i2i", "global",
                   "Locate the specific region that corresponds to the provided text description.",
                   "{description}")  # fmt: skip
        yield _task(name, "2d", "t2r", how, serves=lambda r: _is(r, SHOWN) and bool(r.pictures))


def _pair_tasks(name: str, pairs: Sequence[Record]) -> Iterable[Planned]:
    counts = Counter(role for record in pairs for role in record.volumes)
    for asked, found in permutations([role for role, _ in counts.most_common(MOST_PAIRS)], 2):
        ask = f"Find a {found.upper()} series that matches the given {asked.upper()} series:"
        how = Kind("MB-VR", "pairs", "volume_i2i", "global", ask)
        kind = f"{own_name(asked)}-{own_name(found)}"
        options = {"query": asked, "target": found}
        yield _task(name, "3d", kind, how, options, lambda record: _is(record, PAIR))


def _text_tasks(name: str, rows: Sequence[Record]) -> Iterable[Planned]:
    alone = [record for record in rows if not record.pictures and not record.volumes]
    if _have(alone, "question", "answer"):
        how = Kind("T-T", "text", "text_qa", "global", "Find the answer of the given question:",
                   "{text}")  # fmt: skip
        options = {"query": "question", "target": "answer"}
        yield _task(name, "text", "t2t", how, options,
                    lambda r: _is(r, ROW) and not r.pictures and not r.volumes)  # fmt: skip
    if _have(rows, "findings", "impression"):
        how = Kind(
            "T-T",
            "text",
            "text_qa",
            "global",
            "Identifying impressions based on given radiology findings.",
            "{text}",
        )
        options = {"query": "findings", "target": "impression"}
        yield _task(name, "text", "f2i", how, options, lambda record: _is(record, ROW))


def _have(records: Iterable[Record], *roles: str) -> bool:
    return any(all(record.texts.get(role) for role in roles) for record in records)


def _task(
    name: str, form: str, kind: str, how: Kind, options: Mapping[str, str] | None = None,
    serves: Serves | None = None,
) -> Planned:  # fmt: skip
    top = FOLDERS[form]
    task = Task(
        id=f"{OWN}/{name}/{kind}", family=how.family, source=f"{OWN}/{name}", form=form, split=OWN,
        query="own data", candidate="own data", qry_inst=how.instruction, qry_text=how.text,
        release_name=f"{OWN}_{name}_{kind}", parser=how.parser, eval_type=how.eval_type,
        data_path=f"{top}_Task/{OWN}/{name}/{name}_{kind}_test.json",
        image_root="" if form == "text" else f"{top}_Images/{OWN}/{name}",
    )  # fmt: skip
    return task, TaskPlan(task.id, how.make, options or {}, serves)


def register_tasks(root: Path, name: str, tasks: Sequence[Task]) -> None:
    """Put own tasks into the registry of a data root; rows of others stay, older ones of it go.

    Raises:
        BadTaskFile: the registry that is there cannot be read.
        NotWritable: the root cannot be written.
    """
    path = root / REGISTRY
    known = read_registry(path) if path.is_file() else load_tasks()
    kept = [task for task in known if task.source != f"{OWN}/{name}"]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(task) for task in (*kept, *tasks))
    write_lines(path, stream.getvalue().splitlines())
