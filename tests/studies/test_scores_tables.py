"""Further tables of a run: groups, lengths, graded relevance, differences, formats."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from studies.errors import BadTaskFile, NoRun
from studies.medheb.anatomy import ANATOMY, TARGETS, UNKNOWN, Group, load_groups
from studies.medheb.lengths import measure
from studies.medheb.paper import GENERATED, GUESS, ILAB, compare, printed
from studies.medheb.tasks import FAMILIES, load_tasks
from studies.results import to_json, to_markdown, to_text
from studies.results_compare import compare_models, pair_document, pair_sections
from studies.results_csv import to_csv
from studies.results_free import load_free
from studies.results_graded import graded_section, load_graded
from studies.results_groups import by_anatomy, by_target, load_lengths
from studies.results_latex import to_latex
from studies.results_more import further_sections
from studies.results_paper import SPREAD, load_gaps, reasons
from studies.results_sections import Section, section_latex, section_text
from tests.studies.results_home import OTHER, run_once


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return run_once(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def results(ran):
    return ran.results()


def test_every_task_of_the_paper_has_its_groups():
    tasks = load_tasks()
    groups = load_groups(tasks)
    assert len(groups) == 107
    assert all(group.anatomy in ANATOMY and group.target in TARGETS for group in groups.values())
    assert groups["mrnet/t2i"] == Group("musculoskeletal", "picture")
    assert groups["m3d_vqa/vqa"] == Group("abdomen_pelvis", "VQA answer")
    assert groups["mmdental/t2t"] == Group("neuro_head_neck", "long text")
    count = {kind: sum(g.target == kind for g in groups.values()) for kind in TARGETS}
    assert count == {"short label": 22, "VQA answer": 11, "long text": 14, "picture": 60}


def test_groups_agree_with_the_cards_of_the_sources():
    from studies.medheb.builders.catalogue import source_cards

    groups = load_groups(load_tasks())
    for card in source_cards():
        for plan in card.plans:
            assert groups[plan.task].anatomy == card.anatomy, plan.task


def test_a_root_may_have_groups_of_its_own(tmp_path):
    tasks = load_tasks()
    table = tmp_path / "task_groups.csv"
    table.write_text("id,anatomy,target\nkvasir/i2i,pathology,picture\n", encoding="utf-8")
    assert load_groups(tasks, tmp_path)["kvasir/i2i"].anatomy == "pathology"
    assert load_groups(tasks, tmp_path)["mrnet/i2i"].anatomy == "musculoskeletal"
    table.write_text("id,anatomy,target\nkvasir/i2i,elbow,picture\n", encoding="utf-8")
    with pytest.raises(BadTaskFile, match="elbow"):
        load_groups(tasks, tmp_path)


def test_lengths_are_measured():
    found = measure(["no tumor", "a b c d", "no tumor"])
    assert found is not None
    assert (found.words, found.texts, found.distinct) == (pytest.approx(8 / 3), 3, 2)
    assert found.characters == pytest.approx((8 + 7 + 8) / 3)
    assert measure([]) is None


def test_group_means_are_macro_means_over_all_their_tasks(results):
    groups = by_anatomy(results)
    assert {g.name[0] for g in groups} == {UNKNOWN, "abdomen_pelvis"}
    assert sum(len(g.tasks) for g in groups) == sum(g.of for g in groups) == 10
    whole = next(line for line in results.models if line.model == "random").columns["All"]
    again = sum(g.models["random"].values["hit@1"] * len(g.tasks) for g in groups) / 10
    assert again == pytest.approx(whole.values["hit@1"])
    (organs,) = [g for g in groups if g.name[0] == "abdomen_pelvis"]
    assert organs.chance.values["hit@1"] == pytest.approx(25)


def test_target_lengths_come_from_the_run(ran, results):
    lengths = load_lengths(ran.home, results)
    assert set(lengths) == {"chest/i2l", "knee/i2r", "path/vqa", "notes/t2t"}
    assert lengths["chest/i2l"].words == pytest.approx((1 + 1 + 2) / 3)
    assert lengths["path/vqa"].words == 2
    assert lengths["knee/i2r"].words == 7
    assert [g.name[0] for g in by_target(results)] == ["short label", "VQA answer", "long text"]


def test_graded_relevance_comes_from_the_stored_rankings(ran, results):
    graded = load_graded(ran.home, results)
    assert [task.task for task in graded.tasks] == ["organamnist/i2i"]
    (task,) = graded.tasks
    assert (task.queries, task.left_out) == (6, 6), "liver and spleen have no side"
    assert graded.models["random"]["Laterality"].tasks == 1
    assert graded.floor["All"] < graded.models["random"]["All"].value <= 100
    section = graded_section(graded, paper=True)
    assert section is not None
    assert ("MedEmb-8B (paper)", "87.0", "92.0", "77.6", "87.0", "83.3") in section.rows
    assert section.document["paper"]["BLIP-2"]["Laterality"] == 32.02
    assert any(note.startswith("Laterality: under our gains") for note in section.notes)


def test_the_printed_severity_is_below_what_ordinal_gains_allow():
    """Why the ordinal credit cannot be the paper's, in numbers."""
    from studies.medheb.gains import worst_ndcg
    from studies.medheb.graded import load_scales

    floors = []
    for scale in load_scales():
        if scale.relation == "Severity":
            gains = [[scale.gain(q, c) for c in scale.levels] for q in scale.levels]
            floors.append(100 * np.mean([worst_ndcg(each, 5) for each in gains]))
    rows = printed("table5", "ndcg@5")
    assert min(row["Severity"] for row in rows.values()) < min(floors)


