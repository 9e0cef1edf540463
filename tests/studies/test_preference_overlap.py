"""Overlap found before the reading: likeness and its words; crops on their source."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from db import study_items
from db.home import Home
from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.pixels import image_rgb
from studies.preference.build import build_from
from studies.preference.copying import Copied, copied, shown_text
from studies.preference.crops import source_of
from studies.preference.key import key_from_bytes
from studies.preference.lists import Comparison, Listed
from studies.preference.overlap import Look, flags_of, is_near, likeness, overlap_of, pattern_of
from studies.preference.sealing import unseal
from studies.preference.study import open_study
from tests.studies.preference_material import PASSPHRASE, material, wish


def soft(random: np.random.Generator, size: int, cells: int) -> np.ndarray:
    """A smooth random field, -1 to 1 or so, [size, size]."""
    field = random.normal(size=(cells, cells)).astype(np.float32)
    grown = Image.fromarray(field).resize((size, size), Image.Resampling.BICUBIC)
    return np.asarray(grown)


def picture(kind: int, number: int, size: int = 160) -> np.ndarray:
    """A picture of a class: its shape is shared, its structures are its own; uint8 [S, S, 3]."""
    shared = soft(np.random.default_rng(1000 + kind), size, 4)
    own = np.random.default_rng([kind, number])
    made = 110 + 50 * shared + 14 * soft(own, size, 20) + 8 * soft(own, size, 48)
    grey = np.clip(made + own.normal(0, 3, made.shape), 0, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


def jpeg(pixels: np.ndarray, quality: int) -> np.ndarray:
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "JPEG", quality=quality)
    return np.asarray(Image.open(held))


def scaled(pixels: np.ndarray, by: float) -> np.ndarray:
    size = [round(side * by) for side in pixels.shape[1::-1]]
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS))


def brighter(pixels: np.ndarray) -> np.ndarray:
    return np.clip(pixels * 1.1 + 12.0, 0, 255).astype(np.uint8)


COPIES = {
    "the same": lambda p: p,
    "half": lambda p: scaled(p, 0.5),
    "two thirds": lambda p: scaled(p, 2 / 3),
    "larger": lambda p: scaled(p, 1.5),
    "JPEG 75": lambda p: jpeg(p, 75),
    "JPEG 50": lambda p: jpeg(p, 50),
    "brighter": brighter,
    "darker": lambda p: (p * 0.7).astype(np.uint8),
    "gamma": lambda p: (255 * (p / 255) ** 0.8).astype(np.uint8),
    "smaller, packed and brighter": lambda p: brighter(jpeg(scaled(p, 0.7), 75)),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_changed_copy_is_nearly_the_same(name):
    for number in range(4):
        pixels = picture(number % 2, number)
        found = likeness(pattern_of(pixels, "image"), pattern_of(COPIES[name](pixels), "image"))
        assert found > 0.9
        stack = np.stack([pixels, picture(3, number), picture(4, number)])
        changed = np.stack([COPIES[name](layer) for layer in stack])
        assert likeness(pattern_of(stack, "volume"), pattern_of(changed, "volume")) > 0.9


def test_pictures_of_one_class_are_not():
    patterns = [pattern_of(picture(kind, n), "image") for kind in range(3) for n in range(20)]
    found = [likeness(a, b) for a, b in itertools.combinations(patterns, 2)]
    assert len(found) == 1770
    assert max(found) < 0.7
    plain = [np.asarray(picture(0, n), float)[..., 0].ravel() for n in range(20)]
    assert np.corrcoef(plain).min() > 0.9, "plain correlation would call a whole class one picture"


def test_blank_pictures_and_other_kinds_are_not_alike():
    blank = pattern_of(np.full((40, 40), 7, np.uint8), "image")
    told = pattern_of(picture(0, 1), "image")
    assert likeness(blank, blank) == likeness(blank, told) == 0
    volume = pattern_of(np.stack([picture(0, 1)] * 3), "volume")
    assert likeness(told, volume) == 0
    two = pattern_of(np.stack([picture(0, 1)] * 2), "volume")
    assert likeness(volume, two) == 0, "of three and of two slices"


def look(number: int, exact: str | None = None, **more: object) -> Look:
    return Look(exact or str(number), (pattern_of(picture(0, number), "image"),), **more)


def near(number: int) -> Look:
    return Look(f"{number}, packed", (pattern_of(jpeg(picture(0, number), 75), "image"),))


def test_the_words_for_two_lists():
    a, b, c, d, e, f = (look(n) for n in range(6))
    assert overlap_of([a, b, c], [a, b, c]) == "identical"
    assert overlap_of([a, b, c], [look(0), b, look(9, exact="2")]) == "identical"
    assert overlap_of([a, b, c], [c, a, b]) == "same_set"
    assert overlap_of([a, b, c], [c, near(0), b]) == "near_duplicate"
    assert overlap_of([a, b, c], [near(0), d, e]) == "none"
    assert overlap_of([a, b, c], [d, c, e]) == "some"
    assert overlap_of([a, b, c], [d, e, f]) == "none"
    assert overlap_of([a, b, c], [a, b]) == "some"


def test_the_flags():
    a, b, c = (look(n) for n in range(3))
    query = look(9, subject="s1")
    assert flags_of(query, {"a": a, "b": b, "c": c}) == ()
    assert flags_of(query, {"a": a, "b": b, "c": near(0)}) == ("near_duplicate",)
    assert flags_of(query, {"a": a, "b": look(1, exact="0")}) == ("near_duplicate",)
    assert flags_of(query, {"a": a, "b": near(9)}) == ("near_query",)
    mine, other = look(1, subject="s1"), look(2, subject="s2")
    assert flags_of(query, {"a": mine, "b": other}) == ("same_patient",)
    assert flags_of(look(9), {"a": look(1)}) == (), "nobody tells: nothing is said"


def test_words_are_near_only_if_they_are_the_same():
    def said(text: str) -> Look:
        return copied(Item(text=text), salt=b"").look

    assert is_near(said("no  effusion"), said("no effusion"))
    assert not is_near(said("no effusion"), said("an effusion"))


def test_days_and_numbers_are_taken_out_of_words_and_lines_stay():
    told = "FINDINGS: clear.\nSeen by Dr. Meyer on 12/31/2024.\n\nMRN 4711-99 left lung 12 mm"
    assert shown_text(told) == (
        "FINDINGS: clear.\nSeen by Dr. ___ on ___.\n\nMRN ___ left lung 12 mm"
    )


# ------------------------------------------------------------------ in a study


def saved(path, pixels: np.ndarray) -> Item:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return Item(images=(ImageRef(path),))


def row(root, number: int, lists: tuple[tuple[np.ndarray, ...], ...], **more: object) -> Comparison:
    """One query; every candidate is a file of its own, whatever its pixels."""
    listed = [
        tuple(
            Listed(
                f"veil{number}_{side}{place}", saved(root / f"{number}{side}{place}.png", pixels)
            )
            for place, pixels in enumerate(pixels_of)
        )
        for side, pixels_of in zip("ab", lists, strict=True)
    ]
    query = saved(root / f"query{number}.png", picture(2, number))
    given = Comparison("veiled/task", "I-I", "2d", "id", number, query, None, *listed)
    return replace(given, **more)


def keyed(tmp_path, rows, **changes: object):
    home = Home(tmp_path / "home").make()
    given = replace(material(tmp_path / "evidence", per_task=2), comparisons={"veiled/task": rows})
    built = build_from(home, given, wish(**changes))
    key = key_from_bytes(unseal((built.path / "key.sealed").read_bytes(), PASSPHRASE))
    return built, {item.row: item for item in key.items.values()}, key


@pytest.fixture
def four_kinds(tmp_path):
    """Other files with the same pixels, the same set, a packed copy, nothing shared."""
    a, b, c, d, e, f = (picture(0, n, 96) for n in range(6))
    root = tmp_path / "pixels"
    return (
        row(root, 0, ((a, b, c), (a, b, c))),
        row(root, 1, ((a, b, c), (c, b, a))),
        row(root, 2, ((a, b, c), (a, b, brighter(c)))),
        row(root, 3, ((a, b, c), (d, e, f))),
        row(root, 4, ((a, b, c), (c, d, e))),
    )


def test_four_kinds_of_overlap_are_found_on_the_pixels_shown(tmp_path, four_kinds):
    built, items, _ = keyed(tmp_path, four_kinds, total=9)
    assert {number: item.overlap for number, item in items.items()} == {
        0: "identical", 1: "same_set", 2: "near_duplicate", 3: "none", 4: "some",
    }  # fmt: skip
    assert [items[n].flags for n in range(5)] == [
        ("near_duplicate",), ("near_duplicate",), ("near_duplicate",), (), ("near_duplicate",),
    ]  # fmt: skip
    assert (built.items, built.auto_ties) == (4, 1)
    with open_study(built.path) as study:
        media = list(study_items.media(study.store))
        shown = {m for one in study_items.items(study.store) for panel in
                 (one.query, *one.left, *one.right) for m in panel["media_ids"]}  # fmt: skip
        stored = b"".join(str(one).encode() for one in study_items.items(study.store))
    assert {one.media_id for one in media} == shown, "a tie that is not shown leaves no picture"
    assert b"near" not in stored, "a flag could tell the arms apart"


@pytest.mark.parametrize(
    ("identical", "counts"), [("show", (5, 0, 0)), ("exclude", (4, 0, 1)), ("auto-tie", (4, 1, 0))]
)
def test_identical_pixels_are_identical_lists(tmp_path, four_kinds, identical, counts):
    built, items, key = keyed(tmp_path, four_kinds, total=9, identical=identical)
    assert (built.items, built.auto_ties, built.excluded) == counts
    assert key.excluded == counts[2]
    assert (0 in items) == (identical != "exclude")


def test_the_same_patient_is_flagged_and_nobody_is_named(tmp_path):
    a, b, c, d = (picture(0, n, 64) for n in range(4))
    one = row(tmp_path / "p", 0, ((a, b, c), (b, c, d)), subject="tokenofpatient")
    listed = (replace(one.list_a[0], subject="tokenofpatient"), *one.list_a[1:])
    two = row(tmp_path / "p", 1, ((a, b, c), (b, d, a)), subject="another")
    built, items, key = keyed(tmp_path, (replace(one, list_a=listed), two))
    assert "same_patient" in items[0].flags
    assert "same_patient" not in items[1].flags
    assert b"tokenofpatient" not in key.to_bytes()
    assert b"tokenofpatient" not in (built.path / "study.sqlite").read_bytes()


# ------------------------------------------------------------------ crops


def test_a_crop_by_a_box_shows_its_source(tmp_path):
    pixels = picture(1, 1, 80)
    saved(tmp_path / "whole.png", pixels)
    ref = ImageRef(tmp_path / "whole.png", box=(10, -5, 30, 25))
    whole, box = source_of(ref, image_rgb(ref))
    assert np.array_equal(whole, pixels)
    assert box == (10, 0, 30, 25)


@pytest.mark.parametrize("name", ["film", "folder/film"])
def test_a_crop_named_as_our_builders_do_shows_its_source(tmp_path, name):
    pixels = picture(1, 2, 80)
    saved(tmp_path / f"{name}.png", pixels)
    crop = tmp_path / "crops" / f"{name}_20_30_50_70.png"
    saved(crop, pixels[30:70, 20:50])
    whole, box = source_of(ImageRef(crop), image_rgb(ImageRef(crop)))
    assert np.array_equal(whole, pixels)
    assert box == (20, 30, 50, 70)
    saved(tmp_path / f"{name}.png", brighter(pixels))
    assert source_of(ImageRef(crop), image_rgb(ImageRef(crop))) is None, "the pixels decide"
    (tmp_path / f"{name}.png").write_bytes(b"no picture")
    assert source_of(ImageRef(crop), image_rgb(ImageRef(crop))) is None


def test_other_pictures_have_no_source(tmp_path):
    for name in ("film_1_2_3.png", "film_1_2_30_40.png", "crops/film_1_2_30_40.png"):
        saved(tmp_path / name, picture(0, 1, 40))
        assert source_of(ImageRef(tmp_path / name), picture(0, 1, 40)) is None


def test_the_panel_of_a_crop_holds_the_source_and_the_box(tmp_path):
    pixels = picture(1, 3, 80)
    saved(tmp_path / "whole.png", pixels)
    refs = tuple(ImageRef(tmp_path / "whole.png", box=(n, n, n + 20, n + 30)) for n in (5, 40))
    first = copied(Item(images=refs[:1]), salt=b"")
    both = copied(Item(images=refs), salt=b"")
    cut = saved(tmp_path / "cut.png", pixels[5:35, 5:25])
    assert isinstance(first, Copied)
    assert first.look.exact == copied(cut, salt=b"").look.exact, "compared by what is meant"
    assert (first.boxes, both.boxes) == (((5, 5, 25, 35),), ((5, 5, 25, 35), (40, 40, 60, 70)))
    assert first.media[0].shape == (80, 80)


def test_a_missing_volume_is_said(tmp_path):
    with pytest.raises(EvidenceError):
        copied(Item(volumes=(VolumeRef((tmp_path / "gone.png",)),)), salt=b"")
