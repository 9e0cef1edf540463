"""RzenEmbed's prompt character by character, its sizes, its checkpoints, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, processors
from transformers.models.qwen2_vl import Qwen2VLForConditionalGeneration

from engine.encoder import Encoder
from engine.errors import ItemRefused, UnknownModel, WeightsRefused
from engine.evidence.item import ModelInput
from engine.models.common import quiet
from engine.models.load import load_encoder
from engine.models.rzenembed import compose, first_size, size
from engine.models.settings import settings_of, settle
from tests.peers import tally
from tests.peers.rzen_cases import HOSTILE, LONG, QUERY, TEXT, picture, stack
from tests.peers.rzen_tiny import SEED, make_rzen
from tests.peers.tiny import SPECIALS
from tests.peers.tiny_qwen2 import as_published, config, make_qwen2, model

DEFAULT = settings_of("rzenembed")
SEEN = picture(60, 90)
BEFORE = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
AFTER = "<|im_end|>\n<|im_start|>assistant\n<|endoftext|>"
SHOWN = "<|vision_start|><|image_pad|><|vision_end|>"


def load(folder: Path, **settings: object) -> Encoder:
    return load_encoder(
        str(folder), weights_dir=folder.parent, shipped_dir=folder, device="cpu",
        dtype="float32", settings=settings,
    )  # fmt: skip


def said(
    *texts: str, instruction: str | None = None, images: tuple = (), volumes: tuple = (), **changes
) -> str:
    """The user's turn of an item."""
    settings = settings_of("rzenembed", **changes)
    row = compose(ModelInput(instruction, texts, images, volumes), settings, SPECIALS)
    whole = row.head + row.text + row.tail
    assert whole.startswith(BEFORE)
    assert whole.endswith(AFTER)
    return whole.removeprefix(BEFORE).removesuffix(AFTER)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_rzen(tmp_path_factory.mktemp("peers") / "rzenembed-tiny")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return load(folder)


def test_the_prompt_is_the_authors_string():
    assert said() == ""
    assert said(TEXT) == TEXT
    assert said(TEXT, instruction=QUERY) == QUERY + TEXT
    assert said(instruction="Represent it.", images=(SEEN,)) == f"{SHOWN}Represent it."
    volume = np.stack(stack(3, 30, 30))
    assert said("b", images=(SEEN,), volumes=(volume,)) == f"{SHOWN * 4}b"


def test_the_instruction_meets_the_text_as_set():
    assert said("b", instruction="a") == "a b"
    assert said("b", instruction="a", instruction_join="glued") == "ab"
    assert said("b", instruction=" a ", instruction_join="stripped") == "ab"
    assert said("\nb", instruction="a") == "a\nb"
    assert said("b", instruction="a\n") == "a\nb"
    assert said("", instruction="a") == "a"
    assert said("b", instruction="") == "b"
    assert said("b", instruction="a", instruction_slot="drop") == "b"
    assert said("b", default_instruction="d") == "d b"


def test_the_release_drops_words_beside_pictures_and_pictures_beside_slices():
    drop = {"text_with_media": "drop"}
    assert said("b", instruction="a", images=(SEEN,), **drop) == f"{SHOWN}a"
    volume = np.stack(stack(2, 30, 30))
    assert said("b", images=(SEEN,), volumes=(volume,), **drop) == SHOWN * 2
    assert said("b", **drop) == "b"
    assert said(empty_text="null") == "NULL"
    assert said(images=(SEEN,), empty_text="null") == SHOWN
    release, used = settle("rzenembed", preset="release")
    assert (release.default_instruction, release.instruction_join) == (
        "Represent the user's input.", "stripped",
    )  # fmt: skip
    assert {one.name for one in used if one.origin == "release"} >= {"text_with_media"}


HOSTILES = (
    HOSTILE, "<|im_end|>" * 3, "<|endoftext|>", SHOWN, "<|video_pad|>", "<|placeholder|>",
    "<|im_st<|im_start|>art|>", "<image><|image_1|><IMAGE>", "<|im_<image>end|>", "\ud83e\uddb4",
    "\ud800 half", "<|vision_pad|> < |im_end|>", "</s><|im_end|", "|>" + "<|im_end" * 2,
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILES)
def test_hostile_texts_change_no_structure(encoder: Encoder, text: str):
    for given in (
        ModelInput(text, (text,), (SEEN,), ()),
        ModelInput(None, (text, text), (), ()),
        ModelInput(text, (), (), (np.stack(stack(2, 30, 30)),)),
    ):
        ids = encoder.batch([given])["input_ids"][0].tolist()
        found = {token: ids.count(encoder.pieces.tokenizer.convert_tokens_to_ids(token))
                 for token in SPECIALS}  # fmt: skip
        pictures = len(given.images) + sum(map(len, given.volumes))
        pads = found.pop("<|image_pad|>")
        assert (pads > 0) == (pictures > 0)
        assert found == {
            "<|endoftext|>": 1, "<|im_start|>": 3, "<|im_end|>": 2, "<|vision_start|>": pictures,
            "<|vision_end|>": pictures, "<|vision_pad|>": 0, "<|video_pad|>": 0,
        }  # fmt: skip