def test_without_its_data_a_run_names_what_cannot_be_graded(ran, results):
    gone = replace(results, root=str(ran.root / "gone"))
    graded = load_graded(ran.home, gone)
    assert "is not there" in str(graded.tasks[0].missing)
    assert graded_section(graded, paper=False) is None


def test_two_models_are_compared_query_by_query(ran, results):
    pair = compare_models(ran.home, results, "random", OTHER, metric="mrr@5")
    assert len(pair.tasks) == 10
    by_id = {line.task.id: line for line in results.tasks}
    for task, one in pair.tasks.items():
        scores = by_id[task].scores
        gap = scores["random"].score.values["mrr@5"] - scores[OTHER].score.values["mrr@5"]
        assert one.value == pytest.approx(gap, abs=1e-6)
        assert one.interval[0] <= one.value <= one.interval[1]
        assert one.holm >= one.p
    assert pair.tasks["skin/i2i"].value == 0, "pictures do not know of slices"
    assert pair.tasks["skin/i2i"].p == 1
    lines = {line.model: line for line in results.models}
    for name, one in {**pair.families, **pair.splits}.items():
        gap = lines["random"].columns[name].values["mrr@5"]
        gap -= lines[OTHER].columns[name].values["mrr@5"]
        assert one.value == pytest.approx(gap, abs=1e-6), name
    assert pair.splits["All"].holm is None
    assert set(pair.families) == set(FAMILIES)
    document = json.loads(json.dumps(pair_document(pair)))
    assert document["families"]["I-I"]["tasks"] == 2
    texts = [section_text(section) for section in pair_sections(pair)]
    assert "random minus" in texts[0]
    assert "2/2" in texts[0]


def test_comparing_needs_two_models_that_were_run(ran, results):
    with pytest.raises(NoRun, match="there are: random"):
        compare_models(ran.home, results, "random", "siglip-nano")
    with pytest.raises(NoRun, match="two different"):
        compare_models(ran.home, results, "random", "random")


