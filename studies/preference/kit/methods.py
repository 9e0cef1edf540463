"""``methods.md``: the methods as an author would write them, flow, checklists, limitations.

Owns the sentences. Every number comes from the log; what the log does not hold stays a visible
gap. Refuses to fill a gap with a guess.
"""

from __future__ import annotations

from studies.preference.analysis.schema import Analysis, Pair
from studies.preference.analysis.tables import StudyTables
from studies.preference.kit.bias import bias_words, of_ratings
from studies.preference.kit.checklists import checklists
from studies.preference.kit.independence import independence
from studies.preference.kit.sizing import size_words
from studies.preference.kit.told import Told, gap
from studies.preference.kit.words import (
    counted,
    estimate_words,
    flow_words,
    points_words,
    share_words,
    test_words,
    were,
)

MIXED = (
    " The file mixed.R fits a cumulative logit model with random item, task and rater to them; its "
    "results are not part of this text."
)


def methods_text(tables: StudyTables, analysis: Analysis) -> str:
    """The whole file.

    Args:
        tables: as published, raters as codes.
        analysis: their numbers.
    """
    told = Told(tables, analysis)
    parts = (
        ("Study design", _design(told)),
        ("Sample", _sample(told)),
        ("Blinding and allocation", _blinding(told)),
        ("Raters and reading", _reading(told)),
        ("Sample size", _size(told)),
        ("Statistical analysis", _statistics(told)),
        ("Main result", _result(told)),
        ("Checks for bias", bias_words(analysis)),
        ("Flow of items", _flow(told)),
        ("Limitations", _limits(told)),
    )
    lines = [f"# Methods: {_line(analysis.title)}", "", f"Study hash {analysis.hash or '-'}.", ""]
    lines += ["Gaps are marked ____ and name what belongs there.", ""]
    for title, text in parts:
        lines += [f"## {title}", "", text, ""]
    return "\n".join([*lines, *checklists(told)]) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())


def _design(told: Told) -> str:
    models = "; ".join(f"{letter}: {told.model(letter)}" for letter in told.analysis.models)
    pairs = len(told.analysis.pairs)
    compared = (
        "Each query was read for one pair of models, the pairs in balanced shares."
        if pairs > 1
        else "The two models were compared on the same queries."
    )
    return (
        f"We compared the retrieval results of {counted(len(told.analysis.models), 'models')} in a "
        f"blinded paired-preference study. {models}. For each query a rater saw the query in the "
        f"middle and the three best candidates of one model on either side, both drawn from the "
        f"same pool of candidates, and answered which list was more useful: left, right, both "
        f"useful, neither useful. The last two are ties and are reported apart and together. "
        f"{compared} The study was built on "
        f"{told.day('created_utc', 'date of building')} with Triptych "
        f"{told.fact('software', 'software version')}. "
        f"Ethics: {gap('approval or waiver, consent of raters')}. "
        f"Registration: {gap('protocol or registry')}."
    )  # fmt: skip


def _sample(told: Told) -> str:
    drawn = told.analysis.flow.get("sampled", 0)
    missing = told.missing_tasks
    absent = (
        f" Of the benchmark, {counted(len(missing), 'tasks')} gave no query on this machine: "
        f"{', '.join(missing)}."
        if missing
        else ""
    )
    queries = told.missing_queries
    if queries:
        absent += f" Not readable, and replaced by other queries: {'; '.join(queries)}."
    return (
        f"{counted(drawn, 'items')} {were(drawn)} drawn from {counted(told.tasks, 'tasks')}"
        f" with an equal share for each task, capped by its queries, remainders by the largest "
        f"remainder (seed {told.fact('seed', 'seed of the sample')}); by kind of evidence: "
        f"{told.forms()}.{absent} Overlap was determined before the reading: identical lists, the "
        f"same candidates in another order, near-duplicate pictures, hits of the same patient. "
        f"{told.identical()} {told.mirrored()} "
        f"Source of the data and its selection: {gap('source, dates, inclusion and exclusion')}."
    )


