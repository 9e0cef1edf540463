"""Every column of every CSV file of the kit, and what it means; the data dictionary.

Owns names and meanings. ``tabular`` writes exactly these, ``reading`` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping

from db.ratings import PLACES as PLACES
from studies.preference.lists import DIFFICULTY_WORDS

HASH = "SHA-256 of everything frozen before the first item was read"
# of people's own words
TYPED = "an apostrophe stands before = + - @, so that no spreadsheet computes it"

RATINGS: dict[str, str] = {
    "study_hash": HASH,
    "rater": f"the rater; a code unless names were asked for; before a name {TYPED}",
    "session_id": "opaque id of the sitting; empty where nothing was answered",
    "position": "place in the rater's order, from 1; empty for auto_tie",
    "item_id": "opaque id of the item; the same in items.csv",
    "kind": "item, warmup, repeat, or auto_tie (identical lists, recorded as a tie, never shown)",
    "left_model": "letter of the model shown on the left; empty for auto_tie",
    "answer": "left, right, both, neither, cannot; empty where not answered",
    "preferred": "letter of the preferred model, or both, neither, auto_tie (all three ties), or "
    "cannot; empty where not answered",
    "first_preferred": "the same of the first answer to this presentation, before any change",
    "reason": f"why it cannot be judged; free text is left out unless asked for; {TYPED}",
    "revisions": "how often an answer was taken back",
    "confidence": "1 to 3, optional",
    **{
        f"useful_{place}": f"usefulness of the candidate at {place[:-1]} place {place[-1]}: "
        "0, 1 or 2, optional"
        for place in PLACES
    },
    "shown_utc": "when first shown, UTC",
    "answered_utc": "when the answer in force was stored, UTC",
    "first_action_ms": "from showing to the first key or click, ms",
    "answer_ms": "from showing to the answer without idle time, ms",
    "idle_ms": "idle time taken out (over 60 s without input), ms",
    "viewer_state": "window and slice range seen as JSON without paths, optional",
    "software": "version of the program that stored the answer",
}
COMMENT: dict[str, str] = {
    "comment": f"free text of the rater; exported only when asked for; {TYPED}"
}
ITEMS: dict[str, str] = {
    "study_hash": HASH,
    "item_id": "opaque id of the item",
    "kind": "item, warmup or auto_tie",
    "first_model": "letter of the model called first in this comparison",
    "second_model": "letter of the other model",
    "left_model": "letter of the model frozen on the left; empty for auto_tie",
    "task_id": "task of the benchmark; the unit the bootstrap resamples first",
    "family": "family of the task",
    "form": "2d, 3d or text",
    "split": "id or held-out",
    "row": "row of the query in the task's file, from 0",
    "stratum": "whose first candidate is right: both, only_a (first model), only_b (second model), "
    "neither; unknown without a gold answer",
    "anatomy": "anatomical region, where known",
    "gold_place_first": "place of the gold answer in the first model's list, from 1; empty if not "
    "among the shown",
    "gold_place_second": "the same in the second model's list",
    "shared_candidates": "candidates in both lists",
    "overlap": "identical, same_set (another order), near_duplicate, some or none",
    "flags": "found before the reading, separated by blanks: near_duplicate, near_query, "
    "same_patient, mirrored (another item shows this query together with its right answer)",
    "words_first": "median number of words of the first model's candidates as shown; 0 where they "
    "show none, empty where not recorded",
    "words_second": "the same of the second model's candidates",
    "near_query": "list that holds a near-duplicate of the query: first, second, both or none; "
    "empty where not recorded",
    "same_patient": "list that holds a candidate of the query's own patient: first, second, both, "
    "none, or unknown where the data do not tell; empty where not recorded",
    "gold_rank_first": "rank of the gold answer in the whole pool under the first model, ties "
    "against it; empty where not recorded",
    "gold_rank_second": "the same under the second model",
    "difficulty": f"by the better of the two ranks of the gold answer: {DIFFICULTY_WORDS} "
    "(very_hard); empty without gold or where not recorded",
    "prompt": f"the task as the rater read it; {TYPED}",
}
GUESSES: dict[str, str] = {
    "study_hash": HASH,
    "rater": "as in ratings.csv",
    "item_id": "as in items.csv",
    "left_model": "letter of the model that stood on the left",
    "answer": "which side was held for model A's: left, right or unsure",
}
RATERS: dict[str, str] = {
    "study_hash": HASH,
    "rater": "as in ratings.csv",
    "specialty": f"as entered; {TYPED}",
    "years": "of experience, as entered",
    "modalities": f"experience with modalities, as entered; {TYPED}",
    "display": f"statement on display and calibration, as entered; {TYPED}",
}
STUDY: dict[str, str] = {
    "study_hash": HASH,
    "name": "what is told; parts are separated by a slash",
    "kind": "text, number, yes_no, json or nothing",
    "value": f"its value; of a text {TYPED}",
}
NUMBERS: dict[str, str] = {
    "study_hash": HASH,
    "name": "path of the number in summary.json; members of lists stand by name",
    "value": "all digits of the number; empty where it is not defined; 1 and 0 for yes and no",
}
FILES: dict[str, dict[str, str]] = {
    "ratings.csv": RATINGS,
    "items.csv": ITEMS,
    "guesses.csv": GUESSES,
    "raters.csv": RATERS,
    "study.csv": STUDY,
    "numbers.csv": NUMBERS,
}
DICTIONARY: dict[str, str] = {
    "study_hash": HASH,
    "file": "file of the kit",
    "column": "its column",
    "meaning": "what it holds",
}


def columns_of(name: str, *, comments: str = "leave out") -> Mapping[str, str]:
    """Columns of one file and their meaning.

    Args:
        name: of the file.
        comments: ``"include"`` adds the comment to ratings.csv.
    """
    if name == "dictionary.csv":
        return DICTIONARY
    more = COMMENT if name == "ratings.csv" and comments == "include" else {}
    return {**FILES[name], **more}
