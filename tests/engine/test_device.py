"""Where a model computes: devices, number formats, attention, memory, on machines made up."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import engine.device as device_module
import engine.models.load as load_module
from engine import hardware
from engine.catalog import find_card
from engine.device import EAGER, FLASH, SDPA, Choice, choose_device, fall_back, format_refused
from engine.errors import DeviceError
from engine.fit import FITS, TIGHT, TOO_LARGE, UNKNOWN, gigabytes, judge, numbers_in, weight_bytes
from engine.hardware import Memory, device_memory, linux_memory, vm_stat_free
from engine.models.load import load_encoder
from engine.weights import resolve
from studies.places import shipped_models
from tests.engine.made_up_torch import fake_torch

GB = 10**9


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a made-up torch in place; flash_attn is absent unless said."""

    def put(*, flash: str = "absent", **facts: Any) -> Any:
        torch = fake_torch(**facts)
        monkeypatch.setattr(device_module, "import_torch", lambda: torch)
        spec = None if flash == "absent" else object()
        monkeypatch.setattr(device_module.importlib.util, "find_spec", lambda name: spec)
        module = ModuleType("flash_attn") if flash == "there" else None
        monkeypatch.setitem(sys.modules, "flash_attn", module)
        return torch

    return put


@pytest.mark.parametrize(
    ("facts", "asked", "dtype", "wanted"),
    [
        ({}, "auto", "auto", ("cpu", "float32")),
        ({}, "cpu", "bf16", ("cpu", "bfloat16")),
        ({"mps": True}, "auto", "auto", ("mps", "float32")),
        ({"mps": True}, "auto", "bfloat16", ("mps", "bfloat16")),
        ({"mps": True}, "auto", "fp16", ("mps", "float16")),
        ({"cards": 2, "mps": True}, "auto", "auto", ("cuda:0", "bfloat16")),
        ({"cards": 2}, "cuda:1", "float16", ("cuda:1", "float16")),
        ({"cards": 1, "ampere": False}, "cuda", "auto", ("cuda:0", "float32")),
        ({"cards": 1, "ampere": False, "hip": "6.2"}, "cuda", "auto", ("cuda:0", "bfloat16")),
        ({"cards": 1}, "cpu", "auto", ("cpu", "float32")),
    ],
)
def test_a_device_is_chosen_with_its_reason(machine, facts, asked, dtype, wanted):
    machine(**facts)
    choice = choose_device(asked, dtype=dtype)
    assert (choice.device, choice.dtype) == wanted
    assert choice.dtype in choice.reason
    assert choice.reason.count(".") >= 3, "device, numbers, attention"


@pytest.mark.parametrize(
    ("facts", "asked", "dtype", "word"),
    [
        ({}, "cuda", "auto", "--device cpu"),
        ({"cards": 1}, "cuda:3", "auto", "--device cuda:0"),
        ({}, "mps", "auto", "--device cpu"),
        ({}, "tpu", "auto", "say one of"),
        ({}, "cuda:x", "auto", "say one of"),
        ({}, "cpu", "int8", "number format"),
        ({}, "cpu", "float16", "float32"),
        ({"cards": 1, "ampere": False}, "cuda", "bfloat16", "no bfloat16"),
        ({"mps": True, "macos": (13, 6)}, "mps", "bfloat16", "macOS 14"),
    ],
)
def test_what_cannot_be_had_is_an_error_with_the_way_out(machine, facts, asked, dtype, word):
    machine(**facts)
    with pytest.raises(DeviceError, match=word):
        choose_device(asked, dtype=dtype)


def test_a_model_that_prefers_float32_gets_it_on_a_card(machine):
    machine(cards=1)
    assert choose_device(prefer="float32").dtype == "float32"
    assert "model's own choice" in choose_device(prefer="float32").reason


def test_half_precision_that_was_asked_for_says_what_it_costs(machine):
    machine()
    assert "slower than float32" in choose_device("cpu", dtype="bfloat16").reason
    machine(cards=1)
    assert "65504" in choose_device("cuda", dtype="float16").reason
    machine(mps=True)
    assert "half the memory" in choose_device("mps", dtype="bfloat16").reason


