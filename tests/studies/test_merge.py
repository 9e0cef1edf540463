"""Answers come back: what holds is merged, what does not is refused by name."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace

import pytest

from db import chain, study_items
from db import packs as stored
from db.errors import RatingRefused
from db.session import open_study_store
from studies.errors import BadAnswers, BadStudy
from studies.preference import fitting, ledger
from studies.preference.answers import collect, new_keys, read_answers
from studies.preference.frozen import canonical
from studies.preference.merge import merge
from studies.preference.packs import make_pack, open_pack, return_answers
from studies.preference.study import open_study
from studies.preference.unblind import unblind
from studies.preference.verify import verify
from tests.studies.packs_on_disk import built, copied, laptop, pack_of, read, returned
from tests.studies.preference_material import PASSPHRASE

EVERY = 99  # more answers than there are places


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return built(tmp_path_factory.mktemp("merge"))


@pytest.fixture
def path(original, tmp_path):
    return copied(original, tmp_path)


@pytest.fixture(scope="module")
def back(original, tmp_path_factory):
    """A study with a pack out, and the answers that came back; no test changes them."""
    folder = tmp_path_factory.mktemp("back")
    path = copied(original, folder)
    return path, returned(path, folder / "post", EVERY)


def opened_of(path):
    """The frame and the pack that answers must fit."""
    with open_study(path) as study:
        frame = fitting.Frame(study.row, study_items.items(study.store))
        return frame, stored.packs(study.store)[0]


def refused(path, *sources) -> BadAnswers:
    with pytest.raises(BadAnswers) as caught:
        merge(path, [str(source) for source in sources])
    return caught.value


def test_answers_come_back_and_everything_sees_them(path, tmp_path):
    file = returned(path, tmp_path / "post", EVERY)
    (one,) = merge(path, [str(file)])
    assert (one.state, one.rater, one.source) == ("merged", "Ann Lee", str(file))
    assert verify(path) == ()
    with open_study(path) as study:
        info = study.info()
        assert info.raters == (("Ann Lee", one.answers),)
        (state,) = info.packs
        assert (state.answered, state.items, bool(state.returned_utc)) == (
            one.answers, one.answers, True,
        )  # fmt: skip
        whole = ledger.whole_log(study.store)
    assert [rater.specialty for rater in whole.raters] == ["chest"]
    assert len(whole.presentations) == one.answers
    assert len(fitting.in_force(whole.entries)) == one.answers
    opened = unblind(path, PASSPHRASE, "done")
    assert opened.raters == whole.raters
    assert sum(entry.action == "answer" for entry in opened.log) == one.answers
    assert opened.presentations == whole.presentations


def test_two_returns_of_one_state_are_the_same_bytes(path, tmp_path):
    file = returned(path, tmp_path, 3)
    content = file.read_bytes()
    assert return_answers(laptop(tmp_path / "Ann Lee").studies / _only(tmp_path), file) == file
    assert file.read_bytes() == content
    with pytest.raises(BadStudy, match="not a rater's pack"):
        return_answers(path, tmp_path)


def _only(tmp_path):
    (folder,) = laptop(tmp_path / "Ann Lee").studies.iterdir()
    return folder.name


def test_partial_ones_then_more_then_older_then_the_same(path, tmp_path):
    early = returned(path, tmp_path, 2)
    pack = laptop(tmp_path / "Ann Lee").studies / _only(tmp_path)
    read(pack, 3)
    late = return_answers(pack, tmp_path / "late.triptych-answers")
    states = [merge(path, [str(file)])[0] for file in (early, late, early, late)]
    assert [one.state for one in states] == ["merged", "merged", "older", "same"]
    assert [one.answers for one in states] == [2, 5, 2, 5]
    assert [one.new > 0 for one in states] == [True, True, False, False]
    with open_study(path) as study:
        assert len(stored.returns(study.store)) == 2
        assert study.info().raters == (("Ann Lee", 5),)
    assert [one.state for one in merge(path, [str(early), str(late)])] == ["older", "same"]
    assert verify(path) == ()


def test_the_good_ones_of_a_call_are_merged_and_the_others_named(path, original, tmp_path):
    names = ("R1", "R2", "R3")
    files = {name: returned(path, tmp_path / name, 3, name) for name in names}
    damaged = files["R2"]
    damaged.write_bytes(damaged.read_bytes()[:-40])
    foreign_study = built(tmp_path / "foreign")
    foreign = returned(foreign_study, tmp_path / "f", 2, "R4")
    gone = tmp_path / "gone.triptych-answers"
    error = refused(path, files["R1"], damaged, foreign, gone, files["R3"])
    assert [source for source, _ in error.refused] == [str(damaged), str(foreign), str(gone)]
    told = [why for _, why in error.refused]
    assert "cut or altered" in told[0]
    assert "another study" in told[1]
    assert "no such file" in told[2]
    assert [one.rater for one in error.merged] == ["R1", "R3"]
    assert str(foreign) in str(error)
    with open_study(path) as study:
        assert study.info().raters == (("R1", 3), ("R3", 3))
    assert verify(path) == ()


def test_a_pack_read_in_two_places_is_refused_with_what_to_do(path, tmp_path):
    file = pack_of(path, tmp_path / "stick")
    first, second = (open_pack(laptop(tmp_path / name), file) for name in ("one", "two"))
    read(first, 3)
    read(second, 4)
    one = return_answers(first, tmp_path / "one.triptych-answers")
    two = return_answers(second, tmp_path / "two.triptych-answers")
    merge(path, [str(one)])
    error = refused(path, two)
    assert "read in two places" in str(error)
    assert "two.triptych-answers" in str(error)
    with open_study(path) as study:
        assert study.info().raters == (("Ann Lee", 3),)
    read(first, 2)
    return_answers(first, one)
    assert merge(path, [str(one)])[0].answers == 5


def test_a_restored_backup_that_lost_answers_is_refused(path, tmp_path):
    file = pack_of(path, tmp_path / "stick")
    opened = open_pack(laptop(tmp_path), file)
    read(opened, 2)
    shutil.copytree(opened, tmp_path / "backup")
    read(opened, 2)
    merge(path, [str(return_answers(opened, tmp_path / "a.triptych-answers"))])
    read(tmp_path / "backup", 5)
    other = return_answers(tmp_path / "backup", tmp_path / "b.triptych-answers")
    assert "went another way" in str(refused(path, other))


def test_answers_of_a_replaced_pack_are_refused(path, tmp_path):
    old = returned(path, tmp_path, 3)
    new = make_pack(path, tmp_path / "new.triptych", rater="Ann Lee", again=True)
    assert "replaced by a newer one" in str(refused(path, old))
    opened = open_pack(laptop(tmp_path / "other"), new)
    read(opened, 1)
    good = return_answers(opened, tmp_path / "good.triptych-answers")
    assert merge(path, [str(good)])[0].answers == 1
    with pytest.raises(BadStudy, match="merged already"):
        make_pack(path, tmp_path / "third.triptych", rater="Ann Lee", again=True)


def test_after_unblinding_nothing_is_merged(path, tmp_path):
    file = returned(path, tmp_path, 3)
    unblind(path, PASSPHRASE, "early")
    with pytest.raises(RatingRefused, match="unblinded"):
        merge(path, [str(file)])
    assert verify(path) == ()


def test_a_pack_takes_no_answers_and_is_no_answers(path, tmp_path):
    pack = pack_of(path, tmp_path / "stick")
    assert "This is the pack" in str(refused(path, pack))
    opened = open_pack(laptop(tmp_path), pack)
    read(opened, 1)
    file = return_answers(opened, tmp_path)
    with pytest.raises(BadStudy, match="rater's pack"):
        merge(opened, [str(file)])


def test_no_altered_byte_is_accepted(back, tmp_path):
    path, file = back
    content, rng = file.read_bytes(), random.Random(3)
    frame, pack = opened_of(path)
    fitting.check(read_answers(content), frame, pack)
    for _ in range(2000):
        spoilt = bytearray(content)
        for _ in range(rng.choice((1, 1, 1, 3, 30))):
            spoilt[rng.randrange(len(spoilt))] ^= rng.randrange(1, 256)
        spoilt = spoilt[: rng.choice((len(spoilt), len(spoilt), rng.randrange(len(spoilt))))]
        if rng.random() < 0.1:
            spoilt += bytes([rng.randrange(256)])
        with pytest.raises(BadAnswers):
            fitting.check(read_answers(bytes(spoilt)), frame, pack)
    spoilt_file = tmp_path / "spoilt.triptych-answers"
    spoilt_file.write_bytes(bytes(spoilt))
    assert "spoilt.triptych-answers" in str(refused(path, spoilt_file))


def test_no_altered_value_is_accepted(back):
    """The same, one value of the document at a time, written in canonical form."""
    path, file = back
    frame, pack = opened_of(path)
    document, rng = json.loads(file.read_bytes()), random.Random(5)
    for _ in range(400):
        changed = json.loads(json.dumps(document))
        _change(changed, rng)
        if changed == document:
            continue
        with pytest.raises(BadAnswers):
            fitting.check(read_answers(canonical(changed)), frame, pack)


def _change(node, rng):
    """Change one value somewhere below."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    key = rng.choice(keys)
    if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.9:
        return _change(node[key], rng)
    odd = (None, True, -1, 10**30, 1.5, "", "left", "Bob", [], {}, [[1]], "\x00", "é")
    if rng.random() < 0.2:
        del node[key]
    else:
        node[key] = rng.choice(odd)
    return None


