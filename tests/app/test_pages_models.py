"""The models page: cards, what fits which device, downloads, removals, settings, own cards."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app import theme
from app.presenters import model_facts
from app.presenters.machine import Machine
from app.presenters.model_words import settings_note, settings_of_card
from app.presenters.models import ModelsPresenter
from app.presenters.own_cards import add_card, families, forget_card, guess_family
from app.shown import CardGiven, FitShown, ModelShown, SettingShown
from app.views.models import ModelsView
from db.home import Home
from engine.catalog import CARDS, find_card, model_cards
from engine.errors import UnknownModel
from engine.families import LOADERS
from studies.places import shipped_models
from tests.app import page_data as made
from tests.app.page_fakes import page_services, view_like
from tests.engine.fake_hub import COMMIT
from tests.engine.hub_fixture import at_hub

GB = 10**9
FORMATS = {"float32": "", "bfloat16": "", "float16": "not sound"}
CPU = {
    "device": "cpu", "name": "Processor", "memory_total": 25 * GB, "memory_free": 20 * GB,
    "formats": FORMATS, "dtype": "float32", "attention": "sdpa", "attention_why": "Attention.",
}  # fmt: skip
CARD = {
    **CPU, "device": "cuda:0", "name": "Card X", "memory_total": 80 * GB, "memory_free": 79 * GB,
    "formats": dict.fromkeys(FORMATS, ""), "dtype": "bfloat16",
}  # fmt: skip


def machine(*devices: dict[str, Any]) -> Machine:
    known = Machine()
    first = devices[0]["device"]
    known.take({"devices": devices, "chosen": first, "libraries": {"torch": "2.14"}, "problem": ""})
    return known


def shown(home: Home, **options: Any) -> dict[str, ModelShown]:
    return {model.key: model for model in model_facts.models_shown(home, **options)}


def page(home: Home, **more: Any) -> tuple[Any, Any]:
    view, services = view_like(ModelsView), page_services(home=home, **more)
    presenter = ModelsPresenter(view, services)
    view.presenter = presenter  # the view keeps it alive, as the window does
    presenter.shown()
    return view, services


def job(services: Any, kind: str) -> str:
    """The id of the last job of a kind."""
    numbers = [n for n, (name, _, _) in enumerate(services.jobs.started) if name == kind]
    return f"j{numbers[-1]}"


# -- facts


def test_models_say_why_they_cannot_be_used(home: Home) -> None:
    found = shown(home)
    assert found["random"].usable
    without = [card.id for card in CARDS if card.loader is None]
    assert {found[one].state for one in without} <= {"no adapter yet"}
    assert not found["siglip-so400m-384"].on_disk
    assert "not on this machine" in found["siglip-so400m-384"].why
    assert found["medemb-nano"].demo
    firsts = [model.usable for model in model_facts.models_shown(home)]
    assert firsts == sorted(firsts, reverse=True), "those that can be used come first"


@pytest.mark.parametrize(
    ("total", "fits", "word"),
    [(64 * GB, True, "fits"), (20 * GB, False, "choose it in Settings"),
     (10 * GB, False, "does not fit"), (None, None, "not known")],
)  # fmt: skip
def test_a_model_fits_by_memory(total: int | None, fits: bool | None, word: str,
                                home: Home) -> None:  # fmt: skip
    one = {**CPU, "memory_total": total, "memory_free": total}
    model = shown(home, machine=machine(one))["qwen3-vl-embedding-8b"]
    assert model.fits is fits
    assert word in model.devices[0].line
    assert "--dtype" not in model.devices[0].tip + model.why, "the window has settings, no options"


def test_every_device_is_judged_in_its_own_format(home: Home) -> None:
    model = shown(home, machine=machine(CARD, CPU))["qwen3-vl-embedding-8b"]
    assert [fit.tone for fit in model.devices] == ["good", "error"]
    assert "16.3 GB as bfloat16" in model.devices[0].line
    assert "32.6 GB as float32" in model.devices[1].line
    assert model.fits
    on_cpu = shown(home, machine=machine(CARD, CPU), device="cpu")["qwen3-vl-embedding-8b"]
    assert (on_cpu.fits, on_cpu.state) == (False, "too large here")
    half = shown(home, machine=machine(CPU), dtype="bfloat16")["qwen3-vl-embedding-8b"]
    assert half.fits
    tight = shown(home, machine=machine({**CPU, "memory_free": 9 * GB}))["qwen3-vl-embedding-2b"]
    assert tight.devices[0].tone == "warn"
    assert tight.fits, "tight is no refusal"
    gone = shown(home, machine=machine(CPU), device="cuda")["qwen3-vl-embedding-2b"]
    assert "cuda is not on this machine" in gone.why


def test_an_old_card_computes_in_float32(home: Home) -> None:
    old = {**CARD, "formats": {**FORMATS, "bfloat16": "none"}, "memory_total": 24 * GB}
    model = shown(home, machine=machine(old))["qwen3-vl-embedding-8b"]
    assert "float32" in model.devices[0].line
    assert "Settings" not in model.devices[0].line, "bfloat16 is no way out there"


def test_a_gate_names_the_page_and_what_to_do(home: Home) -> None:
    gated = shown(home)["medsiglip-448"]
    assert gated.page in gated.gate
    assert "hf auth login" in gated.gate
    assert gated.can_download
    unpublished = shown(home)["medemb-2b"]
    assert not unpublished.can_download
    assert str(home.weights / "medemb-2b") in unpublished.place


def test_a_half_download_can_go_on_or_be_removed(home: Home) -> None:
    from engine.weights import growing_folder

    growing = growing_folder(home.weights / "siglip-so400m-384")
    growing.mkdir(parents=True)
    (growing / "part").write_bytes(b"x" * 2_000_000)
    model = shown(home)["siglip-so400m-384"]
    assert (model.partial, model.can_remove, model.can_download) == ("2.0 MB", True, True)


def test_own_and_broken_cards_are_listed_with_their_reason(home: Home) -> None:
    home.cards.mkdir(exist_ok=True)
    (home.cards / "mine.json").write_text(
        json.dumps({"family": "siglip", "folder": str(shipped_models() / "siglip-nano")})
    )
    (home.cards / "bad.json").write_text("{")
    found = shown(home)
    assert (found["mine"].own, found["mine"].usable) == (True, True)
    assert (found["bad"].broken, found["bad"].state) == (True, "card broken")
    assert "bad.json" in found["bad"].note
    assert not found["siglip-nano"].own


def test_the_machine_in_words() -> None:
    known = machine(CARD, CPU)
    assert known.words().startswith("Card X: 80.0 GB, 79.0 GB free, computes in bfloat16")
    assert "torch 2.14" in known.words()
    assert known.device("auto") == CARD
    assert known.device("cuda") == CARD
    assert known.device("mps") is None
    assert "Processor (cpu): float32, bfloat16." in known.tip()
    fresh = Machine()
    assert not fresh.looked
    assert "Processor" in fresh.words()
    fresh.take({"devices": [], "problem": "torch is not installed", "libraries": {}})
    assert fresh.words() == "torch is not installed"
    assert fresh.devices()[0]["device"] == "cpu"


# -- settings


@pytest.mark.parametrize("key", [card.id for card in CARDS])
def test_every_setting_says_who_states_it(key: str, home: Home) -> None:
    rows = settings_of_card(find_card(key), home)
    assert rows
    assert all(row.name and row.value and row.origin and row.name in row.tip for row in rows)
    assert settings_note(find_card(key), rows).endswith(".")


def test_what_the_release_changes_is_marked(home: Home) -> None:
    rows = {row.name: row for row in settings_of_card(find_card("siglip-so400m-384"), home)}
    assert rows["fuse"].differs
    assert (rows["fuse"].value, rows["fuse"].release) == ("mean_of_unit", "mean_raw")
    assert not rows["max_slices"].differs
    none = settings_of_card(find_card("medimageinsight"), home)
    assert {row.release for row in none} == {""}, "the release has no wrapper"
    assert "no wrapper" in settings_note(find_card("medimageinsight"), none)
    release = shown(home)["siglip-so400m-384"].release
    assert "fuse mean_of_unit → mean_raw" in release
    variants = model_facts.with_release(model_facts.models_shown(home))
    twins = [model for model in variants if model.variant_of]
    assert {model.variant_of for model in twins} >= {"siglip-nano", "medemb-nano"}
    assert all(find_card(model.key).preset == "release" for model in twins)
    assert all(model.usable for model in twins)


def test_what_the_folder_states_is_shown_and_wins_over_the_release(home: Home) -> None:
    rows = {row.name: row for row in settings_of_card(find_card("medemb-nano"), home)}
    assert (rows["max_tokens"].value, rows["max_tokens"].origin) == ("4,096", "folder")
    assert not rows["max_tokens"].differs
    assert "max_tokens" not in shown(home)["medemb-nano"].release
    assert "over_length error → keep_special" in shown(home)["medemb-nano"].release
    other = json.dumps({"settings": {"no_such_setting": 1}})
    folder = home.root / "odd"
    shutil.copytree(shipped_models() / "siglip-nano", folder)
    (folder / "triptych.json").write_text(other)
    key = add_card(home, given(folder=str(folder)))
    assert shown(home)[key].release == "", "one odd folder stops no other card"


# -- the presenter


def test_the_machine_is_looked_at_once_and_when_asked(home: Home) -> None:
    view, services = page(home)
    assert [kind for kind, _, _ in services.jobs.started] == ["machine"]
    assert view.last("show_machine")[1] == {"looking": True}
    services.jobs.end("j0", result={"devices": [CARD, CPU], "chosen": "cuda:0", "problem": ""})
    assert view.last("show_machine")[1] == {"looking": False}
    assert len(view.last("show_models")[0][0][-1].devices) == 2
    view.presenter.shown()
    assert len(services.jobs.started) == 1, "kept until asked again"
    view.look_wanted.emit()
    assert len(services.jobs.started) == 2
    services.jobs.end("j1", state="failed", sentence="It broke.")
    assert services.notify.sentences == ["It broke."]
    assert view.last("show_machine")[1] == {"looking": False}


def test_a_check_runs_in_the_worker_and_is_told_on_the_card(home: Home) -> None:
    view, services = page(home)
    view.check_wanted.emit("random")
    assert services.jobs.started[-1][1]["model"] == "random"
    assert view.last("show_check")[1] == {"checking": True}
    view.check_wanted.emit("random")
    assert len(services.jobs.started) == 2, "a second press starts nothing"
    forms = [{"form": "text", "seconds": 0.2, "tokens": 7}, {"form": "3d", "seconds": 0.3}]
    result = {"model": "random", "load_seconds": 1.0, "forms": forms, "dim": 64, "notes": [],
              "record": {"device": "cpu", "dtype": "float32", "attention": "sdpa"},
              "peak_memory_mb": 1200}  # fmt: skip
    result["notes"] = ["Computes on the processor.", "Texts are cut."]
    services.jobs.end(job(services, "model-check"), result=result)
    (key, text), named = view.last("show_check")
    assert named["tip"] == "Computes on the processor.\nTexts are cut."
    assert (key, named["tone"]) == ("random", "good")
    for word in ("cpu, float32, sdpa", "2 items in 0.5 s", "text: 7 tokens", "1,200 MiB"):
        assert word in text
    view.check_wanted.emit("random")
    services.jobs.end(job(services, "model-check"), state="failed", sentence="Damaged.")
    assert view.last("show_check")[0] == ("random", "Damaged.")


def test_a_check_that_refused_a_form_is_no_good_one(home: Home) -> None:
    view, services = page(home)
    view.check_wanted.emit("random")
    forms = [{"form": "text", "refused": "too long"}, {"form": "2d", "seconds": 1, "finite": False}]
    services.jobs.end(job(services, "model-check"), result={"forms": forms})
    (_, text), named = view.last("show_check")
    assert named["tone"] == "warn"
    assert "text: refused. too long" in text
    assert "NOT FINITE" in text


def test_a_download_is_asked_for_once_shown_and_can_be_stopped(home: Home) -> None:
    view, services = page(home)
    key = "medsiglip-448"
    view.download_wanted.emit(key)
    (asked, question, action), named = view.last("show_question")
    assert (asked, action, named) == (key, "Download", {"danger": False})
    for word in ("3.5 GB", "free", "Health AI", "huggingface.co/google/medsiglip-448", "9cea28a1"):
        assert word in question
    assert len(services.jobs.started) == 1, "nothing moves before the answer"
    view.sure_wanted.emit(key)
    view.sure_wanted.emit(key)
    assert services.jobs.started[1:] == [("model-download", {"model": key}, "Download MedSigLIP")]
    moving = job(services, "model-download")
    services.jobs.progress(moving, done=GB, total=4 * GB, unit="bytes", phase="Fetching")
    (_, words), named = view.last("show_transfer")
    assert (words, named) == ("1.0 GB of 4.0 GB", {"permille": 250})
    view.presenter._take(view.presenter._models[:3])
    assert view.last("show_transfer")[1] == {"permille": 250}, "a new list keeps the progress"
    view.stop_wanted.emit(key)
    assert services.jobs.cancelled == [moving]
    services.jobs.end(moving, state="cancelled", sentence="stopped")
    assert view.last("show_transfer")[1] == {"moving": False}
    assert view.last("show_check")[0] == (key, "Stopped. What has arrived stays.")


def test_a_question_stands_until_it_is_answered(home: Home) -> None:
    view, services = page(home)
    view.download_wanted.emit("siglip-so400m-384")
    asked = view.last("show_question")
    services.jobs.end("j0", result={"devices": [CARD, CPU], "chosen": "cuda:0", "problem": ""})
    assert view.names().count("show_models") == 2
    assert view.last("show_question") == asked, "new cards, the same question"
    view.unsure_wanted.emit("siglip-so400m-384")
    view.sure_wanted.emit("siglip-so400m-384")
    assert [kind for kind, _, _ in services.jobs.started] == ["machine"]


def test_a_download_that_failed_says_why_on_its_card(home: Home) -> None:
    view, services = page(home)
    view.download_wanted.emit("siglip-so400m-384")
    view.sure_wanted.emit("siglip-so400m-384")
    services.jobs.end(job(services, "model-download"), state="failed", sentence="The hub is off.")
    (key, text), named = view.last("show_check")
    assert (key, text, named["tone"]) == ("siglip-so400m-384", "The hub is off.", "error")


def test_a_download_that_ended_is_told_and_read_again(home: Home) -> None:
    view, services = page(home)
    view.download_wanted.emit("siglip-so400m-384")
    view.sure_wanted.emit("siglip-so400m-384")
    result = {
        "model": "siglip-so400m-384",
        "folder": "/w",
        "size": GB,
        "said": ["a", "It is whole."],
    }
    services.jobs.end(job(services, "model-download"), result=result)
    assert services.notify.sentences == ["It is whole."]


def test_a_removal_is_named_and_asked_once(home: Home) -> None:
    view, services = page(home)
    view.remove_wanted.emit("siglip-so400m-384")
    (_, question, action), named = view.last("show_question")
    assert "Remove the weights of SigLIP" in question
    assert (action, named) == ("Remove", {"danger": True})
    view.sure_wanted.emit("siglip-so400m-384")
    assert services.jobs.started[-1][:2] == ("model-remove", {"model": "siglip-so400m-384"})
    result = {"freed": GB, "said": ["SigLIP was removed.", "Its base stays."]}
    services.jobs.end(job(services, "model-remove"), result=result)
    assert services.notify.sentences == ["SigLIP was removed. Its base stays."]


def test_an_answer_without_a_question_does_nothing(home: Home) -> None:
    view, services = page(home)
    view.sure_wanted.emit("random")
    view.download_wanted.emit("nothing of that name")
    assert [kind for kind, _, _ in services.jobs.started] == ["machine"]


def test_only_usable_models_can_be_listed(home: Home) -> None:
    view, _ = page(home)
    view.only_usable_toggled.emit(True)
    assert all(model.usable for model in view.last("show_models")[0][0])
    before = view.names().count("show_models")
    view.presenter.shown()
    assert view.names().count("show_models") == before, "an unchanged list is not built again"


def test_the_settings_of_a_model_are_shown(home: Home) -> None:
    view, _ = page(home)
    view.settings_wanted.emit("siglip-nano")
    (title, rows, note), _ = view.last("show_settings")
    assert (title, bool(rows)) == ("SigLIP nano (demo)", True)
    assert "siglip-nano@release" in note


def test_the_publishers_page_is_opened(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        "app.presenters.models.QDesktopServices.openUrl", lambda url: opened.append(url.toString())
    )
    view, _ = page(home)
    view.page_wanted.emit("medsiglip-448")
    view.page_wanted.emit("medemb-2b")
    assert opened == ["https://huggingface.co/google/medsiglip-448"]


# -- cards of one's own


def given(**more: str) -> CardGiven:
    return CardGiven(**{"title": "My model", "family": "siglip", **more})


def test_a_folder_becomes_a_card_that_loads(home: Home) -> None:
    folder = shipped_models() / "siglip-nano"
    assert guess_family(str(folder)) == ("siglip", "")
    key = add_card(home, given(folder=str(folder), preset="release"))
    card = find_card(key, cards_dir=home.cards)
    assert (card.title, card.folder, card.preset) == ("My model", str(folder.resolve()), "release")
    assert shown(home)[key].usable
    again = add_card(home, given(folder=str(folder)))
    assert again != key, "a name that is taken gets a number"
    assert forget_card(home, key).name == f"{key}.json"
    assert key not in shown(home)
    assert folder.is_dir(), "weights stay"


def test_a_hub_id_becomes_a_card(home: Home) -> None:
    key = add_card(home, given(title="Größe / 模型", hub_id="some/model", revision="a" * 40))
    card = find_card(key, cards_dir=home.cards)
    assert (card.hub_id, card.revision, card.title) == ("some/model", "a" * 40, "Größe / 模型")
    assert shown(home)[key].can_download


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"title": " "}, "name"),
        ({}, "one of the two"),
        ({"folder": "/a", "hub_id": "b/c"}, "one of the two"),
        ({"folder": "/there/is/none"}, "no folder"),
        ({"hub_id": "no slash"}, "hub_id"),
        ({"hub_id": "a/b", "revision": "../.."}, "revision"),
        ({"hub_id": "a/b", "family": "unknown"}, "family"),
    ],
)
def test_what_cannot_be_a_card_is_refused_and_not_written(home: Home, wrong: dict[str, str],
                                                          word: str) -> None:  # fmt: skip
    with pytest.raises(UnknownModel, match=word):
        add_card(home, given(**wrong))
    assert not list(home.cards.glob("*.json"))


def test_a_broken_card_can_be_removed(home: Home) -> None:
    home.cards.mkdir(exist_ok=True)
    (home.cards / "bad.json").write_text("{")
    (home.cards / "random.json").write_text(json.dumps({"family": "siglip", "id": "random"}))
    taken = [card.id for card in model_cards(home.cards)][len(CARDS) :]
    for key in taken:
        forget_card(home, key)
    assert not list(home.cards.glob("*.json"))
    with pytest.raises(UnknownModel, match="no card of your own"):
        forget_card(home, "siglip-nano")


def test_the_form_writes_a_card_or_says_what_it_lacks(home: Home) -> None:
    view, services = page(home)
    view.add_wanted.emit()
    (names, presets), _ = view.last("show_form")
    assert set(names) == set(LOADERS) - {"random"} == set(families())
    assert presets == ("default", "release")
    view.folder_named.emit(str(shipped_models() / "medemb-nano"))
    assert view.last("show_folder")[0][1] == "medemb"
    view.folder_named.emit(str(home.root))
    assert view.last("show_folder")[0][2], "why the family is not told"
    services.tasks.run = _run_and_catch
    view.add_given.emit(given())
    assert "one of the two" in view.last("show_add_problem")[0][0]
    view.add_given.emit(given(folder=str(shipped_models() / "siglip-nano")))
    assert view.last("show_add_problem")[0] == ("",)
    view.forget_wanted.emit("My-model")
    assert "weights and results stay" in view.last("show_question")[0][1]
    view.sure_wanted.emit("My-model")
    assert not list(home.cards.glob("*.json"))
    assert ("weights",) in services.changes.told


def _run_and_catch(owner: Any, work: Any, done: Any = None, failed: Any = None) -> None:
    try:
        value = work()
    except Exception as error:  # noqa: BLE001 - as the pool does
        failed(error)
    else:
        done(value)


# -- the view


LONG = "an-organisation/a-model-with-a-name-that-is-longer-than-any-card-is-wide-" + "x" * 30
FITS = (FitShown("good", "Processor: fits", "all of it"), FitShown("error", "Card: does not fit"))


def wide(key: str, **more: Any) -> ModelShown:
    facts = {"devices": FITS, "memory": "In memory 1 GB", "page": "https://example.org", **more}
    return replace(made.model(key, title=f"Model {key}"), **facts)


@pytest.fixture
def view(qtbot: Any) -> ModelsView:
    one = ModelsView()
    qtbot.addWidget(one)
    one.resize(1196, 760)
    one.show()
    return one


def test_a_card_shows_only_the_keys_that_do_something(view: ModelsView) -> None:
    far = wide("far", on_disk=False, can_download=True, gate="Gated: do this", source="a/b")
    half = wide("half", on_disk=False, can_download=True, can_remove=True, partial="2 MB")
    own = wide("own", own=True)
    broken = wide("broken", own=True, broken=True, has_adapter=False, on_disk=False, page="")
    view.show_models([far, half, own, broken], "four")
    texts = [[key.text() for key in card.pressable()] for card in view.cards]
    assert texts == [
        ["Download", "Settings", "Open page"],
        ["Go on", "Settings", "Open page", "Remove"],
        ["Remove card", "Check", "Settings"],
        ["Remove card"],
    ]
    names = [key.accessibleName() for card in view.cards for key in card.pressable()]
    assert len(names) == len(set(names)), "every key names its model"


def test_a_question_takes_the_place_of_the_keys(view: ModelsView, qtbot: Any) -> None:
    view.show_models([wide("a", on_disk=False, can_download=True)], "one")
    card = view.cards[0]
    view.show_question("a", "Download it?", "Download")
    assert [key.text() for key in card.pressable()] == ["Download", "Not now"]
    assert view.focusWidget() is card.sure
    with qtbot.waitSignal(view.sure_wanted):
        qtbot.keyClick(card.sure, Qt.Key.Key_Space)
    with qtbot.waitSignal(view.unsure_wanted):
        card.unsure.click()
    view.show_question("a")
    assert card.question.isHidden()
    assert not card.foot.isHidden()
    view.show_question("a", "Remove it?", "Remove", danger=True)
    assert card.sure.property("kind") == "danger"


def test_a_download_in_hand_shows_how_far_and_can_be_stopped(view: ModelsView, qtbot: Any) -> None:
    view.show_models([wide("a", on_disk=False, can_download=True)], "one")
    card = view.cards[0]
    view.show_transfer("a", "1 GB of 4 GB", permille=250)
    assert card.bar.value() == 250
    assert not card.download.isEnabled()
    with qtbot.waitSignal(view.stop_wanted):
        card.stop.click()
    view.show_transfer("a", "", moving=False)
    assert card.moving.isHidden()
    assert card.download.isEnabled()


@pytest.mark.parametrize("width", [1196, 1836])
@pytest.mark.parametrize("side", [False, True])
def test_no_card_is_wider_than_its_place(view: ModelsView, width: int, side: bool) -> None:
    models = [
        wide("a", title=LONG, source=LONG, place=f"It lies in /{LONG}", own=True, note=LONG),
        wide("b", on_disk=False, can_download=True, can_remove=True, partial="2 MB"),
        wide("c", on_disk=False, can_download=True, gate=f"Gated: open https://{LONG}"),
    ]
    view.resize(width, 760)
    view.show_models([replace(one, demo=False) for one in models], "three")
    view.show_question("a", f"Remove {LONG}?", "Remove card")
    if side:
        view.show_settings(LONG, [SettingShown("fuse", "sum", "paper", "mean", "tip")], LONG)
    QApplication.processEvents()
    inner: QWidget = view.area.widget()
    assert inner.minimumSizeHint().width() <= view.area.viewport().width()
    for card in view.cards:
        assert card.minimumSizeHint().width() <= card.width()
    across = {card.x() for card in view.cards}
    assert len(across) == (2 if side and width < 1500 else 3)


@pytest.mark.parametrize("percent", [150, 200])
def test_cards_grow_with_the_text(qtbot: Any, percent: int) -> None:
    theme.theme.apply(QApplication.instance(), percent=percent)
    try:
        one = ModelsView()
        qtbot.addWidget(one)
        one.show_models([wide("b", on_disk=False, can_download=True, can_remove=True)] * 4, "four")
        one.resize(1836, 1040)
        one.show()
        QApplication.processEvents()
        assert one.area.widget().minimumSizeHint().width() <= one.area.viewport().width()
    finally:
        theme.theme.apply(QApplication.instance())


def test_the_side_gives_the_keyboard_back(view: ModelsView, qtbot: Any) -> None:
    view.show_models([wide("a")], "one")
    key = view.cards[0].settings
    view.settings_wanted.connect(
        lambda _key: view.show_settings("A", [SettingShown("fuse", "sum", "paper", "", "t")], "n")
    )
    QApplication.processEvents()
    key.setFocus()
    qtbot.keyClick(key, Qt.Key.Key_Space)
    assert view.focusWidget() is view.side.settings.table
    qtbot.keyClick(view.side.settings.table, Qt.Key.Key_Escape)
    assert view.side.isHidden()
    assert view.focusWidget() is key
    view.show_form(families(), ("default", "release"))
    assert view.focusWidget() is view.side.form.name
    view.side.form.close_key.click()
    assert view.focusWidget() is view.add


def test_the_form_gives_what_was_typed(view: ModelsView, qtbot: Any,
                                       monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "/models/mine")
    view.show_form(("siglip", "blip2"), ("default", "release"))
    form = view.side.form
    assert view.ask_folder() == "/models/mine"
    view.show_folder("/models/mine", "blip2", "")
    assert form.name.text() == "mine"
    form.preset.setCurrentText("release")
    with qtbot.waitSignal(view.add_given) as emitted:
        form.add.click()
    assert emitted.args == [CardGiven("mine", "blip2", "/models/mine", "", "", "release")]
    view.show_folder("/models/mine", "", "Its files tell no family.")
    assert "no family" in form.problem.text()
    view.show_add_problem("The card needs a name.")
    assert not form.problem.isHidden()
    view.show_add_problem("")
    assert view.side.isHidden()


def test_the_card_that_had_the_keyboard_keeps_it(view: ModelsView) -> None:
    view.show_models([wide("a"), wide("b")], "two")
    view.cards[1].check.setFocus()
    view.show_models([wide("b"), wide("a")], "two")
    assert view.focusWidget() is view.cards[0].check


def test_tab_goes_through_cards_in_reading_order_then_to_the_side(view: ModelsView) -> None:
    view.show_models([wide("a"), wide("b")], "two")
    view.show_form(("siglip",), ("default",))
    order, widget = [], view.add
    for _ in range(200):
        widget = widget.nextInFocusChain()
        if widget is view.add:
            break
        order.append(widget)
    places = [order.index(one) for one in (view.cards[0].check, view.cards[0].settings,
              view.cards[1].check, view.cards[1].settings, view.side.form.name)]  # fmt: skip
    assert places == sorted(places)


def test_the_window_checks_a_model_and_knows_its_machine(program: Any, qtbot: Any) -> None:
    made_program = program()
    window, services = made_program.window, made_program.services
    window.go("models")
    page_view = window.pages.currentWidget()
    qtbot.waitUntil(lambda: page_view.card("random") is not None, timeout=20_000)
    qtbot.waitUntil(lambda: services.machine.looked, timeout=120_000)
    page_view.card("random").check.click()
    qtbot.waitUntil(lambda: "4 items" in page_view.card("random").checked.text(), timeout=120_000)


def test_the_window_fetches_checks_and_removes_a_model(program: Any, qtbot: Any, home: Home,
                                                       monkeypatch: pytest.MonkeyPatch,
                                                       tmp_path: Path) -> None:  # fmt: skip
    folder = shipped_models() / "siglip-nano"
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    add_card(home, given(title="mine", hub_id="me/towers", revision=COMMIT))
    with at_hub(monkeypatch, tmp_path) as hub:
        hub.add("me/towers", files)
        window = program().window
        window.go("models")
        page_view = window.pages.currentWidget()

        def card() -> Any:
            return page_view.card("mine")

        def shown_as(*, on_disk: bool) -> bool:
            return card() is not None and card().shown.on_disk is on_disk

        qtbot.waitUntil(lambda: shown_as(on_disk=False), timeout=20_000)
        card().download.click()
        assert "me/" in card()._asked.text()
        card().sure.click()
        qtbot.waitUntil(lambda: shown_as(on_disk=True), timeout=120_000)
        assert (home.weights / "mine" / "model.safetensors").read_bytes() == files[
            "model.safetensors"
        ]
        card().check.click()
        qtbot.waitUntil(lambda: "4 items" in card().checked.text(), timeout=120_000)
        assert "Computes on" in card().checked.toolTip()
        card().remove.click()
        card().sure.click()
        qtbot.waitUntil(lambda: shown_as(on_disk=False), timeout=60_000)
        assert not (home.weights / "mine").exists()
