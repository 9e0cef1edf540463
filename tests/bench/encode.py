"""Items a second of every family, ours against a peer: ``python -m tests.bench.encode``.

Each family's tiny checkpoint embeds the same mixed-length files, decoded from disk by both sides.
The peer is sentence-transformers' own batches, or a plain loop over one item at a time where no
library knows the family. Ratios are what counts: widths are tiny, so what is measured is reading,
resizing, tokenising, batching and padding, not a real model's arithmetic.

    python -m tests.bench.encode [--only siglip ...] [--device cpu] [--items 96]
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.encode import encode_items
from engine.encoder import Encoder
from engine.errors import EngineError
from engine.evidence.item import ImageRef, Item, ModelInput, VolumeRef
from engine.evidence.pixels import prepare
from engine.models.load import load_encoder
from tests.peers.pictures import picture, volume
from tests.peers.siglip_cases import words

ROUNDS = 3
KINDS = ("text", "picture", "both", "slices")
LOOP = "plain loop"
Rows = NDArray[np.float32]
Embed = Callable[[Sequence[ModelInput]], Rows]


@dataclass(frozen=True)
class Family:
    """One line of the bench.

    Attributes:
        name: of the family and what it is measured on.
        make: writes the tiny checkpoint, ``module:function`` of one folder, or a function.
        peer: what ours is held against, in words.
        reference: from the checkpoint and our encoder to the peer's way with a list of items.
        kinds: of items that the peer takes too.
        settings: of our encoder.
        family: named in a card, where the folder does not tell it.
    """

    name: str
    make: str | Callable[[Path], Path]
    peer: str
    reference: Callable[[Path, Encoder], Embed]
    kinds: tuple[str, ...] = KINDS
    settings: dict[str, object] = field(default_factory=dict)
    family: str | None = None


def named(path: str) -> Any:
    """What ``module:name`` names."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def looped(path: str, method: str) -> Callable[[Path, Encoder], Embed]:
    """A plain reference class, one item at a time."""

    def reference(folder: Path, _: Encoder) -> Embed:
        one = getattr(named(path)(folder), method)
        return lambda items: np.stack([one(item) for item in items]).astype(np.float32)

    return reference


def ourselves(_: Path, encoder: Encoder) -> Embed:
    """Ours without batches, where the only peer is the authors' code in another environment."""
    return lambda items: np.concatenate([encoder.encode([item]) for item in items])


def rzen_loop(folder: Path, _: Encoder) -> Embed:
    """The plain reference of RzenEmbed, which takes cases of its own."""
    reference = named("tests.peers.rzen_reference:Reference")(folder)
    case = named("tests.peers.rzen_cases:Case")

    def one(item: ModelInput) -> Rows:
        frames = tuple(item.volumes[0]) if item.volumes else ()
        image = item.images[0] if item.images else None
        text = " ".join(item.texts) if item.texts else None
        return reference.vector(case(text=text, image=image, frames=frames))

    return lambda items: np.stack([one(item) for item in items])


def medimageinsight_loop(folder: Path, _: Encoder) -> Embed:
    """The plain towers of MedImageInsight, fields made one as the paper says."""
    reference = named("tests.peers.test_medimageinsight:Reference")(folder)
    mean = named("tests.peers.blip2_plain:mean")

    def one(item: ModelInput) -> Rows:
        fields = [reference.text(" ".join(item.texts))] if item.texts else []
        groups = (item.images, *item.volumes)
        fields += [mean(*map(reference.picture, group)) for group in groups if len(group)]
        return mean(*fields)

    return lambda items: np.stack([one(item) for item in items]).astype(np.float32)


