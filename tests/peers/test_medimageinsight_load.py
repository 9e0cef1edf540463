"""MedImageInsight's folder and tensors: every known layout loads to the same vectors, or says why.

Names of tensors in the published file were never seen; all that the authors' code can read load.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from engine.catalog import find_card
from engine.encoder import Encoder
from engine.errors import EngineError, ModelError, WeightsRefused
from engine.models.load import load_encoder
from engine.models.medimageinsight import load_towers
from engine.models.medimageinsight_files import find_parts, is_safetensors, read_sizes
from engine.models.medimageinsight_keys import match, rename
from engine.weights import complete, weights_hash
from tests.peers import tally
from tests.peers import tiny_medimageinsight as tiny
from tests.peers.cases import make
from tests.peers.test_medimageinsight import GOLDEN, MODEL

WEIGHTS = f"{tiny.ROOT}/{tiny.WEIGHTS}"
ITEMS = (make(tiny.words(9)), make(images=(tiny.picture(50, 300),)))
Change = Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]


def load(folder: Path, **options: object) -> Encoder:
    home = folder.parent
    return load_encoder(str(folder), weights_dir=home, shipped_dir=home, device="cpu", **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.make_medimageinsight(tmp_path_factory.mktemp("mii-load") / "published")


@pytest.fixture(scope="module")
def vectors(folder: Path) -> np.ndarray:
    return load(folder).encode(ITEMS)


def changed(source: Path, target: Path, change: Change) -> Path:
    """The folder with other tensors."""
    shutil.copytree(source, target)
    save_file(change(load_file(target / WEIGHTS)), target / WEIGHTS)
    return target


def renamed(source: Path, target: Path, new: Callable[[str], str]) -> Path:
    return changed(source, target, lambda held: {new(name): held[name] for name in held})


def half_old(name: str) -> str:
    """DaViT's names under the older starts."""
    return tiny.old_name(tiny.davit_name(name))


