"""RzenEmbed against its authors' code (recorded), a plain reference, and wrong ways.

Tiny checkpoints of the true architecture; never run on real weights.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.encoder import Encoder
from engine.evidence.item import ImageRef, Item, ModelInput, VolumeRef
from engine.evidence.pixels import prepare
from engine.models.load import load_encoder
from tests.peers import tally
from tests.peers.rzen_cases import (
    BATCH,
    BATCH_IMAGES,
    CANDIDATE,
    CASES,
    HOSTILE,
    HUNDRED,
    LONG,
    MARKED,
    QUERY,
    SMALL_LIST,
    TEXT,
    VIDEO,
    Case,
    picture,
    stack,
)
from tests.peers.rzen_reference import AREA, BEFORE, END, Reference, Way
from tests.peers.rzen_tiny import FILES, make_rzen
from tests.peers.weights import digest_of

MODEL = "RzenEmbed"
PLAIN = "plain transformers, features scattered by hand"
BEYOND = 1e-5
GOLDEN = json.loads((Path(__file__).parent / "golden" / "rzenembed.json").read_text("utf-8"))
CODE, COMMIT = GOLDEN["code"].split("@")
AUTHORS = f"{CODE}@{COMMIT[:8]}, {GOLDEN['environment'][0]}"
SMALL = {"slice_min_pixels": SMALL_LIST[0] * AREA, "slice_max_pixels": SMALL_LIST[1] * AREA}
LISTED = {"min_pixels": 160 * AREA, "max_pixels": 180 * AREA}
# What the engine is given where that is not the authors' own text.
OURS = {
    "instruction, blank put in": {"instruction": "Find the report."},
    "hostile text, broken up": {"texts": (HOSTILE,)},
    "marks taken out": {"texts": (MARKED,)},
}
JOINED = {
    "instruction, glued": "glued",
    "instruction, stripped": "stripped",
    "NULL under the release's instruction": "stripped",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_rzen(tmp_path_factory.mktemp("peers") / "rzenembed-tiny")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return load(folder)


@pytest.fixture(scope="module")
def glued(folder: Path) -> Encoder:
    return load(folder, instruction_join="glued")


@pytest.fixture(scope="module")
def reference(folder: Path) -> Reference:
    return Reference(folder)


def load(folder: Path, *, preset: str = "", **settings: object) -> Encoder:
    return load_encoder(
        f"{folder}{preset}", weights_dir=folder.parent, shipped_dir=folder, device="cpu",
        dtype="float32", settings=settings,
    )  # fmt: skip


def item(case: Case, **changes: object) -> ModelInput:
    """A case of the authors' call as the engine takes it; a list of frames is a volume."""
    same = len({frame.shape for frame in case.frames}) == 1
    given: dict = {
        "instruction": case.instruction,
        "texts": () if case.text is None else (case.text,),
        "images": (() if same else case.frames) + (() if case.image is None else (case.image,)),
        "volumes": (np.stack(case.frames),) if same else (),
    }
    return ModelInput(**(given | changes))


def one(encoder: Encoder, given: ModelInput) -> np.ndarray:
    return encoder.encode([given])[0]


def test_the_golden_belongs_to_this_checkpoint(folder: Path):
    assert digest_of(folder, also=FILES) == GOLDEN["checkpoint"]
    assert list(GOLDEN["cases"]) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_equals_the_authors_code(encoder: Encoder, folder: Path, name: str):
    case = CASES[name]
    settings = (SMALL if case.small else {}) | (
        {"instruction_join": JOINED[name]} if name in JOINED else {}
    )
    given = item(case, **OURS.get(name, {}))
    vector = one(load(folder, **settings) if settings else encoder, given)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    tally.compare(MODEL, AUTHORS, name, vector, GOLDEN["cases"][name])


def test_their_batch_without_a_list_is_ours(encoder: Encoder):
    theirs = GOLDEN["batches"]["without a list"]
    ours = encoder.encode([item(case) for case in BATCH_IMAGES])
    tally.compare(MODEL, AUTHORS, "batch without a list", ours, theirs)
    alone = [one(encoder, item(case)) for case in BATCH_IMAGES]
    tally.compare(MODEL, AUTHORS, "its items alone", alone, theirs)


def test_a_list_in_their_batch_changes_the_other_pictures_and_ours_does_not(
    encoder: Encoder, folder: Path
):
    theirs = np.array(GOLDEN["batches"]["with a list"])
    ours = encoder.encode([item(case) for case in BATCH])
    tally.compare(MODEL, AUTHORS, "text and list of a mixed batch", ours[[0, 2]], theirs[[0, 2]])
    for row in (1, 3):
        tally.differs(
            MODEL, "limits of a list on a single picture beside it", ours[row], theirs[row],
            beyond=BEYOND, case=f"picture {row}",
        )  # fmt: skip
    under = load(folder, **LISTED).encode([item(case) for case in BATCH])
    tally.compare(MODEL, AUTHORS, "mixed batch, their limits for all", under, theirs)


