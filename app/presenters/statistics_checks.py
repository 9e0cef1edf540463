"""The sheet of checks: flow of items, missing and changed answers, usefulness of candidates.

Owns the panels; computes nothing.
"""

from __future__ import annotations

from app.presenters.statistics_behind import behind
from app.presenters.statistics_look import Look
from app.presenters.statistics_preference import ends, grid_of
from app.presenters.statistics_words import bar_of, estimate_words, said, still
from app.shown_statistics import Bars, Behind, Grid, Line, Panel, Sheet
from studies.preference.kit.words import counted, flow_words

READ = "item,repeat"


def checks_sheet(look: Look) -> Sheet:
    """Flow, missing, changed, usefulness."""
    return Sheet("checks", "Checks", (_flow(look), _missing(look), _usefulness(look)))


def _flow(look: Look) -> Panel:
    title = "Flow of items"
    lines = tuple(
        Line((_words(name), str(count)), f"{_words(name)}: {count}", _stage(name))
        for name, count in look.found.flow.items()
    )  # fmt: skip
    if not lines:
        return Panel("flow", title, "Nothing is known of the flow of items.")
    missing = look.found.facts.get("missing") or ()
    notes: tuple[str, ...] = ()
    if isinstance(missing, list | tuple) and missing:
        named = ", ".join(str(task) for task in missing)
        notes = (f"Tasks that gave no item: {named}.",)
    grid = Grid(title, ("Stage", "Count"), lines)
    return Panel("flow", title, "", (grid,), notes)


def _words(name: str) -> str:
    return flow_words(name).capitalize()


def _stage(name: str) -> Behind | None:
    """What a stage counts: items where nothing was read yet, readings after that."""
    terms = {
        "sampled": {"hits": "any", "kind": "item,auto_tie"},
        "auto_ties": {"hits": "any", "kind": "auto_tie"},
        "shown": {"state": "planned"},
        "answered": {"state": "answered"},
        "not_answered": {"state": "unanswered"},
        "flagged": {"state": "cannot"},
        "analysed": {"preferred": "judged"},
        "repeats": {"state": "answered", "kind": "repeat"},
    }
    return behind(_words(name), pair="all", **terms[name]) if name in terms else None


def _missing(look: Look) -> Panel:
    title = "Missing and changed answers"
    found = look.found.missing
    parts: list[Grid | Bars] = [Grid(title, ("What", "Items and repeats"), _missing_lines(look))]
    parts += _first_answers(look)
    notes: tuple[str, ...] = ()
    if len(parts) > 1:
        notes = ("If the two bars differ, changes of mind matter and both should be reported.",)
    says = (
        f"{found.unanswered} of {counted(found.places, 'items and repeats')} without an answer, "
        f"{sum(found.cannot.values())} not judged, {found.changed} changed."
    )
    return Panel("missing", title, says, tuple(parts), notes)


def _missing_lines(look: Look) -> tuple[Line, ...]:
    found = look.found.missing
    rows = [
        ("Without an answer", f"{found.unanswered} of {found.places}",
         "Items of the readers' orders that have no answer in force.", {"state": "unanswered"}),
        ("Cannot be judged", f"{sum(found.cannot.values())} of {found.places}",
         "Flagged with a reason instead of an answer.", {"state": "cannot"}),
        *((f"    {reason}", str(count), f"Flagged: {reason}.",
           {"state": "cannot", "reason": reason}) for reason, count in found.cannot.items()),
        ("Answers taken back at least once", f"{found.changed} of {found.places}",
         "The first answer stays in the log; the last one counts.", {"state": "changed"}),
    ]  # fmt: skip
    return tuple(
        Line((name, count), tip, behind(name.strip(), pair="all", kind=READ, **terms))
        for name, count, tip, terms in rows
    )


def _first_answers(look: Look) -> list[Grid | Bars]:
    """What the first answers alone would say, beside those in force."""
    first, whole = look.pair.first_answers, look.pair.overall
    if not first.n:
        return []
    told, now = "What the first answers alone would say", look.all_behind("leave out")
    known = behind("First answers", first_answer="first,second,tie")
    names = (look.first, look.second)
    rows = [
        (whole, bar_of(whole, *names, now, title="Answers in force"), now),
        (first, still(bar_of(first, *names, known, title="First answers only")), known),
    ]
    bars = Bars(told, *ends(look), tuple(bar for _block, bar, _known in rows))
    return [bars, grid_of(look, told, "Answers", rows)]


def _usefulness(look: Look) -> Panel:
    title = "Usefulness of single candidates"
    found = look.pair.usefulness
    if not found:
        return Panel("usefulness", title, "Readers were not asked, or did not say, how useful "
                                          "single candidates are.")  # fmt: skip
    lines = tuple(
        Line((_useful_name(look, name), estimate_words(value)),
             said(name, estimate_words(value), "Mean of 0 not useful, 1 partly, 2 useful."))
        for name, value in found.items()
    )  # fmt: skip
    return Panel("usefulness", title, "", (Grid(title, ("Candidates", "Mean, 0 to 2"), lines),))


def _useful_name(look: Look, name: str) -> str:
    """A letter, alone or before a place, becomes the model's name."""
    for letter, title in look.found.models.items():
        if name == letter or (name.startswith(letter) and not name[1:2].isalpha()):
            return f"{title}{name[len(letter) :]}"
    return name
