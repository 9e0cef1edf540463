"""MedImageInsight against its authors' code, recorded, and against a plain second reference.

Nothing here, and nothing of this adapter, was ever run on the published weights.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from numpy.typing import NDArray
from PIL import Image
from safetensors.torch import load_file
from torchvision.transforms import InterpolationMode, v2
from transformers.models.clip import CLIPTokenizer

from engine.encoder import Encoder
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.pixels import prepare
from engine.models.common import quiet
from engine.models.load import load_encoder
from tests.peers import tally
from tests.peers import tiny_medimageinsight as tiny
from tests.peers.cases import make
from tests.peers.medimageinsight_plain import Plain, Ways

MODEL = "MedImageInsight"
GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden" / "medimageinsight.json").read_text("utf-8")
)
AUTHORS = f"{GOLDEN['code']} (recorded)"
PLAIN = "plain torch, from the tensors"
BEYOND = 3e-5
OTHERS: dict[str, dict[str, object]] = {
    "not square": {"IMAGE_ENCODER.IMAGE_SIZE": [72, 104]},
    "480": {"IMAGE_ENCODER.IMAGE_SIZE": [480, 480]},
    "bilinear": {"AUG.INTERPOLATION": "bilinear"},
    "causal": {"LANG_ENCODER.AUTOGRESSIVE": True},
}


def load(folder: Path, **settings: object) -> Encoder:
    return load_encoder(
        str(folder), weights_dir=folder.parent, shipped_dir=folder, device="cpu", settings=settings
    )


def golden(case: str) -> NDArray[np.float64]:
    return np.asarray(GOLDEN["cases"][case])


def held(case: str, ours: Any) -> None:
    tally.compare(MODEL, AUTHORS, case, ours, golden(case))


def differs(what: str, ours: Any, wrong: Any) -> None:
    tally.differs(MODEL, what, ours, wrong, beyond=BEYOND)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tiny.make_medimageinsight(tmp_path_factory.mktemp("mii") / "square")
    assert tiny.digest(made) == GOLDEN["checkpoints"]["square"]
    return made


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return load(folder)


class Reference:
    """The plain model with the authors' preprocessing by torchvision and a bare tokenizer."""

    def __init__(self, folder: Path) -> None:
        root = folder / tiny.ROOT
        config = yaml.safe_load((root / "config.yaml").read_text("utf-8"))
        image, heads = config["IMAGE_ENCODER"], config["LANG_ENCODER"]["HEADS"]
        self.plain = Plain(load_file(root / tiny.WEIGHTS), image["SPEC"], heads)
        with quiet():
            self.tokenizer = CLIPTokenizer.from_pretrained(root / tiny.TOKENIZER)
        width, height = image["IMAGE_SIZE"]
        self.size, self.side = (height, width), width
        self.finish = v2.Compose(
            [
                v2.PILToTensor(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize(image["IMAGE_MEAN"], image["IMAGE_STD"]),
            ]
        )

    def text(self, text: str, **ways: Any) -> NDArray[np.float64]:
        ids = self.tokenizer(text)["input_ids"]
        ids = [*ids[:76], ids[-1]] if len(ids) > 77 else ids
        return replace(self.plain, ways=Ways(**ways)).text(ids)

    def picture(
        self, pixels: NDArray[np.uint8], resize: v2.Transform | None = None, **ways: Any
    ) -> NDArray[np.float64]:
        squash = v2.Resize(self.size, interpolation=InterpolationMode.BICUBIC)
        tensor = self.finish((resize or squash)(Image.fromarray(pixels)))
        return replace(self.plain, ways=Ways(**ways)).picture(tensor)


@pytest.fixture(scope="module")
def reference(folder: Path) -> Reference:
    return Reference(folder)


@pytest.mark.parametrize("name", tiny.TEXTS)
def test_texts(encoder: Encoder, name: str):
    held(f"text, {name}", encoder.encode([make(tiny.TEXTS[name])])[0])


def test_cut_texts_are_counted(encoder: Encoder):
    encoder.encode([make(tiny.words(count)) for count in (0, 75, 76, 200)])
    assert encoder.shortened == (False, False, True, True)


@pytest.mark.parametrize("name", tiny.PICTURES)
def test_pictures(encoder: Encoder, name: str):
    pixels = tiny.picture(*tiny.PICTURES[name])
    held(f"picture, {name}", encoder.encode([make(images=(pixels,))])[0])


@pytest.mark.parametrize("name", OTHERS)
def test_sizes_and_ways_come_from_the_configuration(
    tmp_path: Path, encoder: Encoder, reference: Reference, name: str
):
    other = tiny.make_medimageinsight(tmp_path / name, **OTHERS[name])
    assert tiny.digest(other) == GOLDEN["checkpoints"][name]
    case = "text, causal" if name == "causal" else f"picture, {name}"
    item = make(tiny.words(63)) if name == "causal" else make(images=(tiny.picture(50, 300),))
    found = load(other).encode([item])[0]
    held(case, found)
    if name in ("bilinear", "causal"):
        differs(f"{name} instead of as published", encoder.encode([item])[0], found)


@pytest.mark.parametrize("name", tiny.files())
def test_files_through_prepare(encoder: Encoder, tmp_path: Path, name: str):
    image, colours = tiny.files()[name]
    image.save(tmp_path / "one.png")
    seen = prepare(Item(images=(ImageRef(tmp_path / "one.png"),)))
    assert (seen.images[0] == colours).all()
    held(f"file, {name}", encoder.encode([seen])[0])


def test_a_16_bit_file_is_windowed_first(encoder: Encoder, reference: Reference, tmp_path: Path):
    deep = tiny.picture(60, 44, 3)[..., 0].astype(np.uint16) * 200
    Image.fromarray(deep).save(tmp_path / "deep.png")
    seen = prepare(Item(images=(ImageRef(tmp_path / "deep.png"),)))
    shown = seen.images[0]
    assert shown.dtype == np.uint8
    tally.compare(MODEL, PLAIN, "16 bit", encoder.encode([seen])[0], reference.picture(shown))


@pytest.mark.parametrize("name", tiny.SLICES)
def test_slices_through_prepare(encoder: Encoder, tmp_path: Path, name: str):
    paths = []
    for number, pixels in enumerate(tiny.volume(tiny.SLICES[name])):
        paths.append(tmp_path / f"{number:03}.png")
        Image.fromarray(pixels).save(paths[-1])
    item = Item(volumes=(VolumeRef(tuple(paths)),))
    seen = prepare(item, max_slices=encoder.max_slices)
    assert len(seen.volumes[0]) == min(64, tiny.SLICES[name])
    found = encoder.encode([seen])[0]
    held(f"volume, {name}", found)
    turned = encoder.encode([make(volumes=(seen.volumes[0][::-1],))])[0]
    assert tally.apart(found, turned) < 1e-6


def test_fields_become_one(encoder: Encoder):
    text, shape = tiny.MIXED
    slices, pixels = tiny.volume(5), tiny.picture(*tiny.PICTURES[shape])
    item = make(tiny.TEXTS[text], images=(pixels,), volumes=(slices,), instruction="Find it")
    held("text, picture and slices", encoder.encode([item])[0])
    flat = encoder.encode([make(tiny.TEXTS[text], images=(pixels, *slices))])[0]
    differs("slices and picture in one field", encoder.encode([item])[0], flat)


@pytest.mark.parametrize("name", tiny.TYPED)
def test_a_typed_end_token_is_broken_up(encoder: Encoder, name: str):
    found = encoder.encode([make(tiny.TYPED[name])])[0]
    held(f"text, typed end, {name}", found)
    differs("a typed end token is obeyed", found, golden(f"text, typed end obeyed, {name}"))


def test_no_disguise_of_a_control_token_gets_through(encoder: Encoder):
    texts: Any = encoder.towers.texts
    wide = tiny.END.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
    for typed in (wide, "&lt;|endoftext|&gt;", "<|EndOfText|>", "<|end<image>oftext|>", tiny.START):
        ids = texts.tokenise([f"lung {typed} mass"])[0]["input_ids"][0].tolist()
        assert ids.count(texts.end) == 1, typed
        assert ids.count(texts.tokenizer.bos_token_id) == 1, typed


def test_a_picture_mark_is_no_word(encoder: Encoder):
    marked = encoder.encode([make("<image>\nlung", images=(tiny.picture(30, 30),))])
    assert tally.apart(marked, encoder.encode([make("lung", images=(tiny.picture(30, 30),))])) == 0


def test_a_batch_equals_one_by_one(encoder: Encoder):
    items = [
        make("lung"),
        make(tiny.words(200)),
        make(),
        make(images=(tiny.picture(30, 44),)),
        make("right", images=(tiny.picture(64, 64), tiny.picture(20, 30))),
        make(volumes=(tiny.volume(9),)),
    ]
    alone = np.concatenate([encoder.encode([item]) for item in items])
    tally.compare(MODEL, "one by one", "mixed batch", encoder.encode(items), alone)


@pytest.mark.parametrize("text", ["", tiny.words(9), tiny.words(75), tiny.words(200)])
def test_texts_of_the_plain_reference(encoder: Encoder, reference: Reference, text: str):
    found = encoder.encode([make(text)])[0]
    tally.compare(MODEL, PLAIN, f"text {len(text)}", found, reference.text(text))


@pytest.mark.parametrize("shape", [(96, 96), (50, 300), (7, 9)])
def test_pictures_of_the_plain_reference(
    encoder: Encoder, reference: Reference, shape: tuple[int, int]
):
    pixels = tiny.picture(*shape)
    found = encoder.encode([make(images=(pixels,))])[0]
    tally.compare(MODEL, PLAIN, f"picture {shape}", found, reference.picture(pixels))


@pytest.mark.parametrize(
    ("what", "ways"),
    [
        ("a causal mask", {"causal": True}),
        ("norms of the text with eps 1e-5", {"eps": 1e-5}),
        ("GELU for QuickGELU in the text", {"gelu": "exact"}),
        ("the state at the last place", {"pool": "last"}),
        ("padding is attended", {"masked": False}),
    ],
)
def test_wrong_ways_with_texts(
    encoder: Encoder, reference: Reference, what: str, ways: dict[str, Any]
):
    text = tiny.words(20)
    differs(what, encoder.encode([make(text)])[0], reference.text(text, **ways))


@pytest.mark.parametrize(
    ("what", "ways"),
    [
        ("windows without padding", {"window": "cut"}),
        ("attention over channels scaled by their number", {"by_channel": True}),
        ("no norm after the mean", {"head_norm": False}),
    ],
)
def test_wrong_ways_with_pictures(
    encoder: Encoder, reference: Reference, what: str, ways: dict[str, Any]
):
    pixels = tiny.picture(50, 300)
    found = encoder.encode([make(images=(pixels,))])[0]
    differs(what, found, reference.picture(pixels, **ways))


def test_wrong_ways_to_resize(encoder: Encoder, reference: Reference):
    pixels = tiny.picture(50, 300)
    found = encoder.encode([make(images=(pixels,))])[0]
    crop = v2.Compose([v2.Resize(reference.side, InterpolationMode.BICUBIC), v2.CenterCrop(96)])
    differs("crop for squash", found, reference.picture(pixels, crop))
    differs("crop for squash", found, golden("picture, crop"))
    tensors = v2.Compose([v2.PILToTensor(), v2.Resize(reference.size), v2.ToPILImage()])
    differs("bilinear on tensors", found, reference.picture(pixels, tensors))


def test_the_wrapper_as_published_stays_in_training_mode(encoder: Encoder):
    """It drops whole branches at random (DROP_PATH_RATE 0.2): no two of its vectors agree."""
    found = encoder.encode([make(images=(tiny.picture(50, 300),))])[0]
    differs("never leaving the training mode", found, golden("picture, training mode"))


def test_texts_without_the_repair_differ(encoder: Encoder, reference: Reference):
    for name in ("curled quotes", "ligature and full width", "broken encoding"):
        found = encoder.encode([make(tiny.TEXTS[name])])[0]
        differs("texts not mended by ftfy", found, reference.text(tiny.TEXTS[name]))
