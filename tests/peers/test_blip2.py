"""BLIP-2 against transformers' own class, called as documented, and what a wrong way would give.

Never run on the published weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from transformers.models.blip_2 import (
    Blip2TextModelWithProjection,
    Blip2VisionModelWithProjection,
)

from engine.encoder import Encoder
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.pixels import prepare
from engine.models.blip2 import Blip2Encoder
from engine.models.common import quiet
from engine.models.load import load_encoder
from tests.peers.blip2_cases import REPORT, SIZES, TEXTS, shown
from tests.peers.blip2_plain import BLANK, Plain, mean, unit
from tests.peers.cases import MIXED, VOLUMES, make
from tests.peers.pictures import picture, volume
from tests.peers.tally import apart, compare, differs
from tests.peers.tiny_blip2 import make_blip2

MODEL = "BLIP-2"
PEER = f"transformers {transformers.__version__} Blip2ForImageTextRetrieval"
HALVES = f"transformers {transformers.__version__} Blip2…WithProjection"
FAR = 1e-3
CASES = MIXED | VOLUMES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_blip2(tmp_path_factory.mktemp("peers") / "blip2-tiny")


@pytest.fixture(scope="module")
def plain(folder: Path) -> Plain:
    return Plain(folder)


def load(folder: Path, **settings: object) -> Any:
    return load_encoder(
        str(folder), weights_dir=folder.parent, shipped_dir=folder, device="cpu", settings=settings
    )


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Blip2Encoder:
    return load(folder)


def one(encoder: Encoder, *texts: str, **more: Any) -> np.ndarray:
    return encoder.encode([make(*texts, **more)])[0]


@pytest.mark.parametrize("name", CASES)
def test_every_form_of_item(encoder: Encoder, plain: Plain, name: str) -> None:
    found = encoder.encode([CASES[name]])[0]
    compare(MODEL, PEER, name, found, plain.item(CASES[name]))
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_every_length(encoder: Encoder, plain: Plain, name: str) -> None:
    compare(MODEL, PEER, f"text: {name}", one(encoder, TEXTS[name]), plain.text(TEXTS[name]))
    assert encoder.shortened == (name in ("63 words", "64 words", "200 words"),)


@pytest.mark.parametrize("length", [33, 64, 512])
def test_longer_texts_where_they_are_asked_for(folder: Path, length: int) -> None:
    encoder, plain = load(folder, max_tokens=length), Plain(folder, length=length)
    for words in (length - 3, length - 2, length - 1, 600):
        text = " ".join(["lung", "mass"] * 300).split()[:words]
        found = one(encoder, " ".join(text))
        compare(MODEL, PEER, f"{words} words, {length} tokens", found, plain.text(" ".join(text)))
        assert encoder.shortened == (words + 2 > length,)


def test_the_authors_score_comes_from_our_pieces(encoder: Blip2Encoder, plain: Plain) -> None:
    for name in SIZES:
        with torch.inference_mode():
            pixels = encoder.towers.patch(shown(name))[None]
            states = encoder.towers.query_states(pixels)
            queries = unit(encoder.model.vision_projection(states)[0])  # type: ignore[operator]
        ours = float((queries @ one(encoder, REPORT)).max())
        compare(MODEL, PEER, f"score: {name}", [ours], [plain.score(shown(name), REPORT)])
        compare(MODEL, PEER, f"queries: {name}", queries, plain.queries(shown(name)))


def test_the_two_halves_of_the_model_agree(folder: Path, encoder: Blip2Encoder) -> None:
    with quiet(), torch.no_grad():
        sees = Blip2VisionModelWithProjection.from_pretrained(folder, dtype=torch.float32).eval()
        reads = Blip2TextModelWithProjection.from_pretrained(folder, dtype=torch.float32).eval()
        pixels = torch.stack([encoder.towers.patch(shown(name)) for name in SIZES])
        made = encoder.towers.tokenise(list(TEXTS.values()))[0]
        images = sees(pixel_values=pixels).image_embeds.mean(dim=1)
        texts = reads(**made).text_embeds[:, 0]
    ours = encoder.encode([make(images=(shown(name),)) for name in SIZES])
    compare(MODEL, HALVES, "pictures", ours, unit(images))
    ours = encoder.encode([make(text) for text in TEXTS.values()])
    compare(MODEL, HALVES, "texts", ours, unit(texts))


@pytest.mark.parametrize("query_pool", ["mean", "first", "lavis768"])
def test_a_mixed_batch_is_the_same_one_by_one(folder: Path, query_pool: str) -> None:
    encoder = load(folder, query_pool=query_pool)
    items = [*CASES.values(), *(make(text) for text in TEXTS.values())]
    items.append(make(TEXTS["200 words"], images=(picture(50, 40),)))
    together = encoder.encode(items)
    cut = encoder.shortened
    alone = [(encoder.encode([item])[0], encoder.shortened[0]) for item in items]
    compare(MODEL, "itself", f"one by one, {query_pool}", together, [row for row, _ in alone])
    assert cut == tuple(flag for _, flag in alone)
    assert cut[-1]
    encoder.pictures_at_once = 3
    compare(MODEL, "itself", f"three at once, {query_pool}", encoder.encode(items), together)


def files(folder: Path) -> dict[str, Path]:
    """A picture in every kind that a file may have."""
    pixels = shown("wide")
    alpha = np.concatenate([pixels, np.full((*pixels.shape[:2], 1), 180, np.uint8)], axis=2)
    kinds = {
        "grey": Image.fromarray(pixels[..., 0]),
        "RGBA": Image.fromarray(alpha),
        "16-bit": Image.fromarray(pixels[..., 0].astype(np.uint16) * 200),
        "palette": Image.fromarray(pixels).quantize(32),
    }
    made = {}
    for kind, image in kinds.items():
        made[kind] = folder / f"{kind}.png"
        image.save(made[kind])
    return made


def test_pictures_of_every_kind(encoder: Encoder, plain: Plain, tmp_path: Path) -> None:
    for kind, path in files(tmp_path).items():
        seen = prepare(Item(images=(ImageRef(path),)))
        found = encoder.encode([seen])[0]
        compare(MODEL, PEER, f"{kind} picture", found, plain.image(seen.images[0]))


@pytest.mark.parametrize("count", [1, 5, 64, 100])
def test_slices(encoder: Encoder, plain: Plain, tmp_path: Path, count: int) -> None:
    paths = []
    for index, pixels in enumerate(volume(count, 20, 24)):
        paths.append(tmp_path / f"slice_{index:03}.png")
        Image.fromarray(pixels).save(paths[-1])
    seen = prepare(Item(volumes=(VolumeRef(tuple(paths)),)), max_slices=encoder.max_slices)
    stack = seen.volumes[0]
    assert len(stack) == min(count, 64)
    found = encoder.encode([seen])[0]
    compare(MODEL, PEER, f"{count} slices", found, mean(*(plain.image(s) for s in stack)))
    turned = encoder.encode([make(volumes=(stack[::-1],))])[0]
    compare(MODEL, "itself", f"{count} slices in another order", turned, found)


def test_a_volume_goes_through_in_bounded_chunks(encoder: Blip2Encoder, monkeypatch: Any) -> None:
    sizes: list[int] = []
    see = encoder.towers.picture_vectors
    monkeypatch.setattr(
        encoder.towers, "picture_vectors", lambda pixels: sizes.append(len(pixels)) or see(pixels)
    )
    encoder.encode([make(volumes=(volume(50, 16, 16),)), make(images=(BLANK,))])
    assert (sum(sizes), max(sizes)) == (51, 16)


def test_pictures_and_texts_are_fields(encoder: Encoder, plain: Plain) -> None:
    stack = volume(9, 24, 24)
    item = make(REPORT, images=(shown("wide"),), volumes=(stack,))
    found = encoder.encode([item])[0]
    every = [plain.text(REPORT), plain.image(shown("wide")), *(plain.image(s) for s in stack)]
    compare(MODEL, PEER, "fields, slices first", found, plain.item(item))
    differs(
        MODEL, "slices averaged with the text, not pooled first", found, mean(*every), beyond=FAR
    )


def test_where_an_instruction_goes(folder: Path, plain: Plain) -> None:
    told = {"instruction": "Find the nodule", "images": (shown("wide"),)}
    seen, said = plain.image(shown("wide")), plain.text("Find the nodule")
    wanted = {
        "drop": mean(plain.text("lung"), seen),
        "prefix": mean(plain.text("Find the nodule lung"), seen),
        "field": mean(plain.text("lung"), said, seen),
    }
    found = {slot: one(load(folder, instruction_slot=slot), "lung", **told) for slot in wanted}
    for slot, vector in found.items():
        compare(MODEL, PEER, f"instruction: {slot}", vector, wanted[slot])
    differs(MODEL, "the instruction read too", found["drop"], found["field"], beyond=FAR)


def test_the_release_reads_as_the_benchmarks_wrapper(folder: Path) -> None:
    encoder = load_encoder(
        f"{folder}@release", weights_dir=folder.parent, shipped_dir=folder, device="cpu",
        dtype="float32",
    )  # fmt: skip
    plain = Plain(folder, length=64)
    assert (encoder.max_slices, encoder.settings.max_tokens) == (32, 64)  # type: ignore[attr-defined]
    text, stack = TEXTS["200 words"], volume(5, 24, 24)
    said = plain.text("Find it.")
    pooled = mean(*(plain.image(one) for one in stack))
    wanted = mean(plain.text(text), said, pooled)
    found = one(encoder, text, volumes=(stack,), instruction="Find it.")
    compare(MODEL, PEER, "release: volume, text, instruction", found, wanted)
    for name, item in {"empty item": make(), "empty text": make("")}.items():
        compare(MODEL, PEER, f"release: {name}", encoder.encode([item])[0], plain.text("NULL"))


HOSTILE = {
    "control tokens": ("lung[SEP]mass [MASK] [CLS][PAD]", "lung[ SEP]mass [ MASK] [ CLS][ PAD]"),
    "token of the caption head": ("[DEC] lung mass", "[ DEC] lung mass"),
    "picture mark": ("<image> lung <IMAGE>\n<|image_1|> mass", "lung mass"),
    "a mark that makes another": ("<ima<image>ge> lung", "<ima ge> lung"),
    "half a character": ("lung \ud83d mass", "lung � mass"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(encoder: Encoder, plain: Plain, name: str) -> None:
    typed, read = HOSTILE[name]
    compare(MODEL, PEER, f"hostile: {name}", one(encoder, typed), plain.text(read))
    if name in ("control tokens", "token of the caption head"):
        differs(MODEL, "control tokens of a user obeyed", one(encoder, typed), plain.text(typed),
                beyond=FAR, case=name)  # fmt: skip
    if name == "picture mark":
        with pytest.raises(IndexError):  # its number has no row in the model's table
            plain.text(typed)


def test_both_in_one_eats_the_texts_length(encoder: Encoder, folder: Path, plain: Plain) -> None:
    text, right = TEXTS["200 words"], one(load(folder, max_tokens=64), TEXTS["200 words"])
    eaten = plain.text(text, length=64)
    differs(MODEL, "picture and text in one processor call of 64", right, eaten, beyond=FAR)
    eaten = plain.text(REPORT, length=40)
    differs(MODEL, "picture and text in one processor call of 40", one(encoder, REPORT), eaten,
            beyond=FAR)  # fmt: skip
    longer = one(load(folder, max_tokens=64), TEXTS["63 words"])
    differs(MODEL, "64 tokens instead of 32", one(encoder, TEXTS["63 words"]), longer, beyond=FAR)


def texts_read(encoder: Blip2Encoder, **changes: Any) -> torch.Tensor:
    """A short text in one batch with a long one, the tokenizer's call changed."""
    tokenizer = encoder.towers.processor.tokenizer
    options = {"padding": "longest", "truncation": True, "max_length": 32} | changes
    made = dict(tokenizer([REPORT, TEXTS["63 words"]], return_tensors="pt", **options))
    if changes.get("mask") is False:
        made["attention_mask"] = torch.ones_like(made["attention_mask"])
    return made  # type: ignore[return-value]


