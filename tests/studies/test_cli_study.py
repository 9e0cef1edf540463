"""``triptych study``: the whole life of a study on the command line."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from db.home import Home
from db.settings import load_settings
from engine.control import Control
from studies import association, cli, cli_text
from studies.cli import app
from studies.preference.analysis.analyse import analyse
from studies.preference.kit import figures
from studies.preference.order_words import far_words
from studies.preference.study import list_studies, open_study
from studies.run import bench_job
from tests.studies.medheb_tree import small_root
from tests.studies.packs_on_disk import built, read
from tests.studies.preference_material import MODEL_A, MODEL_B, PASSPHRASE, SECRETS


class Said:
    """What one call of the program said."""

    def __init__(self, home: Path, *words: object) -> None:
        done = CliRunner().invoke(app, ["--home", str(home), *map(str, words)])
        self.code, self.out, self.err = done.exit_code, done.stdout, done.stderr
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception

    @property
    def document(self):
        return json.loads(self.out)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return built(tmp_path_factory.mktemp("life")).parent.parent


@pytest.fixture
def home(original, tmp_path, monkeypatch):
    """The coordinator's home; no window opens."""
    monkeypatch.setattr(cli, "has_display", lambda: False)
    monkeypatch.delenv("TRIPTYCH_PASSPHRASE", raising=False)
    # what is told is looked at here, not how well
    monkeypatch.setitem(analyse.__kwdefaults__, "draws", 100)
    monkeypatch.setattr(figures, "figure_files", lambda *_a, **_k: {})
    shutil.copytree(original, tmp_path / "coordinator")
    return tmp_path / "coordinator"


def test_a_study_goes_out_comes_back_and_is_unblinded(home, tmp_path):
    stick = tmp_path / "stick"
    stick.mkdir()
    packed = Said(home, "study", "pack", "--rater", "R1", "--rater", "R2", "--out", stick, "--json")
    assert packed.code == 0, packed.err
    files = [row["file"] for row in packed.document["packs"]]
    assert sorted(path.name for path in stick.iterdir()) == sorted(Path(f).name for f in files)
    assert "out with 2 raters" in Said(home, "study", "status").out
    backs = []
    for place, file in enumerate(files):
        laptop = tmp_path / f"laptop{place}"
        opened = Said(laptop, "study", "open", file, "--json")
        assert opened.code == 0, opened.err
        assert opened.document["seat"] == f"R{place + 1}"
        assert "No display is set" in opened.err
        read(Path(opened.document["path"]), 3, f"R{place + 1}")
        back = Said(laptop, "study", "export", "--answers", "--out", stick, "--json")
        backs += back.document["files"]
        again = Said(laptop, "study", "open", opened.document["id"])
        assert "3 answered" in again.out
    early = Said(home, "study", "unblind", "--reason", "done", "--passphrase", PASSPHRASE)
    assert early.code == 1
    assert "Not back yet: R1, R2" in early.err
    bad = tmp_path / "bad.triptych-answers"
    bad.write_bytes(Path(backs[1]).read_bytes()[:-9])
    merged = Said(home, "study", "merge", backs[0], bad, "--json")
    assert merged.code == 1
    assert [row["rater"] for row in merged.document["merged"]] == ["R1"]
    assert "bad.triptych-answers" in merged.document["refused"][0]["source"]
    assert "bad.triptych-answers" in merged.err
    [info] = list_studies(Home(home))
    told = far_words(info.far, info.seats, info.reads)
    assert re.match(r"3 of \d+ answered over all, each .* \(R1 3 of \d+, R2 not back\)", told)
    whole = Said(home, "study", "merge", *backs)
    assert whole.code == 0, whole.err
    assert "R1: merged before" in whole.out
    assert re.search(r"R2: 3 of \d+ answered \(\d+ items.*\), merged", whole.out)
    status = Said(home, "study", "status", "--json").document
    assert [(p["rater"], p["answered"]) for p in status[0]["packs"]] == [("R1", 3), ("R2", 3)]
    table = Said(home, "study", "status").out
    assert ("pack of R1, handed out" in table, "out with" in table) == (True, False)
    assert Said(home, "study", "verify", "--json").document["verified"] is True
    words = ("study", "unblind", "--reason", "done", "--passphrase", PASSPHRASE)
    part = Said(home, *words)
    assert (part.code, "Back in part: R1 (3 of " in part.err) == (1, True), part.err
    opened = Said(home, *words, "--anyway")
    assert opened.code == 0, opened.err
    again = Said(home, "study", "unblind", "--reason", "twice", "--passphrase", PASSPHRASE)
    assert (again.code, "(done); that time and reason stay" in again.err) == (0, True), again.err
    late = Said(home, "study", "merge", backs[0])
    assert (late.code, "unblinded" in late.err) == (1, True)
    report = Said(home, "study", "report", "--json")
    assert sorted(report.document["raters"]) == ["R1", "R2"]
    _published_and_read_again(home, tmp_path, report)


