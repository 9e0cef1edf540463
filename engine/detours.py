"""What a model's folder may not send a library to: other files, other formats, code on the hub.

Torch-free. Refuses an index that names anything but safetensors beside it, a configuration that
names weights of its own choice, and one that names an implementation fetched from the hub.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.errors import WeightsRefused
from engine.families import CONFIG_FILE, WANTED_BELOW, read_object

INDEX = "model.safetensors.index.json"
OWN_FILE = re.compile(r"[^/\\:]+\.safetensors")
CODE_NAMED = ("attn_implementation", "experts_implementation")


def refuse_detours(folder: Path, family: str) -> None:
    """Hold a folder to weights that are safetensors of its own, all of which are hashed.

    An index may name any file, also a pickle or one elsewhere, and a configuration may too.

    Raises:
        WeightsRefused: it does.
    """
    below = folder.rglob if family in WANTED_BELOW else folder.glob
    for index in below(INDEX):
        places = read_object(index).get("weight_map")
        for name in sorted(map(str, set(places.values()))) if isinstance(places, dict) else ():
            if not OWN_FILE.fullmatch(name):
                raise WeightsRefused(
                    f"{INDEX} of {folder.name} names {name!r}; only safetensors files beside it "
                    "are read. Fetch the whole folder again from its authors."
                )
    for config in below(CONFIG_FILE):
        content = read_object(config)
        if (code := code_from_hub(content)) is not None:
            raise WeightsRefused(
                f"{CONFIG_FILE} of {folder.name} names code on the hub ({code}); this program runs "
                "none. Take that entry out, the usual attention is used then."
            )
        if (other := content.get("transformers_weights")) is not None:
            raise WeightsRefused(
                f"{CONFIG_FILE} of {folder.name} sends to other weights ({other!r}); take out "
                "transformers_weights and use the folder as its authors published it."
            )


def code_from_hub(content: Any) -> str | None:
    """What of a configuration names code on the hub, None if nothing.

    The library fetches and runs an implementation of attention that is named like a repository.
    """
    left = [("", content)]
    while left:
        name, one = left.pop()
        if isinstance(one, dict):
            left += [(key if key.endswith(CODE_NAMED) else name, one[key]) for key in one]
        elif isinstance(one, list):
            left += [(name, part) for part in one]
        elif name and isinstance(one, str) and "/" in one:
            return f"{name} {one}"
    return None
