"""The three shipped demo models: they load strictly, are small, say what they are, and differ."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from engine.models import qwen3_pixels, qwen3_vl
from engine.models.common import quiet
from engine.models.load import load_encoder
from engine.packing import Pair
from studies.demo.nano.folders import MOST_BYTES, folder_bytes, parameter_count, weights_digest
from studies.demo.nano.generic_pairs import generic_pairs
from studies.demo.nano.make_models import Follower, load_trainee
from studies.demo.nano.quicker import quicken, remembered_slices
from studies.demo.nano.recipes import RECIPES
from studies.demo.nano.score import score
from studies.demo.nano.streams import dev_pairs

SHIPPED = Path(__file__).resolve().parents[2] / "resources" / "models"
NAMES = ("qwen3-vl-embedding-nano", "medemb-nano", "siglip-nano")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """Busy machines are slower with more."""
    torch.set_num_threads(1)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_whole_small_and_labelled(name: str) -> None:
    folder = SHIPPED / name
    assert folder_bytes(folder) <= MOST_BYTES
    assert not [path for path in folder.iterdir() if path.suffix in (".bin", ".pt", ".pkl")]
    settings = json.loads((folder / "triptych.json").read_text(encoding="utf-8"))
    assert settings["demo"] is True
    assert "generated pictures" in settings["note"]
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "Demo model, trained on generated pictures" in card
    assert "no clinical use" in card
    architecture = json.loads((folder / "config.json").read_text(encoding="utf-8"))["architectures"]
    assert architecture == ["SiglipModel" if name == "siglip-nano" else "Qwen3VLModel"]


@pytest.mark.parametrize("name", NAMES)
def test_the_log_belongs_to_the_weights(name: str) -> None:
    log = json.loads((SHIPPED / name / "training_log.json").read_text(encoding="utf-8"))
    assert log["model"] == name
    assert log["weights sha256"] == weights_digest(SHIPPED / name)
    assert log["scores"]["families"].keys() == {
        "I-I", "MB-VR", "I-Lab", "I-Rep", "T-I", "VQA", "VG", "T-T"
    }  # fmt: skip
    losses = [line["loss"] for line in log["steps"]]
    assert losses[-1] < losses[0]


def test_medemb_is_trained_as_the_paper_says() -> None:
    log = json.loads((SHIPPED / "medemb-nano" / "training_log.json").read_text(encoding="utf-8"))
    for stage in log["recipe"]["stages"]:
        assert stage["settings"]["temperature"] == 0.01
        assert stage["settings"]["margin"] == 0.1
        assert stage["settings"]["compare"] == "cosine"
    assert "64" in log["recipe"]["stages"][-1]["slices"]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_loads_strictly_and_embeds_every_kind(name: str, tmp_path: Path) -> None:
    encoder = load_encoder(name, weights_dir=tmp_path, shipped_dir=SHIPPED)
    assert encoder.dim == 128
    pairs = list(generic_pairs(seed=5, count=12))
    vectors = encoder.encode([pair.query for pair in pairs])
    assert vectors.shape == (12, 128)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors, encoder.encode([pair.query for pair in pairs]))
    assert parameter_count(SHIPPED / name) < 2_000_000


def test_the_qwen_tokenizer_ends_every_text_and_knows_the_turns(tmp_path: Path) -> None:
    for name in NAMES[:2]:
        processor = qwen3_vl.load_processor(SHIPPED / name)
        assert qwen3_vl.tokenizer_ends_text(processor)
        turns = [
            {"role": "system", "content": [{"type": "text", "text": "Say."}]},
            {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "a b"}]},
        ]
        made = processor.tokenizer.apply_chat_template(
            turns,
            tokenize=False,
            add_generation_prompt=True,
        )
        assert made == (
            "<|im_start|>system\nSay.<|im_end|>\n<|im_start|>user\n"
            "<|vision_start|><|image_pad|><|vision_end|>a b<|im_end|>\n<|im_start|>assistant\n"
        )


def test_pictures_and_slices_are_brought_to_96_pixels(tmp_path: Path) -> None:
    trainee = load_trainee(SHIPPED / "medemb-nano")
    (pair,) = [p for p in dev_pairs(count=40, slices=64) if p.task == "chest/xray-ct"][:1]
    batch = trainee.build_batch(
        trainee.encoder.processor, [pair.query, pair.target], trainee.encoder.settings
    )
    assert batch["image_grid_thw"].tolist() == [[1, 6, 6]]
    assert batch["video_grid_thw"].tolist() == [[32, 6, 6]]


def test_medemb_leads_its_base_on_patients_it_never_saw() -> None:
    pairs: list[Pair] = list(dev_pairs(count=240, slices=8))
    base = score(load_trainee(SHIPPED / NAMES[0]), pairs)
    medemb = score(load_trainee(SHIPPED / NAMES[1]), pairs)
    assert len(medemb.families) == 8
    assert medemb.mean > base.mean + 10
    ahead = [name for name, (hit, _) in medemb.families.items() if hit > base.families[name][0]]
    assert len(ahead) >= 6


def test_the_quicker_vision_tower_gives_the_same_vectors() -> None:
    pairs = list(generic_pairs(seed=3, count=10))
    plain, quick = (load_trainee(SHIPPED / NAMES[1]) for _ in range(2))
    quicken(quick.module)
    with torch.inference_mode(), quiet(), warnings.catch_warnings():
        items = [item for pair in pairs for item in (pair.query, pair.target)]
        assert torch.allclose(plain.embed(items), quick.embed(items), atol=2e-6)


def test_remembered_slices_are_the_adapters_own() -> None:
    rng = np.random.default_rng(0)
    settings = load_trainee(SHIPPED / NAMES[1]).encoder.settings
    for count, side in ((1, 96), (5, 96), (8, 70)):
        volume = rng.integers(0, 256, (count, side, side, 3), dtype=np.uint8)
        plain = qwen3_pixels.resize_volume(volume, settings)
        with remembered_slices():
            for _ in range(2):
                assert torch.equal(qwen3_pixels.resize_volume(volume, settings), plain)
    assert torch.equal(qwen3_pixels.resize_volume(volume, settings), plain)


def test_generic_pairs_are_the_same_twice_and_differ_by_seed() -> None:
    def pixels(seed: int) -> list[bytes]:
        return [
            picture.tobytes()
            for pair in generic_pairs(seed=seed, count=30)
            for picture in (*pair.query.images, *pair.target.volumes)
        ]

    assert pixels(1) == pixels(1)
    assert pixels(1) != pixels(2)


def test_every_recipe_is_followed_by_a_line_a_stretch() -> None:
    assert [recipe.name for recipe in RECIPES] == [NAMES[0], NAMES[2], NAMES[1]]
    assert Follower("x", 0, save=lambda: None).finish() == []
