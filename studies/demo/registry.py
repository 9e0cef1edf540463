"""The demo's task table: one entry per task, in the columns of ``resources/tasks.csv``.

Owns names, families, files and instructions of the demo tasks. Rows come from ``task_rows``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

from studies.demo import sources

CONFIG_FORMS = {"2d": "2D_Task", "3d": "3D_Task", "text": "Text_Task"}


@dataclass(frozen=True)
class DemoTask:
    """One row of the task table; the fields are its columns."""

    id: str
    family: str
    source: str
    form: str
    split: str
    query: str
    candidate: str
    qry_inst: str
    qry_text: str
    release_name: str
    parser: str
    eval_type: str
    data_path: str
    image_root: str


# Source: folder of its index files and pictures, form, split.
SOURCES = {
    "skin": ("DemoSkin", "2d", "id"),
    "pathology": ("DemoPathology", "2d", "id"),
    "chest": ("DemoChest", "2d", "id"),
    "chest_b": ("DemoChestB", "2d", "held-out"),
    "chest_ct": ("DemoChestCT", "3d", "id"),
    "brain": ("DemoBrain", "3d", "id"),
    "chest_text": ("DemoChestText", "text", "id"),
    "question": ("DemoQuestion", "text", "id"),
}

# First word of a task's id to its region, family to its kind of target.
ABOUT = {
    "skin": "dermatology",
    "pathology": "pathology",
    "chest": "chest_thorax",
    "chest_b": "chest_thorax",
    "chest_ct": "chest_thorax",
    "brain": "neuro_head_neck",
    "question": "multi_region",
}
TARGETS = {"I-Lab": "short label", "VQA": "VQA answer", "I-Rep": "long text", "T-T": "long text"}

# (id, source, family, parser, eval, query, candidate, instruction, query text)
_ROWS: tuple[tuple[str, str, str, str, str, str, str, str, str], ...] = (
    ("skin/i2i", "skin", "I-I", "image_i2i_vg", "local", "image", "image",
     sources.SAME_IMAGE, "<image>"),
    ("pathology/i2i", "pathology", "I-I", "image_i2i_vg", "local", "image", "image",
     sources.SAME_IMAGE, "<image>"),
    ("brain/i2i", "brain", "I-I", "volume_i2i", "local", "volume", "volume",
     sources.SAME_MRI, "<image>"),
    ("brain/t1-t2", "brain", "MB-VR", "volume_i2i", "global", "volume", "volume",
     sources.T1_TO_T2, "<image>"),
    ("brain/t2-t1", "brain", "MB-VR", "volume_i2i", "global", "volume", "volume",
     sources.T2_TO_T1, "<image>"),
    ("chest/xray-ct", "chest_ct", "MB-VR", "volume_i2i", "global", "image", "volume",
     sources.XRAY_TO_CT, "<image>"),
    ("chest/i2l", "chest", "I-Lab", "image_cls", "local", "image+text", "text",
     sources.IMAGE_QUESTION, sources.ASK_CHEST),
    ("skin/i2l", "skin", "I-Lab", "image_cls", "local", "image+text", "text",
     sources.IMAGE_QUESTION, sources.ASK_SKIN),
    ("chest_ct/i2l", "chest_ct", "I-Lab", "volume_i2t", "local", "volume+text", "text",
     sources.SLICES_QUESTION, sources.ASK_CHEST_CT),
    ("chest_b/i2l", "chest_b", "I-Lab", "image_cls", "local", "image+text", "text",
     sources.IMAGE_QUESTION, sources.ASK_CHEST),
    ("chest/i2r", "chest", "I-Rep", "image_qa", "local", "image", "text",
     sources.XRAY_REPORT, "<image>"),
    ("chest_ct/i2r", "chest_ct", "I-Rep", "volume_i2t", "local", "volume", "text",
     sources.CT_REPORT, "<image>"),
    ("skin/t2i", "skin", "T-I", "image_t2i", "local", "text", "image",
     sources.IMAGE_OF_CATEGORY, "{category}"),
    ("chest/t2i", "chest", "T-I", "image_t2i", "local", "text", "image",
     sources.IMAGE_OF_CATEGORY, "{category}"),
    ("chest_ct/t2i", "chest_ct", "T-I", "volume_t2i", "global", "text", "volume",
     sources.CT_OF_REPORT, "{report}"),
    ("chest_b/t2i", "chest_b", "T-I", "image_t2i", "local", "text", "image",
     sources.IMAGE_OF_CATEGORY, "{category}"),
    ("chest/vqa", "chest", "VQA", "image_qa", "local", "image+text", "text",
     sources.IMAGE_QUESTION, "{question}"),
    ("brain/vqa", "brain", "VQA", "volume_i2t", "local", "volume+text", "text",
     sources.MRI_QUESTION, "{question}"),
    ("chest/t2r", "chest", "VG", "image_i2i", "global", "image+text", "region",
     sources.REGION, "{description}"),
    ("pathology/t2r", "pathology", "VG", "image_i2i", "global", "image+text", "region",
     sources.REGION, "{description}"),
    ("chest/t2t", "chest_text", "T-T", "text_qa", "local", "text", "text",
     sources.IMPRESSION, "{text}"),
    ("question/t2t", "question", "T-T", "text_qa", "local", "text", "text",
     sources.ANSWER, "{text}"),
)  # fmt: skip


def _task(row: tuple[str, str, str, str, str, str, str, str, str], split: str) -> DemoTask:
    """Names and files follow from the source."""
    task, source, family, parser, ranking, query, candidate, instruction, text = row
    folder, form, held = SOURCES[source]
    kind = task.partition("/")[2]
    return DemoTask(
        id=task,
        family=family,
        source=source,
        form=form,
        split=held,
        query=query,
        candidate=candidate,
        qry_inst=instruction,
        qry_text=text,
        release_name=f"{folder}_{kind.replace('-', '_')}",
        parser=parser,
        eval_type=ranking,
        data_path=f"{CONFIG_FORMS[form]}/{folder}/{folder}_{kind.replace('-', '_')}_{split}.json",
        image_root="" if form == "text" else f"{form.upper()}_Images/{folder}",
    )


def demo_tasks(split: str = "test") -> tuple[DemoTask, ...]:
    """All tasks of the demo, in the order of the families."""
    return tuple(_task(row, split) for row in _ROWS)


def to_csv(tasks: Sequence[DemoTask]) -> str:
    """The table as text, with a line feed at the end of each line."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([field.name for field in fields(DemoTask)])
    writer.writerows(astuple(task) for task in tasks)
    return stream.getvalue()


def groups_csv(tasks: Sequence[DemoTask]) -> str:
    """What each task is about, as the data root's ``task_groups.csv``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("id", "anatomy", "target"))
    for task in tasks:
        writer.writerow(
            (task.id, ABOUT[task.id.split("/")[0]], TARGETS.get(task.family, "picture"))
        )
    return text.getvalue()


def to_yaml(tasks: Sequence[DemoTask], form: str) -> str:
    """One of the three task configs of the release; JSON strings are valid YAML scalars."""
    lines = []
    for task in tasks:
        if task.form != form:
            continue
        settings = {
            "dataset_parser": task.parser,
            "dataset_name": task.release_name,
            "dataset_split": "test",
            "image_root": task.image_root,
            "data_path": task.data_path,
            "eval_type": task.eval_type,
        }
        lines.append(f"{task.release_name}:")
        lines += [f"  {key}: {json.dumps(value)}" for key, value in settings.items() if value]
    return "\n".join(lines) + "\n"