EXTRA = {
    "instruction alone": Case(instruction=CANDIDATE),
    "64 slices at full size": Case(frames=stack(64, 32, 32, 500), instruction=VIDEO),
    "two hundred tokens": Case("a" * 200),
    "64 tokens": Case("b" * 64),
    "63 tokens": Case("b" * 63),
    "one token": Case("c"),
}
BY_HAND = {**{name: case for name, case in CASES.items() if not case.small}, **EXTRA}


@pytest.mark.parametrize("name", BY_HAND)
def test_equals_the_plain_reference(glued: Encoder, reference: Reference, name: str):
    case = BY_HAND[name]
    tally.compare(MODEL, PLAIN, name, one(glued, item(case)), reference.vector(case))


def test_a_volume_and_a_picture_make_one_list(encoder: Encoder, reference: Reference):
    slices, extra = stack(2, 40, 40, 70), picture(64, 90, 71)
    case = Case("Same?", frames=(*slices, extra))
    given = ModelInput(None, ("Same?",), (extra,), (np.stack(slices),))
    tally.compare(MODEL, PLAIN, "volume and picture", one(encoder, given), reference.vector(case))


def test_batch_mates_and_padding_change_nothing(encoder: Encoder, folder: Path):
    many = ("elongated image", "image squashed to 200", "image and instruction")
    names = [name for name, case in CASES.items() if len(case.frames) < 4 and name not in many]
    batch = [item(CASES[name]) for name in names]
    alone = np.stack([one(encoder, given) for given in batch])
    for side in ("right", "left"):
        together = load(folder, padding_side=side).encode(batch)
        tally.compare(MODEL, "its items one by one", f"padded {side}", together, alone)


