"""Adapters merged by hand: every layout lands where it belongs, nothing is dropped in silence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from engine.errors import WeightsMissing, WeightsRefused
from engine.models.lora import merge_adapter

RANK, ALPHA = 2, 8
TARGETS = ("layers.0.self_attn.q_proj", "layers.1.mlp.up_proj")
LAYOUTS: dict[str, Callable[[str], str]] = {
    "conditional generation": lambda name: f"base_model.model.model.language_model.{name}",
    "bare model": lambda name: f"base_model.model.language_model.{name}",
    "before 4.52": lambda name: f"base_model.model.model.{name}",
    "another wrapper": lambda name: f"base_model.model.encoder.backbone.{name}",
}


class Tower(nn.Module):
    """Two layers of a language model and a picture tower with a module of the same name."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.language_model = nn.Module()
        self.language_model.layers = nn.ModuleList([self._layer() for _ in range(2)])
        self.visual = nn.Module()
        self.visual.layers = nn.ModuleList([self._layer()])

    @staticmethod
    def _layer() -> nn.Module:
        layer = nn.Module()
        layer.self_attn, layer.mlp = nn.Module(), nn.Module()
        layer.self_attn.q_proj = nn.Linear(6, 4, bias=False)
        layer.mlp.up_proj = nn.Linear(6, 5, bias=False)
        return layer


def tensors(layout: Callable[[str], str], *, dora: bool = False) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    made = {}
    for name, rows in zip(TARGETS, (4, 5), strict=True):
        key = layout(name)
        made[f"{key}.lora_A.weight"] = torch.randn(RANK, 6, generator=generator)
        made[f"{key}.lora_B.weight"] = torch.randn(rows, RANK, generator=generator)
        if dora:
            made[f"{key}.lora_magnitude_vector"] = 1 + torch.rand(rows, generator=generator)
    return made


def write(folder: Path, made: dict[str, torch.Tensor], **config: object) -> Path:
    folder.mkdir(exist_ok=True)
    content = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "bias": "none", **config}
    (folder / "adapter_config.json").write_text(json.dumps(content), encoding="utf-8")
    save_file(made, folder / "adapter_model.safetensors")
    return folder


def weight(model: nn.Module, name: str) -> torch.Tensor:
    return model.get_parameter(f"language_model.{name}.weight").detach()


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dora", [False, True])
def test_every_layout_lands(tmp_path: Path, name: str, dora: bool):
    layout, model, before = LAYOUTS[name], Tower(), Tower()
    made = tensors(layout, dora=dora)
    assert merge_adapter(model, write(tmp_path / "a", made, use_dora=dora)) == len(made)
    for target in TARGETS:
        key = layout(target)
        low, high = made[f"{key}.lora_A.weight"], made[f"{key}.lora_B.weight"]
        wanted = weight(before, target) + ALPHA / RANK * high @ low
        if dora:
            scale = made[f"{key}.lora_magnitude_vector"] / wanted.norm(dim=1)
            wanted = wanted * scale[:, None]
        torch.testing.assert_close(weight(model, target), wanted)
    untouched = "language_model.layers.1.self_attn.q_proj.weight"
    assert torch.equal(model.get_parameter(untouched), before.get_parameter(untouched))
    assert torch.equal(
        model.visual.layers[0].mlp.up_proj.weight, before.visual.layers[0].mlp.up_proj.weight
    )


def test_older_key_endings_are_read(tmp_path: Path):
    made = tensors(LAYOUTS["before 4.52"], dora=True)
    older = {
        key.replace(".lora_A.weight", ".lora_A.default.weight").replace(
            "magnitude_vector", "magnitude_vector.default.weight"
        ): value
        for key, value in made.items()
    }
    new, old = Tower(), Tower()
    merge_adapter(new, write(tmp_path / "new", made, use_dora=True))
    merge_adapter(old, write(tmp_path / "old", older, use_dora=True))
    assert torch.equal(weight(new, TARGETS[0]), weight(old, TARGETS[0]))


def test_scale_follows_rank_alpha_and_their_patterns(tmp_path: Path):
    made = tensors(LAYOUTS["bare model"])
    plain, rooted, patterned = Tower(), Tower(), Tower()
    base = weight(Tower(), TARGETS[0]).clone()
    merge_adapter(plain, write(tmp_path / "a", made))
    merge_adapter(rooted, write(tmp_path / "b", made, use_rslora=True))
    merge_adapter(patterned, write(tmp_path / "c", made, alpha_pattern={"q_proj": 2 * ALPHA}))
    step = weight(plain, TARGETS[0]) - base
    torch.testing.assert_close(weight(rooted, TARGETS[0]) - base, step * math.sqrt(RANK))
    torch.testing.assert_close(weight(patterned, TARGETS[0]) - base, step * 2)
    assert torch.equal(weight(patterned, TARGETS[1]), weight(plain, TARGETS[1]))


def test_target_modules_may_be_an_expression_or_name_modules_that_are_not_there(tmp_path: Path):
    """As the published VLM2Vec has it: names of other families' modules in its list."""
    made = tensors(LAYOUTS["before 4.52"])
    plain, listed, spelled = Tower(), Tower(), Tower()
    merge_adapter(plain, write(tmp_path / "a", made))
    names = [f"layers.0.{TARGETS[0].split('.', 2)[2]}", "qkv_proj", "gate_up_proj"]
    with pytest.raises(WeightsRefused, match="holds nothing"):  # the picture tower has one too
        merge_adapter(Tower(), write(tmp_path / "b", made, target_modules=["up_proj"]))
    only = {"target_modules": names, "exclude_modules": "visual.*"}
    merge_adapter(listed, write(tmp_path / "c", made, **only))
    wanted = r"model\.layers\.(0\.self_attn\.q_proj|1\.mlp\.up_proj)"
    merge_adapter(spelled, write(tmp_path / "d", made, target_modules=wanted))
    for target in TARGETS:
        assert torch.equal(weight(listed, target), weight(plain, target))
        assert torch.equal(weight(spelled, target), weight(plain, target))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=list(LAYOUTS))