def _published_and_read_again(home, tmp_path, report):
    kit = Said(home, "study", "export", "--out", tmp_path / "paper", "--json")
    assert kit.code == 0, kit.err
    assert any(name.endswith("ratings.csv") for name in kit.document["files"])
    assert Said(home, "study", "export", "--out", tmp_path / "paper").code == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("my own project")
    other = Said(home, "study", "export", "--out", tmp_path / "mine")
    assert (other.code, "README.md is not of this study" in other.err) == (1, True), other.err
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["README.md"]
    again = Said(home, "study", "report", "--from", tmp_path / "paper", "--json")
    assert again.code == 0, again.err
    overall = [doc["pairs"][0]["overall"]["first"] for doc in (report.document, again.document)]
    assert overall[0] == overall[1]
    text = Said(home, "study", "report", "--from", tmp_path / "paper", "--format", "markdown")
    assert "|" in text.out


def test_nothing_said_before_unblinding_tells_a_model_or_a_preference(home, tmp_path):
    told = ""
    pack = tmp_path / "pack.triptych"
    calls = [
        ("study", "pack", "--rater", "R1", "--out", pack),
        ("study", "open", pack),
        ("study", "status"),
        ("study", "verify"),
        ("study", "export"),
        ("study", "report"),
    ]
    for words in calls:
        for more in ((), ("--json",)):
            if words[1] == "pack" and more:
                continue
            said = Said(home, *words, *more)
            told += said.out + said.err
    (opened,) = (info for info in list_studies_of(home) if info.seat)
    read(opened.path, 5, "R1")
    back = Said(home, "study", "export", opened.id, "--answers", "--out", tmp_path)
    told += back.out + Said(home, "study", "merge", "--study", opened.id.partition("-")[0],
                            back.out.strip()).out  # fmt: skip
    told += Said(home, "study", "status", "--json").out
    for word in (*SECRETS, "left", "right", "neither", "prefer"):
        assert word not in told.casefold().replace("strata", ""), word


def list_studies_of(home):
    from db.home import Home

    return list_studies(Home(home))


def test_pack_and_open_say_what_is_wrong(home, tmp_path):
    cases = [
        (("study", "pack"), 2, "--rater"),
        (("study", "pack", "--rater", "A", "--share", "postgresql://x/y"), 2, "--rater"),
        (("study", "pack", "--rater", "A", "--rater", "B", "--out", tmp_path / "no"), 1, "folder"),
        (
            ("study", "pack", "--rater", "A", "--rater", "a ", "--out", tmp_path),
            1,
            "more than once",
        ),
        (("study", "pack", "--share", "mysql://who:hush@x/y"), 1, "no address"),
        (("study", "open", tmp_path / "gone.triptych"), 1, "There is no file"),
        (("study", "open", "x" * 300), 1, "There is no study 'xxx"),
        (("study", "pack", "--rater", "A", "--out", tmp_path / "gone"), 1, "ends in .triptych."),
        (("study", "export", "--answers", "--out", tmp_path / "gone"), 1, "triptych-answers."),
        (("study", "merge"), 2, "answers"),
        (("study", "merge", tmp_path / "gone.triptych-answers"), 1, "no such file"),
        (("study", "merge", "postgresql://who:hush@127.0.0.1:1/x?schema=s"), 1, "not shared"),
        (("study", "export", "--answers"), 1, "not a rater's pack"),
        (("study", "report", "x", "--from", tmp_path), 2, "choose one"),
        (("study", "report", "--from", tmp_path), 1, ""),
        (("study", "export", "--out", __file__), 1, "is a file"),
        (("study", "build", "--data", tmp_path / "no", "--models", "a,b"), 1, "no folder"),
        (("study", "plan", "--data", tmp_path / "no", "--models", "a,b"), 1, "no folder"),
        (("study", "open", "postgresql://who:hush@127.0.0.1:1/x?schema=s"), 1, "reached"),
    ]
    for words, code, told in cases:
        said = Said(home, *words)
        assert (said.code, told in said.err) == (code, True), (words, said.err)
        assert "hush" not in said.err + said.out
        assert "Traceback" not in said.err


