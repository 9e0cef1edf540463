"""The outcome of a study in words that a clinician understands, and the facts beside it.

Owns the sentences. Every percentage carries its interval and n; where there is nothing to say
the sentence says so.
"""

from __future__ import annotations

from datetime import datetime

from app.presenters.statistics_look import Look
from app.presenters.statistics_words import CLEAR
from studies.preference.analysis.schema import Block
from studies.preference.kit.words import counted, estimate_words, p_words, share_words


def sentence_of(look: Look) -> str:
    """The outcome in two or three sentences."""
    block = look.whole
    if block.n == 0:
        return "No item has an answer in force, so there is nothing to count."
    readers = len(look.found.raters) if look.found.rater is None else 1
    whom = look.found.rater or counted(readers, "readers")
    judged = "comparison was judged" if block.n == 1 else "comparisons were judged"
    if readers > 1 and block.n != block.items:
        judged = f"answers were given to {counted(block.items, 'items')}"
    start = f"{block.n} {judged} by {whom}"
    if block.n == 1:
        return f"{start}: {_only(look, block)}. One answer says nothing about the models."
    if not block.first_decided.n:
        return (
            f"{start}, and none preferred one list: all {block.n} are ties "
            f"({block.both.count} both useful, {block.neither.count} neither useful"
            f"{_identical(block)}). Which model is better cannot be said from this."
        )
    return f"{start}. {_shares(look, block)} {_decided(look, block)}{_for_others(look)}"


def _only(look: Look, block: Block) -> str:
    if block.first.count:
        return f"{look.first} was preferred"
    if block.second.count:
        return f"{look.second} was preferred"
    return "both were useful" if block.both.count else "neither was useful"


def _identical(block: Block) -> str:
    return f", {block.auto_tie.count} identical lists" if block.auto_tie.count else ""


def _shares(look: Look, block: Block) -> str:
    return (
        f"{look.first} was preferred in {share_words(block.first)}, {look.second} in "
        f"{share_words(block.second)}; in {share_words(block.tie)} neither list was better."
    )


def _decided(look: Look, block: Block) -> str:
    told = (
        f"Where one list was better it was that of {look.first} in "
        f"{share_words(block.first_decided)}"
    )
    votes = look.pair.majority if block.n != block.items else None
    test = block.sign if votes is None else votes.sign
    p = test.p
    if votes is not None and p is not None:  # a p stands behind the share that it tests
        told = f"{told}; by one vote per item, the majority, in {share_words(votes.first_decided)}"
    if p is None:
        kind = "decided answers" if votes is None else "items that a majority decided"
        return f"{told}: too few {kind} ({test.n}) for a test."
    if p >= CLEAR:
        return (
            f"{told}, which chance alone could explain (sign test p {p_words(p)}). "
            "That is no proof that the models are equal."
        )
    return f"{told}, more than chance alone would explain (sign test p {p_words(p)})."


def _for_others(look: Look) -> str:
    """What it says of other readers; nothing for one reader."""
    found = look.pair.pooled
    if found is None or found.decided.low is None or found.decided.high is None:
        return ""
    told = (
        f" With other readers and other items in mind the mean of the {found.raters} readers is "
        f"{estimate_words(found.decided, digits=1, percent='yes')}"
    )
    if found.decided.low <= 0.5 <= found.decided.high:
        return f"{told}: this leaves open which list other readers would prefer on the whole."
    return f"{told}: other readers would most likely prefer the same on the whole."


def facts_of(look: Look) -> tuple[str, ...]:
    """What must stand beside the outcome."""
    found, block = look.found, look.pair.overall
    facts = found.facts
    told = [
        f"{counted(block.items, 'items')} of {counted(block.tasks, 'tasks')}, "
        f"{counted(len(found.raters), 'readers')}: {', '.join(found.raters) or 'nobody'}"
    ]
    ties = look.pair.with_auto_ties.items - block.items  # once each, however many readers
    if ties:
        counted_in = "counted as ties here" if look.ties == "count" else "left out here"
        lists = "1 identical list" if ties == 1 else f"{ties} identical lists"
        told.append(f"{lists} never shown, {counted_in}")
    if not look.has_gold and block.n:
        told.append("No item has a known right answer, so nothing is said by top-1 correctness")
    if block.tasks == 1:
        told.append("All items are of one task: the outcome holds for this task only")
    if facts.get("unblinded_utc"):
        told.append(f"Unblinded {day(str(facts['unblinded_utc']))}: {facts.get('reason', '')}")
    if found.hash:
        told.append(f"Fingerprint {found.hash}")
    return tuple(told)


def day(utc: str) -> str:
    """A stored time as a person reads it; as it is if it is none."""
    try:
        return datetime.fromisoformat(utc).strftime("%d %b %Y %H:%M UTC")
    except ValueError:
        return utc
