"""SigLIP against transformers one at a time, MTEB's wrapper (golden), and itself written in numpy.

Widths are tiny, everything else is that of so400m-384: class, files, 384 px in patches of 14, 64
positions. Never run on the real weights.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from engine.encode import encode_items
from engine.encoder import Encoder
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.pixels import prepare
from engine.models.load import load_encoder
from tests.peers import tally
from tests.peers.cases import make
from tests.peers.pictures import picture, volume
from tests.peers.siglip_cases import CUT, FUSED, PICTURES, TEXTS, words
from tests.peers.siglip_reference import RELEASE, TRANSFORMERS, WRITTEN, Plain, Written, mean
from tests.peers.tiny_siglip import make_siglip
from tests.peers.weights import digest_of

MODEL = "SigLIP"
DIFFERENT = 1e-3
GOLDEN = json.loads((Path(__file__).parent / "golden/siglip.json").read_text("utf-8"))
MTEB = f"{GOLDEN['code'].split(',')[0]} on {GOLDEN['environment'][0]}, golden"


def load(folder: Path, *, preset: str = "", **settings: object) -> Encoder:
    return load_encoder(
        f"{folder}{preset}",
        weights_dir=folder.parent,
        shipped_dir=folder,
        device="cpu",
        settings=settings,
    )


def one(encoder: Encoder, *texts: str, **more: Any) -> np.ndarray:
    return encoder.encode([make(*texts, **more)])[0]


@pytest.fixture(scope="module")
def encoder(siglip: Path) -> Encoder:
    return load(siglip)


@pytest.fixture(scope="module")
def plain(siglip: Path) -> Plain:
    return Plain(siglip)


@pytest.fixture(scope="module")
def true_size(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_siglip(tmp_path_factory.mktemp("peers") / "siglip-384", image_size=384)


@pytest.fixture(scope="module")
def references(true_size: Path) -> tuple[Plain, Written]:
    return Plain(true_size), Written(true_size)


@pytest.fixture(scope="module")
def full(true_size: Path) -> Encoder:
    return load(true_size)


def test_the_golden_belongs_to_this_checkpoint(true_size: Path):
    assert digest_of(true_size, also=("spiece.model",)) == GOLDEN["checkpoint"]


@pytest.mark.parametrize("name", TEXTS)
def test_texts(full: Encoder, references: tuple[Plain, Written], name: str):
    ours, (plain, written) = one(full, TEXTS[name]), references
    tally.compare(MODEL, MTEB, name, ours, GOLDEN["cases"][name])
    tally.compare(MODEL, WRITTEN, name, ours, written.text(TEXTS[name]))
    tally.compare(MODEL, TRANSFORMERS, name, ours, plain.text(TEXTS[name]))


@pytest.mark.parametrize("name", PICTURES)
def test_pictures(full: Encoder, references: tuple[Plain, Written], name: str):
    pixels, (plain, written) = PICTURES[name], references
    ours = one(full, images=(pixels,))
    tally.compare(MODEL, MTEB, name, ours, GOLDEN["cases"][name])
    tally.compare(MODEL, WRITTEN, name, ours, written.image(pixels, side=384))
    tally.compare(MODEL, TRANSFORMERS, name, ours, plain.image(pixels))


def test_the_published_configuration_leaves_defaults_out(true_size: Path, tmp_path: Path):
    """As on the hub: widths and little else; what is left out is the class's default."""
    folder = shutil.copytree(true_size, tmp_path / "published")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    keep = ("hidden_size", "intermediate_size", "model_type", "num_attention_heads")
    keep += ("num_hidden_layers", "image_size", "patch_size", "vocab_size")
    for half in ("text_config", "vision_config"):
        config[half] = {name: config[half][name] for name in keep if name in config[half]}
    short = {name: config[name] for name in ("model_type", "text_config", "vision_config")}
    published = {**short, "architectures": ["SiglipModel"], "torch_dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(published), encoding="utf-8")
    encoder = load(folder)
    name = "62 tokens"
    tally.compare(MODEL, MTEB, f"{name}, published files", one(encoder, TEXTS[name]),
                  GOLDEN["cases"][name])  # fmt: skip
    pixels = PICTURES["wide"]
    tally.compare(MODEL, MTEB, "wide, published files", one(encoder, images=(pixels,)),
                  GOLDEN["cases"]["wide"])  # fmt: skip


def test_the_sum_of_raw_vectors_is_mtebs_way(true_size: Path, full: Encoder):
    item = make(TEXTS[FUSED[0]], images=(PICTURES[FUSED[1]],))
    for way in ("sum", "mean_raw"):
        ours = load(true_size, fuse=way).encode([item])[0]
        tally.compare(MODEL, MTEB, f"text and picture, {way}", ours, GOLDEN["cases"]["fused"])
    unit_first = full.encode([item])[0]
    tally.differs(MODEL, "raw vectors fused", unit_first, GOLDEN["cases"]["fused"], beyond=1e-4)


def test_texts_end_at_the_last_position(siglip: Path):
    from engine.models.settings import settings_of
    from engine.models.siglip import build_batch, load_processor

    items = [make("lung"), make(words(40)), make(words(200))]
    batch = build_batch(load_processor(siglip), items, settings_of("siglip"))
    assert batch["input_ids"].shape == (3, 64)
    assert (batch["input_ids"][:, 63] == 1).all()  # the end token or its twin, the padding
    assert "attention_mask" not in batch


def test_training_sees_the_same_vectors_and_gives_gradients(siglip: Path, encoder: Encoder):
    from engine.models.siglip import SiglipEncoder, build_batch, pool

    assert isinstance(encoder, SiglipEncoder)
    items = [
        make("lung", instruction="find"),
        make("lung", images=(picture(30, 40),)),
        make(volumes=(volume(3, 20, 20),)),
    ]
    vectors = pool(encoder.model, build_batch(encoder.processor, items, encoder.settings))
    assert tally.apart(vectors.detach().numpy(), encoder.encode(items)) < 1e-6
    vectors.sum().backward()
    assert all(one.grad is not None for one in encoder.model.vision_model.parameters())
    encoder.model.zero_grad(set_to_none=True)


def test_a_shorter_limit_cuts_there_and_still_pads_to_the_full_length(siglip: Path, plain: Plain):
    short = load(siglip, max_tokens=9)
    ours = one(short, words(40))
    tally.compare(MODEL, TRANSFORMERS, "cut at 9 tokens", ours, plain.text(words(8)))
    assert short.shortened == (True,)
    one(short, words(8))
    assert short.shortened == (False,)


def test_texts_cut_are_counted_per_item(encoder: Encoder):
    encoder.encode([make(text) for text in TEXTS.values()])
    assert encoder.shortened == tuple(name in CUT for name in TEXTS)
    encoder.encode([make(images=(picture(9, 9),)), make(words(64), images=(picture(9, 9),))])
    assert encoder.shortened == (False, True)


def test_texts_equal_after_cutting_have_one_vector_in_any_batch(encoder: Encoder):
    long = words(90)
    items = [Item(text=f"{long} {end}") for end in ("left", "right", "of no side")]
    mixed = [items[0], Item(text="lung"), Item(text="liver mass"), items[1], items[2]]
    for budget in (1, 10**6):
        made = encode_items(mixed, encoder, cache=None, batch_tokens=budget)
        assert (made.vectors[[0, 3, 4]] == made.vectors[0]).all()
        assert (made.computed, made.shortened) == (3, 3)


@pytest.mark.parametrize("count", [1, 5, 64])
def test_slices_are_pooled_to_one_field(encoder: Encoder, plain: Plain, count: int):
    slices = volume(count, 24, 30)
    item = make("lung mass", volumes=(slices,))
    tally.compare(
        MODEL, TRANSFORMERS, f"{count} slices and a text", encoder.encode([item])[0],
        plain.item(item),
    )  # fmt: skip
    backwards = encoder.encode([make("lung mass", volumes=(slices[::-1],))])[0]
    assert tally.apart(encoder.encode([item])[0], backwards) < 1e-6


def test_64_slices_do_not_drown_a_text(encoder: Encoder, plain: Plain):
    slices = volume(64, 24, 30)
    flat = mean(plain.text("lung mass"), *map(plain.image, slices))
    ours = one(encoder, "lung mass", volumes=(slices,))
    tally.differs(MODEL, "every slice a field of its own", ours, flat, beyond=1e-2)


def test_text_picture_and_slices_fused(encoder: Encoder, plain: Plain):
    item = make(
        "lung mass", images=(picture(50, 60, 9), picture(20, 30)), volumes=(volume(6, 30, 40),)
    )
    ours = encoder.encode([item])[0]
    tally.compare(MODEL, TRANSFORMERS, "text, two pictures, six slices", ours, plain.item(item))
    parts = [plain.text("lung mass"), plain.image(item.images[0]), plain.image(item.images[1])]
    flat = mean(*parts, mean(*map(plain.image, item.volumes[0])))
    tally.differs(MODEL, "two pictures as two fields", ours, flat, beyond=DIFFERENT)


def test_two_volumes_are_two_fields(encoder: Encoder, plain: Plain):
    item = make(volumes=(volume(3, 20, 20), volume(5, 30, 20, 7)))
    ours = encoder.encode([item])[0]
    tally.compare(MODEL, TRANSFORMERS, "two volumes", ours, plain.item(item))


def test_the_instruction_is_dropped_prefixed_or_a_field(siglip: Path, plain: Plain):
    item = make("lung mass", instruction="liver tear")
    text, instruction = plain.text("lung mass"), plain.text("liver tear")
    found = {
        mode: load(siglip, instruction_slot=mode).encode([item])[0]
        for mode in ("drop", "prefix", "field")
    }
    wanted = {
        "drop": text, "prefix": plain.text("liver tear lung mass"), "field": mean(text, instruction)
    }  # fmt: skip
    for mode, vector in wanted.items():
        tally.compare(MODEL, TRANSFORMERS, f"instruction, {mode}", found[mode], vector)
    assert tally.apart(found["drop"], found["field"]) > DIFFERENT


def write_pictures(folder: Path) -> dict[str, tuple[Path, np.ndarray]]:
    """Files of several kinds and the 8-bit RGB that each must be."""
    rgb, grey = picture(50, 70), picture(50, 70, 4)[..., 0]
    alpha = np.linspace(0, 255, rgb.size // 3).astype(np.uint8).reshape(rgb.shape[:2])
    share = alpha[..., None] / 255
    deep = grey.astype(np.uint16) * 200
    palette = Image.fromarray(rgb).quantize(16)
    pictures = {
        "grey": (Image.fromarray(grey), np.stack([grey] * 3, -1)),
        "RGBA": (Image.fromarray(np.dstack([rgb, alpha])), rgb * share + 255 * (1 - share)),
        "16 bit": (Image.fromarray(deep), None),
        "palette": (palette, np.asarray(palette.convert("RGB"))),
    }
    found = {}
    for name, (image, wanted) in pictures.items():
        path = folder / f"{name.replace(' ', '')}.png"
        image.save(path)
        if wanted is None:
            low, high = np.percentile(deep, [0.5, 99.5])
            wanted = np.stack([np.clip((deep - low) / (high - low), 0, 1) * 255] * 3, -1)
        found[name] = (path, np.rint(wanted).astype(np.uint8))
    return found


@pytest.mark.parametrize("name", ["grey", "RGBA", "16 bit", "palette"])
def test_pictures_of_every_kind_read_from_files(
    encoder: Encoder, plain: Plain, tmp_path: Path, name: str
):
    path, wanted = write_pictures(tmp_path)[name]
    seen = prepare(Item(images=(ImageRef(path),)))
    assert np.abs(seen.images[0].astype(int) - wanted).max() <= (2 if name == "16 bit" else 1)
    ours = encoder.encode([seen])[0]
    tally.compare(MODEL, TRANSFORMERS, f"{name} file", ours, plain.image(seen.images[0]))


def test_100_slices_from_files_are_sampled_to_64(encoder: Encoder, plain: Plain, tmp_path: Path):
    slices = volume(100, 16, 16)
    paths = tuple(tmp_path / f"{number:03}.png" for number in range(100))
    for path, pixels in zip(paths, slices, strict=True):
        Image.fromarray(pixels).save(path)
    seen = prepare(Item(volumes=(VolumeRef(paths),)), max_slices=encoder.max_slices)
    kept = slices[np.linspace(0, 99, 64).astype(int)]
    wanted = mean(*map(plain.image, kept))
    ours = encoder.encode([seen])[0]
    tally.compare(MODEL, TRANSFORMERS, "100 slices from files", ours, wanted)
    every = mean(*map(plain.image, slices))
    tally.differs(MODEL, "all 100 slices in place of 64", ours, every, beyond=1e-5)


HOSTILE = {
    "a mark beside a picture": ("<image>", "", True),
    "a mark before a text": ("<image>\nlung mass", "lung mass", False),
    "a numbered mark": ("<|image_1|> lung mass", "lung mass", False),
    "a typed end token": ("lung</s> mass", "lung< /s> mass", False),
    "a typed unknown token": ("lung <unk> mass", "lung < unk> mass", False),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(encoder: Encoder, plain: Plain, name: str):
    typed, read, with_picture = HOSTILE[name]
    images = (picture(40, 40),) if with_picture else ()
    wanted = plain.image(images[0]) if images else plain.text(read)
    tally.compare(MODEL, TRANSFORMERS, name, one(encoder, typed, images=images), wanted)


def test_the_wrong_ways_differ(encoder: Encoder, plain: Plain):
    right, pixels = one(encoder, "lung mass"), picture(40, 70)
    image = one(encoder, images=(pixels,))
    crop, other = pixels[:, 15:55], {"resample": Image.Resampling.BILINEAR}
    wrong: dict[str, tuple[np.ndarray, Callable[[], np.ndarray]]] = {
        "text padded to the longest": (right, lambda: plain.text("lung mass", padding="longest")),
        "attention mask over the padding": (right, lambda: plain.text("lung mass", mask=True)),
        "the word image read from a mark": (right, lambda: plain.text("image lung mass")),
        "centre crop": (image, lambda: plain.image(crop)),
        "bilinear resize": (image, lambda: plain.image(pixels, **other)),
    }
    for what, (ours, make_wrong) in wrong.items():
        tally.differs(MODEL, what, ours, make_wrong(), beyond=1e-4)


RELEASE_ITEMS = {
    "text": make("lung mass"),
    "text and instruction": make("lung mass", instruction="find the tear"),
    "picture and instruction": make(images=(picture(40, 30),), instruction="find the tear"),
    "all three": make("lung mass", images=(picture(40, 30),), instruction="find the tear"),
    "two pictures": make("lung", images=(picture(40, 30), picture(20, 50)), instruction="find"),
    "frames": make("lung", volumes=(volume(9, 24, 24),), instruction="find the tear"),
    "nothing": make(),
    "an empty text": make(""),
    "an empty text and an instruction": make("", instruction="find"),
}


def test_the_release_preset(siglip: Path, plain: Plain):
    release = load(siglip, preset="@release")
    assert release.record.preset == "release"
    rows = release.encode(list(RELEASE_ITEMS.values()))
    for row, (name, item) in zip(rows, RELEASE_ITEMS.items(), strict=True):
        tally.compare(MODEL, RELEASE, name, row, plain.release(item))
    usual = load(siglip).encode([RELEASE_ITEMS["all three"]])[0]
    tally.differs(MODEL, "release settings for the usual ones", usual, rows[3], beyond=DIFFERENT)


def test_a_mixed_batch_equals_one_by_one(encoder: Encoder):
    items = [*(make(text) for text in TEXTS.values()), *RELEASE_ITEMS.values()]
    together = encoder.encode(items)
    alone = np.concatenate([encoder.encode([item]) for item in items])
    tally.compare(MODEL, "ours one by one", "mixed batch", together, alone)


def test_pictures_go_through_a_few_at_a_time_where_memory_is_short(
    siglip: Path, monkeypatch: pytest.MonkeyPatch
):
    encoder = load(siglip)
    item = make(volumes=(volume(20, 20, 20),))
    wanted, asked = encoder.encode([item]), []
    whole = type(encoder.towers).picture_vectors

    def short(towers: Any, pixels: torch.Tensor) -> torch.Tensor:
        asked.append(len(pixels))
        if len(pixels) > 6:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return whole(towers, pixels)

    monkeypatch.setattr(type(encoder.towers), "picture_vectors", short)
    assert tally.apart(encoder.encode([item]), wanted) < 1e-6
    assert asked == [8, 4, 4, 4, 4, 4]
    assert encoder.notes[-1] == "Memory ran out; pictures go through the tower 4 at a time."


def test_bfloat16_is_sound(true_size: Path, full: Encoder):
    """Reported: how far bf16 weights move a vector of unit length; nothing finer is promised."""
    half = load_encoder(
        str(true_size), weights_dir=true_size, shipped_dir=true_size, device="cpu",
        dtype="bfloat16",
    )  # fmt: skip
    items = [make(text) for text in TEXTS.values()]
    items += [make(images=(pixels,)) for pixels in PICTURES.values()]
    tally.compare(
        MODEL, "ours in float32", "weights in bfloat16", half.encode(items), full.encode(items),
        within=0.05,
    )  # fmt: skip