def test_what_the_coordinator_asks_for_is_said(home, tmp_path):
    unknown = Said(home, "study", "status", "Nope")
    assert (unknown.code, "no study 'Nope'" in unknown.err) == (1, True), unknown.err
    nowhere = Said(tmp_path / "empty", "study", "status", "Nope")
    assert (nowhere.code, "no study in this home" in nowhere.err) == (1, True), nowhere.err
    assert Said(tmp_path / "empty", "study", "status").code == 0
    folder = next((home / "studies").iterdir())
    assert Said(home, "study", "status", f"{folder}/").code == 0
    assert Said(home, "study", "pack", "--rater", "Ann", "--out", tmp_path).code == 0
    half = Said(home, "study", "pack", "--rater", "Bob", "--rater", "Ann", "--out", tmp_path)
    assert half.code == 1
    assert "Ann was handed a pack" in half.err
    assert f"Written before that: {tmp_path / 'Chest-2026-Bob.triptych'}" in half.err


def test_a_study_that_nobody_read_is_not_unblinded_unawares(home):
    words = ("study", "unblind", "--reason", "oops", "--passphrase", PASSPHRASE)
    early = Said(home, *words)
    assert (early.code, "Nobody has answered anything" in early.err) == (1, True), early.err
    [row] = Said(home, "study", "status", "--json").document
    assert row["unblinded"] is False
    meant = Said(home, *words, "--anyway", "--json")
    assert (meant.code, meant.document["raters"]) == (0, []), meant.err


def test_places_are_counted_with_practice_and_repeats(home):
    folder = next((home / "studies").iterdir())
    [row] = Said(home, "study", "status", "--json").document
    assert (row["answered"], row["places"]) == (0, row["items"])
    done = read(folder, 100, "Ann")
    [row] = Said(home, "study", "status", "--json").document
    assert row["answered"] == row["places"] == done > row["items"]
    assert f"{done} of {done}" in Said(home, "study", "status").out
    read(folder, 2, "Bob")
    [row] = Said(home, "study", "status", "--json").document
    assert (row["answered"], row["places"]) == (done + 2, 2 * done)
    assert f"{done + 2} of {2 * done}" in Said(home, "study", "status").out
    [info] = list_studies(Home(home))
    told = far_words(info.far, info.seats, info.reads)
    assert f"answered over all, each reads {info.reads} (Ann {done} of {done}, " in told
    assert told.endswith(f", Bob 2 of {done})")


def test_opening_greets_whoever_reads(home, tmp_path):
    pack = Said(home, "study", "pack", "--rater", "Dr Lee", "--out", tmp_path, "--json")
    file = pack.document["packs"][0]["file"]
    laptop = tmp_path / "laptop"
    assert Said(laptop, "study", "open", file, "--rater", "Bob").code == 1
    assert Said(laptop, "study", "open", file, "--rater", "Dr  Lee").code == 0
    assert load_settings(laptop / "settings.json").rater_name == "Dr Lee"
    assert Said(home, "study", "open", "Chest 2026", "--rater", "Ann").code == 0
    assert load_settings(home / "settings.json").rater_name == "Ann"
    folder = next(path for path in (home / "studies").iterdir())
    assert Said(home, "study", "open", folder / "study.sqlite").code == 0


