"""Whether two things on show are of one patient, and the words where they are not.

Plain functions over salted tokens. Refuses to guess: a patient that no file names is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.presenters.viewer_picture import pictured
from app.widgets.evidence_frame import Remark
from engine.evidence.study import Evidence

OTHER, UNKNOWN = "other patient, not linked", "patient not known"
BY_DEPTH = "linked by depth"
OTHER_REPORT = "a report of another patient"
UNKNOWN_REPORT = "a report whose patient is not known"
NO_MORE = "No other series of this patient was opened. Drag one here from the list."


def same_patient(one: Evidence, other: Evidence) -> bool | None:
    """True or False where both files name a patient, None where one does not."""
    if one.subject is not None and other.subject is not None:
        return one.subject == other.subject
    if one.study is not None and one.study == other.study:
        return True
    # Plain pictures and grids never name anyone: among themselves that is no news.
    return True if one.subject == other.subject and one.study == other.study else None


def may_hang(shown: Evidence, other: Evidence) -> bool:
    """True if a series may come beside another one without being asked for."""
    return pictured(other) and shown.subject == other.subject


def remarks(shown: Mapping[int, Evidence], *, linked: bool) -> dict[int, Remark]:
    """What the heads of frames say beside the first one that shows something.

    Args:
        shown: what the visible frames show, by frame.
        linked: whether frames are linked.
    """
    frames = sorted(shown)
    return {frame: remark_of(shown[frames[0]], shown[frame], linked=linked) for frame in frames[1:]}


def remark_of(first: Evidence, other: Evidence, *, linked: bool) -> Remark:
    """What is to be known of a picture beside another one; empty where both are alike."""
    if not (pictured(first) and pictured(other)):
        return Remark()
    same = same_patient(first, other)
    if same is False:
        return Remark(OTHER, warn=True)
    depth = BY_DEPTH if linked and _by_depth(first, other) else ""
    if same is None:
        return Remark(", ".join(part for part in (UNKNOWN, depth) if part), warn=True)
    return Remark(depth)


def _by_depth(first: Evidence, other: Evidence) -> bool:
    """True if both scroll, and nothing says how their places meet."""
    if not all(one.shape and one.shape[0] > 1 for one in (first, other)):
        return False
    spaces = [None if one.geometry is None else one.geometry.frame for one in (first, other)]
    return spaces[0] is None or spaces[0] != spaces[1]


def patients(found: Sequence[Evidence]) -> int:
    """How many patients the pictures are of; those that no file names count as one more."""
    return len({one.subject for one in found if pictured(one)})


def report_of(found: Sequence[Evidence], picture: Evidence) -> int | None:
    """The row of the text that belongs to a picture: of its study, its patient, or its folder.

    A text that names nobody is taken from the same folder, and only where all pictures are of
    one patient.
    """
    texts = [row for row, one in enumerate(found) if one.text]
    for row in texts:
        if picture.study is not None and found[row].study == picture.study:
            return row
    of_patient = [
        row for row in texts
        if picture.subject is not None and found[row].subject == picture.subject
    ]  # fmt: skip
    if len(of_patient) == 1:
        return of_patient[0]
    place = picture.members[0].parent
    near = [row for row in texts if found[row].members[0].parent == place]
    if len(near) != 1 or report_doubt(found, found[near[0]], picture):
        return None
    return near[0]


def report_doubt(
    found: Sequence[Evidence], report: Evidence, picture: Evidence | None
) -> str:  # fmt: skip
    """Why a report may not be of the patient beside it; empty where it is."""
    if picture is None or not pictured(picture):
        return ""
    same = same_patient(report, picture)
    if same is False:
        return OTHER_REPORT
    known = report.subject is not None or report.study is not None
    if same or (not known and patients(found) == 1):
        return ""
    return UNKNOWN_REPORT