LAYOUTS: dict[str, Callable[[str], str]] = {
    "older starts": tiny.old_name,
    "DaViT's names": tiny.davit_name,
    "DaViT's names under older starts": half_old,
    "behind module.": lambda name: f"module.{name}",
    "behind model. and module.": lambda name: f"model.module.{half_old(name)}",
    "compiled": lambda name: f"_orig_mod.{name}",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_known_layout_gives_the_same_vectors(
    folder: Path, vectors: np.ndarray, tmp_path: Path, name: str
):
    found = load(renamed(folder, tmp_path / "other", LAYOUTS[name])).encode(ITEMS)
    tally.compare(MODEL, "names of today", name, found, vectors, within=0)


def test_the_authors_code_reads_the_old_names_alike():
    for name in ("DaViT names", "old starts"):
        assert GOLDEN["cases"][f"picture, {name}"] == GOLDEN["cases"]["picture, wide"]


def test_florence_names_pass_as_they_are():
    for name in tiny.shapes(tiny.CONFIG, 600):
        place = rename(name)
        if place.startswith("backbone."):
            assert rename("image_encoder." + place.removeprefix("backbone.")) == place


def test_every_name_has_a_place_of_its_own():
    names = list(tiny.shapes(tiny.CONFIG, 600))
    assert len({rename(name) for name in names}) == len(names)
    assert {rename(half_old(name)) for name in names} == {rename(name) for name in names}


def test_two_names_of_one_place_are_refused(folder: Path, tmp_path: Path):
    twice = changed(
        folder, tmp_path / "twice",
        lambda held: held | {"vision_projection": held["image_projection"].clone()},
    )  # fmt: skip
    with pytest.raises(WeightsRefused, match="twice: image_projection and vision_projection"):
        load(twice)


def test_missing_and_unexpected_tensors_are_named(folder: Path, tmp_path: Path):
    stray = changed(folder, tmp_path / "stray", lambda held: held | {"stray.x": torch.ones(2)})
    with pytest.raises(WeightsRefused, match=r"unexpected: stray\.x"):
        load(stray)
    gone = "image_encoder.blocks.2.1.channel_block.ffn.fn.net.fc2.bias"
    less = changed(
        folder, tmp_path / "less", lambda held: {k: v for k, v in held.items() if k != gone}
    )
    with pytest.raises(WeightsRefused, match=r"missing: backbone\.blocks\.2\.1\.channel_block"):
        load(less)
    shape = changed(
        folder, tmp_path / "shape", lambda held: held | {"lang_projection": torch.ones(3, 4)}
    )
    with pytest.raises(WeightsRefused, match=r"lang_projection \[3, 4\] for \[32, 32\]"):
        load(shape)


def test_every_tensor_is_consumed_once():
    held = tiny.shapes(tiny.CONFIG, 600)
    wanted = {rename(name): shape for name, shape in held.items() if name != "logit_scale"}
    source = match(held, wanted, file="x")
    assert sorted(source.values()) == sorted(set(held) - {"logit_scale"})


def test_what_training_leaves_behind_is_no_obstacle(
    folder: Path, vectors: np.ndarray, tmp_path: Path
):
    head = {
        "image_encoder.head.weight": torch.ones(7, 128),
        "image_encoder.head.bias": torch.ones(7),
    }
    more = changed(
        folder, tmp_path / "more",
        lambda held: {k: v for k, v in held.items() if k != "logit_scale"} | head,
    )  # fmt: skip
    assert tally.apart(load(more).encode(ITEMS), vectors) == 0


def test_the_folder_above_or_the_dated_one(folder: Path, vectors: np.ndarray, tmp_path: Path):
    inner = load(folder / tiny.ROOT)
    assert tally.apart(inner.encode(ITEMS), vectors) == 0
    for one in (folder, folder / tiny.ROOT):
        assert find_card(str(one)).family == "medimageinsight"
    shutil.copytree(folder / tiny.ROOT, tmp_path / "under" / "2025.01.01")
    shutil.copytree(folder / tiny.ROOT, tmp_path / "under" / tiny.ROOT)
    assert find_parts(tmp_path / "under").root.name == "2025.01.01"


def test_a_true_safetensors_name_is_as_good(folder: Path, vectors: np.ndarray, tmp_path: Path):
    named = Path(shutil.copytree(folder, tmp_path / "named"))
    (named / WEIGHTS).rename((named / WEIGHTS).with_suffix(".safetensors"))
    assert tally.apart(load(named).encode(ITEMS), vectors) == 0


def test_a_pickle_is_refused_with_the_way_to_convert(folder: Path, tmp_path: Path):
    pickled = Path(shutil.copytree(folder, tmp_path / "pickled"))
    torch.save(load_file(folder / WEIGHTS), pickled / WEIGHTS)
    with pytest.raises(WeightsRefused, match=r"pickled file.*weights_only=True.*save_file"):
        load(pickled)
    torch.save({}, pickled / WEIGHTS, _use_new_zipfile_serialization=False)
    with pytest.raises(WeightsRefused, match="pickled file"):
        load(pickled)


def test_pointers_and_halves_are_told_apart(folder: Path, tmp_path: Path):
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    whole = (folder / WEIGHTS).read_bytes()
    (other / WEIGHTS).write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(WeightsRefused, match="pointer of Git LFS"):
        load(other)
    (other / WEIGHTS).write_bytes(whole[:5000])
    with pytest.raises(WeightsRefused, match="cut off"):
        load(other)
    (other / WEIGHTS).write_bytes(whole[:-40])
    with pytest.raises(WeightsRefused, match="cannot be read"):
        load(other)
    (other / WEIGHTS).unlink()
    with pytest.raises(EngineError, match="no weights"):
        load(other)
    assert not is_safetensors(b"", 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LANG_ENCODER.TOKENIZER", "clip-fast"),
        ("IMAGE_ENCODER.NAME", "coswin"),
        ("IMAGE_ENCODER.SPEC.CONV_AT_FFN", False),
        ("IMAGE_ENCODER.SPEC.DYNAMIC_SCALE", False),
        ("IMAGE_ENCODER.SPEC.STANDPARAM", False),
        ("UNICL_MODEL.STANDPARAM", False),
        ("TEST.CENTER_CROP", True),
    ],
)
def test_another_arithmetic_is_refused(tmp_path: Path, name: str, value: object):
    other = tiny.make_medimageinsight(tmp_path / "other", **{name: value})
    with pytest.raises(WeightsRefused, match=r"config\.yaml sets .* otherwise than the published"):
        read_sizes(other / tiny.ROOT)


