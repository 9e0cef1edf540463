"""What a person may choose, as one frozen dataclass; the settings screen is generated from it.

Owns the fields, their titles, help and bounds, and the JSON file. Refuses window geometry and
other state, and values out of bounds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from db.errors import SettingsDamaged
from db.failures import translated
from db.files import write_whole

VERSION = 1


def _setting(
    default: Any,
    title: str,
    help_text: str,
    *,
    bounds: tuple[int, int] | None = None,
    choices: tuple[str, ...] | None = None,
    hidden: bool = False,
) -> Any:
    metadata = {"title": title, "help": help_text, "bounds": bounds, "choices": choices}
    # What is hidden is kept here and edited on a page of its own.
    return field(default=default, metadata={**metadata, "hidden": hidden})


@dataclass(frozen=True)
class Settings:
    """Every setting. Each field's metadata has ``title``, ``help``, ``bounds``, ``choices``,
    ``hidden``.
    """

    rater_name: str = _setting(
        "", "Rater", "Name or initials stored with every rating on this machine."
    )
    text_scale: int = _setting(100, "Text size", "Size of all text in percent.", bounds=(100, 200))
    linked_viewers: bool = _setting(
        True,
        "Linked viewers",
        "Scrolling, windowing or zooming one picture does the same to the others beside it. "
        "The key for it (K) changes that only while the program runs.",
    )
    picture_memory_mb: int = _setting(
        0,
        "Memory for pictures",
        "Megabytes of decoded series that the viewer keeps ready; 0 takes an eighth of the memory "
        "of this machine, at most 4,096.",
        bounds=(0, 65536),
    )
    rest_minutes: int = _setting(
        45,
        "Pause after",
        "Minutes of reading after which a pause is proposed, where the study does not propose one "
        "earlier; 0 leaves it to the study.",
        bounds=(0, 240),
    )
    device: str = _setting(
        "auto",
        "Device",
        "Where models run. auto takes a graphics card that is there and works.",
        choices=("auto", "cpu", "cuda", "mps"),
    )
    dtype: str = _setting(
        "auto",
        "Number format",
        "How models compute. auto takes float32 on a processor and bfloat16 on a graphics card.",
        choices=("auto", "float32", "bfloat16", "float16"),
    )
    key_overrides: str = _setting(
        "", "Keys", "Keys that differ from the defaults, as JSON.", hidden=True
    )
    display_size: str = _setting(
        "", "Display", "Size of the display when its test pattern was looked at.", hidden=True
    )
    display_scale: str = _setting(
        "", "Display scale", "Scale factor of the display at that time.", hidden=True
    )
    display_statement: str = _setting(
        "", "Statement on the display", "What the reader stated about its calibration.", hidden=True
    )


def describe() -> tuple[tuple[str, type, dict[str, Any]], ...]:
    """Every field as (name, type, metadata), in order; what a settings screen draws."""
    return tuple((f.name, type(f.default), dict(f.metadata)) for f in fields(Settings))


def check_value(name: str, value: object) -> str | None:
    """Why a value may not stand in that field, None if it may."""
    found = next(f for f in fields(Settings) if f.name == name)
    wanted = type(found.default)
    title = found.metadata["title"]
    if type(value) is not wanted:
        word = {int: "a whole number", str: "text", bool: "true or false"}[wanted]
        return f"{title} must be {word}, it is {value!r}"
    bounds, choices = found.metadata["bounds"], found.metadata["choices"]
    if bounds is not None and not bounds[0] <= cast(int, value) <= bounds[1]:
        return f"{title} must lie between {bounds[0]} and {bounds[1]}, it is {value!r}"
    if choices is not None and value not in choices:
        return f"{title} must be one of {', '.join(choices)}, it is {value!r}"
    return None


def load_settings(path: Path) -> Settings:
    """Read the settings; a missing file means the defaults, unknown keys are left alone.

    Raises:
        SettingsDamaged: not JSON, or a value that may not stand there; names file and field.
        NotWritable: the file cannot be opened.
    """
    kept = _read(path)
    values = {}
    for found in fields(Settings):
        if found.name in kept:
            reason = check_value(found.name, kept[found.name])
            if reason is not None:
                raise SettingsDamaged(f"{path}: {reason}. Mend that line, or delete the file.")
            values[found.name] = kept[found.name]
    return Settings(**values)


def save_settings(path: Path, settings: Settings) -> None:
    """Write the settings in one step: the file is the old one or the new one, never half.

    Keys of the file that this version does not know are kept. A damaged file is moved aside
    as ``settings.json.damaged``.

    Raises:
        SettingsDamaged: a value out of bounds.
        NotWritable: the folder cannot be written.
        DiskFull: no room.
    """
    for found in fields(settings):
        reason = check_value(found.name, getattr(settings, found.name))
        if reason is not None:
            raise SettingsDamaged(f"{reason}.")
    try:
        kept = _read(path)
    except SettingsDamaged:
        kept = {}
        with translated(path):
            path.replace(path.with_name(path.name + ".damaged"))
    chosen = {found.name: getattr(settings, found.name) for found in fields(settings)}
    version = max(VERSION, kept.get("version", VERSION))
    text = json.dumps({**kept, "version": version, **chosen}, indent=2, ensure_ascii=False) + "\n"
    write_whole(path, text.encode("utf-8"))


def _read(path: Path) -> dict[str, Any]:
    with translated(path):
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return {}
    try:
        kept = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise SettingsDamaged(
            f"The settings file {path} cannot be read ({error}). Mend it, or delete it to get "
            "the defaults."
        ) from error
    if not isinstance(kept, dict) or not isinstance(kept.get("version", VERSION), int):
        raise SettingsDamaged(
            f"The settings file {path} is not one of this program. Delete it to get the defaults."
        )
    return kept
