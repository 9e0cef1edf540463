"""Cards, devices and weights: what is there, what is not, and what a person is told."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine import weights as weights_module
from engine.catalog import (
    CARDS,
    DEMO,
    LOADERS,
    find_card,
    folder_settings,
    model_cards,
    require_loader,
)
from engine.device import choose_device
from engine.errors import (
    EngineMissing,
    NoAdapter,
    UnknownModel,
    WeightsMissing,
    WeightsRefused,
)
from engine.models.load import load_encoder
from engine.weights import resolve, weights_hash

ROOT = Path(__file__).resolve().parents[2]
PAPER = (
    "SigLIP", "BLIP-2", "MedSigLIP", "MedImageInsight", "VLM2Vec-V2.0", "RzenEmbed",
    "Qwen3-VL-Embedding-2B", "Qwen3-VL-Embedding-8B", "MedEmb-2B", "MedEmb-8B",
)  # fmt: skip


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_all_ten_models_of_the_paper_have_cards():
    assert tuple(card.title for card in CARDS[:10]) == PAPER
    assert [card.id for card in CARDS[10:]] == [
        "random", "qwen3-vl-embedding-nano", "medemb-nano", "siglip-nano",
    ]  # fmt: skip


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
def test_every_card_is_whole(card):
    assert card.licence
    assert card.forms == ("2d", "3d", "text")
    assert card.memory_mb > 0
    assert card.revision is None or len(card.revision) == 40
    assert find_card(card.id) == card
    if card.hub_id:
        assert find_card(card.hub_id) == card
    if card.demo:
        assert card.note == DEMO
        assert "generated pictures" in card.note
        assert card.folder == card.id
    if card.loader is None:
        assert "No adapter yet" in card.note
        with pytest.raises(NoAdapter, match="no adapter"):
            require_loader(card)
    else:
        module, _, name = require_loader(card).partition(":")
        assert callable(getattr(importlib.import_module(module), name))


def test_reading_cards_loads_nothing_heavy():
    code = (
        "import sys, engine.catalog, engine.device, engine.weights, engine.index, engine.encode, "
        "engine.models.load, engine.models.random_encoder; engine.catalog.model_cards(); "
        "heavy = {'torch', 'transformers', 'faiss', 'safetensors', 'huggingface_hub'} & "
        "set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_unknown_name_lists_the_known(tmp_path: Path):
    with pytest.raises(UnknownModel, match=r"medemb-nano"):
        find_card("medemb-3b")
    with pytest.raises(UnknownModel, match="tells no family"):
        find_card("somebody/else")
    with pytest.raises(UnknownModel, match="not a model"):
        find_card(str(tmp_path))


def test_a_folder_tells_its_family(tmp_path: Path):
    plain = write(tmp_path / "one/config.json", {"model_type": "qwen3_vl"}).parent
    assert find_card(str(plain)).family == "qwen3-vl-embedding"
    towers = write(tmp_path / "two/config.json", {"model_type": "siglip"}).parent
    assert find_card(str(towers)).family == "siglip"
    adapter = write(
        tmp_path / "three/adapter_config.json",
        {"base_model_name_or_path": "Qwen/Qwen3-VL-Embedding-2B"},
    ).parent
    assert find_card(str(adapter)).family == "medemb"
    write(plain / "triptych.json", {"family": "medemb", "title": "Mine", "demo": True})
    card = find_card(str(plain))
    assert (card.family, card.title, card.demo, card.note) == ("medemb", "Mine", True, DEMO)
    write(plain / "triptych.json", ["no object"])
    with pytest.raises(UnknownModel, match="JSON object"):
        folder_settings(plain)


def test_a_hub_id_outside_the_catalogue_tells_its_family_by_its_name():
    card = find_card("google/siglip-base-patch16-224")
    assert (card.family, card.hub_id, card.revision) == (
        "siglip", "google/siglip-base-patch16-224", None,
    )  # fmt: skip


def test_the_users_own_cards(tmp_path: Path):
    write(
        tmp_path / "ours.json",
        {"family": "siglip", "folder": "/models/ours", "title": "Ours", "forms": ["2d"],
         "settings": {"preprocess": "pad_square"}},
    )  # fmt: skip
    card = find_card("ours", cards_dir=tmp_path)
    assert (card.title, card.forms, card.loader) == ("Ours", ("2d",), LOADERS["siglip"])
    assert model_cards(tmp_path)[:-1] == CARDS


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ({"family": "os"}, "needs a family"),
        ({"family": "siglip", "loader": "os:system"}, "loader"),
        ("text", "JSON object"),
    ],
)
def test_a_card_names_a_family_never_code(tmp_path: Path, content: object, word: str):
    write(tmp_path / "bad.json", content)
    with pytest.raises(UnknownModel, match=word):
        require_loader(find_card("bad", cards_dir=tmp_path))


def test_a_broken_card_is_listed_with_its_reason_and_stops_no_other(tmp_path: Path):
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    write(tmp_path / "good.json", {"family": "siglip"})
    bad, good = model_cards(tmp_path)[len(CARDS) :]
    assert (bad.loader, good.loader) == (None, LOADERS["siglip"])
    assert "bad.json cannot be read as JSON" in bad.note
    with pytest.raises(UnknownModel, match=r"bad\.json"):
        require_loader(bad)


def test_without_torch_the_line_that_mends_it_is_named(monkeypatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(EngineMissing, match=r'pip install "triptych\[engine\]"'):
        choose_device()
    monkeypatch.setitem(sys.modules, "engine.models.siglip", None)
    monkeypatch.delitem(sys.modules, "engine.models.siglip")
    with pytest.raises(EngineMissing, match="triptych"):
        load_encoder("siglip-nano", weights_dir=tmp_path, shipped_dir=tmp_path)
    random = load_encoder("random", weights_dir=tmp_path, shipped_dir=tmp_path)
    assert random.dim == 64


def ask(model: str, folder: Path, **more: object):
    return resolve(find_card(model), weights_dir=folder, shipped_dir=folder / "shipped", **more)


def test_missing_weights_say_what_to_do(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsMissing, match="Install the program again"):
        ask("siglip-nano", tmp_path)
    with pytest.raises(WeightsMissing, match="not published"):
        ask("medemb-2b", tmp_path)
    with pytest.raises(WeightsMissing, match=r"hf download Qwen/Qwen3-VL-Embedding-2B --revision"):
        ask("qwen3-vl-embedding-2b", tmp_path)
    with pytest.raises(WeightsMissing, match="triptych models download qwen3-vl-embedding-2b"):
        ask("qwen3-vl-embedding-2b@release", tmp_path)
    with pytest.raises(WeightsMissing, match=r"Accept the terms at https://\S+/medsiglip-448"):
        ask("medsiglip-448", tmp_path)


def fill(folder: Path) -> None:
    write(folder / "config.json", {"model_type": "qwen3_vl"})
    (folder / "model.safetensors").write_bytes(b"weights")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.ckpt"])
def test_pickled_weights_are_refused_with_the_way_to_convert(tmp_path: Path, name: str):
    folder = write(tmp_path / "old/config.json", {"model_type": "siglip"}).parent
    (folder / name).write_bytes(b"\x80\x04.")
    with pytest.raises(WeightsRefused, match="safe_serialization"):
        ask(str(folder), tmp_path)
    (folder / name).unlink()
    with pytest.raises(WeightsMissing, match="no safetensors"):
        ask(str(folder), tmp_path)


def test_the_hash_follows_weights_and_settings_files_only(tmp_path: Path):
    fill(tmp_path)
    first = weights_hash(tmp_path)
    (tmp_path / "training.log").write_text("scores", encoding="utf-8")
    write(tmp_path / "scores.json", {})
    assert weights_hash(tmp_path) == first
    write(tmp_path / "tokenizer.json", {"version": 2})
    second = weights_hash(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"weightz")
    assert len({first, second, weights_hash(tmp_path)}) == 3


def test_the_hash_is_remembered_until_the_file_changes(tmp_path: Path, monkeypatch):
    folder, memo = tmp_path / "m", tmp_path / ".hashes.json"
    fill(folder)
    first = weights_hash(folder, memo=memo)
    with monkeypatch.context() as patch:
        patch.setattr(weights_module, "_hash_file", lambda *_: "0" * 64)
        assert weights_hash(folder, memo=memo) == first
    memo.write_text("damaged", encoding="utf-8")
    assert weights_hash(folder, memo=memo) == first
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert weights_hash(folder, memo=memo) != first


def test_an_adapter_finds_its_base(tmp_path: Path):
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    fill(base)
    write(base / "triptych.json", {"family": "medemb", "settings": {"max_pixels": 9216}})
    write(adapter / "adapter_config.json", {"base_model_name_or_path": "../base"})
    (adapter / "adapter_model.safetensors").write_bytes(b"adapter")
    found = ask(str(adapter), tmp_path)
    assert (found.folder, found.adapter) == (base.resolve(), adapter.resolve())
    assert found.settings == {"max_pixels": 9216}
    assert found.adapter_digest
    assert found.digest != found.adapter_digest
    write(adapter / "adapter_config.json", {"base_model_name_or_path": "lost base"})
    write(adapter / "triptych.json", {"family": "medemb"})
    with pytest.raises(WeightsMissing, match=r"triptych\.json"):
        ask(str(adapter), tmp_path)
