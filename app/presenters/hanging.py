"""Which series hang where when something is opened: rules as data, the best fitting one wins.

Owns the rules, the matching and the words that say which rule applied. Refuses to open files and
to know widgets: it takes evidence and gives rows for frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.presenters.viewer_picture import pictured, plane_of
from engine.evidence.study import Evidence

RADIOGRAPHS = frozenset({"CR", "DX", "RG", "XR"})
FRONTAL = frozenset({"PA", "AP"})
LATERAL = frozenset({"LL", "RL"})
EDGES = {"left": -1.0, "right": 1.0}
OLDEST = -(10**9)  # of evidence without a day


@dataclass(frozen=True)
class Slot:
    """What one frame of a rule takes; an empty set means anything.

    Attributes:
        modalities, views, sides, planes, kinds: allowed words.
        age: 0 the newest study of the group, 1 the one before; None any.
        chest_wall: edge of the frame where a breast's chest wall belongs, or empty.
        needed: whether the rule applies without it.
    """

    modalities: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()
    sides: frozenset[str] = frozenset()
    planes: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    age: int | None = None
    chest_wall: str = ""
    needed: bool = True


@dataclass(frozen=True)
class Rule:
    """One way to hang.

    Attributes:
        id: stable name.
        text: what is said when it applies.
        score: how much it is worth; each filled frame adds one.
        layout: the page's layout.
        slots: frames in order.
        same: attributes of evidence that all slots share; a missing value never equals.
    """

    id: str
    text: str
    score: int
    layout: str
    slots: tuple[Slot, ...]
    same: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hung:
    """Rows for the frames of a layout.

    Attributes:
        rule: the rule's id.
        text: what is said.
        layout: the page's layout.
        rows: row of the strip per frame, None for an empty frame.
        flipped: frames whose picture is flipped left to right, so that breasts stand back to back.
        anchors: edges that pictures stand at, by frame, as in ``Picture.anchor``.
    """

    rule: str
    text: str
    layout: str
    rows: tuple[int | None, ...]
    flipped: frozenset[int] = frozenset()
    anchors: Mapping[int, float] = field(default_factory=dict)


def _one(word: str) -> frozenset[str]:
    return frozenset({word})


def _breast(side: str, view: str, *, needed: bool = True) -> Slot:
    edge = "right" if side == "R" else "left"
    return Slot(_one("MG"), _one(view), _one(side), chest_wall=edge, needed=needed)


def _plane(name: str, *, needed: bool = True) -> Slot:
    return Slot(planes=_one(name), kinds=_one("volume"), needed=needed)


RULES: tuple[Rule, ...] = (
    Rule(
        "mammogram",
        "Mammogram: right and left back to back, CC above MLO",
        60,
        "2x2",
        (_breast("R", "CC"), _breast("L", "CC"), _breast("R", "MLO"), _breast("L", "MLO")),
        same=("study",),
    ),
    Rule(
        "mammogram-cc",
        "Mammogram: right and left CC back to back",
        50,
        "1x2",
        (_breast("R", "CC"), _breast("L", "CC")),
        same=("study",),
    ),
    Rule(
        "mammogram-mlo",
        "Mammogram: right and left MLO back to back",
        50,
        "1x2",
        (_breast("R", "MLO"), _breast("L", "MLO")),
        same=("study",),
    ),
    Rule(
        "radiograph-pair",
        "Radiograph: frontal beside lateral",
        40,
        "1x2",
        (Slot(RADIOGRAPHS, FRONTAL), Slot(RADIOGRAPHS, LATERAL)),
        same=("study",),
    ),
    Rule(
        "prior",
        "Prior beside current: the newer study left, the one before right",
        45,
        "1x2",
        (Slot(age=0), Slot(age=1)),
        same=("subject", "modality", "body_part", "view", "laterality", "plane"),
    ),
    Rule(
        "planes",
        "Planes of one study: axial, coronal, sagittal",
        30,
        "2x2",
        (_plane("axial"), _plane("coronal"), _plane("sagittal")),
        same=("study", "modality"),
    ),
    Rule(
        "two-planes",
        "Planes of one study: axial beside coronal",
        25,
        "1x2",
        (_plane("axial"), _plane("coronal")),
        same=("study", "modality"),
    ),
    Rule(
        "two-planes-sagittal",
        "Planes of one study: axial beside sagittal",
        25,
        "1x2",
        (_plane("axial"), _plane("sagittal")),
        same=("study", "modality"),
    ),
    Rule("single", "", 0, "1", (Slot(),)),
)
# Words that may be missing on both sides and still be equal; the others must be known.
_MAY_BE_UNKNOWN = frozenset({"body_part", "view", "laterality", "plane"})


def hang(found: Sequence[Evidence], rules: Sequence[Rule] = RULES) -> Hung | None:
    """The best fitting rule's frames; None if there is no picture.

    Args:
        found: what was opened, in the order of the strip.
        rules: in order of preference where scores are equal; of equal groups the newer one hangs.
    """
    best: tuple[tuple[int, int], Hung] | None = None
    for rule in rules:
        for hung in _fits(rule, found):
            rows = [row for row in hung.rows if row is not None]
            newest = max(day if (day := found[row].day) is not None else OLDEST for row in rows)
            score = (rule.score + len(rows), newest)
            if best is None or score > best[0]:
                best = (score, hung)
    return None if best is None else best[1]


def _fits(rule: Rule, found: Sequence[Evidence]) -> Iterator[Hung]:
    """Every group of evidence that fills a rule's frames."""
    for rows in _groups(rule, found):
        filled = _fill(rule, rows, found)
        if filled is None:
            continue
        slots = zip(filled, rule.slots, strict=True)
        flipped = frozenset(
            frame for frame, (row, slot) in enumerate(slots)
            if row is not None and _turned_away(found[row], slot)
        )  # fmt: skip
        anchors = {frame: EDGES[slot.chest_wall] for frame, slot in enumerate(rule.slots)
                   if slot.chest_wall}  # fmt: skip
        yield Hung(rule.id, rule.text, rule.layout, filled, flipped, anchors)


