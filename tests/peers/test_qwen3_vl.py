"""The Qwen3-VL adapter against its authors' code, transformers itself and sentence-transformers.

The authors' vectors are recorded (``golden/make_qwen3_vl.py``), on tiny checkpoints of the true
architecture. Nothing here was ever run on the real weights.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.encoder import Encoder
from engine.evidence.item import ImageRef, Item, ModelInput
from engine.evidence.pixels import prepare, sample_indices
from engine.models.common import quiet
from engine.models.load import load_encoder
from engine.models.qwen3_prompt import prompt
from tests.peers import qwen3_cases as cases
from tests.peers.cases import MIXED, TEXT, VOLUMES, make
from tests.peers.qwen_reference import Reference, pillow_processor
from tests.peers.tally import compare, differs
from tests.peers.tiny import picture, volume
from tests.peers.weights import digest_of

MODEL = "Qwen3-VL-Embedding"
PLAIN = "plain reference on transformers' Qwen3VLModel"
ONE_BY_ONE = "itself, one by one"
CLOSE = 1e-5
DIFFERENT = 1e-3
ALL = MIXED | VOLUMES
GOLDEN = Path(__file__).parent / "golden"
AUTHORS: dict[str, Any] = json.loads((GOLDEN / "qwen3_vl.json").read_text("utf-8"))
AUTHORS_5: dict[str, Any] = json.loads((GOLDEN / "qwen3_vl_5.json").read_text("utf-8"))
# what a user typed, where it is not what the model sees
SAID = {"hostile text": cases.Case((cases.HOSTILE,), instruction="Find <image> x")}


def named(golden: dict[str, Any]) -> str:
    """The reference of a golden, for the table."""
    code, _, commit = golden["code"].partition("@")
    return f"{code}@{commit[:8]}, {golden['environment'][0]}"


def load(folder: Path, **settings: object) -> Encoder:
    return load_encoder(
        str(folder), weights_dir=folder.parent, shipped_dir=folder, device="cpu", settings=settings
    )


def seen(name: str, case: cases.Case) -> ModelInput:
    """A case as ``prepare`` hands it to a model: slices sampled."""
    case = SAID.get(name, case)
    volumes = tuple(
        np.stack([slices[index] for index in sample_indices(len(slices), 64)])
        for slices in case.volumes
    )
    return ModelInput(case.instruction, case.texts, case.images, volumes)


@pytest.fixture(scope="module")
def encoder(qwen: Path) -> Encoder:
    return load(qwen)


@pytest.fixture(scope="module")
def reference(qwen: Path) -> Reference:
    return Reference(qwen)


@pytest.fixture(scope="module")
def published(qwen_published: Path) -> Encoder:
    return load(qwen_published)


# the authors' code, recorded


def test_the_goldens_belong_to_this_checkpoint(qwen_published: Path):
    digest = digest_of(qwen_published, also=("vocab.json", "merges.txt"))
    assert digest == AUTHORS["checkpoint"] == AUTHORS_5["checkpoint"]
    assert "transformers 4.57.3" in AUTHORS["environment"]
    assert any(name.startswith("transformers 5.") for name in AUTHORS_5["environment"])


@pytest.mark.parametrize("name", cases.CASES)
def test_equals_the_authors_code(published: Encoder, name: str):
    vector = published.encode([seen(name, cases.CASES[name])])[0]
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    compare(MODEL, named(AUTHORS), name, vector, AUTHORS["cases"][name], within=CLOSE)


def test_a_mixed_batch_equals_the_authors_batch(published: Encoder):
    batch = [seen(name, cases.CASES[name]) for name in cases.BATCH]
    vectors = published.encode(batch)
    compare(MODEL, named(AUTHORS), "mixed batch", vectors, AUTHORS["batch"], within=CLOSE)
    alone = [AUTHORS["cases"][name] for name in cases.BATCH]
    compare(MODEL, named(AUTHORS), "mixed batch against one by one", vectors, alone, within=CLOSE)


@pytest.mark.parametrize("name", cases.MODES)
def test_pictures_from_disk_equal_the_authors_code(published: Encoder, tmp_path: Path, name: str):
    path = tmp_path / "picture.png"
    cases.as_pillow(cases.MODES[name]).save(path)
    vector = published.encode([prepare(Item(images=(ImageRef(path),)), max_slices=64)])[0]
    compare(MODEL, named(AUTHORS), name, vector, AUTHORS["pictures"][name], within=CLOSE)


def test_a_tokenizer_that_ends_no_text_equals_the_authors_code(qwen_open_published: Path):
    bare = load(qwen_open_published)
    for name in cases.OPEN:
        vector, wanted = bare.encode([seen(name, cases.CASES[name])])[0], AUTHORS["open"][name]
        compare(MODEL, named(AUTHORS), f"{name}, no end of text", vector, wanted, within=CLOSE)
        ended = AUTHORS["cases"][name]
        differs(MODEL, "missing end-of-text token", vector, ended, beyond=DIFFERENT, case=name)


def test_outer_vision_markers_are_those_of_transformers_5(qwen_published: Path):
    """``video_wrap``: 4.57 strips the outer pair of a video, 5 keeps it."""
    outer = load(qwen_published, video_wrap="outer")
    for name in cases.VIDEOS:
        item, theirs = seen(name, cases.CASES[name]), AUTHORS_5["cases"][name]
        vector = outer.encode([item])[0]
        compare(MODEL, named(AUTHORS_5), f"{name}, outer", vector, theirs, within=CLOSE)
        stripped = AUTHORS["cases"][name]  # held to ours above
        differs(MODEL, "outer vision markers", stripped, theirs, beyond=DIFFERENT, case=name)


@pytest.mark.parametrize("name", ["text", "image and text", "two images", "empty item"])
def test_without_video_both_versions_agree(published: Encoder, name: str):
    vector = published.encode([seen(name, cases.CASES[name])])[0]
    compare(MODEL, named(AUTHORS_5), name, vector, AUTHORS_5["cases"][name], within=CLOSE)


def test_what_the_authors_code_lets_a_user_do_is_not_possible(published: Encoder):
    """Typed tokens close the user's turn there; here they stay letters."""
    name = "control tokens typed by a user"
    vector = published.encode([seen(name, cases.WRONG[name])])[0]
    differs(MODEL, name, vector, AUTHORS["wrong"][name], beyond=DIFFERENT)


