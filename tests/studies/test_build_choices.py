"""Splits by group, level caps, exemplars: every random choice of a build, from the seed alone."""

from __future__ import annotations

from collections import Counter

import pytest

from studies.errors import StudyError
from studies.medheb.builders import choose
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card, source_cards
from studies.medheb.builders.record import Record
from studies.medheb.builders.rows import MAKERS
from studies.medheb.tasks import load_tasks


def records(per_class: dict[str, int], per_group: int = 2) -> list[Record]:
    return [
        Record(f"{label}-{place}", f"{label}-{place // per_group}", labels=(label,))
        for label, count in per_class.items()
        for place in range(count)
    ]


def test_a_split_keeps_groups_whole_and_classes_level():
    every = records({"a": 40, "b": 20, "c": 4})
    tested = choose.side_of_test(every)
    groups = {record.group for record in tested}
    assert all((record.group in groups) == (record in tested) for record in every)
    assert Counter(record.labels[0] for record in tested) == {"a": 12, "b": 6, "c": 2}


def test_a_split_does_not_depend_on_the_order_of_files_and_follows_the_seed():
    every = records({"a": 30, "b": 30})
    keys = {record.key for record in choose.side_of_test(every)}
    assert {record.key for record in choose.side_of_test(every[::-1])} == keys
    assert {record.key for record in choose.side_of_test(every, seed=7)} != keys


def test_an_official_part_is_taken_as_it_is():
    every = [Record("1", "g", "train"), Record("2", "g", "test"), Record("3", "h", "valid")]
    assert [record.key for record in choose.side_of_test(every)] == ["2"]


def test_a_cap_levels_classes_and_refills_from_the_rest():
    every = records({"a": 100, "b": 100, "c": 3})
    kept = choose.level(every, 30, 42)
    counts = Counter(record.labels[0] for record in kept)
    assert len(kept) == 30
    assert counts["c"] == 3
    assert min(counts["a"], counts["b"]) >= 10
    assert kept == [record for record in every if record in kept]
    assert choose.level(every, 1000, 42) == every
    assert len(choose.capped(every, 50, 42)) == 50


def test_exemplars_hold_no_second_of_the_queried_class_and_none_of_the_same_group():
    every = records({"a": 8, "b": 8, "c": 8})
    classes = {name: [r for r in every if r.labels[0] == name] for name in "abc"}
    for query in every:
        others = choose.one_each(classes, query, 42, salt="x")
        assert [record.labels[0] for record in others] == [n for n in "abc" if n != query.labels[0]]
        assert all(record.group != query.group for record in others)


def test_only_single_labels_count():
    two = Record("1", "1", labels=("a", "b"))
    none, one = Record("2", "2"), Record("3", "3", labels=("a",))
    assert choose.single_label([two, none, one]) == [one]


@pytest.mark.parametrize("card", source_cards(), ids=lambda card: card.id)
def test_every_card_names_tasks_makers_and_settings_that_exist(card):
    tasks = {task.id: task for task in load_tasks()}
    assert card.plans
    for plan in card.plans:
        assert plan.make in MAKERS
        assert plan.task in tasks
        assert (tasks[plan.task].split == "held-out") == card.held_out
    for choice in card.settings:
        assert not choice.values or choice.default in choice.values, choice.name
        assert choice.why
    assert settle(card, {})["seed"] == 42


def test_no_task_is_built_by_two_sources_and_no_id_is_given_twice():
    plans = Counter(plan.task for card in source_cards() for plan in card.plans)
    assert max(plans.values()) == 1
    names = Counter(name for card in source_cards() for name in (card.id, *card.aliases))
    assert max(names.values()) == 1


def test_settings_are_typed_and_refused_in_words():
    card = source_card("kvasir")
    assert settle(card, {"cap": "50", "wording": "folder"})["cap"] == 50
    for given, says in (
        ({"cap": "many"}, "must be a whole number"),
        ({"wording": "latin"}, "one of"),
        ({"colour": 1}, "no setting"),
    ):
        with pytest.raises(StudyError, match=says):
            settle(card, given)
    with pytest.raises(StudyError, match="no source 'nothing'"):
        source_card("nothing")
