"""Writes the kit of an unblinded study into a folder: tables, numbers, figures, methods, scripts.

Refuses a blind study, comments, raters' names and candidates' names unless asked for, and paths
always; never replaces what a person wrote, see ``keeping``. Equal numbers give equal files.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from db.failures import translated
from studies.errors import BadRequest
from studies.preference.analysis.schema import Analysis
from studies.preference.analysis.tables import StudyTables
from studies.preference.kit.extras import Extras, extras_of
from studies.preference.kit.formats import imrmc_file, trec_files
from studies.preference.kit.guide import guide_text
from studies.preference.kit.keeping import CHECKSUMS, look, put
from studies.preference.kit.latex import to_latex
from studies.preference.kit.methods import methods_text
from studies.preference.kit.report import to_markdown
from studies.preference.kit.sheets import to_xlsx
from studies.preference.kit.summary import json_text, numbers_of
from studies.preference.kit.tabular import coded, csv_files, rater_codes, rater_names

SCRIPTS = ("analysis.py", "analysis.R")
MIXED = "mixed.R"  # of one pair of models
CHOICES = {
    "comments": ("leave out", "include"),
    "names": ("codes", "names"),
    "candidates": ("codes", "names"),
}


def publish(
    path: Path,
    folder: Path,
    *,
    comments: str = "leave out",
    names: str = "codes",
    candidates: str = "codes",
    rater: str | None = None,
    draws: int = 10_000,
) -> tuple[Path, ...]:
    """Write everything of an unblinded study.

    Args:
        path: the study's folder.
        folder: where to write; made if missing. Files it wrote before are replaced, a text that
            somebody changed stays and the new one stands beside it, see ``keeping.remarks``.
        comments: ``"include"`` adds the raters' free text.
        names: ``"names"`` gives raters by name, ``"codes"`` as R1, R2 ...
        candidates: ``"names"`` gives candidates by name in the TREC files; most are file names.
        rater: numbers and figures of this rater only; the tables always hold all.
        draws: of the bootstrap.

    Returns:
        The files written.

    Raises:
        StillBlind: not unblinded.
        BadRequest: an unknown choice or rater; files of another study, or tables that somebody
            changed, would be replaced.
        StoreError: the folder cannot be written.
    """
    from studies.preference.unblind import load_unblinded

    look(folder, load_unblinded(path).row.hash)  # a minute before anything is written
    found = gathered(
        path, comments=comments, names=names, candidates=candidates, rater=rater, draws=draws
    )
    return write_kit(*found, folder)


def gathered(
    path: Path, *, comments: str, names: str, candidates: str, rater: str | None, draws: int
) -> tuple[StudyTables, Analysis, Extras]:
    """What is published of a study, before anything is written; see ``publish``."""
    from studies.preference.analysis.analyse import analyse
    from studies.preference.analysis.gather import tables_of
    from studies.preference.unblind import load_unblinded

    _check({"comments": comments, "names": names, "candidates": candidates})
    unblinded = load_unblinded(path)
    plain = tables_of(unblinded)
    codes = rater_codes(plain)
    if rater is not None and rater not in codes:
        raise BadRequest(f"{rater} has not read in this study; raters are {', '.join(codes)}.")
    if names == "names":
        codes = rater_names(plain)
    tables = coded(plain, codes, comments=comments)
    only = None if rater is None else codes[rater]
    extras = extras_of(unblinded, codes, candidates=candidates, comments=comments)
    return tables, analyse(tables, rater=only, draws=draws), extras


def write_kit(
    tables: StudyTables, analysis: Analysis, extras: Extras, folder: Path
) -> tuple[Path, ...]:
    """Write the files of a study.

    Args:
        tables: as they may leave the house.
        analysis: their numbers.
        extras: what is told besides.
        folder: where to write; made if missing.

    Raises:
        BadRequest: what is not ours or was changed would be replaced; each is named.
        StoreError: the folder cannot be written.
    """
    from studies.preference.kit.figures import figure_files

    before = look(folder, tables.hash)
    contents = {**contents_of(tables, analysis, extras), **figure_files(analysis)}
    guide = guide_text(analysis, (*contents, CHECKSUMS))
    with translated(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return put(before, {"README.md": guide.encode("utf-8"), **contents}, tables.hash)


def contents_of(tables: StudyTables, analysis: Analysis, extras: Extras) -> dict[str, bytes]:
    """File name to bytes, without figures and guide."""
    texts = csv_files(
        tables, extras, numbers_of(analysis), draws=analysis.draws, rater=analysis.rater
    )
    texts["summary.json"] = json_text(analysis)
    texts["report.md"] = to_markdown(analysis)
    texts["methods.md"] = methods_text(tables, analysis)
    texts["tables.tex"] = to_latex(analysis)
    many = len(analysis.pairs) > 1
    for pair in analysis.pairs:
        tail = f"_{pair.first}-{pair.second}" if many else ""
        texts[f"imrmc{tail}.imrmc"] = imrmc_file(tables, pair.first, pair.second)
    texts |= trec_files(tables, extras.lists)
    for name in SCRIPTS if many else (*SCRIPTS, MIXED):
        script = files("resources").joinpath("kit", name).read_text("utf-8")
        texts[name] = f"# study hash {tables.hash or '-'}\n{script}"
    found = {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    return {**found, "tables.xlsx": to_xlsx(analysis)}


def _check(chosen: dict[str, str]) -> None:
    for name, value in chosen.items():
        if value not in CHOICES[name]:
            raise BadRequest(f"{name} can be {' or '.join(CHOICES[name])}, not {value!r}.")