def _blinding(told: Told) -> str:
    found = told.analysis.blinding
    index = (
        f" At the end raters guessed the tested model's side: James's index "
        f"{estimate_words(found.james)} (1 all unsure, 0.5 chance)."
        if found is not None
        else f" A guess at the end was not asked: {gap('how success of the blind was judged')}."
    )
    known = independence(told)
    apart = f" {known}" if known else ""
    return (
        "Model names, the right answer, scores and file names were hidden. Sides were allocated in "
        "blocks within stratum, family and form, so that each model stood as often on the left "
        f"({told.lefts()}); each rater read in an order of their own. Sides and orders came from "
        f"stored seeds (sides {told.fact('side_seed', 'seed of the sides')}, orders "
        f"{told.fact('order_seed', 'seed of the orders')}). Models, tasks, lists, sides, strata "
        "and the plan of the analysis were frozen before the first item and hashed (SHA-256 "
        f"{told.analysis.hash or gap('hash')}); the key was encrypted with a passphrase held by "
        f"{gap('who held it')}. The study was unblinded on "
        f"{told.fact('unblinded_utc', 'date of unblinding')} (reason: "
        f"{told.fact('reason', 'reason')}); no rating was taken afterwards."
        f"{told.forced()}{index}{apart}"
    )


def _reading(told: Told) -> str:
    hours = told.hours()
    burden = gap("reading time") if hours is None else f"{hours:.1f} h in all"
    gaps = told.repeat_gaps()
    again = (
        f"Each order held {told.repeats()}, with sides exchanged, at least {gaps[0]} items later "
        f"(median {gaps[1]})."
        if gaps
        else "No items were repeated."
    )
    return (
        f"{counted(len(told.analysis.raters), 'raters')} read {told.dates()} in "
        f"{counted(told.sittings(), 'sessions')}, {burden}, {told.median_seconds()} for an item. "
        f"{told.raters()} {told.practice()} {told.blocks()} {told.rest()} {again} Pictures could "
        f"be scrolled, windowed, magnified and seen one by one with the same geometry on both "
        f"sides; an answer could be given once all were decoded and could be taken back, and then "
        f"both are stored; once a question on the sides was answered, no answer could be changed. "
        f"Idle time over 60 s was taken out of reading times. Confidence was "
        f"{told.rule('confidence', 'asked or not')}, usefulness of each candidate "
        f"{told.rule('usefulness', 'asked or not')}. Training of the raters for this task: "
        f"{gap('training and instructions')}. Reading environment: {gap('room, light, displays')}."
    )


def _size(told: Told) -> str:
    pair = told.pair
    smallest = pair.side.smallest_detectable
    decided = pair.overall.first_decided.n
    reach = (
        f"With {decided} decided comparisons a true share {100 * smallest:.1f} points away from "
        f"one half is found with 80 % power at a two-sided 5 % level (n = {decided}, ratings taken "
        "as independent)."
        if smallest is not None
        else f"The {decided} decided comparisons are too few for a statement on power."
    )
    why = size_words(told, blank="expected share, ties, power, clustering")
    return f"{why} {reach} {pair.clustering.sentence}"


def _statistics(told: Told) -> str:
    analysis = told.analysis
    many = len(analysis.pairs) > 1
    each = " of each pair, not adjusted for the number of pairs" if many else ""
    return (
        "The primary outcome is the share preferring the tested model among decided comparisons, "
        f"with Wilson's 95 % interval and an exact two-sided sign test{each}; beside it stand the "
        "shares of all three answers. Each p-value needs ten observations. "
        f"{told.pooling()}The net preference (difference of "
        f"the two shares) has a bootstrap interval that resamples tasks, then items in them "
        f"({analysis.draws} draws, seed {analysis.seed}; percentile and BCa). Strata are the four "
        "combinations of top-1 correctness; each table (strata, family, form and so on) is tested "
        "once for heterogeneity by chi-square, where cells are sparse by permutations with fixed "
        "margins, and the sign tests within a table are adjusted by Holm. Ties are modelled by "
        "Davidson's model with an order term for the left side and Wald intervals"
        + (", over all pairs of models at once and for each pair" if many else "")
        + ". Reliability is given as observed agreement, kappa (Cohen's for two readings, "
        "Fleiss's for more) and Gwet's AC1 together, between raters with Krippendorff's alpha. "
        "Fatigue is the trend of ties, preference and log time along the reading order, adjusted "
        "for form and rater. Checks for bias: the side overall and by form, longer texts (share "
        "preferring the list with more words, which mixes words and model, and logistic "
        "regression of preference on doublings of the words with the model as constant), "
        "look-alikes of the query in one list, each with the smallest effect that 80 % power "
        "would find; their p-values are not adjusted for how many checks there are, but for "
        "forms by Holm. "
        f"{told.difficulty()} Correctness of the models is compared by McNemar's test on the same "
        "items, exact, mid-p and clustered by task. Everything but the primary outcome is "
        "exploratory unless the plan says otherwise. All numbers can be computed anew from the "
        "CSV files by analysis.R (base R) and analysis.py." + ("" if many else MIXED)
    )


