"""Answers to reporting guidelines from the log: CLAIM, STARD-AI, GRRAS, DECIDE-AI, MI-CLEAR-LLM.

Owns which items can be answered and how. Items are named in our words; where numbers are given
their edition is said. What the log does not hold stays a visible gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studies.preference.kit.independence import independence
from studies.preference.kit.sizing import size_words
from studies.preference.kit.told import Told, gap
from studies.preference.kit.words import counted, estimate_words, flow_words, share_words


@dataclass(frozen=True)
class Question:
    """One item of a guideline.

    Attributes:
        number: in its edition, or "".
        topic: in our words.
        answer: from the study.
    """

    number: str
    topic: str
    answer: Callable[[Told], str]


def checklists(told: Told) -> list[str]:
    """Lines of Markdown: one table for each guideline."""
    lines: list[str] = []
    for title, questions in GUIDELINES.items():
        lines += [f"## {title}", "", "| item | topic | answer |", "| --- | --- | --- |"]
        for one in questions:
            answer = " ".join(one.answer(told).split()).replace("|", "\\|")
            lines.append(f"| {one.number or '-'} | {one.topic} | {answer} |")
        lines.append("")
    return lines


def _missing(told: Told) -> str:
    found = told.analysis.missing
    flagged = ", ".join(f"{why} {n}" for why, n in found.cannot.items()) or "none"
    first = "; ".join(
        f"model {pair.first} against {pair.second} {share_words(pair.first_answers.first)}"
        for pair in told.analysis.pairs
    )
    return (
        f"{found.unanswered} of {found.places} items and repeats without an answer; could "
        f"not be judged: {flagged}; {counted(found.changed, 'answers')} taken back at least once, "
        f"the first one kept. First answers only: {first}."
    )


def _reliability(told: Told) -> str:
    parts = [
        f"{one.rater}, swapped repeats: same again {share_words(one.same)}, AC1 "
        f"{estimate_words(one.agreement.ac1)}"
        for one in told.analysis.repeats
    ]
    parts += [
        f"{one.name}: observed {estimate_words(one.raw)}, kappa {estimate_words(one.kappa)}, AC1 "
        f"{estimate_words(one.ac1)}"
        for one in told.analysis.between
    ]
    return "; ".join(parts) + "." if parts else gap("agreement within and between raters")


def _replicates(told: Told) -> str:
    repeats = sum(one.kind == "repeat" for one in told.tables.presented)
    shown = sum(one.kind == "item" for one in told.tables.items)
    flow = told.analysis.flow
    return (
        f"{counted(len(told.analysis.raters), 'raters')}, {counted(shown, 'items')} shown of "
        f"{flow.get('sampled', 0)} drawn, {flow.get('answered', 0)} of {flow.get('shown', 0)} "
        f"readings answered, {flow.get('repeats', 0)} of {counted(repeats, 'repeats')} with sides "
        "exchanged answered."
    )


def _between_repeats(told: Told) -> str:
    found = told.repeat_gaps()
    if found is None:
        return "No items were repeated."
    return f"At least {found[0]} items, median {found[1]}."


def _flow(told: Told) -> str:
    return "See Flow of items and flow.svg: " + ", ".join(
        f"{flow_words(step)} {count}" for step, count in told.analysis.flow.items()
    )


def _models(told: Told) -> str:
    return "; ".join(told.model(letter) for letter in told.analysis.models)


def _ties(told: Told) -> str:
    one = told.pair.overall
    return (
        f"Ties are kept apart: both useful {share_words(one.both)}, neither useful "
        f"{share_words(one.neither)}; modelled by Davidson's model."
    )


def _learning(told: Told) -> str:
    found = told.analysis.fatigue
    return (
        f"Ties from first to last item, odds ratio {estimate_words(found.tie_trend)}; time, ratio "
        f"{estimate_words(found.time_trend)}."
    )


def _truth(told: Told) -> str:
    known = told.pair.correctness.n
    if not known:
        return "The study was built without gold answers; stratum unknown."
    return f"The benchmark's gold answer of each query ({known} items), hidden from raters."


def _blinded(told: Told) -> str:
    found = told.analysis.blinding
    if found is None:
        return "Names, right answers, strata and scores were hidden; no guess was asked."
    return (
        "Names, right answers, strata and scores were hidden; guesses at the end: James's index "
        f"{estimate_words(found.james)}."
    )


def _size(told: Told) -> str:
    why = size_words(told, blank="expected share, power, clustering")
    which = " of the first pair" if len(told.analysis.pairs) > 1 else ""
    return f"{why} Read: {told.pair.overall.n} ratings{which}."


def _raters(told: Told) -> str:
    return told.raters()


def _prompt(_: Told) -> str:
    return "The task as shown to raters is in items.csv (prompt). " + gap(
        "instructions given to the models"
    )


def _blank(what: str) -> Callable[[Told], str]:
    return lambda _: gap(what)


def _fixed(text: str) -> Callable[[Told], str]:
    return lambda _: text


GUIDELINES: dict[str, tuple[Question, ...]] = {
    "CLAIM (numbers of 2020; the 2024 update renumbers)": (
        Question("12", "De-identification", _fixed(
            "Pictures were shown without headers or names; raters appear as codes. "
            + gap("how the source data were de-identified"))),
        Question("13", "Missing data", _missing),
        Question("14-15", "Reference standard and why", _truth),
        Question("16", "Who annotated, qualification, preparation", _raters),
        Question("17", "Tools of annotation", lambda told: (
            f"Triptych {told.fact('software', 'software version')}; key strokes, answers durable "
            "one by one, hash-chained log.")),
        Question("18", "Variability within and between raters", _reliability),
        Question("19", "Sample size", _size),
        Question("33", "Flow", _flow),
        Question("34", "Demographics", _blank("age, sex, sites of the patients behind the items")),
    ),
    "STARD-AI 2025 (numbers of STARD 2015)": (
        Question("12", "Cut-offs", _fixed("None: ranked lists were compared as they are.")),
        Question("13a, 13b", "What readers knew", _blinded),
        Question("16", "Indeterminate results", _ties),
        Question("18", "Sample size", _size),
        Question("19", "Flow", _flow),
        Question("", "Version of the AI", _models),
        Question("", "Handling of input data", _blank("resolution, windowing, frames of volumes")),
    ),
    "GRRAS 2011": (
        Question("", "Raters, subjects, replicates", _replicates),
        Question("", "How raters were chosen", _blank("recruitment, from how many")),
        Question("", "Time between replicates", _between_repeats),
        Question("", "What raters knew, independence", lambda told: (
            f"{_blinded(told)} {independence(told)}")),
        Question("", "Coefficients with uncertainty", _reliability),
        Question("", "Practical meaning", _blank("what agreement would be needed in practice")),
    ),
    "DECIDE-AI 2022": (
        Question("3b, 3c", "Recruitment and training of users", _blank("recruitment, training")),
        Question("4a", "Version of the AI", _models),
        Question("", "Learning and fatigue", _learning),
        Question("", "Human factors", _blank("usability, problems met in use")),
        Question("", "Human-computer agreement", lambda told: (
            "Correct list among the decided, where exactly one is correct: "
            f"{share_words(told.pair.criterion.right)}.")),
    ),
    "MI-CLEAR-LLM": (
        Question("", "Name and version", _models),
        Question("", "Date of access", lambda told: (
            f"Lists frozen {told.fact('created_utc', 'date of building')}; models obtained "
            f"{gap('date')}.")),
        Question("", "Stochasticity", _fixed(
            "Embeddings and exact ranking are deterministic; each list was computed once. "
            + gap("confirm for the models used"))),
        Question("", "Prompts", _prompt),
        Question("", "Independence of the test data", _blank("overlap with training data")),
    ),
}  # fmt: skip
