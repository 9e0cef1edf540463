"""``triptych models``: what is shown of a model, its settings, cards of one's own, weights."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.models.settings import DEFAULTS, ORIGINS, RELEASES
from studies import check_model
from studies.cli import app
from studies.cli_common import model_words
from studies.model_weights import download_job, remove_job
from studies.places import shipped_models
from studies.terminal import Follower
from tests.engine.fake_hub import COMMIT, FakeHub
from tests.engine.hub_fixture import adapter_files, at_hub, own_card, qwen_files, siglip_files
from tests.studies.medheb_tree import small_root
from tests.studies.test_cli import triptych

NANO = "siglip-nano"


def run(home, *words: str):
    return CliRunner().invoke(app, ["--home", str(home.root), "models", *words])


def document(home, *words: str):
    done = run(home, *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def hub(monkeypatch, home):
    with at_hub(monkeypatch, home.root) as fake:
        own_card(home.root, "mine", family="siglip", hub_id="me/towers", revision=COMMIT)
        fake.add("me/towers", siglip_files())
        yield fake


def test_models_alone_and_list_say_the_same(home):
    assert run(home).stdout == run(home, "list").stdout
    assert [card["id"] for card in document(home)] == [c["id"] for c in document(home, "list")]


def test_show_says_value_and_origin_of_every_setting_under_both_presets(home):
    told = document(home, "show", "vlm2vec-v2.0")
    family = DEFAULTS["vlm2vec"]
    assert {one["name"] for one in told["settings"]} == set(family)
    for one in told["settings"]:
        assert (one["default"], one["default_origin"]) == (
            family[one["name"]].value, family[one["name"]].origin,
        )  # fmt: skip
        released = RELEASES["vlm2vec"].get(one["name"])
        if released is not None:
            assert (one["release"], one["release_origin"]) == (released, "release")
    text = run(home, "show", "vlm2vec-v2.0").stdout
    assert ORIGINS["paper"] in text
    assert ORIGINS["release"] in text
    assert "triptych models download vlm2vec-v2.0" in text
    assert "https://huggingface.co/VLM2Vec/VLM2Vec-V2.0" in text
    assert "4.4 GB as bfloat16" in text


def test_show_names_the_files_and_their_sizes(home):
    told = document(home, "show", NANO)
    sizes = {Path(file["path"]).name: file["size"] for file in told["files"]}
    assert sizes["model.safetensors"] > 10**6
    assert sum(sizes.values()) == told["bytes_here"]
    assert "model.safetensors" in run(home, "show", NANO).stdout


def test_show_tells_the_gate_and_what_the_name_asks_for(home):
    text = run(home, "show", "medsiglip-448").stdout
    assert "the publisher asks for consent" in text
    told = document(home, "show", f"{NANO}@release@max_slices=8")
    assert (told["preset"], told["on_disk"], told["place"]) == ("release", True, "shipped")
    slices = next(one for one in told["settings"] if one["name"] == "max_slices")
    assert (slices["release"], slices["release_origin"]) == (8, "user")


def test_an_own_card_is_listed_and_its_fields_are_explained(home):
    own_card(home.root, "ours", family="siglip", folder="../towers", settings={"fuse": "sum"})
    (home.cards / "bad.json").write_text('{"family": "siglip", "dim": "many"}', encoding="utf-8")
    listed = run(home, "list").stdout
    assert "ours" in listed
    assert "! The card bad.json: dim is 'many', wanted is: length of a vector" in listed
    text = run(home, "show", "ours").stdout
    assert "A card file can say:" in text
    assert "relative path starts at the card's file" in text
    assert "set by the model's card" in text
    assert "dim is 'many'" in run(home, "show", "bad").stdout
    assert "A card file can say:" not in run(home, "show", NANO).stdout


def test_check_prints_what_the_record_holds(home):
    done = triptych("models", "check", "medemb-nano", "--set", "max_slices=16", home=home.root)
    assert done.returncode == 0, done.stderr
    for words in ("cpu, float32", "attention", "EOT probe", "max_slices = 16, set for this run",
                  "peak", "MB (process)", "text", "2d", "3d", "mixed"):  # fmt: skip
        assert words in done.stdout
    assert "refused" not in done.stdout


def test_check_says_whether_a_form_was_refused_or_cut(home):
    told = check_model.check_job(home, {"model": f"{NANO}@max_tokens=4"}, _quiet())
    forms = {form["form"]: form for form in told["forms"]}
    assert list(forms) == ["text", "2d", "3d", "mixed"]
    assert forms["text"]["shortened"] is True
    assert all(form["finite"] and not form["refused"] for form in forms.values())
    own_card(home.root, "flat", family="random", forms=["2d", "text"])
    told = check_model.check_job(home, {"model": "flat"}, _quiet())
    assert [form["form"] for form in told["forms"]] == ["text", "2d"]


def test_peak_memory_is_the_cards_where_a_card_computes(monkeypatch):
    seen = []

    class Cuda:
        is_available = staticmethod(lambda: True)
        device_count = staticmethod(lambda: 1)
        reset_peak_memory_stats = staticmethod(seen.append)
        max_memory_allocated = staticmethod(lambda device: 5 * check_model.MIB)

    monkeypatch.setattr(check_model, "import_torch", lambda: type("T", (), {"cuda": Cuda}))
    assert check_model._graphics_peak(reset=True) is None
    assert seen == [0]
    assert check_model._graphics_peak("cuda:0") == 5
    assert check_model._graphics_peak("cpu") is None


def _quiet():
    from engine.control import Control

    return Control()


def test_a_download_by_the_job_is_shown_and_removed(hub: FakeHub, home):
    told = document(home, "show", "mine")
    assert (told["on_disk"], told["place"]) == (False, None)
    steps = []
    from engine.control import Control

    control = Control(report=lambda *step: steps.append(step))
    done = download_job(home, {"model": "mine@release"}, control)
    assert done["saved"] == ("weights",)
    assert (done["model"], done["revision"], done["fetched"]) == ("mine", COMMIT, done["size"])
    assert {step[2] for step in steps} == {"bytes"}
    told = document(home, "show", "mine")
    assert (told["on_disk"], told["place"], told["here_revision"]) == (True, "download", COMMIT)
    assert told["removable"] is True
    gone = remove_job(home, {"model": "mine"}, control)
    assert gone["freed"] == done["size"]
    assert "freed" in gone["said"][0]
    assert document(home, "show", "mine")["on_disk"] is False


def test_the_whole_way_through_a_worker(hub: FakeHub, home):
    done = triptych("models", "download", "mine", home=home.root)
    assert done.returncode == 0, done.stderr
    assert "mine is here: 30" in done.stdout
    assert "triptych models check mine" in done.stdout
    assert "kB" in done.stderr
    again = triptych("models", "download", "mine", "--json", home=home.root)
    assert json.loads(again.stdout)["fetched"] == 0
    gone = triptych("models", "remove", "mine", home=home.root)
    assert gone.returncode == 0, gone.stderr
    assert "freed" in gone.stdout


def test_what_was_downloaded_is_loaded_and_says_its_commit(hub: FakeHub, home):
    nano = shipped_models() / NANO
    files = {path.name: path.read_bytes() for path in nano.iterdir() if path.is_file()}
    hub.add("me/towers", files)
    download_job(home, {"model": "mine"}, _quiet())
    told = check_model.check_job(home, {"model": "mine"}, _quiet())
    assert told["record"]["revision"] == COMMIT
    assert all(form["finite"] and form["norm"] == pytest.approx(1) for form in told["forms"])
    shipped = check_model.check_job(home, {"model": NANO}, _quiet())
    assert told["record"]["weights"] == shipped["record"]["weights"]


def test_removing_an_adapter_leaves_its_base_and_says_so(hub: FakeHub, home):
    own_card(home.root, "tuned", family="medemb", hub_id="me/tuned", base="somebody/base")
    hub.add("me/tuned", adapter_files())
    hub.add("somebody/base", qwen_files())
    done = download_job(home, {"model": "tuned"}, _quiet())
    told = document(home, "show", "tuned")
    assert told["bytes_here"] > done["size"]
    assert told["base_folder"] == str(home.weights / "somebody--base")
    gone = remove_job(home, {"model": "tuned"}, _quiet())
    assert gone["freed"] == sum(map(len, adapter_files().values()))
    assert gone["said"][-1].endswith("triptych models remove somebody--base")
    assert (home.weights / "somebody--base").is_dir()
    assert run(home, "show", "tuned").exit_code == 0


def test_a_refused_download_is_a_sentence(hub: FakeHub, home):
    hub.repositories["me/towers"].gated = True
    done = triptych("models", "download", "mine", home=home.root)
    assert done.returncode == 1
    assert "must be accepted first" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_keep_their_variants_and_folders_become_absolute(home, monkeypatch, tmp_path: Path):
    folder = tmp_path / "a@b"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "siglip"}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert model_words(home, "a@b") == str(folder)
    assert model_words(home, "a@b@release", ["fuse=sum"]) == f"{folder}@release@fuse=sum"
    assert model_words(home, f"{NANO}@release") == f"{NANO}@release"


def test_bytes_move_in_words_on_the_terminal(capsys):
    from studies.messages import Progress

    follower = Follower(sys.stderr)
    follower(Progress("1", 2_500_000_000, 4_420_000_000, "bytes", "Fetching X"))
    assert "Fetching X: 2.5 GB of 4.4 GB" in capsys.readouterr().err


def test_bench_run_takes_presets_and_settings_as_models_of_their_own(home, tmp_path: Path):
    root = small_root(tmp_path / "data", queries=4)
    words = ("bench", "run", "--data", root, "--tasks", "*/t2t", "--json")
    done = triptych(*words, "--models", f"{NANO}@release,{NANO}", home=home.root)
    assert done.returncode == 0, done.stderr
    ran = json.loads(done.stdout)["run"]
    assert ran["models"] == [f"{NANO}@release", NANO]
    assert ran["computed"] > 0
    one = triptych(*words, "--models", NANO, "--set", "fuse=sum", home=home.root)
    assert json.loads(one.stdout)["run"]["models"] == [f"{NANO}@fuse=sum"]
    bad = triptych(*words, "--models", NANO, "--set", "fuse=product", home=home.root)
    assert bad.returncode == 1
    assert "fuse is one of mean_of_unit" in bad.stderr
    told = CliRunner().invoke(app, ["bench", "run", "--help"]).output
    assert "MODEL@release" in told
