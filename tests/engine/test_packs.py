"""Packs of vectors: written whole, found by other processes, damaged rows absent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.cache import VectorCache
from engine.packs import Packs

KEY = "f" * 64


def vectors(count: int, dim: int = 5, start: int = 0) -> dict[str, tuple[np.ndarray, bool]]:
    return {
        f"{n:064d}": (np.full(dim, n + 0.5, np.float32), n % 2 == 1)
        for n in range(start, start + count)
    }


def test_what_was_put_together_comes_back(tmp_path: Path):
    cache, other = VectorCache(tmp_path), VectorCache(tmp_path)
    assert other.get(KEY, f"{0:064d}") is None
    cache.put_many(KEY, vectors(6))
    cache.put(KEY, f"{9:064d}", np.ones(5, np.float32))
    assert cache.count(KEY) == 7
    for name, (vector, cut) in vectors(6).items():
        found, short = cache.look_up(KEY, name, dim=5)
        assert np.array_equal(found, vector)
        assert short == cut
        assert cache.get(KEY, name, dim=4) is None
    assert other.get(KEY, f"{3:064d}") is None, "not looked for yet"
    other.refresh(KEY)
    assert np.array_equal(other.get(KEY, f"{3:064d}"), np.full(5, 3.5, np.float32))
    assert VectorCache(tmp_path).names(KEY) == cache.names(KEY)
    assert len(list(tmp_path.rglob("*.pack"))) == 1


def test_the_newest_wins(tmp_path: Path):
    cache = VectorCache(tmp_path)
    cache.put_many(KEY, vectors(4, dim=3))
    cache.put_many(KEY, vectors(4, dim=5))
    assert VectorCache(tmp_path).get(KEY, f"{1:064d}").size == 5


@pytest.mark.parametrize("at", [0, 9, 30, -1, -25])
def test_damage_counts_as_absent_and_is_made_again(tmp_path: Path, at: int):
    cache = VectorCache(tmp_path)
    cache.put_many(KEY, vectors(4))
    (path,) = tmp_path.rglob("*.pack")
    whole = bytearray(path.read_bytes())
    whole[at] ^= 1
    path.write_bytes(whole)
    again = VectorCache(tmp_path)
    for name, (vector, _) in vectors(4).items():
        found = again.get(KEY, name, dim=5)
        assert found is None or np.array_equal(found, vector)
    lost = [name for name in vectors(4) if again.get(KEY, name, dim=5) is None]
    assert lost
    for name in lost:
        again.put(KEY, name, vectors(4)[name][0])
    assert all(VectorCache(tmp_path).get(KEY, name, dim=5) is not None for name in vectors(4))


def test_a_short_or_strange_file_is_passed_over(tmp_path: Path):
    cache = VectorCache(tmp_path)
    cache.put_many(KEY, vectors(4))
    (path,) = tmp_path.rglob("*.pack")
    path.write_bytes(path.read_bytes()[:-10])
    (path.parent / "0.pack").write_bytes(b"something else")
    (path.parent / "1.pack").write_bytes(b"TRPACK1\0\xff\xff\xff\x00{")
    (path.parent / "2.pack").write_bytes(b"TRPACK1\0\x02\0\0\0[]")
    again = VectorCache(tmp_path)
    found = [again.get(KEY, name) is not None for name in vectors(4)]
    assert found == [True, True, True, False]


def test_a_full_disk_leaves_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        Packs(tmp_path / "packs").write(vectors(4))
    assert not list((tmp_path / "packs").iterdir())


def test_keys_cannot_leave_the_folder(tmp_path: Path):
    with pytest.raises(ValueError, match="plain word"):
        VectorCache(tmp_path).put_many(KEY, {"../x": (np.ones(3, np.float32), False)})