WRONG = {
    "mrope positions": (Case("Left?", picture(90, 60, 1)), Way(positions="mrope")),
    "no end token": (Case(TEXT), Way(end="")),
    "end token twice": (Case(TEXT), Way(end=END * 2)),
    "padding attended to": (Case(TEXT), Way(positions="left", longest=120, attended=True)),
    "last column pooled under right padding": (Case(TEXT), Way(pool="column", longest=120)),
    "one resize": (Case(image=picture(96, 128)), Way(resizes=1)),
    "image limits for frames": (Case(frames=stack(2, 60, 60)), Way(list_limits=(256, 1280))),
    "frame limits for an image": (Case(image=picture(96, 128)), Way(image_limits=(160, 180))),
    "no system turn": (Case(TEXT), Way(before="<|im_start|>user\n")),
    "the instruction as system turn": (
        Case(TEXT, instruction=QUERY),
        Way(before=BEFORE.replace("You are a helpful assistant.", QUERY)),
    ),
    "words before the picture": (Case(TEXT, picture(60, 60)), Way(text_first=True)),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_ways_are_told_apart(encoder: Encoder, reference: Reference, what: str):
    case, way = WRONG[what]
    ours = one(encoder, item(case))
    tally.compare(MODEL, PLAIN, f"right way beside '{what}'", ours, reference.vector(case))
    tally.differs(MODEL, what, ours, reference.vector(case, way), beyond=BEYOND)


@pytest.mark.parametrize("side", ["linear", "left"])
def test_padding_alone_changes_nothing_in_the_reference(
    encoder: Encoder, reference: Reference, side: str
):
    """Nor do places counted with the padding: rotary positions tell distances only."""
    case = Case("Left?", picture(90, 60, 1))
    padded = reference.vector(case, Way(positions=side, longest=700))
    tally.compare(MODEL, PLAIN, f"padded to 700, {side}", one(encoder, item(case)), padded)


def test_mrope_is_a_setting(folder: Path, reference: Reference):
    case = Case("Left?", picture(90, 60, 1))
    ours = one(load(folder, positions="mrope"), item(case))
    theirs = reference.vector(case, Way(positions="mrope"))
    tally.compare(MODEL, PLAIN, "mrope, as set", ours, theirs)


def test_a_blank_is_put_in_only_where_it_is_missing(encoder: Encoder, glued: Encoder):
    bare, spaced = (ModelInput(text, (TEXT,), (), ()) for text in ("Find:", "Find: "))
    tally.differs(MODEL, "instruction glued", one(encoder, bare), one(glued, bare), beyond=BEYOND)
    assert np.array_equal(one(encoder, bare), one(encoder, spaced))
    assert np.array_equal(one(encoder, spaced), one(glued, spaced))


def test_a_hundred_slices_on_disk(folder: Path, tmp_path: Path):
    paths = []
    for index, pixels in enumerate(HUNDRED):
        paths.append(tmp_path / f"slice_{index:03}.png")
        Image.fromarray(pixels).save(paths[-1])
    small = load(folder, **SMALL)
    given = prepare(Item(volumes=(VolumeRef(tuple(paths)),)), max_slices=small.max_slices)
    assert given.volumes[0].shape == (64, 30, 30, 3)
    ours = one(small, given)
    tally.compare(MODEL, AUTHORS, "100 slices on disk", ours, GOLDEN["cases"]["100 slices"])
    first = ModelInput(None, (), (), (np.stack(HUNDRED[:64]),))
    tally.differs(MODEL, "first 64 of 100 slices", ours, one(small, first), beyond=BEYOND)


PICTURES = {
    "grey": lambda rgb: Image.fromarray(rgb).convert("L"),
    "palette": lambda rgb: Image.fromarray(rgb).quantize(64),
    "opaque RGBA": lambda rgb: Image.fromarray(rgb).convert("RGBA"),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_pictures_on_disk(encoder: Encoder, reference: Reference, tmp_path: Path, kind: str):
    made = PICTURES[kind](picture(64, 80, 11))
    made.save(tmp_path / "one.png")
    given = prepare(Item(images=(ImageRef(tmp_path / "one.png"),)))
    theirs = reference.vector(Case(image=np.asarray(made.convert("RGB"))))
    tally.compare(MODEL, PLAIN, f"{kind} picture on disk", one(encoder, given), theirs)


def test_16_bits_are_windowed_before_and_not_clipped(
    encoder: Encoder, reference: Reference, tmp_path: Path
):
    deep = picture(64, 80, 12)[..., 0].astype(np.uint16) * 100
    Image.fromarray(deep).save(tmp_path / "deep.png")
    given = prepare(Item(images=(ImageRef(tmp_path / "deep.png"),)))
    ours = one(encoder, given)
    seen = reference.vector(Case(image=given.images[0]))
    tally.compare(MODEL, PLAIN, "16-bit picture on disk", ours, seen)
    clipped = np.repeat(np.minimum(deep, 255).astype(np.uint8)[..., None], 3, axis=2)
    tally.differs(
        MODEL, "16 bits clipped to 8", ours, reference.vector(Case(image=clipped)), beyond=BEYOND
    )


def test_the_release_preset_is_the_benchmarks_wrapper(folder: Path):
    release = load(folder, preset="@release")
    seen = picture(512, 300, 1)
    for case, given in {
        "NULL under the release's instruction": ModelInput(None, (), (), ()),
        "instruction, stripped": ModelInput("  Find the report: ", (TEXT,), (), ()),
        "image and instruction": ModelInput(CANDIDATE, ("Which organ?",), (seen,), ()),
        "three frames": ModelInput(VIDEO, ("Left?",), (seen,), item(CASES["three frames"]).volumes),
    }.items():
        theirs = GOLDEN["cases"][case]
        tally.compare(f"{MODEL}@release", AUTHORS, case, one(release, given), theirs)
    kept = one(load(folder), ModelInput(CANDIDATE, ("Which organ?",), (seen,), ()))
    dropped = GOLDEN["cases"]["image and instruction"]
    tally.differs(MODEL, "text dropped beside a picture", kept, dropped, beyond=BEYOND)


def test_a_text_too_long_is_shortened_at_its_own_end(folder: Path, reference: Reference):
    short = load(folder, max_tokens=420, over_length="shorten")
    seen = picture(60, 60, 3)
    given = ModelInput(QUERY, (LONG,), (seen,), ())
    free = load(folder)
    over = free.batch([given])["input_ids"].shape[1] - 420
    rows = short.encode([ModelInput(None, ("Short",), (), ()), given])
    assert short.shortened == (False, True)
    ids = free.pieces.tokenizer(LONG)["input_ids"]
    left = free.pieces.tokenizer.decode(ids[: len(ids) - over])
    assert 0 < over < len(ids)
    theirs = reference.vector(Case(left, seen, instruction=QUERY))
    tally.compare(MODEL, PLAIN, "long text, shortened", rows[1], theirs)


def test_cutting_the_end_as_the_reference_does_is_told_apart(folder: Path, reference: Reference):
    """Their processor cuts at 2000 tokens and takes the closing turn and end token with it."""
    long = "d" * 2400
    ours = one(
        load(folder, max_tokens=2000, over_length="shorten"), ModelInput(None, (long,), (), ())
    )
    room = 2000 - len(reference.tokenizer(reference.string(Case("")))["input_ids"])
    tally.compare(MODEL, PLAIN, "2400 tokens in 2000", ours, reference.vector(Case(long[:room])))
    whole = reference.tokenizer(reference.string(Case(long)))["input_ids"][:2000]
    hidden, last = reference._hidden(whole, {}, Way())
    cut = hidden[0, last].detach().numpy()
    tally.differs(MODEL, "the end cut off at 2000", ours, cut / np.linalg.norm(cut), beyond=BEYOND)