def test_a_pack_in_the_place_of_a_command_opens_at_its_next_item(home, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(cli, "open_window", lambda _said, **more: asked.append(more) or 0)
    pack = Said(home, "study", "pack", "--rater", "R1", "--out", tmp_path, "--json")
    laptop = tmp_path / "laptop"
    said = Said(laptop, pack.document["packs"][0]["file"])
    assert said.code == 0, said.err
    (folder,) = (laptop / "studies").iterdir()
    assert asked == [{"study": str(folder)}]
    with open_study(folder) as study:
        assert study.info().seat == "R1"


def test_plan_without_data_gives_the_numbers_and_the_sentence(home):
    said = Said(home, "study", "plan", "--json")
    assert said.code == 0, said.err
    document = said.document
    assert (document["decided_needed"], document["items_needed"], document["effective"]) == (
        194, 270, 443,
    )  # fmt: skip
    assert document["available"] is None
    assert document["sentence"] in Said(home, "study", "plan").out
    minutes = Said(home, "study", "plan", "--minutes", "2d=0.3,3d=0.3", "--format", "json")
    assert minutes.document["item_hours"] == pytest.approx(2.65)
    for words, code, told in [
        (("--share", "0.4"), 1, "share"),
        (("--minutes", "often"), 1, "numbers"),
        (("--minutes", "4d=1"), 1, "4d"),
        (("--format", "xml"), 2, "--format"),
        (("--tasks", "*"), 1, "--data ROOT"),
    ]:
        said = Said(home, "study", "plan", *words)
        assert (said.code, told in said.err) == (code, True), (words, said.err)


def test_plan_names_tasks_queries_models_and_what_is_missing(tmp_path):
    root = small_root(tmp_path / "data", queries=8)
    home = Home(tmp_path / "home").make()
    for seed, name in enumerate(("dicethrow", "cointoss", "idle")):
        card = {"family": "random", "settings": {"seed": seed}, "revision": f"r{seed}"}
        (home.cards / f"{name}.json").write_text(json.dumps(card), encoding="utf-8")
    (root / "Text_Task" / "notes" / "notes_new.json").rename(root / "moved.json")
    bench_job(home, {"data": str(root), "models": ["dicethrow", "cointoss"]}, Control())
    for named in (("dicethrow", "cointoss"), ("cointoss", "dicethrow")):
        _, text = cli_text.results(home, data=root, form="text", paper=False, first=named)
        assert f"A {named[0]}, B {named[1]}" in " ".join(text.split()), "as they were given"
    words = ("study", "plan", "--data", root, "--total", "12")
    said = Said(home.root, *words, "--models", "dicethrow,cointoss", "--json")
    assert said.code == 0, said.err
    there = said.document["available"]
    assert {task["queries"] for task in there["tasks"]} == {8}
    assert there["queries"] == sum(there["families"].values()) == sum(there["forms"].values())
    assert "notes/t2t" in there["missing"]
    assert said.document["wish"]["tasks"] == min(12, len(there["tasks"]))
    assert sum(said.document["wish"]["forms"].values()) == pytest.approx(1)
    text = Said(home.root, *words, "--models", "dicethrow,cointoss").out
    assert "missing: notes/t2t" in text
    assert "For the paper:" in text
    three = Said(home.root, *words, "--models", "dicethrow,cointoss,idle")
    assert three.code == 1
    assert "idle: no finished run" in three.err
    assert "triptych bench run --data DATA --models idle" in three.err
    twice = Said(home.root, *words, "--models", "dicethrow,dicethrow")
    assert (twice.code, "itself" in twice.err or "twice" in twice.err) == (1, True), twice.err


def test_a_linux_desktop_learns_the_file_type(tmp_path, monkeypatch):
    monkeypatch.setattr(association.shutil, "which", lambda _name: None)
    done = association.on_linux(["py thon", "-m", "studies.cli", "study", "open"], tmp_path)
    assert done.done
    launcher = (tmp_path / "applications" / association.LAUNCHER).read_text(encoding="utf-8")
    assert 'Exec="py thon" "-m" "studies.cli" "study" "open" %f' in launcher
    assert f"MimeType={association.MEDIA_TYPE};" in launcher
    media = (tmp_path / "mime" / "packages" / association.MEDIA_FILE).read_text(encoding="utf-8")
    assert '*.triptych"' in media
    assert 'offset="68" value="TRPY"' in media
    assert association.on_linux(["python"], tmp_path).done


def test_windows_gets_the_keys_of_this_user(tmp_path):
    written = {}

    class Key:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    registry = SimpleNamespace(
        HKEY_CURRENT_USER="HKCU",
        REG_SZ=1,
        CreateKey=lambda _root, name: Key(name),
        SetValueEx=lambda key, _name, _zero, _kind, value: written.update({key.name: value}),
    )
    done = association.on_windows(["C:\\Program Files\\python.exe", "-m", "studies.cli"], registry)
    assert done.done
    assert written["Software\\Classes\\.triptych"] == "Triptych.Study"
    command = written["Software\\Classes\\Triptych.Study\\shell\\open\\command"]
    assert command == '"C:\\Program Files\\python.exe" -m studies.cli "%1"'
    assert all(place.startswith("HKEY_CURRENT_USER\\") for place in done.places)


def test_a_mac_is_told_what_is_possible():
    done = association.associate(system="darwin")
    assert (done.done, done.places) == (False, ())
    assert "triptych FILE.triptych" in done.sentence


def test_associating_is_a_command(home, tmp_path, monkeypatch):
    monkeypatch.setattr(association.shutil, "which", lambda _name: None)
    monkeypatch.setattr(association.platformdirs, "user_data_dir", lambda: str(tmp_path / "share"))
    monkeypatch.setattr(sys, "platform", "linux")
    said = Said(home, "study", "open", "--associate", "--json")
    assert said.code == 0, said.err
    assert said.document["associated"] in (True, False)
    assert MODEL_A not in said.out
    assert MODEL_B not in said.out
