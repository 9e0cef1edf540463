"""Trains the two small vocabularies. Owns tokenizer and processor files, nothing with weights.

A byte-level BPE with Qwen's special tokens and chat turns for the Qwen3-VL nano, and a
SentencePiece model with SigLIP's ids for the SigLIP nano. Deterministic for given texts.
"""

from __future__ import annotations

import io
import json
import string
from collections.abc import Iterable, Sequence
from pathlib import Path

import sentencepiece
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    normalizers,
    pre_tokenizers,
    processors,
)
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

END_OF_TEXT = "<|endoftext|>"
QWEN_SPECIALS = (
    END_OF_TEXT,
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
# The times that the processor writes before each pair of up to 64 slices, one piece each: they
# would otherwise be a third of a volume's tokens.
TIMESTAMPS = tuple(f"<{pair}.2 seconds>" for pair in range(32))
# Pieces: one letter run with at most one sign before it, one digit, a run of signs, white space.
WORD_PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message.role + '\\n' -}}"
    "{%- if message.content is string -%}"
    "{{- message.content -}}"
    "{%- else -%}"
    "{%- for part in message.content -%}"
    "{%- if part.type == 'image' -%}"
    "{{- '<|vision_start|><|image_pad|><|vision_end|>' -}}"
    "{%- elif part.type == 'video' -%}"
    "{{- '<|vision_start|><|video_pad|><|vision_end|>' -}}"
    "{%- elif part.type == 'text' -%}"
    "{{- part.text -}}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- endif -%}"
    "{{- '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
PROMPT_WORDS = (
    "system\n",
    "user\n",
    "assistant\n",
    "Represent the user's input.",
    "<2.0 seconds>",
    "NULL",
)


def train_qwen_tokenizer(texts: Iterable[str], *, vocabulary: int = 1536) -> Tokenizer:
    """Byte-level BPE whose special tokens follow the learned pieces, as Qwen's do.

    Args:
        texts: what the vocabulary is learned from.
        vocabulary: most ids, special tokens included.

    Returns:
        A tokenizer that appends ``<|endoftext|>``, as Qwen3-Embedding's does.
    """
    tokenizer = Tokenizer(BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=vocabulary - len(QWEN_SPECIALS) - len(TIMESTAMPS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        min_frequency=2,
        show_progress=False,
    )
    tokenizer.train_from_iterator([*texts, *PROMPT_WORDS * 50], trainer=trainer)
    tokenizer.add_special_tokens(list(QWEN_SPECIALS))
    tokenizer.add_tokens([AddedToken(time, normalized=False) for time in TIMESTAMPS])
    end_id = tokenizer.token_to_id(END_OF_TEXT)
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single=f"$A {END_OF_TEXT}",
                pair=f"$A $B {END_OF_TEXT}",
                special_tokens=[(END_OF_TEXT, end_id)],
            ),
        ]
    )
    return tokenizer


def write_qwen_processor(folder: Path, tokenizer: Tokenizer, *, pixels: int) -> None:
    """Write tokenizer, picture and video processor files and the chat template.

    Args:
        folder: the model folder.
        tokenizer: from ``train_qwen_tokenizer``.
        pixels: area every picture and slice is brought to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": 32768,
            "padding_side": "right",
            "clean_up_tokenization_spaces": False,
            "eos_token": "<|im_end|>",
            "pad_token": END_OF_TEXT,
            "extra_special_tokens": {
                "image_token": "<|image_pad|>",
                "video_token": "<|video_pad|>",
                "vision_start_token": "<|vision_start|>",
                "vision_end_token": "<|vision_end|>",
            },
        },
    )
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    shared = {
        "patch_size": 16,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "size": {"shortest_edge": pixels, "longest_edge": pixels},
    }
    picture = {"image_processor_type": "Qwen2VLImageProcessor", "resample": 3, **shared}
    video = {"video_processor_type": "Qwen3VLVideoProcessor", "fps": 2, "max_frames": 64, **shared}
    kind = {"processor_class": "Qwen3VLProcessor"}
    _write(folder / "preprocessor_config.json", picture | kind)
    _write(folder / "video_preprocessor_config.json", video | kind)


def train_siglip_tokenizer(texts: Sequence[str], *, vocabulary: int = 1200) -> bytes:
    """SentencePiece model: pad 0, ``</s>`` 1, ``<unk>`` 2, texts as SigLIP's tokenizer leaves them.

    Merges instead of SigLIP's unigram pieces: a unigram model of so few different words keeps too
    few pieces, and a report would be longer than the model's 64 tokens.

    Args:
        texts: what the vocabulary is learned from.
        vocabulary: most pieces.

    Returns:
        The model file's content.
    """
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([_bare(text) for text in texts]),
        model_writer=written,
        vocab_size=vocabulary,
        model_type="bpe",
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        hard_vocab_limit=False,
        num_threads=1,
        character_coverage=1.0,
        minloglevel=2,
    )
    return written.getvalue()


def _bare(text: str) -> str:
    """Lower case, no ASCII punctuation, single blanks (specification 3)."""
    return " ".join(text.lower().translate(str.maketrans("", "", string.punctuation)).split())


def write_siglip_processor(folder: Path, model: bytes, *, side: int) -> None:
    """Write ``spiece.model`` and the picture processor.

    Args:
        folder: the model folder.
        model: from ``train_siglip_tokenizer``.
        side: pixels of the square picture.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spiece.model").write_bytes(model)
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "SiglipTokenizer",
            "model_max_length": 64,
            "do_lower_case": True,
            "pad_token": "</s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
        },
    )
    _write(
        folder / "preprocessor_config.json",
        {
            "image_processor_type": "SiglipImageProcessor",
            "processor_class": "SiglipProcessor",
            "do_convert_rgb": True,
            "do_resize": True,
            "size": {"height": side, "width": side},
            "resample": 3,
            "do_rescale": True,
            "rescale_factor": 1 / 255,
            "do_normalize": True,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
        },
    )


def _write(path: Path, document: dict[str, object]) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