def test_a_model_without_its_instruction_stands_beside_itself(results):
    bare = "random@instruction_slot=drop"
    lines = [
        replace(line, scores={**line.scores, bare: line.scores[OTHER]}) for line in results.tasks
    ]
    told = [
        replace(line, task=replace(line.task, qry_inst="Find:" if line.task.family != "VG" else ""))
        for line in lines
    ]
    model = replace(next(m for m in results.models if m.model == OTHER), model=bare)
    both = replace(results, tasks=tuple(told), models=(*results.models, model))
    (free,) = load_free(both)
    assert (free.model, free.without) == ("random", bare)
    assert free.columns["All"][1] == 9, "one task has no instruction"
    assert free.columns["T-T"] == (0.0, 1)
    assert "VG" not in free.columns
    assert load_free(results) == ()


def full_paper_results(results):
    """A run over the paper's 107 tasks, every cell the same, by a model of the paper."""
    cell = results.tasks[0].scores["random"]
    name = "qwen3-vl-embedding-2b"
    line = results.tasks[0]
    tasks = tuple(
        replace(line, task=task, scores={name: cell}, pool="rows") for task in load_tasks()
    )
    from studies.results import _chance_line, _model_line

    return replace(
        results, tasks=tasks, models=(_model_line(name, tasks),), chance=_chance_line(tasks)
    )


def test_differences_from_the_paper(results):
    whole = full_paper_results(results)
    gaps = load_gaps(whole)
    assert {gap.table for gap in gaps} == {"table4", "table7", "table8"}
    ours = whole.tasks[0].scores["qwen3-vl-embedding-2b"].score.values["hit@1"]
    gap = next(g for g in gaps if (g.metric, g.column) == ("hit@1", "T-T"))
    assert gap.paper == "Qwen3-VL-Embed-2B"
    assert gap.difference == pytest.approx(ours - 57.32)
    spread = {g.column: g for g in gaps if g.table == "table7"}
    assert set(spread) == set(SPREAD)
    assert spread["mean"].difference == pytest.approx(ours - 21.91)
    assert spread["std"].ours == pytest.approx(0)
    assert reasons(whole) == {"I-Lab": [ILAB]}, "lists of an imported file need no other excuse"


def test_a_difference_is_refused_where_the_tasks_differ(results):
    whole = full_paper_results(results)
    part = replace(whole.tasks[-1], scores={}, missing="gone")
    from studies.results import _chance_line, _model_line

    tasks = (*whole.tasks[:-1], part)
    name = whole.models[0].model
    less = replace(
        whole, tasks=tasks, models=(_model_line(name, tasks),), chance=_chance_line(tasks)
    )
    found = {(g.metric, g.column): g for g in load_gaps(less)}
    assert found["hit@1", "T-T"].difference is None
    assert found["hit@1", "All"].difference is None
    assert found["hit@1", "cv"].difference is None
    assert found["hit@1", "I-I"].difference is not None
    assert "in common 6" in " ".join(reasons(less)["T-T"])


def test_generated_data_compare_with_nothing(results, tmp_path):
    from studies.medheb.mini.job import MARK

    whole = replace(full_paper_results(results), root=str(tmp_path))
    assert any(gap.difference is not None for gap in load_gaps(whole))
    (tmp_path / MARK).write_text("{}", encoding="utf-8")
    assert set(whole.paper().marks.values()) == {GENERATED}
    assert all(gap.difference is None for gap in load_gaps(whole))


def test_label_pools_that_fit_the_print_are_marked_as_a_guess():
    tasks = load_tasks()
    ours = {task.id: "labels:fixed" for task in tasks}
    assert compare(tasks, [], pools=ours).marks == {"I-Lab": GUESS.format(pool="labels:fixed")}
    mixed = {**ours, "kvasir/i2l": "labels:source"}
    assert compare(tasks, [], pools=mixed).marks == {"I-Lab": ILAB}


def test_our_lists_bring_their_reasons(results):
    whole = full_paper_results(results)
    made = replace(whole, tasks=tuple(replace(t, pool="exemplars") for t in whole.tasks))
    why = reasons(made)
    assert any("one picture of each class" in text for text in why["T-I"])
    assert all(any("drawn anew" in text for text in why[c]) for c in ("ID", "All", "VQA"))