def library(folder: Path, _: Encoder) -> Embed:
    """sentence-transformers' own batches, one call for each kind of item."""
    model = named("sentence_transformers:SentenceTransformer")(str(folder), device="cpu")
    prompt = None
    if "message" in model.modalities:
        prompt = "Represent the user's input."
        pillow = named("tests.peers.qwen_reference:pillow_processor")
        model[0].processor.image_processor = pillow(folder)

    def given(item: ModelInput) -> Any:
        shown = {"image": Image.fromarray(item.images[0])} if item.images else {}
        said = {"text": " ".join(item.texts)} if item.texts else {}
        return {**shown, **said} if shown else said["text"]

    def embed(items: Sequence[ModelInput]) -> Rows:
        groups: dict[tuple[bool, bool], list[int]] = {}
        for number, item in enumerate(items):
            groups.setdefault((bool(item.texts), bool(item.images)), []).append(number)
        rows = np.zeros((len(items), model.get_embedding_dimension()), np.float32)
        for numbers in groups.values():
            rows[numbers] = model.encode(
                [given(items[number]) for number in numbers],
                prompt=prompt,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return rows

    return embed


def mixing(folder: Path) -> Path:
    """The tiny Qwen3-VL-Embedding as a sentence-transformers folder."""
    plain = named("tests.peers.tiny_qwen3:make_qwen")(folder.with_name(f"{folder.name}-plain"))
    return named("tests.peers.tiny_sentence:make_mixing")(plain, folder)


def medemb(folder: Path) -> Path:
    """An adapter beside its base."""
    named("tests.peers.tiny_qwen3:make_qwen")(folder / "qwen3-base")
    write = named("tests.peers.medemb_adapters:write_adapter")
    return write(folder / "medemb", layout="bare model", base="../qwen3-base")


def large_siglip(folder: Path) -> Path:
    """SigLIP at the size of MedSigLIP."""
    return named("tests.peers.tiny_siglip:make_siglip")(folder, image_size=448)


SIGLIP = looped("tests.peers.siglip_reference:Plain", "item")
SENTENCE = "sentence-transformers"
FAMILIES: tuple[Family, ...] = (
    Family("siglip", "tests.peers.tiny_siglip:make_siglip", f"{LOOP} of transformers", SIGLIP),
    Family("medsiglip 448", large_siglip, f"{LOOP} of transformers", SIGLIP),
    Family(
        "blip2", "tests.peers.tiny_blip2:make_blip2", f"{LOOP} of transformers",
        looped("tests.peers.blip2_plain:Plain", "item"),
    ),
    Family(
        "medimageinsight", "tests.peers.tiny_medimageinsight:make_medimageinsight",
        f"{LOOP} in plain torch", medimageinsight_loop,
    ),
    Family("vlm2vec", "tests.peers.vlm2vec_tiny:make_vlm2vec", "ours, unbatched", ourselves),
    Family(
        "rzenembed", "tests.peers.rzen_tiny:make_rzen", f"{LOOP} of transformers", rzen_loop,
        family="rzenembed",
    ),
    Family(
        "qwen3-vl-embedding", "tests.peers.tiny_qwen3:make_qwen", f"{LOOP} of transformers",
        looped("tests.peers.qwen_reference:Reference", "vector"),
    ),
    Family(
        "qwen3-vl-embedding", mixing, SENTENCE, library, KINDS[:3],
        family="qwen3-vl-embedding",
    ),
    Family("medemb", medemb, "ours, unbatched", ourselves),
    Family(
        "any text model", "tests.peers.tiny_sentence:make_bert", SENTENCE, library, KINDS[:1],
        family=SENTENCE,
    ),
    Family(
        "any two towers", "tests.peers.tiny_sentence:make_clip", SENTENCE, library, KINDS[:2],
        family=SENTENCE,
    ),
)  # fmt: skip


def work(folder: Path, count: int) -> dict[str, list[Item]]:
    """Files of every length and size, the same for all, by kind."""
    folder.mkdir()
    found: dict[str, list[Item]] = {kind: [] for kind in KINDS}
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        text = words(1 + (number * 37) % 230) if kind in ("text", "both") else None
        images, volumes = (), ()
        if kind in ("picture", "both"):
            images = (ImageRef(_saved(folder, _any_size(number), number)),)
        if kind == "slices":
            slices = volume(2 + number % 7, 40, 48, number)
            paths = [_saved(folder, one, f"{number}-{at}") for at, one in enumerate(slices)]
            volumes = (VolumeRef(tuple(paths)),)
        found[kind].append(Item(text, images, volumes))
    return found


def _any_size(number: int) -> NDArray[np.uint8]:
    return picture(48 + (number * 29) % 150, 48 + (number * 53) % 170, number)


def _saved(folder: Path, pixels: NDArray[np.uint8], name: object) -> Path:
    path = folder / f"{name}.png"
    Image.fromarray(pixels).save(path)
    return path


def seconds(*runs: Callable[[], object]) -> list[float]:
    """The fastest round of each, taken in turns, so that a busy machine is busy for all."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for kept, run in zip(times, runs, strict=True):
            started = time.perf_counter()
            run()
            kept.append(time.perf_counter() - started)
    return [min(one) for one in times]


def load(family: Family, folder: Path, device: str) -> Encoder:
    """Our encoder of a folder, by a card where the folder does not tell its family."""
    name, cards = str(folder), None
    if family.family is not None:
        cards = folder.with_name(f"{folder.name}-cards")
        cards.mkdir()
        text = f'{{"family": "{family.family}", "folder": "{folder.as_posix()}"}}'
        (cards / "bench.json").write_text(text, encoding="utf-8")
        name = "bench"
    return load_encoder(
        name, weights_dir=folder.parent, shipped_dir=folder.parent, cards_dir=cards,
        device=device, dtype="float32", settings=family.settings,
    )  # fmt: skip


def measure(family: Family, folder: Path, items: Sequence[Item], device: str) -> str:
    """One family as a line of text."""
    make = named(family.make) if isinstance(family.make, str) else family.make
    made = make(folder)
    encoder = load(family, made, device)
    theirs = family.reference(made, encoder)
    slices = encoder.max_slices

    def peer() -> Rows:
        return theirs([prepare(item, max_slices=slices) for item in items])

    def ours() -> Rows:
        found = encode_items(items, encoder, cache=None)
        assert not found.failures, found.failures
        return found.vectors

    apart = float(np.abs(ours() - peer()).max())
    mine, other = (len(items) / one for one in seconds(ours, peer))
    return (
        f"{family.name:20} {family.peer:27} {len(items):5} {mine:9.1f} {other:9.1f} "
        f"{mine / other:7.2f} {apart:9.1e}\n"
    )


def lines(only: Sequence[str], device: str, count: int) -> Iterator[str]:
    """The table, line by line; what cannot be measured here is said and skipped."""
    yield f"{'family':20} {'peer':27} items  ours /s   peer /s   ratio  largest difference\n"
    with tempfile.TemporaryDirectory() as place:
        files = work(Path(place) / "files", count)
        for number, family in enumerate(FAMILIES):
            if only and family.name not in only:
                continue
            items = [item for kind in family.kinds for item in files[kind]]
            try:
                with named("engine.models.common:quiet")():
                    line = measure(family, Path(place) / f"model-{number}", items, device)
                yield line
            except (ImportError, AttributeError, EngineError) as error:
                yield f"{family.name:20} skipped: {str(error).splitlines()[0]}\n"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Items a second, ours against a peer.")
    parser.add_argument("--only", nargs="*", default=[], help="names of families")
    parser.add_argument("--device", default="cpu", help="of ours; the peers compute on the CPU")
    parser.add_argument("--items", type=int, default=96, help="how many, a quarter of each kind")
    chosen = parser.parse_args()
    torch = importlib.import_module("torch")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.stdout.write(f"ours on {chosen.device}, {torch.get_num_threads()} threads\n")
    for line in lines(chosen.only, chosen.device, chosen.items):
        sys.stdout.write(line)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