def test_padding_is_masked_and_on_the_right(encoder: Blip2Encoder) -> None:
    right = one(encoder, REPORT)

    def read(made: Any, at: int = 0) -> np.ndarray:
        with torch.inference_mode():
            return encoder.towers.text_vectors(made)[at].numpy()

    made = texts_read(encoder)
    compare(MODEL, "itself", "beside a longer text", read(made), right)
    full = texts_read(encoder, padding="max_length", max_length=64)
    compare(MODEL, "itself", "padded to 64", read(full), right)
    made["attention_mask"] = torch.ones_like(made["attention_mask"])  # type: ignore[index]
    differs(MODEL, "no mask over the padding", right, read(made), beyond=FAR)
    left = texts_read(encoder, padding_side="left")
    differs(MODEL, "padded on the left", right, read(left), beyond=FAR)


def test_other_ways_to_one_vector(folder: Path, encoder: Blip2Encoder, plain: Plain) -> None:
    pixels = shown("wide")
    right, queries = one(encoder, images=(pixels,)), plain.queries(pixels)
    first = one(load(folder, query_pool="first"), images=(pixels,))
    compare(MODEL, PEER, "query 0", first, queries[0])
    differs(MODEL, "query 0 for the mean of 32", right, first, beyond=FAR)
    with torch.inference_mode():
        states = encoder.towers.query_states(encoder.towers.patch(pixels)[None])
        early = encoder.model.vision_projection(states.mean(dim=1))[0]  # type: ignore[operator]
    differs(MODEL, "queries averaged before the projection", right, unit(early), beyond=FAR)
    scores = queries @ plain.text(REPORT)
    assert abs(scores.max() - right @ plain.text(REPORT)) > FAR, "max is a scorer, no vector"


def test_other_ways_to_a_picture(encoder: Blip2Encoder, plain: Plain) -> None:
    pixels, images = shown("wide"), encoder.towers.processor.images
    right = one(encoder, images=(pixels,))
    ways: dict[str, dict[str, Any]] = {
        "mean and deviation of 0.5": {"image_mean": [0.5] * 3, "image_std": [0.5] * 3},
        "bilinear for bicubic": {"resample": 2},
        "cropped square for the squash": {},
    }
    for name, options in ways.items():
        seen = pixels[:, 25:65] if "cropped" in name else pixels
        made = images(seen, input_data_format="channels_last", return_tensors="pt", **options)
        with torch.inference_mode():
            wrong = encoder.towers.picture_vectors(made["pixel_values"])[0]
        differs(MODEL, name, right, wrong, beyond=FAR)
    assert apart(plain.image(BLANK), right) > FAR
