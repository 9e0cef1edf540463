"""Every further table of a run, in the order in which they are shown.

Owns only that order and which of them a run has; each table is made by a module of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from db.home import Home
from studies.results_cross import cross_section
from studies.results_free import free_section
from studies.results_graded import graded_section, load_graded
from studies.results_groups import anatomy_section, load_lengths, target_section
from studies.results_own import own_section
from studies.results_paper import paper_sections
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.results import Results


def further_sections(home: Home, results: Results, *, paper: bool) -> tuple[Section, ...]:
    """Own data, then of the benchmark alone region and form, target length, graded relevance,
    across sources, without instructions.

    Args:
        home: where rankings are stored.
        results: of one data root.
        paper: also the printed numbers and the differences from them.

    Raises:
        BadTaskFile: a table of groups or of gains cannot be read.
    """
    own = own_section(results)
    results = results.benchmark
    graded = load_graded(home, results)
    found = [
        own,
        anatomy_section(results),
        target_section(results, load_lengths(home, results)),
        graded_section(graded, paper=paper, generated=results.generated),
        cross_section(home, results, paper=paper),
        free_section(results),
        *(paper_sections(results, graded) if paper else ()),
    ]
    return tuple(section for section in found if section is not None and section.rows)