def forge(path, file, change):
    """A document changed by whoever has the pack's own key: chained and signed anew."""
    opened = read_answers(file.read_bytes())
    frame, pack = opened_of(path)
    changed = change(opened)
    entries, previous = [], changed.study
    for number, entry in enumerate(changed.entries, start=1):
        made = replace(entry, number=number, previous=previous, hash="")
        made = replace(made, hash=chain.entry_hash(made))
        entries.append(made)
        previous = made.hash
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    (folder,) = laptop(file.parent / "Ann Lee").studies.iterdir()
    with open_study_store(folder) as store:
        seat = stored.seat_row(store)
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seat.private_key))
    unsigned = replace(changed, entries=tuple(entries), signature="")
    return replace(unsigned, signature=key.sign(unsigned.signed_part()).hex()), frame, pack


def _entry(answers, which, **values):
    entries = list(answers.entries)
    place = next(n for n, entry in enumerate(entries) if entry.action == which)
    entries[place] = replace(entries[place], **values)
    return replace(answers, entries=tuple(entries))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a: _entry(a, "answer", answer="A"), "holds no answer"),
        (lambda a: _entry(a, "answer", answer="cannot"), "holds no answer"),
        (lambda a: _entry(a, "answer", position=40), "did not stand"),
        (lambda a: _entry(a, "answer", item_id="other"), "did not stand"),
        (lambda a: _entry(a, "answer", kind="warmer"), "did not stand"),
        (lambda a: _entry(a, "answer", answer_ms=-5), "number"),
        (lambda a: _entry(a, "answer", confidence=4), "number"),
        (lambda a: _entry(a, "answer", usefulness={"left1": 9}), "number"),
        (lambda a: _entry(a, "answer", usefulness={"left9": 1}), "number"),
        (lambda a: _entry(a, "answer", answer_ms=10**30), "number"),
        (lambda a: _entry(a, "answer", at_utc="=cmd|x"), "a time or a name"),
        (lambda a: _entry(a, "answer", at_utc=""), "a time or a name"),
        (lambda a: _entry(a, "answer", shown_utc="/home/ann/me"), "a time or a name"),
        (lambda a: _entry(a, "answer", session_id="=1+1"), "a time or a name"),
        (lambda a: _entry(a, "order", software="Ann's own"), "a time or a name"),
        (lambda a: _entry(a, "answer", rater="Bob"), "no place"),
        (lambda a: _entry(a, "answer", action="unblind"), "no place"),
        (lambda a: _entry(a, "answer", action="merge"), "no place"),
        (lambda a: _entry(a, "order", note="ab"), "order or profile"),
        (lambda a: replace(a, entries=(*a.entries, a.entries[-1])), "has its answer"),
        (lambda a: replace(a, entries=(a.entries[0], *a.entries)), "order or profile"),
        (lambda a: replace(a, entries=a.entries[1:]), "before its rater"),
        (lambda a: replace(a, entries=()), "sat down"),
        (lambda a: replace(a, rater="Bob"), "handed to Ann Lee"),
        (lambda a: replace(a, seats=()), "handed to Ann Lee"),
        (lambda a: replace(a, seats=a.seats * 2), "handed to Ann Lee"),
        (lambda a: replace(a, study="0" * 64), "another study"),
        (
            lambda a: replace(
                a, seats=(replace(a.seats[0], order=tuple(reversed(a.seats[0].order))),)
            ),
            "not the one that the study draws",
        ),
        (
            lambda a: replace(
                a, seats=(replace(a.seats[0], rater=replace(a.seats[0].rater, name="Bob")),)
            ),
            "not whom the pack was handed to",
        ),
        (
            lambda a: replace(
                a, seats=(replace(a.seats[0], rater=replace(a.seats[0].rater, years=10**9)),)
            ),
            "not whom the pack was handed to",
        ),
        (
            lambda a: replace(
                a, seats=(replace(a.seats[0], rater=replace(a.seats[0].rater, years=30)),)
            ),
            "order or profile",
        ),
    ],
)  # fmt: skip
def test_even_the_pack_s_own_key_cannot_sign_what_was_never_done(back, change, told):
    path, file = back
    forged, frame, pack = forge(path, file, change)
    with pytest.raises(BadAnswers, match=told):
        fitting.check(forged, frame, pack)
    forged, frame, pack = forge(path, file, lambda answers: answers)
    fitting.check(forged, frame, pack)


