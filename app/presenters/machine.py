"""What is known of this machine's devices, shared by the pages that show models.

Owns the last answer of the job ``machine``; until there is one, the processor's memory is known
from the system alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.fit import gigabytes
from studies.machine import processor_alone

SHOWN = ("torch", "transformers")
Facts = Mapping[str, Any]


class Machine:
    """Keeps the last answer; ``looked`` is False before the first."""

    def __init__(self) -> None:
        self._document: Facts = {}

    def take(self, document: Facts) -> None:
        """Keep what the job found."""
        self._document = dict(document)

    @property
    def looked(self) -> bool:
        """Whether the job was ever answered."""
        return bool(self._document)

    def devices(self) -> tuple[Facts, ...]:
        """Every device, the fastest kind first; the processor alone where nothing is known."""
        return tuple(self._document.get("devices") or (processor_alone(),))

    def device(self, asked: str) -> Facts | None:
        """The device that a setting (``auto``, ``cpu``, ``cuda``, ``mps``) leads to."""
        devices = self.devices()
        if asked == "auto":
            chosen = self._document.get("chosen") or devices[0]["device"]
            return next((one for one in devices if one["device"] == chosen), devices[0])
        return next((one for one in devices if str(one["device"]).startswith(asked)), None)

    def words(self) -> str:
        """The machine in one line."""
        if problem := self._document.get("problem"):
            return str(problem)
        told = " · ".join(_device_words(one) for one in self.devices())
        libraries = self._document.get("libraries") or {}
        kept = [f"{name} {libraries[name]}" for name in SHOWN if libraries.get(name)]
        return " · ".join([told, ", ".join(kept)]) if kept else told

    def tip(self) -> str:
        """The same in full: formats, attention, libraries."""
        lines = []
        for one in self.devices():
            sound = [name for name, why in one["formats"].items() if not why]
            told = [f"{one['name']} ({one['device']}): {', '.join(sound)}.", one["attention_why"]]
            lines.append(" ".join(part for part in told if part))
        libraries = self._document.get("libraries") or {}
        lines += [f"{name} {number or 'not installed'}" for name, number in libraries.items()]
        return "\n".join(lines)


def _device_words(one: Facts) -> str:
    total, free = one["memory_total"], one["memory_free"]
    much = "memory not known" if total is None else f"{gigabytes(total)}, {gigabytes(free)} free"
    with_what = f", attention {one['attention']}" if one["attention"] else ""
    return f"{one['name']}: {much}, computes in {one['dtype']}{with_what}"
