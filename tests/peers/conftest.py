"""Checkpoints made once for the peer tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from tests.peers import tally
from tests.peers.tiny_qwen3 import as_published, make_qwen
from tests.peers.tiny_siglip import make_siglip


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was held against which reference, and write it where it was asked for."""
    content = tally.table()
    if not any(content.values()):
        return
    terminalreporter.section("peers: ours against the references")
    for line in tally.plain(content):
        terminalreporter.write_line(line)
    if path := os.environ.get(tally.TABLE_FILE):
        tally.write(Path(path))


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Tiny models gain nothing from threads, and other tests run beside these."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Qwen3-VL-Embedding whose tokenizer ends a text."""
    return make_qwen(tmp_path_factory.mktemp("peers") / "qwen-tiny")


@pytest.fixture(scope="session")
def qwen_open(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model with a tokenizer that ends no text."""
    return make_qwen(tmp_path_factory.mktemp("peers") / "qwen-open", ends_text=False)


@pytest.fixture(scope="session")
def qwen_published(qwen: Path) -> Path:
    """The first of them in the layout of the published repositories."""
    return as_published(qwen, qwen.with_name("qwen-published"))


@pytest.fixture(scope="session")
def qwen_open_published(qwen_open: Path) -> Path:
    """The second of them in that layout."""
    return as_published(qwen_open, qwen_open.with_name("qwen-open-published"))


@pytest.fixture(scope="session")
def siglip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny SigLIP."""
    return make_siglip(tmp_path_factory.mktemp("peers") / "siglip-tiny")
