"""The life of a study in words: each step with its state, its sentence and its one next action.

Plain functions of a ``Standing``. They tell counts and times, never an answer and never a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.presenters.study_standing import Reader, Stamp, Standing, day
from app.shown import StepShown, StudyShown
from app.shown_study import ReaderShown
from studies.preference.protocol import Protocol

COORDINATOR = (
    "This is {name}'s copy for reading. Planning, handing out, merging, unblinding and publishing "
    "are the coordinator's, who holds the key; this copy has none and could do none of it."
)
KEYLESS = (
    "The key does not lie beside this study, so it is a copy for reading. Handing out, merging, "
    "unblinding and publishing are done where the key is."
)
NAMED = 4  # so many readers are named in a sentence
WAYS = {"here": "this machine", "pack": "pack file", "shared": "shared database"}
IDENTICAL = {
    "auto-tie": "identical lists set aside as ties",
    "show": "identical lists shown",
    "exclude": "identical lists left out",
}


@dataclass(frozen=True)
class Verdict:
    """What verification found, and on which state of the files."""

    faults: tuple[str, ...]
    stamp: Stamp
    entries: int
    at: str


def study_shown(standing: Standing) -> StudyShown:
    """A study in the list; counts only."""
    info = standing.info
    done, reading = standing.complete, any(one.answered for one in standing.readers)
    handed = any(one.way != "here" and not one.replaced for one in standing.readers)
    begun = "read" if done else "reading" if reading else "handed" if handed else "built"
    state = "unblinded" if info.unblinded else begun
    title = info.title or ("A damaged study" if info.fault else "Untitled study")
    return StudyShown(
        info.id,
        f"{title} · {standing.seat}" if standing.seat else title,
        "damaged" if info.fault else state,
        *info.far,
        info.hash,
        day(info.created_utc),
        _far(standing),
    )


def _far(standing: Standing) -> str:
    """With one reader the items, with more the readers that have finished."""
    readers = [one for one in standing.readers if not one.replaced]
    if not readers:
        return ""
    if len(readers) == 1:
        only = readers[0]
        known = only.way == "here" or only.answered or only.returned_utc
        return f"{only.answered:,} of {only.places:,} answered" if known else "nothing back yet"
    done = sum(one.complete for one in readers)
    return f"{done} of {len(readers)} readers done"


def readers_shown(standing: Standing) -> tuple[ReaderShown, ...]:
    """Everybody who reads, with how far and what is still out."""
    return tuple(_reader_shown(one) for one in standing.readers)


def _reader_shown(one: Reader) -> ReaderShown:
    name = one.name or "All who open it"
    answered = f"{one.answered:,} of {one.places:,}" if one.places else f"{one.answered:,}"
    if one.way == "here":
        told, tone = ("complete", "good") if one.complete else ("reads here", "quiet")
    elif one.replaced:
        told, tone = "replaced by a newer pack", "quiet"
    elif one.complete:
        told, tone = f"complete, {day(one.returned_utc)[:11]}", "good"
    elif one.returned_utc:
        told, tone = f"in part, {day(one.returned_utc)[:11]}", "warn"
    else:
        told, tone = "not yet", "quiet"
    known = answered if one.way == "here" or one.returned_utc else "not known yet"
    return ReaderShown(name, WAYS[one.way], day(one.handed_utc)[:11], known, told, tone)


def note_of(standing: Standing) -> str:
    """Why a reader's copy shows fewer steps; "" for the coordinator's study."""
    if standing.seat:
        return COORDINATOR.format(name=standing.seat)
    return "" if standing.holds_key or standing.info.fault else KEYLESS


def steps_of(standing: Standing, verdict: Verdict | None) -> tuple[StepShown, ...]:
    """The life of a study.

    Args:
        standing: where it stands, read now.
        verdict: what the last verification found, None if there was none.
    """
    info = standing.info
    if info.fault:
        return (StepShown("open", "Open", "failed", info.fault),)
    if standing.seat:
        return (_opened(standing), _read(standing, "next"), _return(standing))
    if not standing.holds_key:
        return (_build(standing), _read(standing, "next"), _verify(standing, verdict, "any"))
    coming = next_step(standing, verdict)

    def state(step: str) -> str:
        idle = "any" if step == "verify" else "later"  # verifying is at no time too late
        return "next" if step == coming else idle

    return (
        _plan(standing),
        _build(standing),
        _hand(standing, state("hand")),
        _read(standing, state("read")),
        _merge(standing, state("merge")),
        _verify(standing, verdict, state("verify")),
        _unblind(standing, state("unblind")),
        _publish(standing),
    )


def next_step(standing: Standing, verdict: Verdict | None) -> str:
    """The one step that comes next for the coordinator."""
    if standing.info.unblinded:
        return "publish"
    if not standing.readers:
        return "hand"
    if not standing.complete:
        here = [one for one in standing.readers if one.way == "here" and not one.complete]
        return "read" if here else "merge"
    return "unblind" if holds(standing, verdict) else "verify"


def holds(standing: Standing, verdict: Verdict | None) -> bool:
    """A verification without a fault, of the files as they are now."""
    return verdict is not None and not verdict.faults and verdict.stamp == standing.stamp


def protocol_words(protocol: Protocol) -> str:
    """How a study is read, in one line."""
    told = [IDENTICAL[protocol.identical]]
    if protocol.warmup:
        told.append(f"{protocol.warmup} practice items")
    if protocol.repeat_share:
        told.append(f"{100 * protocol.repeat_share:.0f} % of items come back with sides swapped")
    if protocol.rest_minutes:
        told.append(f"a rest is proposed after {protocol.rest_minutes} min")
    if protocol.guess_items:
        told.append(f"a blinding guess on {protocol.guess_items} items at the end")
    return ", ".join(told)


def _plan(standing: Standing) -> StepShown:
    assert standing.protocol is not None
    rest = protocol_words(replace(standing.protocol, warmup=0))  # practice is counted already
    told = f"To read: {standing.info.reads}; {rest}."
    return StepShown("plan", "Plan", "done", told)


def _build(standing: Standing) -> StepShown:
    info = standing.info
    ties = f" {info.auto_ties:,} identical pairs are set aside as ties." if info.auto_ties else ""
    if info.auto_ties == 1:
        ties = " 1 identical pair is set aside as a tie."
    return StepShown(
        "build", "Build", "done", f"Frozen and sealed on {day(info.created_utc)}.{ties}"
    )


def _hand(standing: Standing, state: str) -> StepShown:
    handed = [one for one in standing.readers if one.way != "here" and not one.replaced]
    if handed:
        names = ", ".join(one.name or "a shared database" for one in handed[:4])
        more = f" and {len(handed) - 4} more" if len(handed) > 4 else ""
        told, state = f"Handed to {names}{more}.", "done"
    elif standing.readers:
        told, state = "No pack was needed so far: it is read on this machine.", "done"
    else:
        told = (
            "Write one pack file for each reader, or share one database. A reader who sits at "
            "this machine needs neither."
        )
    if standing.info.unblinded:
        return StepShown("hand", "Hand out", "done", f"{told} Closed by unblinding.")
    return StepShown("hand", "Hand out", state, told, "Hand out…")


def _read(standing: Standing, state: str) -> StepShown:
    here = [one for one in standing.readers if one.way == "here"]
    out = [one for one in standing.readers if one.way != "here" and not one.replaced]
    told = "Nobody has begun on this machine."
    if out:
        back = sum(one.complete for one in out)
        told = f"{back} of {len(out)} handed out came back complete."
    if here:
        told = _here_words(here)
    if standing.info.unblinded:
        return StepShown("read", "Read", _closed(standing), f"{told} Closed by unblinding.")
    if not here and out and standing.complete:
        return StepShown("read", "Read", "done", told, "Read here")
    if here and all(one.complete for one in here):
        action = "" if standing.seat else "Another reader…"
        return StepShown("read", "Read", "done", told, action)
    if out and state == "later":
        state = "begun"  # it is at others to read; this machine has its next step elsewhere
    begun = any(one.answered for one in here)
    action = "Go on reading" if begun else "Begin reading" if here else "Read here"
    return StepShown("read", "Read", state, told, action)


def _here_words(here: Sequence[Reader]) -> str:
    """How far who is; many readers only as a number, for the table below names each."""
    if len(here) > NAMED:
        done = sum(one.complete for one in here)
        return f"{len(here)} readers on this machine, {done} of them done."
    return "; ".join(f"{one.name}: {one.answered:,} of {one.places:,}" for one in here) + "."


def _merge(standing: Standing, state: str) -> StepShown:
    handed = [one for one in standing.readers if one.way != "here" and not one.replaced]
    back = [one for one in handed if one.complete]
    if not handed:
        told = "Nothing is handed out, so nothing is to come back."
    elif len(back) == len(handed):
        told, state = f"All {len(handed)} came back complete.", "done"
    else:
        told = f"{len(back)} of {len(handed)} came back complete{_in_part(handed)}."
    if standing.info.unblinded:
        state = "closed" if len(back) < len(handed) else "done"
        return StepShown("merge", "Merge", state, f"{told} Closed by unblinding.")
    return StepShown("merge", "Merge", state, told, "Take answers back…" if handed else "")


def _in_part(handed: Sequence[Reader]) -> str:
    part = sum(bool(one.returned_utc) and not one.complete for one in handed)
    return f", {part} in part" if part else ""


def _closed(standing: Standing) -> str:
    """A step that unblinding ended: done only where nothing was left to do."""
    return "done" if standing.complete else "closed"


def _verify(standing: Standing, verdict: Verdict | None, state: str) -> StepShown:
    if verdict is None:
        told = "Recomputes the fingerprint, the chain of answers and what came back."
        return StepShown("verify", "Verify", state, told, "Verify")
    if verdict.faults:
        more = f" And {len(verdict.faults) - 1} more." if len(verdict.faults) > 1 else ""
        return StepShown("verify", "Verify", "failed", f"{verdict.faults[0]}{more}", "Verify again")
    if verdict.stamp != standing.stamp:
        grown = standing.entries - verdict.entries
        added = "1 entry was added" if grown == 1 else f"{grown:,} entries were added"
        what = added if grown > 0 else "its files changed"
        told = f"Nothing was altered at {verdict.at}; since then {what}."
        return StepShown("verify", "Verify", state, told, "Verify again")
    return StepShown("verify", "Verify", "held", f"Nothing was altered, as of {verdict.at}.",
                     "Verify again")  # fmt: skip


def _unblind(standing: Standing, state: str) -> StepShown:
    if standing.info.unblinded:
        return StepShown("unblind", "Unblind", "done", _opened_words(standing), "See statistics")
    told = "Opens the key with the passphrase; no answer is taken afterwards."
    if left := outstanding_words(standing):
        told = f"{left} Unblinding now would end the reading."
    elif not standing.readers:
        told = "After the reading: opens the key with the passphrase, once."
    return StepShown("unblind", "Unblind", state, told, "Unblind…")


def _opened_words(standing: Standing) -> str:
    """When and why the key was opened, and who had not finished then: no answer came after it."""
    why = f" The reason: {standing.reason.rstrip('.')}." if standing.reason else ""
    open_ = [_how_far(one) for one in standing.readers if not one.complete]
    left = f" Not complete then: {_some(open_)}." if open_ else ""
    return f"The key was opened on {day(standing.opened_utc)}.{why}{left}"


def _how_far(one: Reader) -> str:
    name = one.name or "the shared database"
    known = one.way == "here" or one.returned_utc
    far = f"{one.answered:,} of {one.places:,}" if known else "never came back"
    return f"{name} ({far})"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def outstanding_words(standing: Standing) -> str:
    """Who has not finished, in one sentence; "" if nobody."""
    open_ = [one for one in standing.readers if not one.complete]
    if not open_:
        return ""
    return f"Not complete yet: {_some([one.name or 'the shared database' for one in open_])}."


def _publish(standing: Standing) -> StepShown:
    if standing.info.unblinded:
        told = "Everything a paper and its reviewers need, in one folder."
        return StepShown("publish", "Publish", "ready", told, "Publish…")
    told = "After unblinding: data, tables, figures, methods text and scripts in one folder."
    return StepShown("publish", "Publish", "later", told)


def _opened(standing: Standing) -> StepShown:
    protocol = standing.protocol
    asked = f" {protocol_words(protocol).capitalize()}." if protocol else ""
    told = f"{standing.info.reads}, handed to {standing.seat}.{asked}"
    return StepShown("open", "Open", "done", told)


def _return(standing: Standing) -> StepShown:
    done = bool(standing.readers) and all(one.complete for one in standing.readers)
    if not any(one.answered for one in standing.readers):
        return StepShown("return", "Return", "later", "After the first answers: one signed file.")
    told = "Everything is answered. Save the answers and send the file to the coordinator."
    if not done:
        told = "What is answered so far can be returned at any time; the newest file counts."
    return StepShown("return", "Return", "next" if done else "later", told, "Save the answers…")
