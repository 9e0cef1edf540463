"""From items to vectors: equal content once, from the cache where it can be, in batches of like.

A bad item becomes a failure with its sentence and a row of NaN; the rest goes on. Torch-free: a
device without memory reaches here as ``MemoryError``. Refuses nothing and skips nothing in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.cache import VectorCache
from engine.control import Control
from engine.encoder import Encoder
from engine.errors import EvidenceError, ItemRefused
from engine.evidence.item import Item, ModelInput
from engine.evidence.pixels import digest, prepare
from engine.memory import PixelMemory

BATCH_TOKENS, CPU_BATCH_TOKENS = 16384, 2048  # a processor gains nothing from longer batches
PADDED_SHARE, SMALL_BATCH = 4 / 3, 1024  # padded to real tokens; below so many it is no matter
PACKED = 4  # vectors of a batch from which one file holds them all
CHUNK_ITEMS, CHUNK_BYTES = 256, 256_000_000  # decoded at once, which bounds the memory


@dataclass(frozen=True, eq=False)
class Encoded:
    """What came out.

    Attributes:
        vectors: float32 [N, D], unit rows, NaN where an item failed.
        failures: index of an item to its sentence.
        computed: how many different contents the model saw.
        cached: how many different contents came from the cache.
        shortened: how many different contents had their text cut to the model's length.
    """

    vectors: NDArray[np.float32]
    failures: dict[int, str]
    computed: int
    cached: int
    shortened: int = 0


@dataclass(eq=False)
class _Work:
    """One pass over a list of items."""

    items: Sequence[Item]
    encoder: Encoder
    cache: VectorCache | None
    control: Control
    budget: int
    vectors: NDArray[np.float32]
    memory: PixelMemory | None = None
    name_of: Callable[[Item], str] = digest
    rows: dict[str, list[int]] = field(default_factory=dict)  # digest to indices of items
    same: dict[str, str] = field(default_factory=dict)  # the model's name of an input to its digest
    twins: dict[str, list[_Ready]] = field(default_factory=dict)  # digest to those waiting for it
    failures: dict[int, str] = field(default_factory=dict)
    computed: int = 0
    shortened: int = 0


@dataclass(frozen=True, eq=False)
class _Ready:
    key: str
    item: ModelInput
    cost: int
    same: tuple[str, bool] | None = None  # what the model calls it, and whether it is cut


def encode_items(
    items: Sequence[Item],
    encoder: Encoder,
    *,
    cache: VectorCache | None,
    control: Control = Control(),
    batch_tokens: int | None = None,
    memory: PixelMemory | None = None,
    name_of: Callable[[Item], str] = digest,
) -> Encoded:
    """Embed items.

    Args:
        items: N of them; equal content is computed once.
        encoder: a loaded model.
        cache: where vectors are kept, None for nowhere.
        control: progress in items, asked between batches whether to stop.
        batch_tokens: most tokens of a padded batch, by the encoder's device when left out; halved
            for good when memory runs out.
        memory: decoded items shared with other models of the run, None to decode anew.
        name_of: an item to the name of its content; a run that knows them already gives its own.

    Raises:
        Cancelled: the user asked to stop; what was computed is in the cache.
    """
    blank = np.full((len(items), encoder.dim), np.nan, dtype=np.float32)
    most = CPU_BATCH_TOKENS if encoder.record.device == "cpu" else BATCH_TOKENS
    work = _Work(items, encoder, cache, control, batch_tokens or most, blank, memory, name_of)
    _find_contents(work)
    if cache is not None:
        cache.refresh(encoder.fingerprint)
    control.begin(len(work.rows), unit="items", phase=f"Embedding with {encoder.model_id}")
    missing = [key for key in work.rows if not _from_cache(work, key)]
    missing.sort(key=lambda key: _bulk(items[work.rows[key][0]]))
    for chunk in _chunks(work, missing):
        for batch in _batches(chunk, work):
            control.check()
            _encode(work, batch)
    cached = len(work.rows) - len(missing)
    return Encoded(work.vectors, work.failures, work.computed, cached, work.shortened)


def _find_contents(work: _Work) -> None:
    work.control.begin(len(work.items), unit="items", phase="Reading")
    for index, item in enumerate(work.items):
        work.control.check()
        try:
            work.rows.setdefault(work.name_of(item), []).append(index)
        except EvidenceError as error:
            work.failures[index] = str(error)
        work.control.step()


def _from_cache(work: _Work, key: str) -> bool:
    if work.cache is None:
        return False
    encoder = work.encoder
    vector, shortened = work.cache.look_up(encoder.fingerprint, key, dim=encoder.dim)
    if vector is None or not np.isfinite(vector).all():
        return False
    _take(work, key, vector, shortened=shortened)
    return True


def _bulk(item: Item) -> tuple[int, int, int]:
    """A guess at an item's size before it is read, so that neighbours in the list are alike."""
    slices = sum(len(volume.paths) if volume.kind != "file" else 64 for volume in item.volumes)
    return slices, len(item.images), len(item.text or "")