# transformers itself


@pytest.mark.parametrize("name", ALL)
def test_equals_plain_transformers(encoder: Encoder, reference: Reference, name: str):
    vector = encoder.encode([ALL[name]])[0]
    compare(MODEL, PLAIN, name, vector, reference.vector(ALL[name]), within=CLOSE)


def test_a_picture_of_16_bit_equals_what_is_shown_of_it(
    encoder: Encoder, reference: Reference, tmp_path: Path
):
    from PIL import Image

    values = picture(90, 70)[..., 0].astype(np.uint16) * 200 + 300
    Image.fromarray(values).save(tmp_path / "deep.png")
    item = prepare(Item(images=(ImageRef(tmp_path / "deep.png"),)), max_slices=64)
    assert item.images[0].dtype == np.uint8
    assert len(np.unique(item.images[0])) > 100
    vector = encoder.encode([item])[0]
    compare(MODEL, PLAIN, "16-bit picture", vector, reference.vector(item), within=CLOSE)


@pytest.mark.parametrize("wrap", ["stripped", "outer"])
def test_slices_equal_the_official_frame_list(qwen: Path, reference: Reference, wrap: str):
    item = make(volumes=(volume(17, 32, 40),), instruction="Find the same scan")
    vector = load(qwen, video_wrap=wrap).encode([item])[0]
    wanted = reference.vector(item, wrap=wrap)
    compare(MODEL, PLAIN, f"17 slices, {wrap}", vector, wanted, within=CLOSE)


def test_prompts_equal_the_checkpoints_own_template(encoder: Encoder, reference: Reference):
    outer = replace(encoder.settings, video_wrap="outer")
    for item in ALL.values():
        assert prompt(item, outer, tokens=()) == reference.text(item)


def test_a_mixed_batch_equals_one_by_one(encoder: Encoder):
    items = list(ALL.values())
    alone = np.concatenate([encoder.encode([item]) for item in items])
    compare(MODEL, ONE_BY_ONE, "mixed batch", encoder.encode(items), alone, within=CLOSE)