@pytest.mark.parametrize(
    ("facts", "device", "dtype", "attention", "word"),
    [
        ({"flash": "there", "cards": 1}, "cuda", "bfloat16", FLASH, "is installed"),
        ({"flash": "there", "cards": 1}, "cuda", "float16", FLASH, "is installed"),
        ({"flash": "there", "cards": 1}, "cuda", "float32", SDPA, "half precision"),
        ({"flash": "there", "cards": 1, "ampere": False}, "cuda", "float16", SDPA, "too old"),
        ({"flash": "there"}, "cpu", "bfloat16", SDPA, "torch's own"),
        ({"flash": "absent", "cards": 1}, "cuda", "bfloat16", SDPA, "not installed"),
        ({"flash": "broken", "cards": 1}, "cuda", "bfloat16", SDPA, "cannot be loaded"),
        ({"sdpa": False}, "cpu", "float32", EAGER, "no sdpa"),
    ],
)
def test_attention_is_what_is_installed_and_fits(machine, facts, device, dtype, attention, word):
    machine(**{"flash": "absent", **facts})
    choice = choose_device(device, dtype=dtype)
    assert choice.attention == attention
    told = choice.reason.split("Attention is")[1]
    assert attention in told
    assert word in told


def test_a_model_that_refuses_an_attention_falls_back_in_words():
    choice = Choice("cuda:0", "bfloat16", "Computes.", FLASH)
    assert fall_back(choice, (FLASH, SDPA)) is choice
    back = fall_back(choice, (SDPA, EAGER))
    assert back.attention == SDPA
    assert back.reason == f"Computes. This model does not take {FLASH}; its attention is {SDPA}."
    assert fall_back(choice, ()).attention == EAGER


def test_flash_attention_is_not_handed_to_a_class_that_refuses_it():
    common = pytest.importorskip("engine.models.common")
    order = SimpleNamespace(choice=Choice("cuda:0", "bfloat16", "Computes.", FLASH))
    taking = SimpleNamespace(_supports_flash_attn=True, _supports_sdpa=True)
    assert attention_of(common, order, taking) == FLASH
    assert attention_of(common, order, SimpleNamespace(_supports_sdpa=True)) == SDPA
    assert attention_of(common, order, SimpleNamespace()) == EAGER


def attention_of(common: Any, order: Any, model_class: Any) -> str:
    from engine.models.record import Loading

    loading = Loading(None, None, order.choice, None, (), None)  # type: ignore[arg-type]
    return common.with_attention(loading, model_class).choice.attention


@pytest.mark.parametrize("device", ["cpu", "cuda:0", "mps"])
def test_float32_is_sound_everywhere(device):
    assert format_refused(fake_torch(cards=1, ampere=False, mps=True), device, "float32") == ""


def test_the_memory_of_each_kind_of_device(monkeypatch):
    monkeypatch.setattr(hardware, "system_memory", lambda: Memory(16 * GB, 5 * GB))
    torch = fake_torch(cards=1)
    assert device_memory(torch, "cuda:0") == Memory(80 * GB, 60 * GB)
    assert device_memory(torch, "cpu") == Memory(16 * GB, 5 * GB)
    assert device_memory(torch, "mps") == Memory(12 * GB, 5 * GB), "a Mac shares its memory"
    monkeypatch.setattr(hardware, "system_memory", lambda: None)
    assert device_memory(torch, "mps") == Memory(12 * GB, 10 * GB)
    assert device_memory(SimpleNamespace(), "cuda:0") is None


def linux(root: Path, **files: str) -> Path:
    (root / "proc").mkdir()
    told = "MemTotal: 8000 kB\nMemFree: 10 kB\nMemAvailable: 6000 kB\nHugePages_Total: 0\n"
    (root / "proc/meminfo").write_text(told, encoding="ascii")
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    return root


def test_the_system_says_its_memory(tmp_path: Path):
    assert linux_memory(linux(tmp_path)) == Memory(8000 * 1024, 6000 * 1024)
    here = hardware.system_memory()
    assert here is None or 0 < here.free <= here.total


@pytest.mark.parametrize(
    ("limit", "used", "wanted"),
    [
        ("max", "100", Memory(8192000, 6144000)),
        ("4000000", "1000000", Memory(4000000, 3000000)),
        ("4000000", "9000000", Memory(4000000, 0)),
        ("9223372036854771712", "0", Memory(8192000, 6144000)),
    ],
)
def test_a_container_has_what_it_was_given(tmp_path: Path, limit, used, wanted):
    linux(tmp_path, sys__fs__cgroup__memory_dot_max=limit, sys__fs__cgroup__memory_dot_current=used)
    assert linux_memory(tmp_path) == wanted


def test_a_system_that_does_not_say_is_none(tmp_path: Path):
    assert linux_memory(tmp_path) is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("nothing", encoding="ascii")
    assert linux_memory(tmp_path) is None


def test_what_a_mac_counts_as_free():
    told = (
        "Mach Virtual Memory Statistics: (page size of 16384 bytes)\n"
        "Pages free:                               10.\nPages active:                      500.\n"
        "Pages inactive:                           20.\nPages speculative:                   3.\n"
        "Pages purgeable:                           1.\n"
    )
    assert vm_stat_free(told) == 34 * 16384
    assert vm_stat_free("") == 0


