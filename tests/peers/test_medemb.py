"""MedEmb: adapters against peft's own merge, its three layouts on disk, its end-of-text rule.

No weights of MedEmb were published when this was written: every checkpoint here is tiny and made
on the spot. peft's vectors are recorded (``golden/make_medemb.py``).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import WeightsRefused
from engine.models.common import quiet
from engine.models.load import load_encoder
from tests.peers import qwen3_cases as cases
from tests.peers.cases import MIXED, VOLUMES
from tests.peers.medemb_adapters import CASES, KEY, LAYOUTS, write_adapter
from tests.peers.tally import compare, differs
from tests.peers.test_qwen3_vl import seen
from tests.peers.tiny import write_settings
from tests.peers.weights import digest_of

MODEL = "MedEmb"
CLOSE, DIFFERENT = 1e-5, 1e-3
GOLDEN = json.loads((Path(__file__).parent / "golden" / "medemb.json").read_text("utf-8"))
PEFT = f"{GOLDEN['environment'][0]} merge, {GOLDEN['code'].split('@')[0]}"
BASE = json.loads((Path(__file__).parent / "golden" / "qwen3_vl_5.json").read_text("utf-8"))
MERGED_FOLDER = "itself, merged folder"
FEW = [MIXED["text"], MIXED["image and text"], VOLUMES["five slices"]]
TENSORS = {False: 62, True: 93}


def load(folder: Path | str, **options: Any) -> Any:
    place = Path(folder)
    given = {"weights_dir": place.parent, "shipped_dir": place, "device": "cpu"} | options
    return load_encoder(str(folder), **given)


def merged(weights: dict[str, torch.Tensor], adapter: Path) -> dict[str, torch.Tensor]:
    """The base's tensors with an adapter of the layout ``bare model`` added, by the formula."""
    made, parts = dict(weights), load_file(adapter / "adapter_model.safetensors")
    for key in (key for key in parts if key.endswith("lora_A.weight")):
        stem = key.removesuffix("lora_A.weight")
        name = stem.removeprefix(KEY) + "weight"
        whole = weights[name] + 4 * parts[f"{stem}lora_B.weight"] @ parts[key]
        length = parts.get(f"{stem}lora_magnitude_vector")
        if length is not None:
            whole = whole * (length / whole.norm(dim=1))[:, None]
        made[name] = whole
    return made


def rewrite(source: Path, target: Path, adapter: Path) -> Path:
    """The merged folder."""
    shutil.copytree(source, target)
    file = target / "model.safetensors"
    save_file(merged(load_file(file), adapter), file, metadata={"format": "pt"})
    write_settings(target, family="medemb")
    return target


# against peft