def test_answers_replayed_for_another_rater_are_refused(path, tmp_path):
    mine = returned(path, tmp_path / "a", 3, "R1")
    pack_of(path, tmp_path / "b", "R2")
    with open_study(path) as study:
        other = next(row for row in stored.packs(study.store) if row.rater == "R2")
    document = json.loads(mine.read_bytes())
    for changes in ({"pack_id": other.pack_id}, {"pack_id": other.pack_id, "rater": "R2"}):
        replayed = tmp_path / "replayed.triptych-answers"
        replayed.write_bytes(canonical({**document, **changes}))
        assert "signature" in str(refused(path, replayed))
    strange = tmp_path / "strange.triptych-answers"
    strange.write_bytes(canonical({**document, "pack_id": "0" * 12}))
    assert "did not hand out" in str(refused(path, strange))


def test_a_signature_of_another_key_is_refused(back):
    path, file = back
    (folder,) = laptop(file.parent / "Ann Lee").studies.iterdir()
    with open_study_store(folder) as store:
        seat = stored.seat_row(store)
        private, _ = new_keys()
        forged = collect(store, pack_id=seat.pack_id, rater=seat.rater, private_key=private)
        unsigned = collect(store, pack_id=seat.pack_id, rater=seat.rater)
    for answers in (forged, unsigned):
        with pytest.raises(BadAnswers, match="signature"):
            fitting.check(answers, *opened_of(path))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no answers"),
        (b"null", "no answers"),
        (b"[]", "no answers"),
        (b'{"format":"triptych-answers-2"}', "newer version"),
        (b'{"format":"other"}', "no answers"),
        (b'{"format":"triptych-answers-1"}', "no answers"),
        (b"[" * 100_000, "no answers"),
        (b'{"format":"triptych-answers-1","a":' + b"9" * 6000 + b"}", "no answers"),
        (b"\xff\xfe", "no answers"),
        (b'{"format":NaN}', "no answers"),
    ],
)
def test_files_that_are_no_answers_are_refused(path, tmp_path, content, told):
    file = tmp_path / "odd.triptych-answers"
    file.write_bytes(content)
    error = refused(path, file)
    assert told in str(error)
    assert "odd.triptych-answers" in str(error)


def test_what_is_kept_is_checked_again(path, tmp_path):
    merge(path, [str(returned(path, tmp_path, 3))])
    with open_study_store(path) as store:
        content = stored.returns(store)[0].content.replace(b"chest", b"brain")
        with store.session() as connection:
            connection.exec_driver_sql("DROP TRIGGER returned_no_update")
            connection.exec_driver_sql("UPDATE returned SET content = ?", (content,))
    assert any("altered" in fault for fault in verify(path))
    with open_study(path) as study, pytest.raises(BadAnswers, match="backup"):
        ledger.whole_log(study.store)


def test_two_raters_of_one_name_are_told_apart(path, tmp_path):
    file = returned(path, tmp_path, 2)
    with open_study_store(path) as store:
        row = study_items.RaterRow("Ann Lee")
        study_items.add_rater(store, row, [], "ee")
    assert "answers from elsewhere" in str(refused(path, file))


def test_no_preference_is_ever_printed(path, tmp_path):
    (one,) = merge(path, [str(returned(path, tmp_path, EVERY))])
    with open_study(path) as study:
        told = f"{one} {study.info()}"
    for word in ("left", "right", "both", "neither"):
        assert f"{word}" not in told.replace("neither_", "")
