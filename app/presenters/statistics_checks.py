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
    cannot = sum(found.cannot.values())
    lines = [
        Line(("Places without an answer", f"{found.unanswered} of {found.places}"),
             "Items of the readers' orders that have no answer in force.",
             behind("Places without an answer", pair="all", state="unanswered", kind=READ)),
        Line(("Cannot be judged", f"{cannot} of {found.places}"),
             "Flagged with a reason instead of an answer.",
             behind("Cannot be judged", pair="all", state="cannot", kind=READ)),
    ]  # fmt: skip
    lines += [
        Line((f"    {reason or 'no reason given'}", str(count)), f"{count} with this reason.",
             behind(f"Cannot be judged: {reason}", pair="all", state="cannot", reason=reason,
                    kind=READ))
        for reason, count in found.cannot.items()
    ]  # fmt: skip
    lines.append(
        Line(("Answers taken back at least once", f"{found.changed} of {found.places}"),
             "The first answer stays in the log; the last one counts.",
             behind("Changed answers", pair="all", state="changed", kind=READ))
    )  # fmt: skip
    parts: list[Grid | Bars] = [Grid(title, ("What", "Places"), tuple(lines))]
    notes: tuple[str, ...] = ()
    first = found.first_answers
    if first.n and len(look.found.pairs) == 1:
        words = "first,second,tie"
        known = behind("First answers", first_answer=words)
        bar = bar_of(first, look.first, look.second, known, title="First answers only")
        now = bar_of(look.pair.overall, look.first, look.second, look.all_behind("leave out"),
                     title="Answers in force")  # fmt: skip
        told = "What the first answers alone would say"
        rows = [(look.pair.overall, now, look.all_behind("leave out")), (first, still(bar), known)]
        parts += [Bars(told, *ends(look), tuple(one for _b, one, _k in rows)),
                  grid_of(look, told, "Answers", rows)]  # fmt: skip
        notes = ("If the two bars differ, changes of mind matter and both should be reported.",)
    says = (
        f"{counted(found.unanswered, 'places')} without an answer, {cannot} not judged, "
        f"{found.changed} changed."
    )
    return Panel("missing", title, says, tuple(parts), notes)


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
