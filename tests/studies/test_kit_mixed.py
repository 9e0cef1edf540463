"""``mixed.R`` of the kit: known effects are found, and by another likelihood too."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.rated import rated
from studies.preference.kit.extras import Extras
from studies.preference.kit.guide import guide_text
from studies.preference.kit.publish import contents_of
from tests.studies.kit_tables import made
from tests.studies.mixed_study import SDS, TRUE, design, laplace, mixed_study, write_csv

# Of true values at this size (480 ratings of 6 readers): log odds, and the factor of a deviation.
NEAR = {"first over second": 0.5, "left side": 0.45, "half width of the tie": 0.2}
FACTOR = 2.0
SCRIPT = files("resources").joinpath("kit", "mixed.R").read_text("utf-8")


def r(*words, **environment):
    """One run of R."""
    known = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["Rscript", *map(str, words)], capture_output=True, text=True, timeout=200,
        env={**known, **environment},
    )  # fmt: skip


@pytest.fixture(scope="session")
def ordinal():
    """R with the package ordinal."""
    here = shutil.which("Rscript") is not None
    there = here and r("-e", 'quit(status = !requireNamespace("ordinal", quietly = TRUE))')
    if not (there and there.returncode == 0):
        assert "CI" not in os.environ, "r-cran-ordinal is needed where CI is set"
        pytest.skip("Rscript with the package ordinal is not installed here")


def fitted(tables, folder):
    """What the script prints, and its numbers by model and term."""
    write_csv(tables, folder)
    script = folder / "mixed.R"
    script.write_text(SCRIPT, "utf-8")
    done = r(script, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    with (folder / "mixed.csv").open(encoding="utf-8", newline="") as file:
        return done.stdout, {(row["model"], row["term"]): row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def six(ordinal, tmp_path_factory):
    tables = mixed_study(raters=6, items=80, tasks=20, seed=11)
    return tables, *fitted(tables, tmp_path_factory.mktemp("mixed"))


def number(found, term, column="estimate", model="all"):
    return float(found[model, term][column])


def test_known_effects_are_found_again(six):
    tables, said, found = six
    for term, true in TRUE.items():
        assert number(found, term, "low") < true < number(found, term, "high"), term
        assert abs(number(found, term) - true) < NEAR[term], term
    for term, true in SDS.items():
        assert true / FACTOR < number(found, term) < true * FACTOR, term
        assert number(found, term, "low") < true < number(found, term, "high"), term
    n = len(rated(tables))
    assert number(found, "first over second", "n") == n == 480
    for term, count in (("raters", 6), ("items", 80), ("tasks", 20)):
        assert number(found, term) == count
    assert number(found, "convergence (0: converged)") == 0
    assert "mean nothing" not in said
    assert number(found, "largest gradient") < 0.01
    assert "form: fewer than two groups of 10 ratings, no model." in said
    assert "stratum: fewer than two groups of 10 ratings, no model." in said
    line = next(one for one in said.splitlines() if one.startswith("all      first over second"))
    assert all(part in line for part in ("[", "p ", f"(n = {n})", "log odds"))


def test_another_likelihood_has_its_maximum_there(six):
    tables, _, found = six
    cuts = [number(found, term) for term in ("second|tie", "tie|first")]
    place = np.array([*cuts, number(found, "left side"), *(number(found, t) for t in SDS)])
    errors = [number(found, t, "se") for t in ("second|tie", "tie|first", "left side", *SDS)]

    def likelihood(at):
        return laplace(tables, at[:2], at[2], dict(zip(SDS, at[3:], strict=True)))

    assert likelihood(place) == pytest.approx(number(found, "log likelihood"), abs=1e-4)
    for k, error in enumerate(errors):
        step = np.zeros(len(place))
        step[k] = 0.05 * error
        up, down = likelihood(place + step), likelihood(place - step)
        assert abs(up - down) / 0.1 < 0.01  # slope times standard error
        assert up + down < 2 * likelihood(place)


def test_without_random_terms_it_is_the_ordered_logit_of_statsmodels(ordinal, tmp_path):
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    tables = mixed_study(raters=1, items=90, tasks=90, seed=5)
    _, found = fitted(tables, tmp_path)
    answer, side, *_ = design(rated(tables), ("rater",))
    model = OrderedModel(answer, side[:, None], distr="logit")
    fit = model.fit(method="bfgs", gtol=1e-8, disp=0)
    cuts = model.transform_threshold_params(fit.params)[1:3]
    assert number(found, "left side") == pytest.approx(fit.params[0], abs=1e-4)
    assert number(found, "left side", "se") == pytest.approx(fit.bse[0], rel=1e-3)
    assert number(found, "first over second") == pytest.approx(-cuts.mean(), abs=1e-4)
    assert number(found, "half width of the tie") == pytest.approx(np.ptp(cuts) / 2, abs=1e-4)
    assert number(found, "log likelihood") == pytest.approx(fit.llf, abs=1e-6)
    assert not any(row["kind"] == "sd" for row in found.values())


def test_what_has_no_variance_is_named_and_two_readers_are_no_variance(ordinal, tmp_path):
    none = dict.fromkeys(SDS, 0.0)
    tables = mixed_study(raters=2, items=45, tasks=15, seed=4, sds=none)
    said, found = fitted(tables, tmp_path)
    singular = [row for row in found.values() if row["note"].startswith("singular")]
    assert singular
    assert {row["estimate"] for row in singular} == {"0"}
    assert {row["term"] for row in singular} <= {"item", "task"}
    assert said.count("singular: no variance found") == len(singular)
    assert "two readers are a fixed effect" in found["all", "R1 over R2"]["note"]
    assert ("all", "rater") not in found
    assert number(found, "left side", "low") < number(found, "left side", "high")


def test_groups_have_places_of_their_own_and_one_test(ordinal, tmp_path):
    tables = mixed_study(raters=1, items=60, tasks=12, seed=8, sds=dict.fromkeys(SDS, 0.3))
    forms = ("2d", "3d", "text")
    items = tuple(replace(one, form=forms[n % 3]) for n, one in enumerate(tables.items))
    said, found = fitted(replace(tables, items=items), tmp_path)
    for form in forms:
        row = found["form", f"first over second, {form}"]
        assert float(row["low"]) < float(row["estimate"]) < float(row["high"])
        assert row["n"] == "20"
    test = found["form", "likelihood ratio of the groups"]
    assert test["note"] == "df 2"
    assert 0 <= float(test["p"]) <= 1
    assert ("form", "raters") in found
    assert "stratum: fewer" in said


def test_next_to_nothing_is_said_to_mean_nothing(ordinal, tmp_path):
    said, found = fitted(made(items=4, raters=2), tmp_path)
    assert "no maximum was found: the numbers of this model mean nothing" in said
    assert found["all", "first over second"]["low"] == ""
    assert found["all", "first over second"]["p"] == ""


def test_without_the_package_it_says_what_to_install(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed here")
    script = tmp_path / "mixed.R"
    script.write_text(SCRIPT, "utf-8")
    write_csv(made(items=12), tmp_path)
    empty = str(tmp_path / "none")
    done = r(script, tmp_path, R_LIBS_SITE=empty, R_LIBS=empty, R_LIBS_USER=empty)
    assert done.returncode == 3
    assert 'install.packages("ordinal")' in done.stdout
    assert not (tmp_path / "mixed.csv").exists()


def test_the_kit_of_two_models_has_it_and_says_so():
    for models in (2, 3):
        tables = made(items=6, models=models, ties=0)
        analysis = analyse(tables, draws=10)
        contents = contents_of(tables, analysis, Extras())
        assert ("mixed.R" in contents) == (models == 2)
        guide, methods = guide_text(analysis, contents), contents["methods.md"].decode("utf-8")
        assert ("needs the R package ordinal" in guide) == (models == 2)
        assert ("The file mixed.R fits" in methods) == (models == 2)
        script = contents.get("mixed.R", b"# study hash 0123456789abcdef")
        assert script.startswith(b"# study hash 0123456789abcdef")
