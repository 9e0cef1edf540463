"""Sentences of the Review page. Plain functions, no view.

Refuses to say how anybody answered: places, times and counts only.
"""

from __future__ import annotations

from typing import Any

from app.keys import first_key
from app.presenters.pace import FORM_WORDS, Pace
from app.views.review_pages import StudyRow
from app.words import duration, time_left
from studies.preference.order_words import far_words

EMPTY = (
    "There is no study on this machine yet. Open a pack that was handed to you, or build a study "
    "from two models' results."
)
CHOOSE = "Choose the study to rate. You can stop at any time; it goes on where you stopped."
FINISHED = (
    "Every item has its answer, and every answer is stored. The coordinator can now verify and "
    "unblind the study."
)
FINISHED_PACK = (
    "Every item has its answer, and every answer is stored. Save the answers to one file and hand "
    "it back to the coordinator."
)
ELSEWHERE = "Another window had answered that item; this is the one to read now"
THERE_AGAIN = "The study is there again"
WRITTEN = "What you wrote about this item would be lost: it is stored with its answer."
TAKEN_BACK = "The answer to this item was taken back; choose again"
UNSTORED = (
    "What you said of this item is not stored before its answer is; it is kept until the program "
    "ends."
)
HERE_AGAIN = "What you had said of this item is here again; choose the answer"
PRACTICE_OVER = "Practice is over; answers count now"
FIRST = "This is the first item"
SETTLES = "Once these questions begin, no answer given so far can be changed any more."
SETTLED = "The questions have begun, so no answer can be changed any more."
NO_CANDIDATE = "Choose a candidate first"
NO_FRAME = "Choose a frame first"


def row_of(info: Any) -> StudyRow:
    """What the start page says of a study: its title and how far it is, never what it compares."""
    if info.fault:
        return StudyRow(info.id, "A study that cannot be opened", info.fault, open=False)
    facts = far_words(info.far, info.seats, info.reads)
    if info.unblinded:  # first: a long line loses its end
        facts = f"Unblinded, takes no more answers; {facts}"
    if info.seat:
        facts += f"; pack of {info.seat}"
    return StudyRow(
        info.id, info.title or "Untitled study", facts, open=not info.unblinded, rater=info.seat,
        begun=bool(info.seat and info.answered),
    )  # fmt: skip


def choose_first() -> str:
    """Which keys answer."""
    answers = ("left", "right", "both", "neither", "cannot")
    names = [name for name in (first_key(f"answer-{one}") for one in answers) if name]
    return (
        f"Choose first: {', '.join(names[:-1])} or {names[-1]}"
        if len(names) > 1
        else ("Choose an answer first")
    )


def stores(reason: str = "") -> str:
    """What the confirming key does now."""
    said = f"{first_key('confirm')} stores it and goes on"
    return f"Cannot judge: {reason}. {said}" if reason else said


def place_of(presentation: Any, warmups: int) -> tuple[int, int, str]:
    """(position, total, kind) as the strip says them: practice is counted apart."""
    if presentation.kind == "warmup":
        return presentation.position, warmups, "practice"
    return presentation.position - warmups, presentation.total - warmups, "item"


def left_words(pace: Pace, left: dict[str, int], form: str) -> str:
    """The time left as far as it is known; nothing while too little is known."""
    whole = pace.seconds_left(left)
    if whole is not None:
        return time_left(whole)
    own = pace.seconds_left({form: left.get(form, 0)})
    if own and form in FORM_WORDS and len(left) > 1:
        return f"about {duration(own)} left of the {FORM_WORDS[form]} items"
    return ""


def paused(presentation: Any, warmups: int, *, away: bool, said: bool = False) -> str:
    """What the curtain says; ``said``: something of the item, which has no stored answer yet."""
    told = _paused_at(presentation, warmups, said=said)
    if away:
        return f"Nothing was pressed for five minutes, so the pictures were covered. {told}"
    return told


def closing() -> str:
    """The one question before words are lost, and the keys that answer it."""
    stay, go = first_key("confirm"), first_key("quit")
    again = f"{go} again" if go else "closing again"
    return f"{WRITTEN} {stay or 'Go on'} returns to the item; {again} drops it and closes."


def _paused_at(presentation: Any, warmups: int, *, said: bool) -> str:
    if presentation is None:
        return "Every answer is stored; a few questions are still to come."
    place, total, kind = place_of(presentation, warmups)
    what = "Practice" if kind == "practice" else "Item"
    apart = "" if kind == "practice" or not warmups else " (repeats counted, practice apart)"
    told = f"{what} {place:,} of {total:,}{apart}. Everything answered so far is stored."
    return f"{told} {UNSTORED}" if said else told


def asking(count: int, *, settled: bool = False) -> str:
    """Before the guesses at the end; settled once one of them was given."""
    lists = "one item" if count == 1 else f"{count} items"
    return (
        f"Every item has its answer, and every answer is stored. Last, {lists} are shown once "
        "more with one question about both lists. There is no wrong answer; a guess stands once "
        f"it is given. {'' if settled else SETTLES}"
    ).strip()


def rest_after(study: int, own: int) -> int:
    """Minutes after which a rest is proposed: the study's or the reader's, the earlier; 0 never."""
    return min((minutes for minutes in (study, own) if minutes), default=0)


def proposal(pace: Pace, minutes: int, form: str) -> str:
    """A rest is proposed by the time read, or by a pace unlike the reader's own; else empty."""
    key = first_key("pause")
    if minutes and pace.since_rest >= minutes * 60:
        read = round(pace.since_rest / 60)
        return f"You have read for {read} {'minute' if read == 1 else 'minutes'}; {key} pauses"
    if form and pace.drifts(form):
        return f"Your pace has changed, a rest may help; {key} pauses"
    return ""