@pytest.mark.parametrize(
    ("need", "memory", "state", "word"),
    [
        (4 * GB, Memory(16 * GB, 12 * GB), FITS, "12.0 GB free"),
        (4 * GB, Memory(16 * GB, 5 * GB), TIGHT, "tight"),
        (4 * GB, Memory(16 * GB, GB), TIGHT, "1.0 GB of them free"),
        (17 * GB, Memory(16 * GB, 16 * GB), TOO_LARGE, "another device"),
        (0, Memory(16 * GB, 12 * GB), UNKNOWN, "size of the model"),
        (4 * GB, None, UNKNOWN, "memory of the processor"),
    ],
)
def test_a_need_is_held_against_a_memory(need, memory, state, word):
    fit = judge(need, memory, dtype="float32", where="the processor")
    assert (fit.state, fit.need) == (state, need)
    assert word in fit.words


def test_the_half_format_is_a_way_out_only_where_it_helps():
    memory = Memory(20 * GB, 20 * GB)
    assert (
        "--dtype bfloat16 (16.3 GB)"
        in judge(32 * GB, memory, dtype="float32", where="cpu", half=int(16.3 * GB)).words
    )
    for dtype, half in (("float32", 0), ("float32", 30 * GB), ("bfloat16", 25 * GB)):
        assert "--dtype" not in judge(50 * GB, memory, dtype=dtype, where="cpu", half=half).words


def test_sizes_in_words():
    assert [gigabytes(n) for n in (1, 34e6, 1e9, 16.26e9)] == ["1 MB", "34 MB", "1.0 GB", "16.3 GB"]


def safetensors(path: Path, **shapes: list[int]) -> None:
    entries = {
        name: {"dtype": "BF16", "shape": shape, "data_offsets": [0, 0]}
        for name, shape in shapes.items()
    }
    header = json.dumps({"__metadata__": {"format": "pt"}, **entries}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)


def test_the_numbers_of_a_folder_are_counted_from_headers(tmp_path: Path):
    assert numbers_in(tmp_path) == 0
    safetensors(tmp_path / "a.safetensors", one=[3, 4], two=[5], scalar=[])
    safetensors(tmp_path / "b.safetensors", three=[10])
    assert numbers_in(tmp_path) == 12 + 5 + 1 + 10
    index = {"weight_map": {"one": "a.safetensors", "two": "a.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    assert numbers_in(tmp_path) == 18, "only what the index names, each file once"
    card = find_card("qwen3-vl-embedding-2b")
    assert weight_bytes(card, "bfloat16", [tmp_path]) == 36
    assert weight_bytes(card, "float32") == 4 * card.parameters


@pytest.mark.parametrize("content", [b"", b"\x00" * 8, b"\xff" * 64, struct.pack("<Q", 4) + b"[1]"])
def test_a_damaged_header_counts_for_nothing(tmp_path: Path, content: bytes):
    (tmp_path / "a.safetensors").write_bytes(content)
    assert numbers_in(tmp_path) == 0


def test_a_model_that_cannot_fit_is_refused_before_it_is_loaded(tmp_path: Path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(load_module, "device_memory", lambda torch, device: Memory(1000, 1000))
    said: list[Any] = []
    monkeypatch.setattr(load_module, "_loader", lambda card: said.append)
    monkeypatch.setattr(load_module, "resolve", lambda *_, **__: said.append("hashed"))
    with pytest.raises(DeviceError, match=r"SigLIP nano .demo. cannot be loaded. It needs .* MB"):
        load_nano(tmp_path)
    assert said == [], "neither loaded nor hashed"
    monkeypatch.setattr(load_module, "resolve", resolve)
    monkeypatch.setattr(load_module, "device_memory", lambda torch, device: Memory(GB, 10**6))
    load_nano(tmp_path)
    assert "tight" in said[0].choice.reason
    monkeypatch.setattr(load_module, "device_memory", lambda torch, device: None)
    load_nano(tmp_path)
    assert "tight" not in said[1].choice.reason, "an unknown memory refuses nothing"


def test_memory_that_runs_out_while_loading_is_told(tmp_path: Path, monkeypatch):
    pytest.importorskip("torch")

    def full(order: Any) -> None:
        raise MemoryError("Tried to allocate 2.00 GiB")

    monkeypatch.setattr(load_module, "_loader", lambda card: full)
    with pytest.raises(DeviceError, match=r"ran out while it was loaded.*--dtype bfloat16"):
        load_nano(tmp_path)


def load_nano(folder: Path) -> None:
    load_encoder("siglip-nano", weights_dir=folder, shipped_dir=shipped_models(), device="cpu")
