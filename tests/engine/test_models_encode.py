"""The batching loop and the cache: nothing twice, nothing lost, a bad item alone fails."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine import encode
from engine.cache import VectorCache
from engine.control import Control
from engine.encode import encode_items
from engine.errors import Cancelled, ItemRefused
from engine.evidence.item import ImageRef, Item, ModelInput
from engine.memory import PixelMemory
from engine.models.random_encoder import RandomEncoder

ROOT = Path(__file__).resolve().parents[2]


class Fake(RandomEncoder):
    """Counts what it sees; has trouble on demand."""

    def __init__(self, *, room: int = 10**9, refuses: str = "", nan: str = "") -> None:
        super().__init__()
        self.room, self.refuses, self.nan = room, refuses, nan
        self.batches: list[list[str]] = []

    def cost(self, item: ModelInput) -> int:
        return max(1, len(item.texts[0])) if item.texts else 10

    def encode(self, batch: Sequence[ModelInput]) -> np.ndarray:
        texts = [item.texts[0] if item.texts else "" for item in batch]
        if self.refuses and any(self.refuses in text for text in texts):
            raise ItemRefused("too long for this model.")
        if max(map(self.cost, batch)) * len(batch) > self.room:
            raise MemoryError("device full")
        self.batches.append(texts)
        vectors = super().encode(batch)
        for row, text in enumerate(texts):
            if self.nan and self.nan in text:
                vectors[row] = np.nan
        return vectors


def texts(*words: str) -> list[Item]:
    return [Item(text=word) for word in words]


def test_equal_content_is_computed_once_and_then_read(tmp_path: Path):
    cache, first, again = VectorCache(tmp_path), Fake(), Fake()
    items = texts("a", "b", "a", "c", "b")
    made = encode_items(items, first, cache=cache)
    assert (made.computed, made.cached, made.failures) == (3, 0, {})
    assert sorted(text for batch in first.batches for text in batch) == ["a", "b", "c"]
    assert np.array_equal(made.vectors[0], made.vectors[2])
    read = encode_items(items, again, cache=cache)
    assert (read.computed, read.cached) == (0, 3)
    assert again.batches == []
    assert np.array_equal(read.vectors, made.vectors)
    assert np.array_equal(made.vectors, RandomEncoder().encode(inputs(items)))


def inputs(items: list[Item]) -> list[ModelInput]:
    return [ModelInput(None, (item.text or "",), (), ()) for item in items]


def test_batches_hold_like_lengths_within_the_budget():
    encoder = Fake()
    words = ["x" * length for length in (1, 50, 2, 49, 3, 48, 1)]
    encode_items(texts(*words), encoder, cache=None, batch_tokens=100)
    assert [sorted(map(len, batch)) for batch in encoder.batches] == [[49, 50], [3, 48], [1, 2]]


def test_a_refused_item_fails_alone():
    encoder = Fake(refuses="bad")
    made = encode_items(texts("a", "bad one", "c", "d"), encoder, cache=None)
    assert list(made.failures) == [1]
    assert made.failures[1] == "the text 'bad one': too long for this model."
    assert np.isnan(made.vectors[1]).all()
    assert np.isfinite(made.vectors[[0, 2, 3]]).all()


def test_memory_halves_the_batch_down_to_one_item_and_names_it():
    encoder, said = Fake(room=40), []
    words = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", "dddddddddd", "eeeeeeeeee", "z" * 41]
    made = encode_items(texts(*words), encoder, cache=None, control=Control(log=said.append))
    assert list(made.failures) == [5]
    assert "more memory than the device has" in made.failures[5]
    assert "zzz" in made.failures[5]
    assert np.isfinite(made.vectors[:5]).all()
    assert any("Memory ran out" in sentence for sentence in said)
    assert max(map(len, encoder.batches)) <= 4


def test_a_vector_that_is_not_finite_is_a_failure_and_never_kept(tmp_path: Path):
    cache = VectorCache(tmp_path)
    made = encode_items(texts("a", "overflow"), Fake(nan="overflow"), cache=cache)
    assert "not finite" in made.failures[1]
    assert encode_items(texts("a", "overflow"), Fake(), cache=cache).computed == 1


def test_an_unreadable_file_fails_alone_and_is_named(tmp_path: Path):
    (tmp_path / "broken.png").write_bytes(b"not a picture at all")
    items = [
        Item(images=(ImageRef(tmp_path / "absent.png"),)),
        Item(text="fine"),
        Item(images=(ImageRef(tmp_path / "broken.png"),)),
        Item(images=(ImageRef(tmp_path / "absent.png"),)),
    ]
    made = encode_items(items, Fake(), cache=None)
    assert set(made.failures) == {0, 2, 3}
    assert "absent.png" in made.failures[0]
    assert "broken.png" in made.failures[2]
    assert np.isfinite(made.vectors[1]).all()


def test_progress_counts_every_content_once(tmp_path: Path):
    seen: list[tuple[int, int, str, str]] = []
    control = Control(report=lambda *step: seen.append(step))
    cache = VectorCache(tmp_path)
    encode_items(texts("a"), Fake(), cache=cache)
    encode_items(texts("a", "b", "bad", "b"), Fake(refuses="bad"), cache=cache, control=control)
    embedding = [step for step in seen if step[3] == "Embedding with random"]
    assert embedding[-1][:3] == (3, 3, "items")
    assert [step[0] for step in embedding] == [0, 1, 2, 3]


def test_stopping_keeps_what_was_computed(tmp_path: Path):
    cache, encoder = VectorCache(tmp_path), Fake()
    control = Control(cancelled=lambda: len(encoder.batches) >= 2)
    words = [letter * 10 for letter in "abcdef"]
    with pytest.raises(Cancelled):
        encode_items(texts(*words), encoder, cache=cache, control=control, batch_tokens=10)
    resumed = encode_items(texts(*words), Fake(), cache=cache)
    assert (resumed.computed, resumed.cached) == (4, 2)


def test_no_items_no_vectors():
    assert encode_items([], Fake(), cache=None).vectors.shape == (0, 64)


def test_a_full_disk_costs_the_cache_not_the_run(tmp_path: Path, monkeypatch):
    said: list[str] = []

    def full(*_: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    cache = VectorCache(tmp_path)
    monkeypatch.setattr(cache, "put", full)
    made = encode_items(texts("a", "b"), Fake(), cache=cache, control=Control(log=said.append))
    assert np.isfinite(made.vectors).all()
    assert len(said) == 1
    assert "No space left" in said[0]


KEY, OTHER, DIGEST = "f" * 64, "e" * 64, "d" * 64
VECTOR = np.arange(5, dtype=np.float32)


def test_two_settings_two_keys(tmp_path: Path):
    cache = VectorCache(tmp_path)
    cache.put(KEY, DIGEST, VECTOR)
    assert cache.get(OTHER, DIGEST) is None
    cache.put(OTHER, DIGEST, VECTOR + 1)
    assert np.array_equal(cache.get(KEY, DIGEST), VECTOR)
    assert np.array_equal(VectorCache(tmp_path).get(OTHER, DIGEST), VECTOR + 1)
    assert (cache.count(KEY), cache.count("0" * 64)) == (1, 0)


@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "longer", "other"])
def test_a_damaged_entry_counts_as_absent_and_is_made_again(tmp_path: Path, damage: str):
    cache = VectorCache(tmp_path)
    cache.put(KEY, DIGEST, VECTOR)
    path = cache.path(KEY, DIGEST)
    whole = path.read_bytes()
    path.write_bytes(
        {
            "empty": b"",
            "short": whole[:-3],
            "flipped": whole[:-1] + bytes([whole[-1] ^ 1]),
            "longer": whole + b"\0\0\0\0",
            "other": b"something else",
        }[damage]
    )
    assert cache.get(KEY, DIGEST) is None
    cache.put(KEY, DIGEST, VECTOR)
    assert np.array_equal(cache.get(KEY, DIGEST), VECTOR)


def test_a_vector_of_another_length_is_made_again(tmp_path: Path):
    cache, encoder, item = VectorCache(tmp_path), Fake(), texts("a")
    encode_items(item, encoder, cache=cache)
    [path] = tmp_path.rglob("*.vec")
    cache.put(encoder.fingerprint, path.stem, VECTOR)
    assert encode_items(item, Fake(), cache=cache).computed == 1
    assert encode_items(item, Fake(), cache=cache).cached == 1


def test_a_kill_in_the_middle_leaves_no_half_entry(tmp_path: Path):
    """A child writes without end and is killed; every entry that is there is whole."""
    code = (
        "import sys, itertools, numpy as np\n"
        "from pathlib import Path\n"
        "from engine.cache import VectorCache\n"
        "cache = VectorCache(Path(sys.argv[1]))\n"
        "for n in itertools.count():\n"
        "    cache.put('f' * 64, f'{n % 50:064d}', np.full(4096, n, np.float32))\n"
        "    if n == 60: print('going', flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    with child, child.stdout:
        assert child.stdout.readline().strip() == b"going"
        child.kill()
    cache = VectorCache(tmp_path)
    for number in range(50):
        vector = cache.get("f" * 64, f"{number:064d}", dim=4096)
        assert vector is not None
        assert (vector == vector[0]).all()


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch):
    cache = VectorCache(tmp_path)

    def fail(self: Path, *_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        cache.put(KEY, DIGEST, VECTOR)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_keys_cannot_leave_the_folder(tmp_path: Path):
    with pytest.raises(ValueError, match="plain word"):
        VectorCache(tmp_path).get("../../elsewhere", DIGEST)


def test_a_second_model_of_a_run_decodes_nothing_again(tmp_path, monkeypatch):
    """Decoded items are shared by the memory; beyond its bound they are decoded anew."""

    decoded = []
    real = encode.prepare
    monkeypatch.setattr(
        encode, "prepare", lambda item, **kw: decoded.append(item) or real(item, **kw)
    )
    path = tmp_path / "a.png"
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(path)
    item = Item(images=(ImageRef(path),))
    memory = PixelMemory()
    first = encode.encode_items([item], RandomEncoder(), cache=None, memory=memory)
    second = encode.encode_items([item], RandomEncoder(), cache=None, memory=memory)
    assert len(decoded) == 1
    np.testing.assert_array_equal(first.vectors, second.vectors)
    full = PixelMemory(limit=10)
    for _ in range(2):
        encode.encode_items([item], RandomEncoder(), cache=None, memory=full)
    assert len(decoded) == 3


class Blunt(RandomEncoder):
    """Sees three letters of a text; each call adds noise, as another batch would."""

    calls = 0

    def same(self, item: ModelInput) -> tuple[str, bool]:
        text = item.texts[0]
        return hashlib.sha256(text[:3].encode()).hexdigest(), len(text) > 3

    def encode(self, batch: Sequence[ModelInput]) -> np.ndarray:
        type(self).calls += len(batch)
        noise = np.random.default_rng(self.calls).standard_normal((len(batch), self.dim)) * 1e-7
        short = [ModelInput(None, (item.texts[0][:3],), (), ()) for item in batch]
        vectors = super().encode(short) + noise.astype(np.float32)
        self.shortened = tuple(len(item.texts[0]) > 3 for item in batch)
        return vectors


@pytest.mark.parametrize("kept", [True, False])
def test_inputs_a_model_cannot_tell_apart_have_one_vector(tmp_path: Path, kept: bool):
    encoder, cache = Blunt(), VectorCache(tmp_path) if kept else None
    items = [Item(text=text) for text in ("abcd", "abcdef", "xyz", "abc", "xyzzy")]
    made = encode_items(items, encoder, cache=cache, batch_tokens=1)
    assert made.computed == 2
    assert made.shortened == 3
    assert (made.vectors[[0, 1, 3]] == made.vectors[0]).all()
    assert (made.vectors[2] == made.vectors[4]).all()
    if kept:
        before = Blunt.calls
        later = encode_items([Item(text="abcQ"), *items], encoder, cache=cache)
        assert Blunt.calls == before
        assert (later.vectors[[0, 1]] == made.vectors[0]).all()
        assert later.shortened == 4


def test_inputs_that_are_the_same_fail_together():
    class Refuses(Blunt):
        def encode(self, batch: Sequence[ModelInput]) -> np.ndarray:
            raise ItemRefused("no words for it")

    made = encode_items([Item(text="abcd"), Item(text="abce")], Refuses(), cache=None)
    assert sorted(made.failures) == [0, 1]
