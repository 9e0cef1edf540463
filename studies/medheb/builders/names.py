"""Names that every system can hold: what a source calls a picture, made safe for a data root.

Archives and tables of a source may name files as no Windows disk can (``a:b.jpg``, ``CON.png``, a
dot or blank at the end), and a data root is carried between systems. Clean names stay as they are.
Refuses nothing: names that climb out of their folder are left for the writer to refuse.
"""

from __future__ import annotations

import hashlib
import re

_SIGNS = re.compile(r'[<>:"|?*\\\x00-\x1f]')
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


def portable(name: str) -> str:
    """A relative name with forward slashes that every system can hold.

    Args:
        name: as the source has it.

    Returns:
        The name itself where all of its parts are clean; else each part that is not, with its
        signs replaced and a mark made of what it was, so that two never become one.
    """
    return "/".join(part if _clean(part) else _made(part) for part in name.split("/"))


def _clean(part: str) -> bool:
    if part in ("", ".", ".."):
        return True
    device = _DEVICES.fullmatch(part.split(".")[0].strip())
    return not (_SIGNS.search(part) or part[-1] in ". " or device)


def _made(part: str) -> str:
    stem, dot, suffix = part.rpartition(".")
    if not dot or not suffix.isalnum():
        stem, dot, suffix = part, "", ""
    mark = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_SIGNS.sub('_', stem).strip().replace('.', '_')}-{mark}{dot}{suffix}"
