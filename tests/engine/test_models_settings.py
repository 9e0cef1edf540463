"""One schema of settings: who states each value, presets, variants, and what is refused."""

from __future__ import annotations

from dataclasses import fields

import pytest

from engine.catalog import CARDS, find_card
from engine.errors import ModelError, UnknownModel
from engine.models.settings import (
    CARD,
    DEFAULTS,
    FOLDER,
    ORIGINS,
    RELEASE,
    RELEASES,
    USER,
    Settings,
    check,
    settings_of,
    settle,
)

NAMES = {one.name for one in fields(Settings)}


@pytest.mark.parametrize("family", DEFAULTS)
def test_every_default_is_a_setting_with_an_origin_and_one_of_its_choices(family: str):
    assert set(DEFAULTS[family]) <= NAMES
    for name, one in DEFAULTS[family].items():
        assert one.origin in ORIGINS
        check(family, name, one.value)
        whole = next(f for f in fields(Settings) if f.name == name).metadata.get("choices")
        if whole:
            assert one.choices, (family, name)
            assert set(one.choices) <= set(whole), (family, name)


@pytest.mark.parametrize("family", RELEASES)
def test_the_release_preset_fits_its_family(family: str):
    for name, value in RELEASES[family].items():
        check(family, name, value)
    values, used = settle(family, preset=RELEASE)
    stated = {one.name for one in used if one.origin == RELEASE}
    assert stated == set(RELEASES[family])
    assert all(getattr(values, name) == value for name, value in RELEASES[family].items())


def test_no_setting_is_without_a_family():
    assert {name for family in DEFAULTS.values() for name in family} == NAMES


def test_later_layers_win_and_say_who_they_are():
    layers = {
        CARD: {"max_slices": 8, "max_pixels": 4096},
        FOLDER: {"max_slices": 16},
        USER: {"max_pixels": 9216},
    }
    values, used = settle("medemb", layers, preset=RELEASE)
    found = {one.name: (one.value, one.origin) for one in used}
    assert (values.max_slices, values.max_pixels, values.max_tokens) == (16, 9216, 10240)
    assert found["max_slices"] == (16, FOLDER)
    assert found["max_pixels"] == (9216, USER)
    assert found["max_tokens"] == (10240, RELEASE)
    assert found["append_eot"] == ("auto", "paper")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("max_pixles", 1, "not known"),
        ("max_pixels", "big", "of type int"),
        ("max_pixels", True, "of type int"),
        ("max_pixels", -1, "negative"),
        ("video_wrap", "inside", "one of stripped, outer"),
        ("volume_as", "pooled", "one of video, images"),
        ("fuse", "sum", "not known"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(name: str, value: object, says: str):
    with pytest.raises(ModelError, match=says):
        settings_of("qwen3-vl-embedding", **{name: value})


def test_an_unknown_family_or_preset_is_refused():
    with pytest.raises(ModelError, match="no model family"):
        settings_of("clip")
    with pytest.raises(ModelError, match="no preset"):
        settle("siglip", preset="paper")


def test_a_name_may_say_preset_and_settings():
    card = find_card("medemb-nano@release@max_slices=8")
    assert card.id == "medemb-nano@release@max_slices=8"
    assert card.plain_id == "medemb-nano"
    assert card.preset == RELEASE
    assert card.asked == {"max_slices": 8}
    assert find_card("siglip-nano@fuse=sum").asked == {"fuse": "sum"}
    plain = find_card("medemb-nano")
    assert (plain.plain_id, plain.preset, plain.variant) == ("medemb-nano", "default", "")
    for wrong in ("medemb-nano@max_slices=many", "medemb-nano@fuse=sum", "siglip-nano@fuse=max"):
        with pytest.raises(ModelError):
            find_card(wrong)
    with pytest.raises(UnknownModel):
        find_card("nothing@release")
    for nothing in ("", "  "):
        with pytest.raises(UnknownModel, match="No model was named"):
            find_card(nothing)


def test_every_family_of_a_card_has_settings():
    assert {card.family for card in CARDS} <= set(DEFAULTS)


def test_no_room_for_a_token_is_refused():
    with pytest.raises(ModelError, match="max_tokens must be at least 1"):
        settings_of("siglip", max_tokens=0)