def _result(told: Told) -> str:
    lines = []
    for pair in told.analysis.pairs:
        one = pair.overall
        if not one.n:
            lines.append(
                f"No rating of {pair.first} ({pair.first_title}) against {pair.second} "
                f"({pair.second_title}) was judged. {_criterion(pair)}"
            )
            continue
        lines.append(
            f"{pair.first} ({pair.first_title}) was preferred to {pair.second} "
            f"({pair.second_title}) in {share_words(one.first)} of the ratings, {pair.second} in "
            f"{share_words(one.second)}; ties were {share_words(one.tie)}. {_decided(pair)} "
            f"{_across(pair)}{_criterion(pair)}"
        )
    return "\n\n".join(lines)


def _decided(pair: Pair) -> str:
    """The decided ratings and the net preference; says so where nothing was decided."""
    one = pair.overall
    if not one.first_decided.n:
        return f"No rating preferred one list; net preference {points_words(one.net)}."
    return (
        f"Among the decided {pair.first} had {share_words(one.first_decided)}, "
        f"{of_ratings(pair)}{test_words(one.sign)}; net preference "
        f"{points_words(one.net)}. Left was chosen in {share_words(pair.side.left)} of the decided."
    )


def _across(pair: Pair) -> str:
    """The majority vote and the mean of the raters; nothing for one."""
    if pair.pooled is None or pair.majority is None or pair.pooled.net.value is None:
        return ""
    voted = pair.majority
    told = (
        f"By the majority of the raters of each item {pair.first} had "
        f"{share_words(voted.first_decided)} of the decided, sign test of the votes "
        f"{test_words(voted.sign)}. "
        if voted.first_decided.n
        else ""
    )
    return (
        f"{told}Over raters and items the mean net preference of the {pair.pooled.raters} raters "
        f"was {points_words(pair.pooled.net)}. "
    )


def _criterion(pair: Pair) -> str:
    """Where exactly one top answer is right; says so where that was never the case."""
    if not pair.correctness.n:
        return "There was no gold answer, so whether preference follows truth is not known."
    if not pair.criterion.right.n:
        return "No decided rating had exactly one list with the right answer first."
    return (
        "Where exactly one list had the right answer first, it was preferred in "
        f"{share_words(pair.criterion.right)} of the decided."
    )


def _flow(told: Told) -> str:
    flow = told.analysis.flow
    lines = [f"- {flow_words(step)}: {count}" for step, count in flow.items()]
    for reason, count in told.analysis.missing.cannot.items():
        lines.append(f"- could not be judged (items and repeats), {reason}: {count}")
    return "\n".join([*lines, "", "The diagram is flow.svg (PDF, PNG)."])


def _limits(told: Told) -> str:
    raters = len(told.analysis.raters)
    who = (
        "One rater read, so that agreement between raters is unknown"
        if raters < 2
        else f"{raters} raters read; others may judge differently"
    )
    return (
        f"{who}. Reading for a study differs from reading for a patient, so times and choices may "
        "not carry over to practice. Preference is not correctness: a list can be preferred for "
        "the wrong reason, and criterion validity speaks to that only where a right answer is "
        "known. Items of one task resemble each other; shares and sign tests do not account for "
        "it, the bootstrap does. A model may be recognised by what it retrieves, which no blinding "
        "hides; the guesses speak to that where they were asked. Only the three best candidates "
        "were seen. "
        f"{gap('limits of the data and of transfer to other settings')}"
    )