def test_padding_side_changes_nothing_but_its_pooling_does(qwen: Path, encoder: Encoder):
    items = [MIXED["text"], MIXED["image and text"], VOLUMES["five slices"], make("x")]
    left, right = load(qwen, padding_side="left"), encoder.encode(items)
    compare(MODEL, ONE_BY_ONE, "left padding", left.encode(items), right, within=CLOSE)


def test_slices_as_images_are_another_reading(qwen: Path, reference: Reference):
    slices = volume(3, 64, 64)
    as_images = load(qwen, volume_as="images").encode([make(volumes=(slices,))])[0]
    wanted = reference.vector(make(images=tuple(slices)))
    compare(MODEL, PLAIN, "slices as pictures", as_images, wanted, within=CLOSE)
    video = reference.vector(make(volumes=(slices,)))
    differs(MODEL, "slices as pictures", as_images, video, beyond=DIFFERENT)


def test_slices_as_images_have_a_budget_of_their_own(qwen: Path, reference: Reference):
    slices, whole = volume(2, 96, 96), picture(96, 96, 9)
    item = make(images=(whole,), volumes=(slices,))
    vector = load(qwen, volume_as="images", slice_max_pixels=64 * 64).encode([item])[0]
    pictures = (*slices, whole)
    wanted = reference.vector(make(images=pictures), most=(64 * 64, 64 * 64, 1800 * 32 * 32))
    compare(MODEL, PLAIN, "slices as pictures, their budget", vector, wanted, within=CLOSE)
    large = reference.vector(make(images=pictures))
    differs(MODEL, "slices with the budget of pictures", vector, large, beyond=DIFFERENT)


# sentence-transformers


def test_equals_sentence_transformers(qwen: Path, encoder: Encoder):
    from importlib.metadata import version

    peer, name_of_peer = sentence_transformer(qwen), "sentence-transformers "
    name_of_peer += version("sentence-transformers")
    for name, item in MIXED.items():
        if name in ("empty text", "empty item"):
            continue  # it takes neither
        given = {"image": [as_pil(image) for image in item.images], "text": "".join(item.texts)}
        given = {key: value for key, value in given.items() if value}
        system = {
            "Find it": "Find it.",
            "Compare: ": "Compare:",
            "  Find the finding  ": "Find the finding.",
        }.get(item.instruction or "", item.instruction or "Represent the user's input.")
        with quiet():
            theirs = peer.encode([given], prompt=system, show_progress_bar=False)[0]
        compare(MODEL, name_of_peer, name, encoder.encode([item])[0], theirs, within=CLOSE)