def _chunks(work: _Work, keys: Sequence[str]) -> Iterator[list[_Ready]]:
    """Decode items up to a bound of memory at a time."""
    ready: list[_Ready] = []
    held = 0
    for key in keys:
        work.control.check()
        one = _prepare(work, key)
        if one is None or _is_twin(work, one):
            continue
        ready.append(one)
        held += sum(array.nbytes for array in (*one.item.images, *one.item.volumes))
        if len(ready) >= CHUNK_ITEMS or held >= CHUNK_BYTES:
            yield ready
            ready, held = [], 0
    if ready:
        yield ready


def _prepare(work: _Work, key: str) -> _Ready | None:
    item = work.items[work.rows[key][0]]
    try:
        seen = _decoded(work, key, item)
        return _Ready(key, seen, work.encoder.cost(seen), work.encoder.same(seen))
    except EvidenceError as error:
        _fail(work, key, str(error))
    except ItemRefused as error:
        _fail(work, key, f"{_label(item)}: {error}")
    except MemoryError:
        _fail(work, key, f"{_label(item)}: does not fit in memory when decoded. Crop or split it.")
    return None


def _is_twin(work: _Work, one: _Ready) -> bool:
    """Whether the model was or will be shown the very same input under another name."""
    if one.same is None:
        return False
    name, shortened = one.same
    first = work.same.setdefault(name, one.key)
    row = work.rows[first][0]
    if first == one.key:
        vector = _kept(work, name)
        if vector is None:
            return False
    elif row in work.failures:
        _fail(work, one.key, work.failures[row])
        return True
    elif np.isfinite(work.vectors[row]).all():
        vector = work.vectors[row].copy()
    else:
        work.twins.setdefault(first, []).append(one)
        return True
    _take(work, one.key, vector, shortened=shortened)
    _store(work, {one.key: (vector, shortened)})
    return True


def _kept(work: _Work, name: str) -> NDArray[np.float32] | None:
    """The vector that an earlier run made of the very same input."""
    if work.cache is None:
        return None
    encoder = work.encoder
    vector = work.cache.get(encoder.fingerprint, name, dim=encoder.dim)
    return vector if vector is not None and np.isfinite(vector).all() else None


def _take(work: _Work, key: str, vector: NDArray[np.float32], *, shortened: bool) -> None:
    """The vector of a content, wherever it came from."""
    work.vectors[work.rows[key]] = vector
    work.shortened += shortened
    work.control.step()


def _decoded(work: _Work, key: str, item: Item) -> ModelInput:
    slices = work.encoder.max_slices
    seen = work.memory.get(key, slices) if work.memory else None
    if seen is None:
        seen = prepare(item, max_slices=slices)
        if work.memory:
            work.memory.put(key, slices, seen)
    return seen