def test_a_pattern_written_for_one_layout_holds_in_another(tmp_path: Path, layout):
    plain, patterned = Tower(), Tower()
    made = tensors(layout)
    merge_adapter(plain, write(tmp_path / "a", made))
    pattern = {r"^model\.layers\.0\.self_attn\.q_proj": 3 * ALPHA}
    merge_adapter(patterned, write(tmp_path / "b", made, alpha_pattern=pattern))
    base = weight(Tower(), TARGETS[0])
    step = weight(plain, TARGETS[0]) - base
    moved = 1 if "encoder" in layout("x") else 3  # a wrapper of its own is another module
    torch.testing.assert_close(weight(patterned, TARGETS[0]) - base, step * moved)


def test_bfloat16_is_merged_in_float32(tmp_path: Path):
    model, exact = Tower().to(torch.bfloat16), Tower().to(torch.bfloat16).float()
    folder = write(tmp_path / "a", tensors(LAYOUTS["bare model"]))
    merge_adapter(model, folder)
    merge_adapter(exact, folder)
    assert weight(model, TARGETS[0]).dtype == torch.bfloat16
    assert torch.equal(weight(model, TARGETS[0]), weight(exact, TARGETS[0]).to(torch.bfloat16))


def spoiled() -> dict[str, tuple[dict[str, torch.Tensor], dict[str, object], str]]:
    """Adapters that must be refused: tensors, configuration, what the sentence says."""
    good = tensors(LAYOUTS["bare model"])
    key = LAYOUTS["bare model"](TARGETS[0])
    twice = good | {
        f"{LAYOUTS['before 4.52'](TARGETS[0])}.{part}.weight": good[f"{key}.{part}.weight"].clone()
        for part in ("lora_A", "lora_B")
    }
    stranger = good | {
        f"base_model.model.layers.7.mlp.up_proj.{part}.weight": torch.ones(2, 2)
        for part in ("lora_A", "lora_B")
    }
    half = {name: value for name, value in good.items() if not name.endswith("lora_B.weight")}
    zero = {
        name: torch.zeros_like(value) if "lora_B" in name else value for name, value in good.items()
    }
    return {
        "a tensor no rule uses": (good | {f"{key}.bias": torch.ones(4)}, {}, "no rule"),
        "a module the base has not": (stranger, {}, "does not have"),
        "one target twice": (twice, {}, "twice"),
        "half a pair": (half, {}, "missing"),
        "another rank": (good, {"r": 4}, "another shape"),
        "DoRA without magnitudes": (good, {"use_dora": True}, "missing"),
        "magnitudes without DoRA": (tensors(LAYOUTS["bare model"], dora=True), {}, "missing"),
        "whole modules": (good, {"modules_to_save": ["embed_tokens"]}, "modules_to_save"),
        "trained biases": (good, {"bias": "all"}, "bias"),
        "a start that changes the base": (good, {"init_lora_weights": "pissa"}, "pissa"),
        "another method": (good, {"peft_type": "IA3"}, "IA3"),
        "no training": (zero, {}, "never trained"),
        "modules it says it changes": (good, {"target_modules": ["q_proj"]}, "holds nothing for"),
        "the same by an expression": (
            good, {"target_modules": r"model\.layers\.\d\.mlp\.up_proj"}, "holds nothing for 1",
        ),
        "every linear module": (good, {"target_modules": "all-linear"}, "holds nothing for 4"),
        "an expression that is none": (good, {"rank_pattern": {"(": 2}}, "damaged"),
        "numbers that are none": (good | {f"{key}.lora_A.weight": torch.full((2, 6), math.inf)}, {},
                                  "no finite number"),
    }  # fmt: skip


@pytest.mark.parametrize("name", spoiled())
def test_what_does_not_fit_is_refused(tmp_path: Path, name: str):
    made, config, word = spoiled()[name]
    with pytest.raises(WeightsRefused, match=word):
        merge_adapter(Tower(), write(tmp_path / "a", made, **config))


def test_a_suffix_with_two_homes_is_refused(tmp_path: Path):
    model = Tower()
    made = tensors(lambda name: f"base_model.model.wrapper.{name}")
    model.another = nn.Module()
    model.another.layers = nn.ModuleList([Tower._layer(), Tower._layer()])
    with pytest.raises(WeightsRefused, match="more than once"):
        merge_adapter(model, write(tmp_path / "a", made))


def test_a_missing_or_damaged_file_is_named(tmp_path: Path):
    folder = write(tmp_path / "a", tensors(LAYOUTS["bare model"]))
    (folder / "adapter_model.safetensors").write_bytes(b"not safetensors")
    with pytest.raises(WeightsRefused, match="damaged"):
        merge_adapter(Tower(), folder)
    (folder / "adapter_model.safetensors").unlink()
    with pytest.raises(WeightsMissing, match=r"adapter_model\.safetensors"):
        merge_adapter(Tower(), folder)
