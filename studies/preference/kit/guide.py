"""``README.md`` of the kit: what each file is, how the numbers are computed anew.

Owns the words; names only files that were written.
"""

from __future__ import annotations

from collections.abc import Iterable

from studies.preference.analysis.schema import Analysis

ABOUT = {
    "README.md": "this file",
    "ratings.csv": "one row per presentation",
    "items.csv": "one row per item: models, stratum, difficulty, task, overlap, words",
    "guesses.csv": "the blinding guesses",
    "raters.csv": "who read",
    "study.csv": "models, seeds, plan, protocol; name and value",
    "numbers.csv": "every number of summary.json as name and value",
    "dictionary.csv": "every column of every CSV file",
    "summary.json": "every number, nested",
    "report.md": "every table, for reading",
    "tables.tex": "every table as a LaTeX document",
    "tables.xlsx": "every table as a spreadsheet",
    "methods.md": "methods, flow, reporting guidelines, limitations; gaps marked ____",
    "checksums.txt": "SHA-256 of each file as written, for `sha256sum -c`; publishing here again "
    "keeps a text that somebody changed",
    "analysis.py": "computes every number anew (numpy, scipy, pandas, statsmodels)",
    "analysis.R": "computes every number anew (base R)",
    "mixed.R": "ordinal model with random reader, item and task (R package ordinal); writes "
    "mixed.csv",
    "trec_qrels.txt": "gold answers for trec_eval; candidates as codes",
}
STARTS = {
    "preference": "shares by stratum, stacked bars",
    "forest": "shares among the decided by group",
    "checks": "sides, session, repeats",
    "flow": "flow of items",
    "trec_run": "a model's list for trec_eval; candidates as codes",
    "imrmc": "input of iMRMC: 1 preferred, 0.5 tie, 0 other; the difference of the two areas is "
    "the net preference",
}
MIXED = (
    "`Rscript mixed.R .` fits the mixed ordinal model, which none of these numbers come from. It "
    'needs the R package ordinal (`install.packages("ordinal")`, on Debian and Ubuntu '
    "`apt install r-cran-ordinal`) and writes mixed.csv: estimates with standard errors and 95 % "
    "intervals, p, n, and whether the fit converged; a term without variance is named as singular."
)


def guide_text(analysis: Analysis, names: Iterable[str]) -> str:
    """The file.

    Args:
        analysis: the study's.
        names: of the files beside it.
    """
    files = sorted({*names, "README.md"})
    lines = [
        f"# {' '.join(analysis.title.split())}: data and numbers of a blinded preference study",
        "",
        f"Study {analysis.study_id or '-'}, hash {analysis.hash or '-'}. The hash covers all "
        "that was frozen before the first item was read and stands in every file.",
        "",
        "| file | what it is |",
        "| --- | --- |",
        *(f"| {name} | {about(name)} |" for name in files),
        "",
        "Every number comes from the CSV files alone:",
        "",
        "```sh",
        "python analysis.py .",
        "Rscript analysis.R .",
        "```",
        "",
        "Each script compares with numbers.csv and says how many numbers it compared, how far the "
        "farthest lies and which it is. It ends with an error where one lies more than 1e-9 away "
        "(1e-6 for fitted models, whose optimisers stop at a tolerance), measured against the "
        "larger of 1 and the number. In tables, shares stand as: value [Wilson 95 % interval] "
        "(count of n).",
    ]
    if "mixed.R" in files:
        lines += ["", MIXED]
    return "\n".join(lines) + "\n"


def about(name: str) -> str:
    """What a file is."""
    known = ABOUT.get(name)
    return known or next(
        (words for start, words in STARTS.items() if name.startswith(start)), "see dictionary.csv"
    )
