"""What a folder of BLIP-2 must hold, what it may, and what is refused and in which words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.models.blip_2 import Blip2ForImageTextRetrieval

from engine.errors import ModelError, WeightsRefused
from engine.models.blip2 import UNUSED, Blip2Towers
from engine.models.blip2_files import load_configuration, load_processor
from engine.models.common import load_strictly
from engine.models.load import load_encoder
from tests.peers.blip2_cases import REPORT, shown
from tests.peers.cases import make
from tests.peers.pictures import volume
from tests.peers.tally import compare, differs
from tests.peers.tiny_blip2 import as_published, make_blip2

ITEMS = [make(REPORT), make(images=(shown("wide"),)), make("lung", volumes=(volume(3, 30, 20),))]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_blip2(tmp_path_factory.mktemp("load") / "blip2-tiny")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copytree(whole, tmp_path / "blip2-tiny"))


def load(folder: Path, *, dtype: str = "auto", **settings: object) -> Any:
    return load_encoder(
        str(folder), weights_dir=folder.parent, shipped_dir=folder, device="cpu", dtype=dtype,
        settings=settings,
    )  # fmt: skip


def change(path: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(path.read_text("utf-8"))
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def reweigh(folder: Path, edit: Callable[[dict[str, torch.Tensor]], None]) -> None:
    tensors = load_file(folder / "model.safetensors")
    edit(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.fixture(scope="module")
def vectors(whole: Path) -> np.ndarray:
    return load(whole).encode(ITEMS)


def test_files_of_the_years_before_5_read_the_same(folder: Path, vectors: np.ndarray) -> None:
    as_published(folder)
    assert not (folder / "tokenizer.json").exists()
    compare("BLIP-2", "itself", "files as published", load(folder).encode(ITEMS), vectors)


def test_half_precision_keeps_what_the_library_keeps(whole: Path, vectors: np.ndarray) -> None:
    encoder = load(whole, dtype="bfloat16")
    assert encoder.model.qformer.dtype == torch.bfloat16
    found = encoder.encode(ITEMS)
    assert (found * vectors).sum(axis=1).min() > 0.99
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-6)


def test_under_float16_the_qformer_stays_in_float32(whole: Path, vectors: np.ndarray) -> None:
    model = load_strictly(Blip2ForImageTextRetrieval, whole, dtype=torch.float16)
    assert {model.qformer.dtype, model.query_tokens.dtype} == {torch.float32}
    assert model.vision_model.dtype == model.text_projection.weight.dtype == torch.float16
    processor = load_processor(whole, load_configuration(whole))
    towers = Blip2Towers(model, processor, "mean")
    with torch.inference_mode():
        text = towers.text_vectors(towers.tokenise([REPORT])[0])
        image = towers.picture_vectors(towers.patch(shown("wide"))[None])
    found = torch.cat([text, image]).numpy()
    assert found.dtype == np.float32
    assert np.abs(found - vectors[:2]).max() < 5e-3


def test_one_copy_of_the_weights_serves_both_towers(whole: Path) -> None:
    encoder = load(whole)
    held = sum(one.numel() for one in encoder.model.parameters())
    assert held == sum(one.numel() for one in load_file(whole / "model.safetensors").values())


def test_leftovers_of_older_conversions_are_no_harm(folder: Path, vectors: np.ndarray) -> None:
    left = {name: torch.arange(6.0) for name in UNUSED}
    assert len(left) == 12
    reweigh(folder, lambda tensors: tensors.update(left))
    compare("BLIP-2", "itself", "leftover entries", load(folder).encode(ITEMS), vectors)


@pytest.mark.parametrize(
    "name",
    ["language_model.lm_head.weight", "language_projection.weight", "Qformer.cls.bias",
     "vision_model.head.weight", "text_projection.weights"],
)  # fmt: skip
def test_other_entries_are_refused(folder: Path, name: str) -> None:
    reweigh(folder, lambda tensors: tensors.update({name: torch.zeros(2)}))
    with pytest.raises(WeightsRefused, match=f"unexpected: {name}"):
        load(folder)


@pytest.mark.parametrize("name", ["query_tokens", "text_projection.bias", "itm_head.weight"])
def test_a_missing_entry_is_refused(folder: Path, name: str) -> None:
    reweigh(folder, lambda tensors: tensors.pop(name))
    with pytest.raises(WeightsRefused, match=f"missing: {name}"):
        load(folder)


def test_a_captioning_model_is_refused(folder: Path) -> None:
    change(
        folder / "config.json", lambda c: c["qformer_config"].update(use_qformer_text_input=False)
    )
    with pytest.raises(WeightsRefused, match="writes captions"):
        load(folder)


def test_without_a_rule_for_pictures_the_authors_is_taken_and_said(
    folder: Path, vectors: np.ndarray
) -> None:
    change(folder / "processor_config.json", lambda content: content.pop("image_processor"))
    encoder = load(folder)
    compare("BLIP-2", "itself", "no rule for pictures", encoder.encode(ITEMS), vectors)
    assert any("does not say how pictures are prepared" in note for note in encoder.notes)
    assert not any("does not say" in note for note in load(folder.parent / "blip2-tiny").notes[:1])


def test_the_folders_rule_for_pictures_is_followed(folder: Path, vectors: np.ndarray) -> None:
    half = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    change(
        folder / "processor_config.json", lambda content: content["image_processor"].update(half)
    )
    differs("BLIP-2", "the folder's mean and deviation ignored", load(folder).encode(ITEMS)[1],
            vectors[1], beyond=1e-3)  # fmt: skip


def test_pictures_of_another_size_are_refused(folder: Path) -> None:
    smaller = {"height": 14, "width": 14}
    change(
        folder / "processor_config.json",
        lambda content: content["image_processor"].update(size=smaller),
    )
    with pytest.raises(WeightsRefused, match="14 by 14, the model takes 28"):
        load(folder)


def test_a_larger_picture_tower_is_read_from_the_folder(tmp_path: Path) -> None:
    encoder = load(make_blip2(tmp_path / "blip2-coco", image_size=56))
    assert encoder.towers.patches == 16
    assert encoder.encode(ITEMS).shape == (3, 16)


def test_another_models_tokenizer_is_refused(folder: Path) -> None:
    as_published(folder)
    words = (folder / "vocab.txt").read_text("utf-8").splitlines()
    (folder / "vocab.txt").write_text("\n".join(words[:-9]) + "\n", encoding="utf-8")
    with pytest.raises(WeightsRefused, match="tokenizer"):
        load(folder)
    (folder / "vocab.txt").write_text("\n".join([*words, *"äöüß"]) + "\n", encoding="utf-8")
    with pytest.raises(WeightsRefused, match="none of the model's words"):
        load(folder)


@pytest.mark.parametrize("name", ["vocab.txt", "preprocessor_config.json", "config.json"])
def test_a_broken_or_missing_file_is_named(folder: Path, name: str) -> None:
    as_published(folder)
    if name == "vocab.txt":
        (folder / name).unlink()
    else:
        content = {"model_type": "blip-2", "qformer_config": 3} if name == "config.json" else {}
        (folder / name).write_text(json.dumps(content) if content else "{", encoding="utf-8")
    with pytest.raises(WeightsRefused, match=folder.name):
        load(folder)


def test_lengths_have_their_bounds(whole: Path) -> None:
    encoder = load(whole, max_tokens=600)
    assert encoder.settings.max_tokens == 512
    used = {one.name: one.value for one in encoder.record.settings}
    assert (used["max_tokens"], encoder.record.attention) == (512, "sdpa")
    assert any("512 tokens" in note for note in encoder.notes)
    for length in (1, 2):
        with pytest.raises(ModelError, match="at least 3"):
            load(whole, max_tokens=length)


def test_every_setting_that_changes_a_vector_changes_the_fingerprint(whole: Path) -> None:
    ways: list[dict[str, object]] = [
        {}, {"query_pool": "first"}, {"query_pool": "lavis768"}, {"max_tokens": 64},
        {"instruction_slot": "field"}, {"fuse": "sum"}, {"empty_text": "null"},
    ]  # fmt: skip
    assert len({load(whole, **way).fingerprint for way in ways}) == len(ways)


def test_flash_attention_is_not_for_the_qformer(whole: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(
        "engine.device.choose_attention", lambda *_: ("flash_attention_2", "Flash.")
    )
    encoder = load(whole)
    assert encoder.record.attention == encoder.model.config._attn_implementation == "sdpa"
    assert any("does not take flash_attention_2" in note for note in encoder.notes)
