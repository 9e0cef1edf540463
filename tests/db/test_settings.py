"""Settings: every field can be drawn, kept and refused."""

from __future__ import annotations

import dataclasses
import json

import pytest

from db.errors import NotWritable, SettingsDamaged
from db.settings import Settings, check_value, describe, load_settings, save_settings


def test_a_missing_file_means_the_defaults(tmp_path):
    assert load_settings(tmp_path / "settings.json") == Settings()


def test_round_trip_keeps_values_and_unknown_keys(tmp_path):
    file = tmp_path / "settings.json"
    file.write_text('{"version": 7, "from_the_future": [1, 2]}', encoding="utf-8")
    changed = Settings(rater_name="Zoë", text_scale=150, linked_viewers=False, device="cpu")
    save_settings(file, changed)
    assert load_settings(file) == changed
    kept = json.loads(file.read_text("utf-8"))
    assert (kept["from_the_future"], kept["version"]) == ([1, 2], 7)
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Settings)])
def test_every_field_can_be_drawn_and_kept(tmp_path, name):
    kind, metadata = next((kind, meta) for field, kind, meta in describe() if field == name)
    assert metadata["title"]
    assert metadata["help"].endswith(".")
    assert check_value(name, getattr(Settings(), name)) is None
    assert kind in (int, str, bool)
    if metadata["bounds"] is not None:
        low, high = metadata["bounds"]
        assert check_value(name, low) is None
        assert "between" in check_value(name, high + 1)
    if metadata["choices"] is not None:
        assert "one of" in check_value(name, "no such choice")
    assert check_value(name, None) is not None


def test_true_is_not_a_number():
    assert check_value("text_scale", True) is not None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"text_scale": 900}', "Text size must lie between 100 and 200"),
        ('{"text_scale": "big"}', "Text size must be a whole number"),
        ('{"text_scale": ', "cannot be read"),
        ("[]", "not one of this program"),
        ('{"version": "new"}', "not one of this program"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path, content, words):
    file = tmp_path / "settings.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsDamaged, match=words) as caught:
        load_settings(file)
    assert "settings.json" in str(caught.value)
    assert "elete" in str(caught.value)


def test_saving_over_a_damaged_file_keeps_it_aside(tmp_path):
    file = tmp_path / "settings.json"
    file.write_bytes(b"\xff\xfe nonsense")
    save_settings(file, Settings(text_scale=110))
    assert load_settings(file).text_scale == 110
    assert (tmp_path / "settings.json.damaged").read_bytes() == b"\xff\xfe nonsense"


def test_a_value_out_of_bounds_is_not_saved(tmp_path):
    file = tmp_path / "settings.json"
    with pytest.raises(SettingsDamaged):
        save_settings(file, Settings(text_scale=5))
    assert not file.exists()


def test_a_missing_folder_is_said_in_words(tmp_path):
    with pytest.raises(NotWritable):
        save_settings(tmp_path / "gone" / "settings.json", Settings())
