"""The tree of expected failures of the engine. Every leaf carries a sentence for a person.

EngineError
├── EvidenceError        a file or folder that cannot be read as evidence (has .code and .path)
├── ModelError
│   ├── UnknownModel     no such card, folder or hub id
│   ├── NoAdapter        the card exists, its adapter is not written yet
│   ├── WeightsMissing   the weights are not on this machine
│   ├── WeightsRefused   wrong keys, wrong format (pickle), damaged file
│   └── ItemRefused      this item cannot be embedded by this model (hostile text, over length)
├── DeviceError          the asked device or dtype cannot be had
└── EngineMissing        torch or its kin is not installed

Cancelled is not an error: it is raised by ``Control.check`` when the user asked to stop.
"""

from __future__ import annotations

from pathlib import Path


class EngineError(Exception):
    """An expected failure of the engine; ``str(error)`` is a sentence for a person."""


class EvidenceError(EngineError):
    """A file or folder that cannot be read as evidence.

    Args:
        path: the file or folder.
        code: a short stable word, for example ``truncated``, ``unsupported``, ``missing``.
        reason: what is wrong and what to do, one sentence without the path.
    """

    def __init__(self, path: Path | str, code: str, reason: str) -> None:
        self.path = Path(path)
        self.code = code
        self.reason = reason
        super().__init__(f"{self.path.name}: {reason}")


class ModelError(EngineError):
    """Something about a model."""


class UnknownModel(ModelError):
    """No card, folder or hub id of that name."""


class NoAdapter(ModelError):
    """The model has a card but no adapter yet."""


class WeightsMissing(ModelError):
    """The weights are not on this machine."""


class WeightsRefused(ModelError):
    """The weights are there and cannot be used: wrong keys, wrong format, damaged."""


class ItemRefused(ModelError):
    """The item cannot be embedded by this model."""


class DeviceError(EngineError):
    """The device or number format asked for cannot be had."""


class EngineMissing(EngineError):
    """torch, transformers or their kin are not installed."""


class Cancelled(Exception):
    """Raised by ``Control.check`` after the user asked to stop."""