def _groups(rule: Rule, found: Sequence[Evidence]) -> Iterator[list[int]]:
    """Rows that share what a rule asks for, in the order of the strip."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for row, evidence in enumerate(found):
        if not pictured(evidence):
            continue
        values = tuple(_value(evidence, name) for name in rule.same)
        known = all(
            value is not None or name in _MAY_BE_UNKNOWN
            for value, name in zip(values, rule.same, strict=True)
        )
        if known:
            groups.setdefault(values, []).append(row)
    yield from groups.values()


def _value(evidence: Evidence, name: str) -> object:
    return plane_of(evidence) if name == "plane" else getattr(evidence, name)


def _fill(rule: Rule, rows: list[int], found: Sequence[Evidence]) -> tuple[int | None, ...] | None:
    """A row per slot, each used once; None if a needed one stays empty."""
    days = sorted({day for row in rows if (day := found[row].day) is not None}, reverse=True)
    filled: list[int | None] = []
    for slot in rule.slots:
        fitting = [row for row in rows if row not in filled and _takes(slot, found[row], days)]
        # The longest series says most; the strip's order decides between equals.
        chosen = max(fitting, key=lambda row: (_slices(found[row]), -row), default=None)
        if chosen is None and slot.needed:
            return None
        filled.append(chosen)
    return tuple(filled)


def _takes(slot: Slot, evidence: Evidence, days: Sequence[int]) -> bool:
    words = (
        (slot.modalities, evidence.modality),
        (slot.views, evidence.view),
        (slot.sides, evidence.laterality),
        (slot.planes, plane_of(evidence)),
        (slot.kinds, evidence.kind),
    )
    if not all(not allowed or word in allowed for allowed, word in words):
        return False
    if slot.age is None:
        return True
    return slot.age < len(days) and evidence.day == days[slot.age]


def _slices(evidence: Evidence) -> int:
    return evidence.shape[0] if evidence.shape else 0


def _turned_away(evidence: Evidence, slot: Slot) -> bool:
    """True if the chest wall would stand at the outer edge, as the file says its directions."""
    runs_to = (evidence.orientation or evidence.directions or " ")[0].upper()
    wall = {"P": "right", "A": "left"}.get(runs_to) if slot.chest_wall else None
    return wall is not None and wall != slot.chest_wall
