"""Files for other programs: TREC runs and judgements, the input of iMRMC.

Owns their formats. trec_eval sorts by score and breaks ties by name, so scores fall strictly.
iMRMC 4: free text, then ``BEGIN DATA:``, then reader,case,modality,score without blanks; truth
stands under the reader -1. Its manual's way to bring scores that are no ROC ratings: the cases
are "diseased", and a few made-up cases without disease have 0.5 from everyone, so that an area
is the mean score and the difference of two areas is the net preference, with the variance of
readers and cases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from studies.preference.analysis.rated import rated
from studies.preference.analysis.tables import StudyTables
from studies.preference.kit.extras import Lists

MADE_UP = 5


def trec_files(tables: StudyTables, lists: Mapping[str, Lists]) -> dict[str, str]:
    """One run per model and the judgements; file name to text, empty without lists.

    The tag of every line of a run is the model's letter and the hash of the study.
    """
    kept = {one.item_id: lists[one.item_id] for one in tables.items if one.item_id in lists}
    if not kept:
        return {}
    files = {}
    for letter in tables.models:
        lines = [
            line
            for item_id, found in kept.items()
            for line in _run(item_id, found.by_model.get(letter, ()), f"{letter}-{tables.hash}")
        ]
        files[f"trec_run_{_plain(letter)}.txt"] = "".join(lines)
    judged = [
        f"{item_id} 0 {found.gold} 1\n" for item_id, found in kept.items() if found.gold is not None
    ]
    if judged:
        files["trec_qrels.txt"] = "".join(judged)
    return files


def _run(item_id: str, names: tuple[str, ...], tag: str) -> list[str]:
    """Query, Q0, document, rank, score, tag; the score falls by one."""
    once = list(dict.fromkeys(names))
    return [
        f"{item_id} Q0 {_word(name)} {rank} {len(once) + 1 - rank} {tag}\n"
        for rank, name in enumerate(once, start=1)
    ]


def imrmc_file(tables: StudyTables, first: str, second: str) -> str:
    """Scores of one pair of models: 1 preferred, 0.5 tie, 0 the other, for each model.

    Args:
        tables: of the study.
        first: letter of the first model.
        second: of the second.
    """
    pair = {one.item_id for one in tables.items if (one.first, one.second) == (first, second)}
    rows = [one for one in rated(tables) if one.item.item_id in pair]
    readers = list(dict.fromkeys(_plain(one.row.rater) for one in rows))
    cases = list(dict.fromkeys(one.item.item_id for one in rows))
    fake = [f"none{place}" for place in range(1, MADE_UP + 1)]
    lines = [
        f"Preference study {tables.study_id}, model {first} against model {second}",
        f"Study hash {tables.hash}",
        f"Score: 1 preferred, 0.5 tie, 0 the other one. The {MADE_UP} cases none1 ... are made up,",
        "0.5 from all: an area is a mean score, the difference of two the net preference.",
        f"N0: {MADE_UP}",
        f"N1: {len(cases)}",
        f"NR: {len(readers)}",
        "NM: 2",
        "BEGIN DATA:",
        *(f"-1,{case},truth,0" for case in fake),
        *(f"-1,{_plain(case)},truth,1" for case in cases),
    ]
    for one in rows:
        score = (one.sign + 1) / 2
        start = f"{_plain(one.row.rater)},{_plain(one.item.item_id)}"
        lines += [f"{start},{first},{score:g}", f"{start},{second},{1 - score:g}"]
    for reader in readers:
        lines += [f"{reader},{case},{model},0.5" for case in fake for model in (first, second)]
    return "\n".join(lines) + "\n"


def _word(name: str) -> str:
    """A name without blanks, which would be columns of their own."""
    return re.sub(r"\s+", "_", name.strip()) or "_"


def _plain(name: str) -> str:
    """Letters, digits and a few signs: no comma, no blank."""
    return re.sub(r"[^\w.-]", "_", name) or "_"