def sentence_transformer(folder: Path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules.normalize import Normalize
    from sentence_transformers.base.modules.transformer import Transformer
    from sentence_transformers.sentence_transformer.modules.pooling import Pooling

    with quiet():
        body = Transformer(
            str(folder),
            processing_kwargs={"chat_template": {"add_generation_prompt": True}},
        )
        body.processor.image_processor = pillow_processor(folder)
        return SentenceTransformer(
            modules=[body, Pooling(64, pooling_mode="lasttoken"), Normalize()], device="cpu"
        )


def as_pil(pixels: np.ndarray):
    from PIL import Image

    return Image.fromarray(pixels)


# wrong on purpose


def test_the_wrong_ways_differ(encoder: Encoder, reference: Reference):
    video, text = VOLUMES["five slices"], MIXED["text"]
    right = encoder.encode([video])[0]
    wrong = reference.vector(video, fps=24.0)
    differs(MODEL, "24 slices a second, as without metadata", right, wrong, beyond=DIFFERENT)
    wrong = reference.vector(video, fps=1.0)
    differs(MODEL, "1 slice a second, as in MTEB's wrapper", right, wrong, beyond=DIFFERENT)
    wrong = reference.vector(video, first_factor=32)
    differs(MODEL, "first resize to multiples of 32", right, wrong, beyond=10 * CLOSE)
    wrong = reference.vector(text, template=False)
    differs(MODEL, "no chat template", encoder.encode([text])[0], wrong, beyond=DIFFERENT)


@pytest.mark.parametrize("name", ["image", "image and text", "two images"])
def test_positions_have_three_axes(encoder: Encoder, reference: Reference, name: str):
    wrong = reference.vector(ALL[name], linear=True)
    right = encoder.encode([ALL[name]])[0]
    differs(MODEL, "1-D positions", right, wrong, beyond=10 * CLOSE, case=name)


def test_pooling_follows_the_mask_not_the_last_column(encoder: Encoder, reference: Reference):
    items = [MIXED["text"], make("x")]
    right, wrong = encoder.encode(items), reference.last_column(items)
    compare(MODEL, PLAIN, "longest of a batch", right[0], wrong[0], within=CLOSE)
    differs(MODEL, "right padding, pooled at the last column", right[1], wrong[1], beyond=DIFFERENT)


def test_resampling_by_frame_rate_differs(encoder: Encoder, reference: Reference):
    # with the true 2 frames a second it would keep all; a checkpoint's fps of 1 drops half
    reference.processor.video_processor.fps = 1
    try:
        item = make(volumes=(volume(12, 32, 32),))
        wrong = reference.vector(item, sample_again=True)
    finally:
        reference.processor.video_processor.fps = 2
    right = encoder.encode([item])[0]
    differs(MODEL, "slices resampled by frame rate", right, wrong, beyond=DIFFERENT)


def test_the_processors_own_resize_differs(encoder: Encoder, reference: Reference):
    item = VOLUMES["five slices"]
    wrong = reference.vector(item, own_resize=True)
    differs(MODEL, "the processor's own resize of a video", encoder.encode([item])[0], wrong,
            beyond=DIFFERENT)  # fmt: skip


# settings


def test_end_of_text_is_probed(qwen_open: Path, qwen: Path):
    bare = load(qwen_open)
    assert any("does not end a text" in note for note in bare.notes)
    assert bare.record.end_of_text == bare.notes[1]
    ended, closing = load(qwen_open, append_eot="always"), load(qwen)
    item = [make(TEXT)]
    whole = closing.encode(item)
    compare(MODEL, ONE_BY_ONE, "end of text appended", ended.encode(item), whole, within=CLOSE)
    differs(MODEL, "missing end-of-text token", bare.encode(item), whole, beyond=DIFFERENT)
    never, twice = load(qwen, append_eot="never"), load(qwen, append_eot="always")
    open_end = bare.encode(item)
    compare(MODEL, ONE_BY_ONE, "end of text off", never.encode(item), open_end, within=CLOSE)
    # exactly one: a tokenizer that ends texts itself is not helped twice
    compare(MODEL, ONE_BY_ONE, "end of text once", twice.encode(item), whole, within=CLOSE)


def test_matryoshka_keeps_a_prefix_of_unit_length(qwen: Path, encoder: Encoder):
    whole, short = encoder.encode([make(TEXT)])[0], load(qwen, truncate_dim=16).encode([make(TEXT)])
    assert short.shape == (1, 16)
    wanted = whole[:16] / np.linalg.norm(whole[:16])
    compare(MODEL, "its own first numbers", "16 of 64 numbers", short[0], wanted, within=CLOSE)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_both_kinds_of_attention_agree(qwen: Path, monkeypatch, attention: str):
    from engine.models import load as loading

    choose = loading.choose_device
    monkeypatch.setattr(
        loading, "choose_device", lambda *a, **k: replace(choose(*a, **k), attention=attention)
    )
    encoder = load(qwen)
    config = encoder.model.config  # type: ignore[attr-defined]
    assert config.text_config._attn_implementation == attention
    assert config.vision_config._attn_implementation == attention
    assert encoder.record.attention == attention
    items = [MIXED["image and text"], VOLUMES["five slices"], MIXED["text"]]
    names = ("image and text", "5 slices", "text")
    theirs = [AUTHORS["cases"][name] for name in names]
    mine = encoder.encode([seen(name, cases.CASES[name]) for name in names])
    compare(MODEL, named(AUTHORS), f"attention {attention}", mine, theirs, within=CLOSE)
    assert encoder.encode(items).shape == (3, 64)


def test_the_picture_matters(encoder: Encoder):
    first, second = (make(images=(picture(96, 96, seed),)) for seed in (1, 2))
    differs(MODEL, "another picture", encoder.encode([first]), encoder.encode([second]),
            beyond=DIFFERENT)  # fmt: skip
