"""Cards of one's own: what they may say and how they are checked; how folders tell a family."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.card import BYTES, FIELDS
from engine.catalog import BASES, CARDS, find_base, find_card, model_cards
from engine.errors import ModelError, UnknownModel
from engine.families import BASE, BROKEN, LOADERS, NAMES, family_of
from engine.models.settings import DEFAULTS

README = Path(__file__).resolve().parents[2] / "engine" / "models" / "README.md"


def card(folder: Path, name: str, content: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def folder_of(path: Path, **files: object) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_examples_of_the_document_are_cards(tmp_path: Path):
    blocks = [
        json.loads(found)
        for found in re.findall(r"```json\n(.*?)```", README.read_text("utf-8"), re.S)
    ]
    siglip, clip, settings = blocks
    card(tmp_path / "cards", "our-siglip", siglip)
    card(tmp_path / "cards", "clip-b32", clip)
    cards = {one.id: one for one in model_cards(tmp_path / "cards")[len(CARDS) :]}
    assert {one.family for one in cards.values()} == {"siglip", "sentence-transformers"}
    assert cards["our-siglip"].folder == str(tmp_path / "our-siglip")
    assert cards["clip-b32"].hub_id == "sentence-transformers/clip-ViT-B-32"
    folder_of(tmp_path / "merged", config={"model_type": "qwen2_vl"}, triptych=settings)
    assert find_card(str(tmp_path / "merged")).family == "rzenembed"


def test_the_document_names_every_field_and_family():
    table = README.read_text("utf-8")
    assert all(f"`{name}`" in table for name in FIELDS)
    assert all(f"`{family}`" in table for family in LOADERS)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"dim": "many"}, "dim is 'many'"),
        ({"dim": True}, "dim is True"),
        ({"memory_mb": -1}, "memory_mb is -1"),
        ({"gated": "yes"}, "gated is 'yes'"),
        ({"forms": ["4d"]}, "not 4d"),
        ({"forms": "2d"}, "forms is '2d'"),
        ({"id": "../out"}, "must be letters"),
        ({"hub_id": "no slash"}, "hub_id is 'no slash'"),
        ({"revision": "a b"}, "revision is 'a b'"),
        ({"preset": "mine"}, "no preset 'mine'"),
        ({"settings": {"shout": 1}}, "'shout' is not known"),
        ({"settings": {"max_slices": "64"}}, "of type int"),
        ({"settings": {"fuse": "product"}}, "one of mean_of_unit"),
        ({"settings": []}, r"settings is \[\]"),
        ({"trust_remote_code": True}, "which no card has"),
        ({"family": ["siglip"]}, "needs a family"),
        ({"id": "siglip-nano"}, "is taken"),
        ({"id": "qwen2-vl-2b-instruct"}, "is taken"),
    ],
)
def test_a_card_that_cannot_be_is_listed_with_the_reason(tmp_path: Path, content, words):
    card(tmp_path, "mine", {"family": "siglip"} | content)
    broken = model_cards(tmp_path)[-1]
    assert (broken.id, broken.family, broken.loader) == ("mine", BROKEN, None)
    assert re.search(words, broken.note)
    assert "mine.json" in broken.note


def test_two_cards_of_one_id_and_a_card_named_like_a_shipped_one(tmp_path: Path):
    card(tmp_path, "a", {"family": "siglip", "id": "same"})
    card(tmp_path, "b", {"family": "siglip", "id": "same"})
    card(tmp_path, "random", {"family": "nonsense"})
    first, second, third = model_cards(tmp_path)[-3:]
    assert (first.family, second.family, second.id) == ("siglip", BROKEN, "b")
    assert (third.family, third.id) == (BROKEN, "random.json")
    assert find_card("random", cards_dir=tmp_path).family == "random"


def test_what_a_card_leaves_out_has_a_plain_value(tmp_path: Path):
    card(tmp_path, "short", {"family": "siglip", "hub_id": None, "revision": None})
    one = find_card("short", cards_dir=tmp_path)
    assert (one.id, one.title, one.dim, one.memory_mb, one.gated) == ("short", "short", 0, 0, False)
    assert (one.forms, one.licence, one.page) == (("2d", "3d", "text"), "yours", None)
    assert one.weight_bytes("float32") == 0


def test_a_card_may_carry_the_release_preset(tmp_path: Path):
    card(
        tmp_path, "wrapper", {"family": "siglip", "preset": "release", "settings": {"fuse": "sum"}}
    )
    one = find_card("wrapper@max_slices=8", cards_dir=tmp_path)
    assert (one.preset, one.settings, one.asked) == ("release", {"fuse": "sum"}, {"max_slices": 8})


def test_memory_follows_the_number_format():
    for one in CARDS[:10]:
        assert one.parameters > 10**8
        sizes = {name: one.weight_bytes(name) for name in BYTES}
        assert sizes["float32"] == 2 * sizes["bfloat16"] == 2 * sizes["float16"]
        near = [abs(size / 10**6 - one.memory_mb) / one.memory_mb for size in sizes.values()]
        assert min(near) < 0.03  # what the card says is one of them


@pytest.mark.parametrize(
    ("config", "name", "family"),
    [
        ({"model_type": "siglip"}, "x", "siglip"),
        ({"model_type": "siglip"}, "rzenembed", "siglip"),
        ({"model_type": "blip-2"}, "x", "blip2"),
        ({"model_type": "qwen3_vl"}, "x", "qwen3-vl-embedding"),
        ({"model_type": "qwen3_vl"}, "MedEmb-2B-merged", "medemb"),
        ({"model_type": "qwen2_vl"}, "RzenEmbed", "rzenembed"),
        ({"model_type": "qwen2_vl"}, "vlm2vec-merged", "vlm2vec"),
    ],
)
def test_a_folder_tells_its_family_by_type_and_name(tmp_path: Path, config, name, family):
    assert family_of(folder_of(tmp_path / name, config=config)) == family


def test_other_files_tell_a_family_too(tmp_path: Path):
    modules = folder_of(tmp_path / "st", modules=[])
    assert family_of(modules) == "sentence-transformers"
    (tmp_path / "mi" / "2024.09.27").mkdir(parents=True)
    assert family_of(tmp_path / "mi") == "medimageinsight"
    both = folder_of(tmp_path / "both", modules=[], config={"model_type": "qwen3_vl"})
    assert family_of(both) == "qwen3-vl-embedding"  # the exact one, as Qwen publishes it


@pytest.mark.parametrize(
    ("base", "family"),
    [
        ("Qwen/Qwen2-VL-2B-Instruct", "vlm2vec"),
        ("/data/models/qwen2_vl_2b", "vlm2vec"),
        ("Qwen/Qwen3-VL-Embedding-8B", "medemb"),
        ("../base", "medemb"),
    ],
)
def test_an_adapter_tells_its_family_by_its_base(tmp_path: Path, base: str, family: str):
    folder_of(tmp_path / "base", config={"model_type": "qwen3_vl"})
    adapter = folder_of(tmp_path / "a", adapter_config={"base_model_name_or_path": base})
    assert family_of(adapter) == family


@pytest.mark.parametrize(
    "files", [{"config": {"model_type": "qwen2_vl"}}, {"adapter_config": {"r": 8}}]
)
def test_an_ambiguous_folder_says_how_to_name_the_family(tmp_path: Path, files):
    folder = folder_of(tmp_path / "x", **files)
    with pytest.raises(UnknownModel, match="fit several families") as caught:
        find_card(str(folder))
    said = str(caught.value)
    line = said[said.index("{") :]
    (folder / "triptych.json").write_text(line, encoding="utf-8")  # doing what it says helps
    assert find_card(str(folder)).family == json.loads(line)["family"]
    (folder / "triptych.json").write_text('{"family": "nonsense"}', encoding="utf-8")
    with pytest.raises(UnknownModel, match="names the family 'nonsense'"):
        find_card(str(folder))


def test_the_base_of_an_adapter_is_found_and_listed_nowhere(tmp_path: Path):
    (base,) = BASES
    assert base not in model_cards()
    assert find_card("Qwen/Qwen2-VL-2B-Instruct") == find_base(base.id) == base
    assert (base.family, base.loader, len(base.revision or "")) == (BASE, None, 40)
    unknown = find_base("somebody/plain-model")
    assert (unknown.family, unknown.hub_id, unknown.id) == (
        BASE, "somebody/plain-model", "somebody--plain-model",
    )  # fmt: skip
    folder = folder_of(tmp_path / "b", config={"model_type": "llama"})
    assert find_base(str(folder)).folder == str(folder)
    with pytest.raises(UnknownModel):
        find_base("no such thing")


def test_a_published_name_tells_its_family():
    assert find_card("sentence-transformers/clip-ViT-B-32").family == "sentence-transformers"
    assert find_card("qihoo360/RzenEmbed-v2-7B").family == "rzenembed"
    assert find_card("Qwen/Qwen3-VL-Embedding-4B").note.startswith("Not pinned")


def test_a_hub_id_may_be_pinned_behind_an_at():
    commit = "a" * 40
    one = find_card(f"google/siglip-base-patch16-224@{commit}@release")
    assert (one.revision, one.preset) == (commit, "release")
    assert one.plain_id == "google--siglip-base-patch16-224--aaaaaaaaaaaa"
    pinned = find_card("siglip-so400m-384")
    assert find_card(f"{pinned.hub_id}@{pinned.revision}") == pinned
    with pytest.raises(UnknownModel):
        find_card(f"siglip-so400m-384@{commit[:39]}x")


@pytest.mark.parametrize("name", ["random@max_slices=x", "random@fuse=sum", "siglip-nano@fuse=x"])
def test_a_setting_that_cannot_be_is_refused_by_name(name: str):
    with pytest.raises(ModelError):
        find_card(name)


def test_every_family_has_settings_and_a_loader():
    assert set(NAMES.values()) <= set(LOADERS) == set(DEFAULTS)
