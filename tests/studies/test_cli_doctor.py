"""What ``triptych doctor`` says of models and of the hub; a token is told of, never told."""

from __future__ import annotations

import json

import pytest
from huggingface_hub import constants

from studies import doctor
from tests.engine.hub_fixture import own_card

TOKEN = "hf_notforanyone"  # a made-up word


@pytest.fixture(autouse=True)
def no_token(monkeypatch, tmp_path):
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_ENDPOINT", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))


def test_the_models_on_disk_are_named(home):
    found = doctor._models(home)
    assert (found.state, found.what) == ("ok", "models")
    assert "weights here of random" in found.says
    assert "3 demo models" in found.says
    folder = home.weights / "siglip-so400m-384"
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"0" * 5000)
    assert "siglip-so400m-384, random (5 kB)" in doctor._models(home).says


def test_half_a_download_and_a_broken_card_are_noted_with_what_to_do(home):
    growing = home.weights / ".rzenembed.part"
    growing.mkdir()
    (growing / "config.json.abc.part").write_bytes(b"0")
    found = doctor._models(home)
    assert (found.state, found.mend) == ("note", "triptych models download rzenembed")
    own_card(home.root, "bad", family="nonsense")
    found = doctor._models(home)
    assert found.state == "note"
    assert "bad.json needs a family" in found.says
    assert str(home.cards) in found.mend


def test_the_hub_is_on_unknown_or_switched_off(home, monkeypatch):
    found = doctor._hub(home)
    assert found.state == "ok"
    assert "whether it can be reached shows at a download; no token" in found.says
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.example")
    assert "http://mirror.example" in doctor._hub(home).says
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    found = doctor._hub(home)
    assert (found.state, found.mend) == ("note", "unset HF_HUB_OFFLINE to download models")


def test_a_token_is_told_of_and_never_told(home, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    found = doctor._hub(home)
    assert "a token is in its store" in found.says
    assert TOKEN not in json.dumps(found.as_dict())


def test_without_the_hubs_library_the_line_that_mends_it_is_named(home, monkeypatch):
    monkeypatch.setattr(doctor, "has_token", lambda: None)
    found = doctor._hub(home)
    assert (found.state, found.mend) == ("note", 'pip install "triptych[engine]"')
