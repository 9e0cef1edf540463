"""Folders and cards that would lead to other files, other formats, or out of the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.card import ModelCard
from engine.catalog import find_card, model_cards
from engine.download import wanted
from engine.errors import UnknownModel, WeightsMissing, WeightsRefused
from engine.fit import numbers_in
from engine.hub import HubFile, Listing
from engine.weights import RECORD, LocalWeights, how_to_get, resolve
from tests.engine.fake_hub import COMMIT, NEWER
from tests.engine.hub_fixture import safetensors

DEEP = "[" * 200_000
WEIGHTS, INDEX = "model-00001-of-00001.safetensors", "model.safetensors.index.json"


def folder_of(path: Path, names: dict[str, str] | None = None, **config: object) -> Path:
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"model_type": "siglip", **config}))
    (path / WEIGHTS).write_bytes(safetensors(1, 2000))
    (path / INDEX).write_text(json.dumps({"weight_map": names or {"w": WEIGHTS}}))
    return path


def found(card: ModelCard, path: Path) -> LocalWeights:
    return resolve(card, weights_dir=path, shipped_dir=path)


@pytest.mark.parametrize("name", ["a.bin", "../w.safetensors", "/tmp/w.safetensors", "b/w.bin"])
def test_an_index_may_only_name_safetensors_beside_it(tmp_path: Path, name: str) -> None:
    folder = folder_of(tmp_path / "m", {"w": WEIGHTS, "v": name})
    with pytest.raises(WeightsRefused, match="only safetensors files beside it"):
        found(find_card(str(folder)), tmp_path)


def test_a_configuration_may_not_name_other_weights(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", transformers_weights="below/model.safetensors")
    with pytest.raises(WeightsRefused, match="take out transformers_weights"):
        found(find_card(str(folder)), tmp_path)


@pytest.mark.parametrize(
    "config",
    [
        {"_attn_implementation": "some/kernel"},
        {"text_config": {"attn_implementation": "some/kernel:flash"}},
        {"attn_implementation": {"": "sdpa", "vision_config": "some/kernel"}},
    ],
)
def test_a_configuration_may_not_name_code_on_the_hub(tmp_path: Path, config: Any) -> None:
    folder = folder_of(tmp_path / "m", **config)
    with pytest.raises(WeightsRefused, match="names code on the hub"):
        found(find_card(str(folder)), tmp_path)


def test_a_module_may_not_name_code_on_the_hub(tmp_path: Path) -> None:
    sentence_folder = pytest.importorskip("engine.models.sentence_folder")
    folder = folder_of(tmp_path / "m")
    kind = "sentence_transformers.models.Transformer"
    (folder / "modules.json").write_text(json.dumps([{"type": kind, "path": ""}]))
    options = {"model_args": {"attn_implementation": "sdpa"}}
    (folder / "sentence_bert_config.json").write_text(json.dumps(options))
    sentence_folder.check_folder(folder)
    options["model_args"]["attn_implementation"] = "some/kernel"
    (folder / "sentence_bert_config.json").write_text(json.dumps(options))
    with pytest.raises(WeightsRefused, match="names code on the hub"):
        sentence_folder.check_folder(folder)


def test_a_whole_folder_is_found(tmp_path: Path) -> None:
    assert found(find_card(str(folder_of(tmp_path / "m"))), tmp_path).digest


def test_a_link_to_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m")
    (folder / "more.safetensors").symlink_to(tmp_path / "gone")
    with pytest.raises(WeightsMissing, match="cannot be read"):
        found(find_card(str(folder)), tmp_path)


@pytest.mark.parametrize("name", ["config.json", "triptych.json"])
def test_json_nested_too_deep_is_a_sentence(tmp_path: Path, name: str) -> None:
    folder = folder_of(tmp_path / "m")
    (folder / name).write_text(DEEP)
    with pytest.raises(UnknownModel, match="cannot be read as JSON"):
        find_card(str(folder))


def test_headers_and_an_index_nested_too_deep_count_nothing(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m")
    (folder / INDEX).write_text(DEEP)
    assert numbers_in(folder) == 0
    (folder / INDEX).unlink()
    (folder / WEIGHTS).write_bytes(len(DEEP).to_bytes(8, "little") + DEEP.encode())
    assert numbers_in(folder) == 0


@pytest.mark.parametrize("content", [DEEP, '{"family": "siglip", "dim": ' + "9" * 5000 + "}"])
def test_a_card_that_cannot_be_read_leaves_the_others(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.json").write_text(content)
    (tmp_path / "good.json").write_text('{"family": "siglip", "folder": "x"}')
    cards = {card.id: card for card in model_cards(tmp_path)}
    assert "cannot be read as JSON" in cards["bad"].note
    assert cards["good"].loader


def test_a_model_from_the_hub_is_found_by_the_name_it_is_called(tmp_path: Path) -> None:
    card = find_card("somebody/siglip-x")
    assert find_card(card.id) == card
    assert find_card(f"{card.id}@release").id == "somebody--siglip-x@release"
    told = how_to_get(card, weights_dir=tmp_path, shipped_dir=tmp_path)
    assert "triptych models download somebody/siglip-x," in told
    for name in (f"somebody/siglip-x@{NEWER}", f"google/medsiglip-448@{NEWER}"):
        told = how_to_get(find_card(name), weights_dir=tmp_path, shipped_dir=tmp_path)
        assert f"triptych models download {name}," in told
    with pytest.raises(UnknownModel, match="There is no model 'no--thing'"):
        find_card("no--thing")


def test_a_record_in_a_repository_is_not_taken_for_ours() -> None:
    names = ("config.json", "w.safetensors", RECORD)
    files = tuple(HubFile(name, 1, "", "") for name in names)
    listing = Listing("somebody/siglip-x", COMMIT, files)
    taken = wanted(find_card("somebody/siglip-x"), listing)
    assert [file.path for file in taken] == ["config.json", "w.safetensors"]


@pytest.mark.parametrize("said", [{"id": "../x"}, {"id": 5}, {"title": ["a"]}, {"base": 5}])
def test_a_folder_names_itself_as_a_card_would(tmp_path: Path, said: dict[str, object]) -> None:
    folder = folder_of(tmp_path / "m")
    (folder / "triptych.json").write_text(json.dumps(said))
    with pytest.raises(UnknownModel, match="mend it"):
        find_card(str(folder))
