"""What must hold of every mutant: evidence or an error with a sentence, and nothing else.

``examine`` walks one folder as the program would and says what is wrong as ``Finding``s.
"""

from __future__ import annotations

import hashlib
import json
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EvidenceError
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.pixels import as_model_sees, digest, item_of, prepare, thumbnail
from engine.evidence.show import describe
from engine.evidence.stack import open_stack
from engine.evidence.study import Evidence, Pixels

MOST = 40  # pieces of evidence of one mutant that are looked at
PICTURES = ("image", "volume", "cine")
KINDS = (*PICTURES, "report", "document", "other", "error")
FORMS = ("2d", "3d", "text", None)
# what a person reads or a program keeps; text is the report itself, paths are the user's own
SILENT = frozenset({"path", "members", "text", "error", "geometry"})


@dataclass(frozen=True)
class Finding:
    """Something that must not happen.

    Attributes:
        kind: ``exception``, ``leak``, ``half``, ``schema``, ``differs`` or, found from outside,
            ``crash``, ``hang``, ``memory``, ``printed``.
        what: one line; findings with equal lines are taken for one.
        detail: for whoever mends it.
    """

    kind: str
    what: str
    detail: str = ""


@dataclass(frozen=True)
class Report:
    """What one mutant came to: findings, and a word for each piece of evidence."""

    findings: tuple[Finding, ...]
    ends: tuple[str, ...]
    pixels: tuple[str, ...]


def examine(
    folder: Path,
    *,
    secrets: tuple[str, ...] = (),
    whole: frozenset[str] | None = None,
    cut: str = "",
) -> Report:
    """Read a folder by every door of the package.

    Args:
        folder: holds the mutant's files and nothing else.
        secrets: words that may not come out.
        whole: hashes of the pictures of the unharmed files; others are a half picture.
        cut: the name of the file that was cut; pictures of other files may be as they like.
    """
    findings: list[Finding] = []
    ends: list[str] = []
    pixels: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _guarded(findings, "find_evidence", lambda: _found(folder))
        for evidence in (found or ())[:MOST]:
            before = len(pixels)
            ends.append(_one(evidence, findings, pixels, secrets))
            for one in pixels[before:]:
                if whole is not None and one not in whole and _is_of(evidence, folder / cut):
                    findings.append(Finding("half", "a cut file is shown as a whole", one))
    return Report(tuple(findings), tuple(ends), tuple(pixels))


def _is_of(evidence: Evidence, path: Path) -> bool:
    """True if a file, or a member of it, is part of the evidence."""
    return any(path == one or path in one.parents for one in evidence.members)


def _found(folder: Path) -> list[Evidence]:
    return list(find_evidence([folder], salt=b"salt of a fuzzer"))


def _one(
    evidence: Evidence, findings: list[Finding], pixels: list[str], secrets: tuple[str, ...]
) -> str:
    """Everything that is done with one piece of evidence; a word for how it ended."""
    shown = _guarded(findings, "describe", lambda: describe(evidence, probes=[(0, 0, 0)]))
    if shown is None:
        return "finding"
    _guarded(findings, "schema", lambda: _check_schema(evidence, shown))
    findings += _leaks(evidence, shown, secrets)
    if shown["error"] is not None:
        return str(shown["error"]["code"])
    if evidence.kind in PICTURES:
        loaded = _guarded(findings, "load_pixels", lambda: load_pixels(evidence))
        if loaded is not None:
            pixels.append(_hash(loaded.array))
            _guarded(findings, "space", lambda: _check_space(evidence, loaded))
            _uses(evidence, findings, loaded.array)
    elif evidence.kind == "report":
        _guarded(findings, "prepare", lambda: prepare(item_of(evidence)))
    return evidence.kind


def _uses(evidence: Evidence, findings: list[Finding], array: np.ndarray[Any, Any]) -> None:
    """A picture that was decoded can be used everywhere, and is the same everywhere."""
    small = _guarded(findings, "thumbnail", lambda: thumbnail(evidence, 24), never_fails=True)
    if small is not None and max(small.shape[:2]) != 24:
        findings.append(Finding("differs", "a thumbnail has another size than was asked"))
    _guarded(findings, "digest", lambda: digest(item_of(evidence)))
    item = _guarded(findings, "prepare", lambda: prepare(item_of(evidence)), never_fails=True)
    seen = _guarded(findings, "seen", lambda: as_model_sees(evidence), never_fails=True)
    if item is not None and seen is not None:
        got = item.volumes[0] if item.volumes else item.images[0][None]
        if got.shape != seen.array.shape or (got != seen.array).any():
            findings.append(Finding("differs", "a model sees something else than is shown"))
    filled = _guarded(findings, "stack", lambda: open_stack(evidence).fill(), never_fails=True)
    if filled is not None and _hash(filled.array) != _hash(array):
        findings.append(Finding("differs", "a stack is filled with other values than are loaded"))