def test_the_golden_belongs_to_this_checkpoint(qwen_published: Path):
    digest = digest_of(qwen_published, also=("vocab.json", "merges.txt"))
    assert digest == GOLDEN["checkpoint"] == BASE["checkpoint"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dora", [False, True], ids=["lora", "dora"])
def test_an_adapter_equals_pefts_merge(
    qwen_published: Path, tmp_path: Path, layout: str, dora: bool
):
    folder = write_adapter(tmp_path / "adapter", layout=layout, dora=dora, base=str(qwen_published))
    encoder = load(folder, settings={"video_wrap": "outer"})
    assert encoder.record.adapter_tensors == TENSORS[dora]
    assert any(f"Merged {TENSORS[dora]} adapter tensors" in note for note in encoder.notes)
    kind = "dora" if dora else "lora"
    for name in CASES:
        vector = encoder.encode([seen(name, cases.CASES[name])])[0]
        compare(MODEL, PEFT, f"{kind}, {layout}, {name}", vector, GOLDEN[kind][name], within=CLOSE)
        differs(MODEL, "dropped adapter", vector, BASE["cases"][name], beyond=DIFFERENT,
                case=f"{kind}, {name}")  # fmt: skip


def test_the_configuration_of_a_training_framework_is_read(qwen_published: Path, tmp_path: Path):
    """Targets as one regular expression, and every field of today's peft, most of them empty."""
    folder = write_adapter(
        tmp_path / "a", layout="ForConditionalGeneration", base=str(qwen_published)
    )
    config = json.loads((folder / "adapter_config.json").read_text("utf-8")) | {
        "target_modules": r"^(model\.language_model(?=\.).*\.(q_proj|k_proj|v_proj|o_proj|"
        r"gate_proj|up_proj|down_proj)|model\.visual(?=\.).*\.qkv)$",
        "modules_to_save": [], "rank_pattern": {}, "alpha_pattern": {}, "exclude_modules": None,
        "layers_to_transform": None, "layers_pattern": None, "layer_replication": None,
        "init_lora_weights": True, "inference_mode": True, "fan_in_fan_out": False,
        "trainable_token_indices": None, "target_parameters": None, "use_rslora": False,
        "megatron_config": None, "loftq_config": {}, "eva_config": None, "corda_config": None,
        "use_qalora": False, "qalora_group_size": 16, "lora_bias": False, "task_type": "CAUSAL_LM",
        "peft_version": "0.21.2", "auto_mapping": None, "revision": None,
    }  # fmt: skip
    (folder / "adapter_config.json").write_text(json.dumps(config), "utf-8")
    encoder = load(folder)
    assert encoder.record.adapter_tensors == TENSORS[False]
    vector = encoder.encode([seen("text", cases.CASES["text"])])[0]
    compare(MODEL, PEFT, "lora, a framework's configuration", vector, GOLDEN["lora"]["text"],
            within=CLOSE)  # fmt: skip


def test_a_wrong_scale_and_a_dropped_magnitude_differ(qwen_published: Path, tmp_path: Path):
    item = [seen("text", cases.CASES["text"])]
    folder = write_adapter(tmp_path / "a", layout="bare model", base=str(qwen_published))
    config = json.loads((folder / "adapter_config.json").read_text("utf-8"))
    (folder / "adapter_config.json").write_text(json.dumps(config | {"lora_alpha": 8}), "utf-8")
    right = GOLDEN["lora"]["text"]
    differs(MODEL, "adapter scale 1 in place of 4", right, load(folder).encode(item)[0],
            beyond=DIFFERENT)  # fmt: skip
    differs(MODEL, "magnitudes of DoRA left out", right, GOLDEN["dora"]["text"], beyond=DIFFERENT)


# three layouts on disk


@pytest.mark.parametrize("dora", [False, True], ids=["lora", "dora"])
def test_the_merged_folder_equals_the_adapter(qwen_open: Path, tmp_path: Path, dora: bool):
    adapter = write_adapter(
        tmp_path / "adapter", layout="bare model", dora=dora, base=str(qwen_open)
    )
    whole = load(rewrite(qwen_open, tmp_path / "merged", adapter))
    assert whole.record.adapter_tensors is None
    vectors = load(adapter).encode(FEW)
    compare(MODEL, MERGED_FOLDER, f"adapter on its base, {'dora' if dora else 'lora'}", vectors,
            whole.encode(FEW), within=CLOSE)  # fmt: skip


def test_the_full_checkpoint_with_its_head_equals_the_merged_folder(
    qwen_open: Path, tmp_path: Path
):
    """As the class for generation writes it, in several files, the head of its own."""
    from transformers import Qwen3VLForConditionalGeneration

    adapter = write_adapter(tmp_path / "adapter", layout="bare model", base=str(qwen_open))
    folder = rewrite(qwen_open, tmp_path / "merged", adapter)
    full = tmp_path / "full"
    shutil.copytree(folder, full)
    (full / "model.safetensors").unlink()
    with quiet():
        model = Qwen3VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
        model.config.tie_word_embeddings = model.config.text_config.tie_word_embeddings = False
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone() + 1)
        model.save_pretrained(full, max_shard_size="100KB")
    names = set(json.loads((full / "model.safetensors.index.json").read_text())["weight_map"])
    assert "lm_head.weight" in names
    assert "model.language_model.norm.weight" in names
    assert len(list(full.glob("*.safetensors"))) > 2
    compare(MODEL, MERGED_FOLDER, "full checkpoint with its head", load(full).encode(FEW),
            load(folder).encode(FEW), within=CLOSE)  # fmt: skip


