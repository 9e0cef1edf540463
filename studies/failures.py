"""The one table from an exception to a sentence for a person. Decides nothing else.

Expected failures (the three error trees, a full disk, a missing file) carry their own sentence;
everything else is a bug and is said to be one, with details to copy.
"""

from __future__ import annotations

import errno
import traceback
from dataclasses import dataclass

from db.errors import StoreError
from engine.errors import EngineError
from studies.errors import StudyError

_OS_SENTENCES = {
    errno.ENOSPC: "The disk is full. Free some room and start again; what is stored stays.",
    errno.EACCES: "Permission to {name} was refused. Check its rights or choose another place.",
    errno.EROFS: "{name} lies on a read-only disk. Choose another place.",
    errno.ENOENT: "{name} does not exist. Check the path.",
}


@dataclass(frozen=True)
class Failure:
    """What to tell.

    Attributes:
        sentence: for a person.
        expected: False for a bug.
        details: the traceback of a bug, empty otherwise.
    """

    sentence: str
    expected: bool
    details: str = ""


def explain(error: BaseException) -> Failure:
    """Turn an exception into what a person should read."""
    if isinstance(error, EngineError | StudyError | StoreError):
        return Failure(str(error), expected=True)
    if isinstance(error, OSError) and error.errno in _OS_SENTENCES:
        name = str(error.filename or "a file")
        return Failure(_OS_SENTENCES[error.errno].format(name=name), expected=True)
    if isinstance(error, OSError) and error.filename and error.strerror:
        words = f"{error.filename} cannot be used ({error.strerror}). Check the path and the disk."
        return Failure(words, expected=True)
    if isinstance(error, MemoryError):
        return Failure("Memory ran out. Close other programs or choose a smaller model.", True)
    if isinstance(error, ModuleNotFoundError) and error.name in _ENGINE_PARTS:
        return Failure(
            f"{error.name} is not installed, and this needs the engine: "
            'pip install "triptych[engine]"',
            expected=True,
        )
    details = "".join(traceback.format_exception(error))
    return Failure(f"A fault of the program: {type(error).__name__}: {error}", False, details)


_ENGINE_PARTS = {
    "torch", "torchvision", "transformers", "safetensors", "faiss", "sentencepiece", "ftfy",
}  # fmt: skip