def _hash(array: np.ndarray[Any, Any]) -> str:
    name = f"{array.shape} {array.dtype.str}"
    return hashlib.sha256(name.encode() + np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def _guarded(
    findings: list[Finding], door: str, call: Callable[[], Any], *, never_fails: bool = False
) -> Any:
    """The result of a call; None and perhaps a finding where it raised."""
    try:
        return call()
    except EvidenceError as error:
        if not error.reason or not error.code:
            findings.append(Finding("schema", "an error without words", repr(error)))
        if never_fails:
            what = f"{door} refuses what load_pixels takes: {error.code}"
            findings.append(Finding("differs", what, error.reason))
    except Exception as failure:  # noqa: BLE001 (whatever it is, it is a finding)
        findings.append(_exception(door, failure))
    return None


def _exception(door: str, failure: Exception) -> Finding:
    """Named by its type and the innermost place in our own code, so that equal ones are one."""
    frames = traceback.extract_tb(failure.__traceback__)
    ours = [one for one in frames if "/engine/" in one.filename.replace("\\", "/")]
    at = ours[-1] if ours else frames[-1]
    where = f"{Path(at.filename).name}:{at.name}"
    detail = "".join(traceback.format_exception(failure))[-3000:]
    return Finding("exception", f"{type(failure).__name__} in {where} ({door})", detail)


def _check_schema(evidence: Evidence, shown: dict[str, Any]) -> None:
    """The document of ``show`` holds what cli.md says."""
    json.dumps(shown, allow_nan=False)
    assert evidence.kind in KINDS, evidence.kind
    assert evidence.form in FORMS, evidence.form
    assert (evidence.kind == "error") == (evidence.error is not None), "error without error"
    if evidence.kind in PICTURES and shown["error"] is None:
        assert evidence.shape is not None, "a picture without shape"
        assert tuple(shown["shape"]) == tuple(evidence.shape), "another shape than announced"
        assert all(n > 0 for n in evidence.shape), "an empty picture"
        assert np.isfinite(evidence.aspect), "no aspect"
        assert evidence.aspect > 0, "no aspect"
        assert evidence.color or np.isfinite(shown["window"]).all(), "no window"


def _check_space(evidence: Evidence, loaded: Pixels) -> None:
    """Numbers that a viewer draws and measures by are numbers."""
    for spacing in (evidence.spacing_mm, loaded.spacing_mm):
        assert spacing is None or np.isfinite(spacing).all(), "spacing"
        assert spacing is None or min(spacing[1:]) > 0, "spacing"
    for sides in (evidence.orientation, loaded.orientation):
        assert sides is None or (len(sides) == 3 and set(sides) <= set("LRAPSI")), "sides"
    place = loaded.geometry
    if place is not None:
        assert len(place.origin_Z3) == len(loaded.array), "places and slices differ"
        assert np.isfinite(place.origin_Z3).all(), "origin"
        assert np.isfinite([place.column_step, place.row_step]).all(), "steps"
        assert np.isfinite(place.index(place.point((0.0, 1.0, 1.0)))).all(), "a point"
    center, width = loaded.window
    assert np.isfinite(center), "window"
    assert np.isfinite(width), "window"
    assert width > 0, "window"
    assert loaded.window_function in ("linear", "linear_exact", "sigmoid"), "function"
    times = loaded.times
    assert times is None or (times[0].shape == loaded.array.shape and len(times) > 1), "times"
    for overlay in loaded.overlays:
        assert overlay.mask.dtype == bool, "overlay"
        assert overlay.mask.ndim == 3, "overlay"


def _leaks(
    evidence: Evidence, shown: dict[str, Any], secrets: tuple[str, ...]
) -> Iterator[Finding]:
    """Words of the patient in anything but the report's own text."""
    kept = {one.name: getattr(evidence, one.name) for one in fields(evidence)}
    words = [repr(value) for name, value in kept.items() if name not in SILENT]
    words += [repr(value) for name, value in shown.items() if name not in ("path", "text")]
    if evidence.error is not None:
        words += [evidence.error.reason, evidence.error.code]
    for secret in secrets:
        if any(secret.lower() in one.lower() for one in words):
            yield Finding("leak", f"a patient's word leaves {evidence.kind}", secret)