def _batches(chunk: list[_Ready], work: _Work) -> Iterator[list[_Ready]]:
    """Longest first, so that memory runs out at once or not at all; padded size within budget.

    Padding is work too: a batch ends before more than a quarter of it would be padding.
    """
    left = sorted(chunk, key=lambda one: one.cost, reverse=True)
    while left:
        size, longest, real = 1, max(1, left[0].cost), left[0].cost
        for one in left[1 : work.budget // longest]:
            real += one.cost
            padded = longest * (size + 1)
            if padded > SMALL_BATCH and padded > PADDED_SHARE * real:
                break
            size += 1
        yield left[:size]
        left = left[size:]


def _encode(work: _Work, batch: list[_Ready]) -> None:
    """Encode a batch; on trouble halve it, down to the one item that is to blame."""
    try:
        vectors = work.encoder.encode([one.item for one in batch])
    except ItemRefused as error:
        if len(batch) == 1:
            _fail(work, batch[0].key, f"{_name(work, batch[0])}: {error}")
            return
    except MemoryError:
        if len(batch) == 1:
            _fail(work, batch[0].key, _too_big(work, batch[0]))
            return
        work.budget = max(1, max(one.cost for one in batch) * (len(batch) // 2))
        half = len(batch) // 2
        items = "one item" if half == 1 else f"{half} items"
        work.control.say(f"Memory ran out; going on with {items} at a time.")
    else:
        _keep(work, batch, vectors)
        return
    half = len(batch) // 2
    for part in (batch[:half], batch[half:]):
        work.control.check()
        _encode(work, part)


def _keep(work: _Work, batch: list[_Ready], vectors: NDArray[np.float32]) -> None:
    if vectors.shape != (len(batch), work.encoder.dim):
        raise RuntimeError(f"{work.encoder.model_id} gave {vectors.shape} for {len(batch)} items")
    cut = work.encoder.shortened
    made: dict[str, tuple[NDArray[np.float32], bool]] = {}
    sound = np.asarray(np.isfinite(vectors).all(axis=1))
    for one, vector, shortened, whole in zip(batch, vectors, cut, sound, strict=True):
        if not whole:
            name = _name(work, one)
            _fail(work, one.key, f"{name}: the vector is not finite. Try --dtype float32.")
            continue
        work.computed += 1
        _take(work, one.key, vector, shortened=bool(shortened))
        made[one.key] = vector, bool(shortened)
        for twin in work.twins.pop(one.key, ()):
            made[twin.key] = vector, bool(twin.same and twin.same[1])
            _take(work, twin.key, vector, shortened=made[twin.key][1])
        if one.same is not None:
            made[one.same[0]] = vector, bool(shortened)
    _store(work, made)


def _store(work: _Work, made: dict[str, tuple[NDArray[np.float32], bool]]) -> None:
    """Into the cache; a full disk costs the cache, not the run."""
    if work.cache is None:
        return
    try:
        if len(made) >= PACKED:
            work.cache.put_many(work.encoder.fingerprint, made)
            return
        for key, (vector, shortened) in made.items():
            work.cache.put(work.encoder.fingerprint, key, vector, shortened=shortened)
    except OSError as error:
        work.control.say(
            f"Vectors cannot be kept in {work.cache.folder} ({error.strerror}); this run goes on "
            "without. Free some space there, or choose another folder with --home."
        )
        work.cache = None


def _fail(work: _Work, key: str, sentence: str) -> None:
    for one in (key, *(twin.key for twin in work.twins.pop(key, ()))):
        for index in work.rows[one]:
            work.failures[index] = sentence
        work.control.step()


def _too_big(work: _Work, one: _Ready) -> str:
    return (
        f"{_name(work, one)}: about {one.cost} tokens need more memory than the device has. "
        "Use a smaller model, --dtype bfloat16, or a device with more memory."
    )


def _name(work: _Work, one: _Ready) -> str:
    return _label(work.items[work.rows[one.key][0]])


def _label(item: Item) -> str:
    """A short name for a sentence: the first file, else the first words."""
    paths = [image.path for image in item.images]
    paths += [volume.paths[0] for volume in item.volumes if volume.paths]
    if paths:
        return paths[0].name
    words = " ".join((item.text or "").split())
    return f"the text '{words[:40]}'" if words else "an empty item"