@pytest.mark.parametrize("text", ["", "[", "IMAGE_ENCODER: 3", "a: !!python/name:os.system ''"])
def test_a_broken_configuration_is_named(folder: Path, tmp_path: Path, text: str):
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    (other / tiny.ROOT / "config.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(WeightsRefused, match=r"config\.yaml"):
        load(other)


def test_a_configuration_of_other_sizes_is_refused_by_the_tensors(folder: Path, tmp_path: Path):
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    config = tiny.config_of(**{"LANG_ENCODER.LAYERS": 3})
    (other / tiny.ROOT / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    with pytest.raises(WeightsRefused, match=r"missing: lang_encoder\.resblocks\.2"):
        load(other)


def test_a_missing_tokenizer_is_named(folder: Path, tmp_path: Path):
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    (other / tiny.ROOT / tiny.TOKENIZER / "vocab.json").unlink()
    with pytest.raises(WeightsRefused, match="no tokenizer in"):
        load(other)


def test_the_hash_covers_the_nested_files(folder: Path, tmp_path: Path):
    def hashed(path: Path) -> str:
        return weights_hash(path, family="medimageinsight")

    other = Path(shutil.copytree(folder, tmp_path / "other"))
    assert complete(other, family="medimageinsight")
    assert hashed(other) == hashed(folder)
    seen = {hashed(folder)}
    for name in ("config.yaml", f"{tiny.TOKENIZER}/merges.txt", f"{tiny.TOKENIZER}/vocab.json"):
        with (other / tiny.ROOT / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        seen.add(hashed(other))
    save_file({"logit_scale": torch.ones(())}, other / WEIGHTS)
    assert len(seen | {hashed(other)}) == 5


def test_what_is_written_about_it(folder: Path):
    encoder = load(folder)
    assert (encoder.dim, encoder.max_slices) == (32, 64)
    assert encoder.record.attention == "sdpa"
    assert any(one.startswith("ftfy ") for one in encoder.record.libraries)
    assert any("77 tokens" in note for note in encoder.notes)
    assert load(folder, settings={"max_tokens": 20}).fingerprint != encoder.fingerprint
    assert load(folder).fingerprint == encoder.fingerprint
    with pytest.raises(ModelError):
        load(folder, settings={"query_pool": "first"})


def test_fewer_tokens_cut_earlier(folder: Path):
    short = load(folder, settings={"max_tokens": 20})
    short.encode([make(tiny.words(18)), make(tiny.words(19))])
    assert short.shortened == (False, True)
    with pytest.raises(ModelError, match="max_tokens"):
        load(folder, settings={"max_tokens": 0})
    beyond = load(folder, settings={"max_tokens": 500})
    assert {one.name: one.value for one in beyond.record.settings}["max_tokens"] == 77


def test_bfloat16_is_sound(folder: Path, vectors: np.ndarray):
    half = load(folder, dtype="bfloat16").encode(ITEMS)
    tally.compare(MODEL, "ours in float32", "weights in bfloat16", half, vectors, within=0.03)


def test_the_release_preset_has_nothing_to_change(folder: Path, vectors: np.ndarray):
    assert tally.apart(load(Path(f"{folder}@release")).encode(ITEMS), vectors) == 0


def test_towers_without_gradients_on_the_cpu(folder: Path):
    towers = load_towers(folder, length=77)
    assert not any(one.requires_grad for one in towers.module.parameters())
    assert not any(one.is_meta for one in towers.module.state_dict().values())
    assert towers.patches == 36
