"""Every figure of the kit as PNG, SVG and PDF; equal numbers give equal files.

Owns which figures there are and their names. Drawing is in ``bars``, ``forest``, ``checks`` and
``flow``.
"""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from studies.figures.files import FORMATS, figure_bytes, styled
from studies.preference.analysis.schema import Analysis
from studies.preference.kit.bars import stacked_bars
from studies.preference.kit.checks import checks
from studies.preference.kit.flow import flow_diagram
from studies.preference.kit.forest import forest


def figure_files(analysis: Analysis) -> dict[str, bytes]:
    """Draw all of them; file name to bytes.

    Args:
        analysis: the study's.
    """
    found = {}
    for name, draw in drawings(analysis).items():
        with styled():
            figure = draw()
            for form in FORMATS:
                told = f"study hash {analysis.hash or '-'}"
                found[f"{name}.{form}"] = figure_bytes(figure, form, told=told)
    return found


def drawings(analysis: Analysis) -> dict[str, Callable[[], Figure]]:
    """Name of the file without its ending to what draws it."""
    found: dict[str, Callable[[], Figure]] = {}
    many = len(analysis.pairs) > 1
    for pair in analysis.pairs:
        tail = f"_{pair.first}-{pair.second}" if many else ""
        found[f"preference{tail}"] = lambda one=pair: stacked_bars(  # type: ignore[misc]
            one, study_hash=analysis.hash
        )
        found[f"forest{tail}"] = lambda one=pair: forest(  # type: ignore[misc]
            one, study_hash=analysis.hash
        )
        found[f"checks{tail}"] = lambda one=pair: checks(analysis, one)  # type: ignore[misc]
    found["flow"] = lambda: flow_diagram(analysis)
    return found
