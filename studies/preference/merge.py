"""Takes answers back: checks what raters returned and keeps what holds.

Owns the rule that a later return of a pack extends the earlier one; what a document must fit is
in ``studies.preference.fitting``. Refuses foreign, altered, cut and divergent ones by name;
never tells a preference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from db import chain, packs, study_items
from db.clock import now_utc
from db.errors import RatingRefused, StoreError
from db.failures import translated
from db.packs import PackRow, ReturnedRow
from db.ratings import unblinding
from db.session import Store, is_url
from studies.errors import BadAnswers, BadStudy
from studies.preference.answers import LARGEST, Answers, collect, read_answers
from studies.preference.fitting import Frame, check, in_force, unfit
from studies.preference.frozen import sha256, software_version
from studies.preference.in_sight import InSight, in_sight
from studies.preference.ledger import counted, frame_of, kept, replaced_ids
from studies.preference.order_words import order_words
from studies.preference.pack_file import MARK, SQLITE, TRAILER
from studies.preference.share import open_shared, plain_url
from studies.preference.study import open_study


@dataclass(frozen=True)
class Merged:
    """What became of one source.

    Attributes:
        source: file or URL (without its password) as it was given.
        rater: whose answers; several names joined by commas for a shared database.
        pack_id: of the pack or share.
        answers: answers in force in it.
        new: entries of its log that were not here before.
        state: ``merged``, ``older`` (a later return is here already) or ``same``.
        sentence: that in words.
    """

    source: str
    rater: str
    pack_id: str
    answers: int
    new: int
    state: str
    sentence: str


def merge(path: Path, sources: Sequence[str]) -> tuple[Merged, ...]:
    """Merge returned files and shared databases into the coordinator's study.

    Every source that holds is merged, whatever becomes of the others.

    Args:
        path: the coordinator's study folder.
        sources: files (``.triptych-answers``) and URLs of shared studies.

    Raises:
        BadAnswers: one or more were refused: ``refused`` names each with its reason,
            ``merged`` holds the good ones, which are kept.
        RatingRefused: the study is unblinded.
        BadStudy: the study is a pack itself.
    """
    merged: list[Merged] = []
    refused: list[tuple[str, str]] = []
    with open_study(path) as study:
        _refuse(study.store)
        frame = frame_of(study.store)
        for source in sources:
            try:
                merged.append(_merge_one(study.store, frame, source))
            except (BadAnswers, BadStudy, StoreError) as error:
                refused.append((plain_url(source), str(error)))
    if refused:
        lines = [f"{source}: {why}" for source, why in refused]
        raise BadAnswers("\n".join(lines), refused=tuple(refused), merged=tuple(merged))
    return tuple(merged)


def check_returned(store: Store) -> Iterator[str]:
    """What is wrong with the accepted returns of a study, one sentence each.

    Every document is checked again as when it was merged: signature, chain, order, and that
    each extends the one before. That packs and returns are those of the log is seen in
    ``studies.preference.verify_log``.

    Args:
        store: the coordinator's study.
    """
    handed = {row.pack_id: row for row in packs.packs(store)}
    frame = frame_of(store)
    before: dict[str, Answers] = {}
    for row in packs.returns(store):
        try:
            answers = kept(row)
            _check_one(answers, frame, handed, row)
            _extends(answers, before.get(row.pack_id))
        except BadAnswers as error:
            yield f"Return {row.number} ({row.rater or 'shared'}): {error}"
            continue
        before[row.pack_id] = answers


def _check_one(
    answers: Answers, frame: Frame, handed: dict[str, PackRow], row: ReturnedRow
) -> None:
    pack = handed.get(row.pack_id)
    told = (answers.pack_id, answers.rater, len(answers.entries), answers.head)
    if pack is None or told != (row.pack_id, row.rater, row.entries, row.head):
        raise BadAnswers("It does not say what the study says of it.")
    check(answers, frame, pack)


def _refuse(store: Store) -> None:
    if packs.seat_row(store) is not None:
        raise BadStudy("This is a rater's pack; answers are merged into the coordinator's study.")
    if unblinding(store) is not None:
        raise RatingRefused(
            "This study was unblinded; answers that came later are not merged any more."
        )


def _merge_one(store: Store, frame: Frame, source: str) -> Merged:
    answers, seen = _from_server(store, frame, source) if is_url(source) else _from_file(source)
    pack = next((row for row in packs.packs(store) if row.pack_id == answers.pack_id), None)
    if pack is None:
        foreign = answers.study != frame.row.hash
        raise BadAnswers(
            "The answers belong to another study. Merge them there."
            if foreign
            else "The answers come from a pack that this study did not hand out."
        )
    if not pack.public_key and not is_url(source):
        raise BadAnswers("Answers of a shared study are merged by its URL, not by a file.")
    if pack.pack_id in replaced_ids(packs.packs(store)):
        raise BadAnswers(
            f"The pack of {pack.rater} was replaced by a newer one; only that one counts."
        )
    check(answers, frame, pack)
    _refuse_name(store, answers)
    misfits = {} if pack.rater else unfit(answers, frame)
    merged = _keep(store, answers, plain_url(source), set(misfits), seen)
    told = seen.words if seen else ""
    told += "".join(f" {name} is not counted: {why}" for name, why in misfits.items())
    return replace(merged, sentence=merged.sentence + told)


def _from_file(source: str) -> tuple[Answers, None]:
    file = Path(source)
    with translated(file):
        if not file.is_file():
            raise BadAnswers("There is no such file. Name the answers that the rater sent.")
        if file.stat().st_size > LARGEST:
            raise BadAnswers("The file is too large for answers. Ask the rater for the right one.")
        content = file.read_bytes()
    if content.startswith(SQLITE) or content[-TRAILER:].startswith(MARK):
        raise BadAnswers(
            "This is the pack, not the answers. The rater writes those with Return answers or "
            "triptych study export --answers."
        )
    return read_answers(content), None


def _from_server(store: Store, frame: Frame, url: str) -> tuple[Answers, InSight]:
    """The answers, and who could have read another's."""
    with open_shared(store, url) as (shared, pack):
        if shared.own_rows:
            raise BadAnswers(
                "This login is shown its own answers only. Merge with the login that shared the "
                "study."
            )
        if study_items.study_row(shared).hash != frame.row.hash:
            raise BadAnswers("Another study lies there.")
        faults = chain.check_chain(shared)
        if faults:
            raise BadAnswers(faults[0])
        return collect(shared, pack_id=pack.pack_id, rater=""), in_sight(shared)


