"""How each kind of source becomes pixels for a model: the rules, as data.

Owns which window, which slices, which order and which size a source gets. Refuses to open a file
and to touch a pixel: ``engine.evidence.pixels`` does what a rule says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.evidence.study import Evidence

MAX_SLICES = 64
HEADER, DERIVED, FIXED, STORED = "header", "derived", "fixed", "stored"
WINDOW_WORDS: Mapping[str, str] = MappingProxyType(
    {
        HEADER: "the window or table of the file",
        DERIVED: "a window from the values of the whole (percentiles 0.5 to 99.5)",
        FIXED: "a fixed window",
        STORED: "8-bit values as they are stored",
    }
)


@dataclass(frozen=True)
class Rule:
    """How one piece of evidence becomes 8-bit RGB.

    Attributes:
        name: the kind of source, one of ``SOURCES``.
        window: ``header``, ``derived``, ``fixed`` or ``stored`` (8 bits or colour, no window).
        order: the order of slices, in words.
        resize: what is done to the size, in words; models resize further by their own rules.
        several: True if up to ``limit`` slices are seen, evenly spread, both ends included.
        limit: the most slices.
        fixed: (center, width) where ``window`` is ``fixed``.
    """

    name: str
    window: str
    order: str
    resize: str
    several: bool
    limit: int = MAX_SLICES
    fixed: tuple[float, float] | None = None

    @property
    def words(self) -> str:
        """The rule as one sentence."""
        many = f"at most {self.limit} slices evenly spread, " if self.several else ""
        shown = WINDOW_WORDS[self.window]
        if self.fixed is not None:
            shown = f"{shown} {self.fixed[0]:g} / {self.fixed[1]:g}"
        return f"{self.name}: {many}{self.order}; {shown}; {self.resize}"


@dataclass(frozen=True)
class Source:
    """What is the same for all evidence of one source."""

    order: str
    resize: str = "the size as stored"
    several: bool = True


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "release slices": Source("as the task lists them", "the size of the first, bicubic"),
        "DICOM picture": Source("one picture", several=False),
        "DICOM series": Source("by position along the slice normal"),
        "DICOM volume": Source("as its frames lie in space"),
        "cine": Source("in time"),
        "grid": Source("turned as it is read: axial, coronal or sagittal; the first time point"),
        "flat grid": Source("one picture, turned as it is read", several=False),
        "picture": Source("one picture, upright, transparency on white", several=False),
        "pages": Source("page after page, upright, transparency on white"),
        "array": Source("as stored in the array file"),
        "region": Source("one crop of the upright picture", "the size of the crop", several=False),
    }
)
GRIDS = frozenset({"NIfTI", "NRRD", "MetaImage"})


def is_plain_picture(evidence: Evidence) -> bool:
    """True for PNG, JPEG, TIFF and their kin."""
    return evidence.source.get("object", "").endswith(" picture")


def source_of(evidence: Evidence) -> str:
    """The name of the source in ``SOURCES``."""
    kind, slices = evidence.source.get("format", ""), (evidence.shape or (1,))[0]
    if kind in GRIDS:
        return "grid" if slices > 1 else "flat grid"
    if is_plain_picture(evidence):
        return "pages" if slices > 1 else "picture"
    if kind != "DICOM":
        return "array"
    if evidence.kind == "cine":
        return "cine"
    if slices <= 1:
        return "DICOM picture"
    return "DICOM series" if len(evidence.members) > 1 else "DICOM volume"


def window_policy(evidence: Evidence) -> str:
    """Where the window comes from, as far as the header tells.

    The display range of a grid's header (NIfTI's cal_min and cal_max) is the last viewer's choice,
    not the scanner's: models never see it.
    """
    grid = source_of(evidence) in ("grid", "flat grid")
    if evidence.window_source in ("header", "lut") and not grid:
        return HEADER
    plain = evidence.dtype == "uint8" and source_of(evidence) in ("picture", "pages", "array")
    return STORED if evidence.color or plain else DERIVED


def rule_for(evidence: Evidence, *, limit: int = MAX_SLICES) -> Rule:
    """The rule of one piece of evidence, from its header alone."""
    return named_rule(source_of(evidence), window=window_policy(evidence), limit=limit)


def named_rule(name: str, *, window: str, limit: int = MAX_SLICES) -> Rule:
    """A rule of ``SOURCES`` with a window policy."""
    source = SOURCES[name]
    return Rule(name, window, source.order, source.resize, source.several, limit)


def sentence_of(
    evidence: Evidence, rule: Rule, seen: int, window: tuple[float, float] | None
) -> str:
    """What was done, for a reader: slices, window, number format."""
    count = (evidence.shape or (seen,))[0]
    parts = [f"{seen} of {count} slices"] if rule.several else []
    if evidence.times > 1:
        parts.append(f"the first of {evidence.times} time points")
    source = {"header": "from the file", "derived": "from the values", "fixed": "fixed"}
    if window is not None:
        center, width = window
        parts.append(f"window {center:g} / {width:g} {source.get(rule.window, '')}".rstrip())
    elif rule.window == "header":
        parts.append("the file's own table")
    else:
        parts.append("colour as stored" if evidence.color else "grey as stored")
    return f"{', '.join(parts)}, 8-bit RGB"
