"""What a loader is given, and what is written about a loaded model into every result.

Plain values, torch-free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.catalog import ModelCard
from engine.control import Control
from engine.device import Choice
from engine.models.settings import DEFAULT_PRESET, Settings, Used
from engine.weights import LocalWeights


@dataclass(frozen=True)
class Loading:
    """All that a family's loader is given.

    Attributes:
        card: of the model.
        weights: its files, all on this machine.
        choice: where and in which number format to compute.
        settings: what the family shall do, checked.
        used: the same with who states each value.
        control: is told what is happening.
    """

    card: ModelCard
    weights: LocalWeights
    choice: Choice
    settings: Settings
    used: tuple[Used, ...]
    control: Control


@dataclass(frozen=True)
class Record:
    """How a model was loaded (specification 10, last line).

    Attributes:
        family: of the model.
        preset: ``default`` or ``release``.
        settings: every setting the family reads, with who states it.
        revision: the pinned commit, ``local``, or base and adapter joined by ``+``.
        weights: hex digest over the files.
        device: torch's word.
        dtype: number format of the weights in memory.
        attention: the implementation of attention, for example ``sdpa``.
        end_of_text: the answer of the end-of-text probe, in words; None where there is none.
        adapter_tensors: how many tensors of an adapter were merged; None without one.
        libraries: names and versions that bear on a vector.
    """

    family: str
    preset: str = DEFAULT_PRESET
    settings: tuple[Used, ...] = ()
    revision: str = "local"
    weights: str = ""
    device: str = "cpu"
    dtype: str = "float32"
    attention: str = ""
    end_of_text: str | None = None
    adapter_tensors: int | None = None
    libraries: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
            "settings": [
                {"name": one.name, "value": one.value, "origin": one.origin}
                for one in self.settings
            ],
            "libraries": list(self.libraries),
        }
