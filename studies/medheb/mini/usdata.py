"""The Chinese ultrasound reports in miniature: three organs, each a JSON and a folder of JPEGs.

Owns the layout and its oddities: a byte order mark, parts inside the JSON, two pictures a report
(once only one), measurements as placeholders, templated texts that repeat.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_json, write_picture, write_text
from studies.medheb.mini.planted import remark_in_chinese
from studies.medheb.mini.shared import generator, look

ORGANS = (("Thyroid", "甲状腺"), ("Mammary", "乳腺"), ("Liver", "肝脏"))
PARTS = (("train", 2), ("val", 1), ("test", 6))
SAME = 5  # the last two test reports of an organ are equal
_ECHO = ("均匀", "不均匀", "增强", "减低", "稍粗")
_EDGE = ("清晰", "欠清晰", "模糊", "光滑")
_FLOW = ("未见明显异常血流", "可见点状血流", "可见条状血流")


def write(folder: Path, *, seed: int) -> None:
    """``USData/new_<organ>2.json`` and ``USData/<organ>_report/<uid>_<1|2>.jpeg``."""
    base, uid = folder / "USData", 1
    for kind, (organ, word) in enumerate(ORGANS):
        parts: dict[str, list[dict[str, Any]]] = {}
        for part, count in PARTS:
            parts[part] = []
            for place in range(count):
                record = _record(uid, part, place, word, seed)
                _write_pictures(base / f"{organ}_report", record, kind, seed)
                parts[part].append(record)
                uid += 1
        write_json(base / f"new_{organ}2.json", parts, encoding="utf-8-sig")
    write_text(base / "key_technical_words.txt", "回声\n血流\n")


def _record(uid: int, part: str, place: int, word: str, seed: int) -> dict[str, Any]:
    told = SAME - 1 if part == "test" and place == SAME else place
    rng = generator("usdata", seed, word, part, told)
    echo, edge, flow = (str(rng.choice(words)) for words in (_ECHO, _EDGE, _FLOW))
    text = f"{word}大小形态正常，实质回声{echo}，_Loc_可见一_2DS_结节，边界{edge}，_SMM_，"
    text += f"内{flow}，第{told + 1}型。"
    text += remark_in_chinese(seed, uid) if told % 3 == 1 else ""
    return {
        "uid": uid, "finding": text, "labels": place % 3, "split": part,
        "image_path": [f"{uid}_1.jpeg", f"{uid}_2.jpeg"],
    }  # fmt: skip


def _write_pictures(base: Path, record: dict[str, Any], kind: int, seed: int) -> None:
    for name in record["image_path"]:
        pixels = look(3 * kind + record["labels"], seed, "usdata", name, size=48, width=64)
        write_picture(base / name, pixels, quality=90)