def test_a_model_with_fewer_tasks_is_marked_in_every_table(results):
    name = OTHER
    from studies.results import _model_line

    tasks = tuple(
        replace(t, scores={m: c for m, c in t.scores.items() if m != name})
        if t.task.family == "T-T"
        else t
        for t in results.tasks
    )
    lines = tuple(_model_line(line.model, tasks) for line in results.models)
    part = replace(results, tasks=tasks, models=lines)
    other = next(line for line in lines if line.model == name)
    assert part.fewer(other) == {"ID": (9, 10), "All": (9, 10)} or "All" in part.fewer(other)
    text = to_text(part)
    assert f"~ {name}: mean over fewer tasks than others have" in " ".join(text.split())
    assert "~" in to_markdown(part)
    assert "~" in to_latex(part) or "textasciitilde" in to_latex(part)


def test_latex_tells_lost_rows_and_mixed_ways(results):
    name, first = results.models[0].model, results.tasks[0]
    cell = first.scores[name]
    other = {**cell.record, "dtype": "bfloat16"}
    scores = {**first.scores, name: replace(cell, failed=3, record=other)}
    short = replace(results, tasks=(replace(first, scores=scores), *results.tasks[1:]))
    text = to_latex(short)
    assert ": 3 rows in 1 tasks were not scored." in text
    assert "computed in 2 ways" in text
    assert "not scored" not in to_latex(results)
    assert "ways" not in to_latex(results)


def test_every_format_tells_the_same_numbers(ran, results):
    sections = further_sections(ran.home, results, paper=True)
    names = [section.name for section in sections]
    assert names[:3] == ["anatomy", "targets", "graded"]
    document = json.loads(json.dumps(to_json(results, compare_paper=True, sections=sections)))
    assert {"anatomy", "targets", "graded"} <= document.keys()
    text = to_text(results, compare_paper=True, sections=sections)
    assert max(map(len, text.splitlines())) <= 100
    markdown = to_markdown(results, compare_paper=True, sections=sections)
    assert "## Hit@1 (%) by region of the body and form of evidence" in markdown
    rows = list(csv.DictReader(io.StringIO(to_csv(results, compare_paper=True))))
    whole = next(line for line in results.models if line.model == "random").columns["All"]
    (row,) = [
        r for r in rows
        if (r["level"], r["name"], r["model"], r["metric"]) == ("mean", "All", "random", "hit@1")
    ]  # fmt: skip
    assert float(row["value"]) == pytest.approx(whole.values["hit@1"], abs=1e-4)
    assert (row["tasks"], row["of"]) == ("10", "10")
    tasks = [r for r in rows if r["level"] == "task" and r["model"] == "random"]
    assert len(tasks) == 30
    assert {r["origin"] for r in rows} == {"computed", "exact", "paper"}


def test_wide_tables_stay_within_the_terminal():
    names = [f"organisation/model-number-{place}" for place in range(30)]
    rows = tuple((f"row {r}", *(f"{r}.{place:02d} 3/20" for place in range(30))) for r in range(3))
    text = section_text(Section("x", "A wide table", ("row", *names), rows))
    assert max(map(len, text.splitlines())) <= 100
    shown = " ".join(text.split())
    assert "A organisation/model-number-0," in shown
    assert "D1 organisation/model-number-29" in shown
    assert all(cell in text for row in rows for cell in row)
    small = section_text(Section("x", "Small", ("row", names[0]), ((("a", "1.0")),)))
    assert names[0] in small


def test_latex_is_whole_and_escaped(ran, results):
    sections = further_sections(ran.home, results, paper=False)
    text = to_latex(results, compare_paper=True, sections=sections)
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}")
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule")
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert body
    assert "random@max\\_slices=3" in text
    assert not any("_" in line.replace(r"\_", "") for line in body)
    for section in sections:
        widths = {
            line.count(" & ") for line in section_latex(section).splitlines() if " & " in line
        }
        assert widths == {len(section.head) - 1}