def _refuse_name(store: Store, answers: Answers) -> None:
    """Refuse a pack whose rater came to read in the study itself as well."""
    if answers.rater in {row.name for row in study_items.raters(store)}:
        raise BadAnswers(
            f"{answers.rater} has answers from elsewhere in this study. One of the two must go by "
            "another name; the answers here are kept."
        )


def _keep(
    store: Store, answers: Answers, source: str, misfits: Set[str], seen: InSight | None
) -> Merged:
    mine = [row for row in packs.returns(store) if row.pack_id == answers.pack_id]
    before = kept(mine[-1]) if mine else None
    new = _extends(answers, before)
    if before is None or new > 0:
        content = answers.to_bytes()
        row = ReturnedRow(
            0,
            answers.pack_id,
            answers.rater,
            now_utc(),
            len(answers.entries),
            answers.head,
            sha256(content),
            content,
        )
        after = mine[-1].number if mine else None
        told = seen.to_json() if seen else None
        packs.add_returned(store, row, after=after, software=software_version(), told=told)
        state = "merged"
    else:
        state = "older" if new < 0 else "same"
    return _merged(answers, source, state, max(new, 0), _left_out(store, answers, misfits))


def _left_out(store: Store, answers: Answers, misfits: Set[str]) -> tuple[str, ...]:
    """Raters of a share whose answers there do not count: they read elsewhere."""
    counting = next((names for one, names in counted(store) if one.pack_id == answers.pack_id), ())
    return tuple(sorted({seat.rater.name for seat in answers.seats} - set(counting) - misfits))


def _extends(answers: Answers, before: Answers | None) -> int:
    """Entries more than in the return before; below 0 for an older one.

    Raises:
        BadAnswers: the two went different ways.
    """
    if before is None:
        return len(answers.entries)
    longer, shorter = sorted((answers, before), key=lambda one: -len(one.entries))
    length = len(shorter.entries)
    if longer.entries[:length] != shorter.entries:
        raise BadAnswers(
            f"The answers of {answers.rater or 'the shared study'} went another way than those "
            "merged before: the pack was read in two places, or put back from a copy. The first "
            "ones are kept. Ask the rater which place is the right one, let the reading go on "
            "there, or build the study for that rater anew under another name."
        )
    return len(answers.entries) - len(before.entries)


def _merged(
    answers: Answers, source: str, state: str, new: int, left_out: tuple[str, ...]
) -> Merged:
    count = len(in_force(answers.entries))
    names = ", ".join(seat.rater.name for seat in answers.seats)
    total = sum(len(seat.order) for seat in answers.seats)
    kinds = Counter(kind for seat in answers.seats for _, kind, _ in seat.order)
    read = order_words(kinds["item"], kinds["repeat"], kinds["warmup"])
    words = {
        "merged": f"{names or 'Nobody'}: {count} of {total} answered ({read}), merged.",
        "older": f"{names}: a later return is here already; nothing changed.",
        "same": f"{names or 'Nobody'}: merged before; nothing changed.",
    }
    sentence = words[state]
    if left_out:
        sentence += (
            f" Not counted from here: {', '.join(left_out)}, who read this study elsewhere (a "
            "pack, the study itself or an earlier share)."
        )
    return Merged(source, names, answers.pack_id, count, new, state, sentence)
