"""Items that ask the reverse of others: passed over where there are others, else flagged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from db.home import Home
from engine.control import Control
from engine.evidence.item import ImageRef, Item
from studies.medheb.mini.job import mini_job
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.gather import tables_of
from studies.preference.build import build_from
from studies.preference.draw import Drawing
from studies.preference.key import key_from_bytes
from studies.preference.kit.methods import methods_text
from studies.preference.lists import Comparison, Listed
from studies.preference.media import MediaPool
from studies.preference.mirrors import asked_of, mirrored, taken_of
from studies.preference.sealing import unseal
from studies.preference.unblind import load_unblinded, unblind
from studies.preference.verify import KEY, verify
from tests.studies.preference_material import PASSPHRASE, material, wish

THERE, BACK = "hiddensource/ct-mri", "hiddensource/mri-ct"
PAIRS = {THERE: BACK, BACK: THERE}


def words(task: str, row: int) -> Item:
    return Item(text=f"{task[-3:]} of patient {row}")


def both_ways(count: int, *, shown: str = "shown") -> dict[str, tuple[Comparison, ...]]:
    """Two tasks in which every query is the right answer to one of the other."""
    made: dict[str, tuple[Comparison, ...]] = {}
    for task, other in PAIRS.items():
        names = [f"{other}-{row}" for row in range(count)]
        listed = [Listed(name, words(other, row)) for row, name in enumerate(names)]
        rows = []
        for row in range(count):
            away = 0 if shown == "shown" else 3
            order = [listed[(row + step + away) % count] for step in range(3)]
            rows.append(
                Comparison(
                    task_id=task, family="MB-VR", form="text", split="id", row=row,
                    query=words(task, row), gold=names[row], gold_item=listed[row].item,
                    list_a=tuple(order), list_b=tuple(reversed(order)),
                )
            )  # fmt: skip
        made[task] = tuple(rows)
    return made


def drawn(tmp_path: Path, comparisons, **asked):
    """The sample of a study of these comparisons."""
    from_two = replace(material(tmp_path, per_task=2), comparisons=comparisons)
    drawing = Drawing(wish(**asked), MediaPool(lambda row: None), {}, Control())
    return drawing.run(from_two)


def rows_of(items, task):
    return {one.comparison.row for one in items if one.comparison.task_id == task}


@pytest.mark.parametrize("seed", range(6))
def test_the_reverse_is_passed_over_while_there_are_others(tmp_path, seed):
    items = drawn(tmp_path, both_ways(12), total=10, seed=seed, warmup=2)
    there, back = rows_of(items, THERE), rows_of(items, BACK)
    assert len(items) == len(there) + len(back) == 12
    assert not there & back
    assert not any("mirrored" in one.flags for one in items)
    again = drawn(tmp_path, both_ways(12), total=10, seed=seed, warmup=2)
    assert (rows_of(again, THERE), rows_of(again, BACK)) == (there, back)


def test_what_is_first_is_drawn_as_if_there_were_no_reverse(tmp_path):
    alone = {task: both_ways(12)[task] for task in (THERE,)}
    first = rows_of(drawn(tmp_path, both_ways(12), total=10), THERE)
    assert first == rows_of(drawn(tmp_path, alone, total=5), THERE)
    others = {seed: rows_of(drawn(tmp_path, both_ways(12), total=10, seed=seed), BACK)
              for seed in (1, 2, 3)}  # fmt: skip
    assert len(set(map(frozenset, others.values()))) > 1


def test_what_cannot_be_avoided_is_flagged(tmp_path):
    items = drawn(tmp_path, both_ways(8), total=12)
    there, back = rows_of(items, THERE), rows_of(items, BACK)
    assert len(there & back) == 4  # of eight patients twelve items: no fewer are possible
    flagged = {one.comparison.row for one in items if "mirrored" in one.flags}
    assert flagged == there & back
    assert sum("mirrored" in one.flags for one in items) == 8


def test_an_answer_that_neither_list_holds_tells_nothing(tmp_path):
    items = drawn(tmp_path, both_ways(8, shown="hidden"), total=16)
    assert rows_of(items, THERE) == rows_of(items, BACK) == set(range(8))
    assert not any("mirrored" in one.flags for one in items)
    there = both_ways(4)[THERE][0]
    back = replace(both_ways(8, shown="hidden")[BACK][0], gold_item=words(THERE, 0))
    assert taken_of([there]).meets(back)
    assert mirrored({"there": there, "back": back}) == {"back"}
    assert taken_of([back]).meets(there)  # then the one drawn before would be told of


def test_evidence_is_known_by_its_files_not_by_its_question():
    there = both_ways(4)[THERE][0]
    left, right = ImageRef(Path("a.png")), ImageRef(Path("a.png"), box=(0, 0, 9, 9))
    asks = replace(there, query=Item("Which?", (left,)), gold_item=Item("yes"))
    answers = replace(there, query=Item(" yes "), gold_item=Item(images=(left,)))
    assert asked_of(answers) == asked_of(asks)[::-1]
    assert asked_of(replace(answers, gold_item=Item(images=(right,)))) != asked_of(asks)[::-1]
    for nothing in (replace(asks, gold=None), replace(asks, gold_item=None),
                    replace(asks, gold_item=Item(images=(left,)))):  # fmt: skip
        assert asked_of(nothing) is None
        assert not taken_of([asks]).meets(nothing)


def test_the_flag_is_in_the_key_alone_and_counted_in_the_methods(tmp_path):
    home = Home(tmp_path / "home").make()
    source = replace(material(tmp_path, per_task=2), comparisons=both_ways(8))
    built = build_from(home, source, wish(total=12))
    assert not any("mirrored" in note for note in built.notes)
    for path in built.path.iterdir():
        assert b"mirrored" not in path.read_bytes(), path.name
    key = key_from_bytes(unseal((built.path / KEY).read_bytes(), PASSPHRASE))
    assert sum("mirrored" in one.flags for one in key.items.values()) == 8
    unblind(built.path, PASSPHRASE, "read")
    assert verify(built.path) == ()
    tables = tables_of(load_unblinded(built.path))
    analysis = analyse(tables, draws=10)
    assert "8 items whose query another shows with its right answer were left" in methods_text(
        tables, analysis
    )
    earlier = replace(tables, facts={**tables.facts, "mirrored": ""})
    assert "is not recorded" in methods_text(earlier, analysis)
    unknown = tuple(replace(one, stratum="unknown") for one in tables.items)
    assert "reverse of" not in methods_text(replace(tables, items=unknown), analysis)


@pytest.fixture(scope="module")
def bridges(tmp_path_factory):
    """Comparisons of both directions of real layouts, the right answer first in both lists."""
    data = tmp_path_factory.mktemp("mini") / "data"
    mini_job(None, {"data": str(data), "sources": ["brats", "synthrad2023_pelvis"]}, Control())
    made = {}
    for task in load_tasks(data):
        if task.source in ("brats", "synthrad2023_pelvis"):
            queries = read_task(task, data).queries
            known = {one.name: one for query in queries for one in query.candidates}
            made[task.id] = tuple(_comparison(task, one, known) for one in queries)
    return made


def _comparison(task, query, known):
    others = [name for name in known if name != query.gold][:3]
    first, second = [query.gold, *others[:2]], [query.gold, *others[1:3]]
    return Comparison(
        task_id=task.id, family=task.family, form=task.form, split=task.split, row=query.row,
        query=query.item, gold=query.gold, gold_item=known[query.gold].item,
        list_a=tuple(Listed(name, known[name].item) for name in first),
        list_b=tuple(Listed(name, known[name].item) for name in second),
    )  # fmt: skip


def test_both_directions_of_the_miniature_are_known_and_kept_apart(bridges, tmp_path):
    counts = {task: len(rows) for task, rows in bridges.items()}
    assert len(counts) == 4
    for there, back in (("brats/t1-t2", "brats/t2-t1"),
                        ("synthrad2023_pelvis/mri-ct", "synthrad2023_pelvis/ct-mri")):  # fmt: skip
        asked = {asked_of(one) for one in bridges[there]}
        assert {asked_of(one)[::-1] for one in bridges[back]} == asked
        assert len(asked) == counts[there] >= 5
    items = drawn(tmp_path, bridges, total=8)
    assert len(items) == 8
    assert not any("mirrored" in one.flags for one in items)
    every = drawn(tmp_path, bridges, total=sum(counts.values()))
    assert all("mirrored" in one.flags for one in every)