@pytest.mark.parametrize("layout", ["adapter", "merged"])
def test_the_card_finds_any_layout_in_the_weights_folder(
    qwen_open: Path, tmp_path: Path, layout: str
):
    adapter = write_adapter(tmp_path / "adapter", layout="ForConditionalGeneration")
    whole = rewrite(qwen_open, tmp_path / "merged", write_adapter(
        tmp_path / "other", layout="bare model"
    ))  # fmt: skip
    weights = tmp_path / "weights"
    shutil.copytree(qwen_open, weights / "qwen3-vl-embedding-2b")
    shutil.copytree(adapter if layout == "adapter" else whole, weights / "medemb-2b")
    encoder = load_encoder("medemb-2b", weights_dir=weights, shipped_dir=tmp_path, device="cpu")
    assert encoder.model_id == "medemb-2b"
    assert encoder.record.family == "medemb"
    assert encoder.settings.append_eot == "always"
    compare(MODEL, MERGED_FOLDER, f"card on {layout}", encoder.encode(FEW),
            load(whole).encode(FEW), within=CLOSE)  # fmt: skip


# end of text


@pytest.mark.parametrize("ends", [True, False])
def test_exactly_one_end_of_text_whatever_the_tokenizer_does(
    qwen: Path, qwen_open: Path, tmp_path: Path, ends: bool
):
    base = qwen if ends else qwen_open
    folder = write_adapter(tmp_path / "adapter", layout="bare model", base=str(base))
    encoder, told = load(folder), "ends every text" if ends else "one <|endoftext|> is appended"
    assert told in (encoder.record.end_of_text or "")
    assert encoder.record.end_of_text in encoder.notes
    assert encoder.settings.append_eot == ("auto" if ends else "always")
    used = {one.name: one for one in encoder.record.settings}["append_eot"]
    assert (used.value, used.origin) == (encoder.settings.append_eot, "paper")
    compare(MODEL, PEFT, f"end of text {'by the tokenizer' if ends else 'appended'}",
            encoder.encode([seen("text", cases.CASES["text"])])[0], GOLDEN["lora"]["text"],
            within=CLOSE)  # fmt: skip
    never = load(folder, settings={"append_eot": "never"})
    differs(MODEL, "missing end-of-text token", encoder.encode(FEW), never.encode(FEW),
            beyond=DIFFERENT)  # fmt: skip


def test_the_base_family_appends_nothing_by_itself(qwen_open: Path):
    encoder = load(qwen_open)
    assert encoder.settings.append_eot == "auto"
    assert "nothing is appended" in (encoder.record.end_of_text or "")


# a tokenizer that came with the adapter


def test_an_adapters_own_tokenizer_is_used(qwen: Path, qwen_open: Path, tmp_path: Path):
    folder = write_adapter(tmp_path / "adapter", layout="bare model", base=str(qwen_open))
    without = load(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(qwen / name, folder / name)
    encoder = load(folder)
    assert "ends every text" in (encoder.record.end_of_text or "")
    assert any("came with the adapter" in note for note in encoder.notes)
    assert encoder.fingerprint != without.fingerprint
    compare(MODEL, PEFT, "tokenizer beside the adapter",
            encoder.encode([seen("text", cases.CASES["text"])])[0], GOLDEN["lora"]["text"],
            within=CLOSE)  # fmt: skip


def test_a_tokenizer_of_another_model_is_refused(qwen_open: Path, tmp_path: Path):
    folder = write_adapter(tmp_path / "adapter", layout="bare model", base=str(qwen_open))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(qwen_open / name, folder / name)
    for old, new in (("<|image_pad|>", "<|picture|>"), ("<|im_end|>", "<|ende|>")):
        for name in ("tokenizer.json", "tokenizer_config.json"):
            text = (qwen_open / name).read_text("utf-8").replace(old, new)
            (folder / name).write_text(text, "utf-8")
        with pytest.raises(WeightsRefused, match="adapter does not belong to this model"):
            load(folder)


def test_bfloat16_stays_near(qwen_open: Path, tmp_path: Path):
    folder = write_adapter(tmp_path / "adapter", layout="bare model", base=str(qwen_open))
    exact, half = load(folder).encode(FEW), load(folder, dtype="bfloat16").encode(FEW)
    assert half.dtype == np.float32
    assert np.linalg.norm(half, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert (exact * half).sum(axis=1).min() > 0.99
