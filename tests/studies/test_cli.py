"""The command line: its frozen surface, exit codes, one JSON document, sentences for failures."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from studies import cli, start
from studies.cli import app

# A change here is a change for users: mean it, and say it in the changelog.
SURFACE = {
    "": ["--home", "--json", "--temp-home", "--version"],
    "demo": ["--json", "--no-window"],
    "show": ["--json", "--probe", "--text", "paths"],
    "import": ["--collection", "--deidentify-to", "--json", "--option", "paths"],
    "models list": ["--json"],
    "models show": ["--json", "model"],
    "models check": ["--device", "--dtype", "--json", "--set", "model"],
    "models download": ["--json", "model"],
    "models remove": ["--json", "model"],
    "neighbours": [
        "--collection",
        "--device",
        "--json",
        "--k",
        "--model",
        "--other-patients",
        "path",
    ],
    "doctor": ["--json"],
    "bench sources": ["--json", "source"],
    "bench build": ["--data", "--from", "--json", "--set", "--source", "--tasks"],
    "bench fetch": ["--files", "--json", "--to", "--yes", "source"],
    "bench own": ["--data", "--json", "--name", "--set", "table"],
    "bench mini": ["--data", "--json", "--sources"],
    "bench figures": ["--data", "--format", "--json", "--models", "--out"],
    "bench plan": ["--data", "--device", "--dtype", "--json", "--models", "--set", "--tasks"],
    "bench run": [
        "--data",
        "--device",
        "--dtype",
        "--json",
        "--models",
        "--retry-failed",
        "--set",
        "--tasks",
    ],
    "bench show": ["--compare", "--data", "--format", "--json"],
    "bench compare": ["--data", "--format", "--json", "--metric", "first", "second"],
    "bench export": ["--data", "--json", "--models", "--out", "--to"],
    "bench import": ["--data", "--json", "--name", "folder"],
    "bench cross": ["--chexpert", "--data", "--json", "--mimic", "--set"],
    "study plan": [
        "--alpha",
        "--data",
        "--format",
        "--icc",
        "--json",
        "--minutes",
        "--models",
        "--out",
        "--power",
        "--readers",
        "--repeats",
        "--session",
        "--share",
        "--tasks",
        "--tasks-count",
        "--ties",
        "--total",
        "--warmup",
    ],
    "study build": [
        "--a",
        "--b",
        "--collection",
        "--comments",
        "--confidence",
        "--data",
        "--guesses",
        "--identical",
        "--json",
        "--models",
        "--other-patients",
        "--passphrase",
        "--plan",
        "--queries",
        "--repeat-gap",
        "--repeats",
        "--rest",
        "--seed",
        "--tasks",
        "--title",
        "--total",
        "--usefulness",
        "--warmup",
    ],
    "study pack": [
        "--again",
        "--display",
        "--json",
        "--login",
        "--modalities",
        "--out",
        "--rater",
        "--role",
        "--share",
        "--specialty",
        "--years",
        "study",
    ],
    "study open": ["--associate", "--json", "--rater", "study"],
    "study status": ["--json", "study"],
    "study merge": ["--json", "--study", "answers"],
    "study verify": ["--json", "study"],
    "study unblind": ["--anyway", "--json", "--passphrase", "--reason", "study"],
    "study report": ["--format", "--from", "--json", "study"],
    "study export": ["--answers", "--comments", "--json", "--names", "--out", "study"],
}


def parameters(command) -> list[str]:
    names = []
    for parameter in command.params:
        option = parameter.param_type_name == "option"
        long = [name for name in parameter.opts if name.startswith("--")]
        names.append(long[0] if option else parameter.name)
    return sorted(set(names) - {"--help", "--install-completion", "--show-completion"})


def surface(command, name=""):
    found = {}
    children = getattr(command, "commands", {})
    if not children or name == "":
        found[name] = parameters(command)
    for child, sub in children.items():
        found |= surface(sub, f"{name} {child}".strip())
    return found


def test_the_surface_is_frozen():
    assert surface(typer.main.get_command(app)) == SURFACE


@pytest.mark.parametrize("words", [k.split() for k in SURFACE if k], ids=lambda w: " ".join(w))
def test_every_help_shows_an_example(words):
    done = CliRunner().invoke(app, [*words, "--help"])
    assert done.exit_code == 0
    assert f"Example: triptych {' '.join(words)}" in done.output


def test_an_interrupt_while_the_program_loads_is_one_line(monkeypatch, capsys):
    class Interrupted:
        @staticmethod
        def find_spec(name, *_more):
            if name == "studies.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "studies.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupted, *sys.meta_path])
    with pytest.raises(SystemExit) as stopped:
        start.main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == "Stopped before it began.\n"


def triptych(*words, home):
    command = [sys.executable, "-m", "studies.cli", "--home", str(home), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "in" / "grey.png"
    path.parent.mkdir()
    noise = np.random.default_rng(0).integers(0, 256, (16, 16), dtype=np.uint8)
    noise[2, 3] = 35
    Image.fromarray(noise).save(path)
    return path


def test_show_prints_one_document_with_the_probed_value(picture, tmp_path):
    done = triptych("show", picture, "--json", "--probe", "0,2,3", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    (document,) = json.loads(done.stdout)
    assert (document["kind"], document["form"], document["shape"]) == ("image", "2d", [1, 16, 16])
    assert document["probes"] == [{"at": [0, 2, 3], "value": 35.0}]
    assert document["error"] is None


def test_a_damaged_file_is_named_and_the_rest_goes_on(picture, tmp_path):
    bad = picture.with_name("bad.png")
    bad.write_bytes(picture.read_bytes()[:150])
    done = triptych("show", picture.parent, "--json", home=tmp_path / "home")
    assert done.returncode == 1
    kinds = {d["path"].rsplit("/", 1)[-1].rsplit("\\", 1)[-1]: d for d in json.loads(done.stdout)}
    assert kinds["grey.png"]["error"] is None
    assert kinds["bad.png"]["kind"] == "error"
    assert kinds["bad.png"]["error"]["message"]


def test_import_is_resumable_and_names_what_it_left_out(picture, tmp_path):
    (picture.parent / "empty.png").write_bytes(b"")
    (picture.parent / "report.txt").write_text("Findings: none.", encoding="utf-8")
    words = ("import", picture.parent, "--collection", "Mine", "--json")
    first = json.loads(triptych(*words, home=tmp_path / "home").stdout)
    assert first["added"] == 2
    assert [row["path"].endswith("empty.png") for row in first["left_out"]] == [True]
    second = json.loads(triptych(*words, home=tmp_path / "home").stdout)
    assert (second["added"], second["unchanged"]) == (0, 3)


def test_a_file_asked_for_by_name_and_not_taken_is_a_failure(picture, tmp_path):
    words = ("import", picture, picture.with_name("gone.png"), "--collection", "Mine")
    done = triptych(*words, home=tmp_path / "home")
    assert done.returncode == 1
    assert "1 added, 0 unchanged, 1 left out" in done.stdout
    assert "gone.png" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("bench", "show"), 1, "triptych bench run"),
        (("study", "verify"), 1, "There is no study"),
        (("neighbours", ".", "--collection", "None", "--model", "random"), 1, "nothing to search"),
        (("models", "check", "no-such-model"), 1, "no-such-model"),
        (("models", "check", "random@max_slices=many"), 1, "must be of type int"),
        (("models", "check", "random", "--set", "volume_as=video"), 1, "max_slices"),
        (("models", "check", "random", "--set", "shout"), 1, "name=value"),
        (("models", "download", "medemb-2b"), 1, "not published"),
        (("models", "download", "random"), 1, "nothing to download"),
        (("models", "remove", "random@release"), 1, "say random"),
        (("models", "remove", "siglip-nano"), 1, "Nothing was deleted"),
        (("models", "shout"), 2, "No such command"),
        (("show",), 2, "Missing argument"),
        (("study", "unblind"), 2, "--reason"),
    ],
)
def test_failures_are_sentences_with_the_right_code(words, code, sentence, tmp_path):
    done = triptych(*words, home=tmp_path / "home")
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_home_and_temp_home_exclude_each_other(tmp_path):
    done = triptych("--temp-home", "models", home=tmp_path)
    assert done.returncode == 2


def test_without_a_display_the_window_says_so_and_ends_well(tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    if sys.platform in ("win32", "darwin"):
        pytest.skip("this system always has a display")
    done = triptych(home=tmp_path / "home")
    assert done.returncode == 0
    assert "No display is set" in done.stderr


def test_a_path_in_the_place_of_a_command_opens_the_window_on_it(picture, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(cli, "open_window", lambda _said, **more: asked.append(more) or 0)
    home = str(tmp_path / "home")
    done = CliRunner().invoke(app, ["--home", home, str(picture.parent), str(picture)])
    assert done.exit_code == 0, done.output
    assert asked == [{"paths": [picture.parent.resolve(), picture.resolve()]}]
    done = CliRunner().invoke(app, ["--home", home, str(tmp_path / "gone.dcm")])
    assert done.exit_code == 2
    assert "is not there" in " ".join(done.output.split())
    assert CliRunner().invoke(app, ["--home", home, "nosuchcommand"]).exit_code == 2
    assert "open" not in CliRunner().invoke(app, ["--help"]).output.split("Commands")[1].split()
    assert len(asked) == 1


def test_without_a_display_a_path_is_a_sentence(picture, tmp_path, monkeypatch):
    monkeypatch.setattr(cli, "has_display", lambda: False)
    done = CliRunner().invoke(app, ["--home", str(tmp_path / "home"), str(picture)])
    assert done.exit_code == 0
    assert "triptych show" in done.output
