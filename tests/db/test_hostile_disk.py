"""Settings and disks that misbehave."""

from __future__ import annotations

import shutil
import sqlite3
from collections import namedtuple

import pytest

from db import failures, jobs
from db.errors import DiskFull, NotWritable, SettingsDamaged
from db.session import Store
from db.settings import Settings, load_settings, save_settings

Usage = namedtuple("Usage", "total used free")


def test_settings_from_an_editor_that_marks_utf8_are_read(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(b'\xef\xbb\xbf{"text_scale": 125}\r\n')
    assert load_settings(path).text_scale == 125


def test_settings_without_end_are_damaged_and_moved_aside(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(SettingsDamaged, match="cannot be read"):
        load_settings(path)
    save_settings(path, Settings(text_scale=150))
    assert load_settings(path).text_scale == 150
    assert path.with_name("settings.json.damaged").is_file()


@pytest.mark.parametrize(("free", "leaf"), [(1000, DiskFull), (10**9, NotWritable)])
def test_an_input_output_error_on_a_full_disk_says_that_it_is_full(
    tmp_path, monkeypatch, free, leaf
):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 0, free))
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    found = failures.leaf_for(error, tmp_path / "x.sqlite")
    assert type(found) is leaf


def test_the_job_that_built_a_study_tells_no_model(tmp_path):
    with Store(tmp_path / "home.sqlite") as store:
        told = {"models": ["veiled", "masked"], "passphrase": "open", "total": 3}
        row = jobs.add_job(store, "j1", kind="study-build", title="Build", arguments=told)
        assert row.arguments == {"total": 3}
        result = {"items": 3, "missing": {"chest/i2i": "veiled has no result"}, "notes": ["masked"]}
        jobs.set_state(store, "j1", "done", result=result)
        assert jobs.jobs(store)[0].result == {"items": 3}
        jobs.add_job(store, "j2", kind="study-build", title="Build", arguments=told)
        jobs.set_state(store, "j2", "failed", sentence="veiled has no result", details="masked")
        assert "not kept" in jobs.jobs(store, states=["failed"])[0].sentence
        jobs.add_job(store, "j3", kind="bench", title="Bench", arguments={"models": ["open"]})
        jobs.set_state(store, "j3", "failed", sentence="no room", details="lines")
        assert jobs.jobs(store, states=["failed"])[0].details == "lines"
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(word in raw for word in (b"veiled", b"masked"))