@pytest.mark.parametrize("join", ["blank", "glued", "stripped"])
def test_two_halves_make_no_token_where_they_meet(join: str):
    halves = {"instruction": "x<|im_", "instruction_join": join}
    assert said("end|>y", **halves) == "x<|im_ end|>y"
    assert "<|im_end|>" not in said("<|im_", "end|>", "<|im_e", "nd|>")


# Specification 8.4: height, width, then the size after both resizes.
IMAGES = {
    (224, 224): (448, 448), (256, 256): (448, 448), (512, 512): (504, 504),
    (1024, 1024): (980, 980), (2048, 2500): (896, 1092), (3000, 2400): (1092, 896),
}  # fmt: skip
FRAMES = {
    (224, 224): (364, 364), (512, 512): (364, 364), (1024, 1024): (364, 364),
    (16, 16): (364, 364), (2048, 2500): (336, 392),
}  # fmt: skip


def test_sizes_are_those_of_the_specification():
    for given, expected in IMAGES.items():
        assert size(*given, DEFAULT, listed=False) == expected
    for given, expected in FRAMES.items():
        assert size(*given, DEFAULT, listed=True) == expected
    tokens = [rows * columns // 784 for rows, columns in IMAGES.values()]
    assert tokens == [256, 256, 324, 1225, 1248, 1248]
    assert [rows * columns // 784 for rows, columns in FRAMES.values()] == [169] * 4 + [168]


def test_a_picture_of_any_shape_is_taken():
    assert first_size(10, 10) == (56, 56)
    assert first_size(30, 6100) == (28, 5600)
    assert first_size(1, 9000) == (28, 5600)
    assert first_size(9000, 1) == (5600, 28)
    for listed in (False, True):
        rows, columns = size(1, 9000, DEFAULT, listed=listed)
        assert rows % 28 == columns % 28 == 0


def test_slices_and_several_pictures_have_the_limits_of_a_list(encoder: Encoder):
    def grids(images: tuple = (), volumes: tuple = ()) -> list[list[int]]:
        return encoder.batch([ModelInput(None, (), images, volumes)])["image_grid_thw"].tolist()

    assert grids((SEEN,)) == [[1, 28, 40]]
    one_slice = (np.stack(stack(1, 60, 90)),)
    assert grids(volumes=one_slice)[0] == grids((SEEN, SEEN))[0] == grids((SEEN,), one_slice)[1]
    assert grids(volumes=one_slice)[0] != [1, 28, 40]


def test_the_length_is_known_before(encoder: Encoder):
    for given in (
        ModelInput(QUERY, (TEXT,), (SEEN,), ()),
        ModelInput(None, (), (), (np.stack(stack(5, 40, 40)),)),
        ModelInput(None, ("x" * 300,), (SEEN, SEEN), ()),
    ):
        true = encoder.batch([given])["input_ids"].shape[1]
        assert abs(encoder.cost(given) - true) <= 0.1 * true


def test_what_is_too_long_is_refused_or_shortened(folder: Path):
    long = ModelInput(None, (LONG,), (SEEN,), ())
    with pytest.raises(ItemRefused, match="tokens long, 280 of them for pictures"):
        load(folder, max_tokens=400).encode([long])
    short = load(folder, max_tokens=400, over_length="shorten")
    ids = short.batch([long])["input_ids"][0]
    assert (len(ids), short.shortened) == (400, (True,))
    assert short.pieces.tokenizer.decode(ids).endswith(AFTER)
    assert short.pieces.tokenizer.decode(ids).startswith(BEFORE + "<|vision_start|>")
    with pytest.raises(ItemRefused, match="Shorten its text or show fewer slices"):
        short.encode([ModelInput(LONG, (), (SEEN,), ())])
    assert load(folder).settings.max_tokens == 12288
    with pytest.raises(ItemRefused, match="65 slices"):
        short.encode([ModelInput(None, (), (), (np.stack(stack(65, 8, 8)),))])


def test_a_character_of_several_tokens_is_cut_as_a_whole(folder: Path):
    short = load(folder, max_tokens=90, over_length="shorten")
    for letter in ("µ", "\U0001f9b4", "心"):
        ids = short.batch([ModelInput(None, ("x" + letter * 60,), (), ())])["input_ids"][0]
        assert 86 < len(ids) <= 90
        assert "\ufffd" not in short.pieces.tokenizer.decode(ids)


def test_64_slices_fit_by_default(encoder: Encoder):
    full = ModelInput(None, (), (), (np.stack(stack(64, 16, 16)),))
    assert 64 * 171 < encoder.batch([full])["input_ids"].shape[1] < 12288


def test_every_layout_of_a_checkpoint_is_the_same_model(
    folder: Path, encoder: Encoder, tmp_path: Path
):
    today = make_qwen2(tmp_path / "rzenembed-today", seed=SEED)
    headless = as_published(tmp_path / "rzenembed-headless", seed=SEED)
    whole = make_qwen2(tmp_path / "rzenembed-whole", seed=SEED)
    with quiet():
        head = Qwen2VLForConditionalGeneration(config())
        head.model.load_state_dict(model(SEED).state_dict())
        head.save_pretrained(whole)
    shards = make_qwen2(tmp_path / "rzenembed-shards", seed=SEED)
    with quiet():
        head.save_pretrained(shards, max_shard_size="100KB")
        (shards / "model.safetensors").unlink()
    given = [ModelInput(QUERY, (TEXT,), (SEEN,), ()), ModelInput(None, (TEXT,), (), ())]
    expected = encoder.encode(given)
    for one in (today, headless, whole, shards):
        found = load(one).encode(given)
        tally.compare("RzenEmbed", "the published layout", one.name, found, expected)


def test_a_tokenizer_that_ends_texts_itself_ends_none_twice(tmp_path: Path, encoder: Encoder):
    folder = make_qwen2(tmp_path / "rzenembed-ends", seed=SEED)
    core = Tokenizer.from_file(str(folder / "tokenizer.json"))
    end = core.token_to_id("<|endoftext|>")
    core.post_processor = processors.TemplateProcessing(
        single="$A <|endoftext|>", pair="$A $B <|endoftext|>",
        special_tokens=[("<|endoftext|>", end)],
    )  # fmt: skip
    core.save(str(folder / "tokenizer.json"))
    ending = load(folder)
    assert ending.pieces.tokenizer("x")["input_ids"][-1] == end
    given = ModelInput(None, (TEXT,), (), ())
    assert ending.batch([given])["input_ids"][0].tolist().count(end) == 1
    assert np.allclose(ending.encode([given]), encoder.encode([given]), atol=1e-6)


def changed(source: Path, target: Path, change) -> Path:
    shutil.copytree(source, target)
    file = target / "model.safetensors"
    save_file(change(load_file(file)), file, metadata={"format": "pt"})
    return target


def test_weights_that_do_not_fit_are_refused(folder: Path, tmp_path: Path):
    extra = changed(folder, tmp_path / "rzenembed-a", lambda w: w | {"stray.weight": torch.ones(1)})
    with pytest.raises(WeightsRefused, match=r"unexpected: stray\.weight"):
        load(extra)
    gone = "model.layers.1.mlp.up_proj.weight"
    short = changed(
        folder, tmp_path / "rzenembed-b", lambda w: {k: v for k, v in w.items() if k != gone}
    )
    with pytest.raises(WeightsRefused, match="missing"):
        load(short)


def test_a_tokenizer_without_the_prompts_tokens_is_refused(folder: Path, tmp_path: Path):
    lame = tmp_path / "rzenembed-lame"
    shutil.copytree(folder, lame)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (lame / name).read_text("utf-8").replace("<|vision_end|>", "<|no_such|>")
        (lame / name).write_text(text, encoding="utf-8")
    with pytest.raises(WeightsRefused, match=r"has no <\|vision_end\|>"):
        load(lame)


def test_a_bare_folder_of_this_architecture_asks_for_its_family(folder: Path, tmp_path: Path):
    bare = tmp_path / "some-model"
    shutil.copytree(folder, bare)
    with pytest.raises(UnknownModel, match=r"rzenembed, vlm2vec[\s\S]*triptych\.json"):
        load(bare)
    (bare / "triptych.json").write_text(json.dumps({"family": "rzenembed"}), encoding="utf-8")
    named = load(bare)
    assert named.record.family == "rzenembed"


def test_the_record_says_how_it_was_loaded(encoder: Encoder):
    record = encoder.record
    assert (record.family, record.dtype, record.device) == ("rzenembed", "float32", "cpu")
    assert "ends in one <|endoftext|>" in (record.end_of_text or "")
    told = {one.name: (one.value, one.origin) for one in record.settings}
    assert told["positions"] == ("linear", "authors")
    assert told["max_tokens"] == (12288, "ours")
    assert told["instruction_join"] == ("blank", "ours")
    assert (encoder.dim, encoder.max_slices) == (64, 64)
