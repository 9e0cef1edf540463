"""A rater's laptop has no torch: the window must not ask for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys

class Refuse:
    heavy = {"torch", "torchvision", "transformers", "faiss", "safetensors", "sentencepiece"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.heavy:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Refuse())
import app.main
from app.actions import PAGES, load
for page in PAGES:
    load(page.view)
    load(page.presenter)
print("ready")
"""


def test_the_window_and_all_pages_load_without_the_engine():
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "ready"


def test_starting_loads_neither_torch_nor_any_page():
    code = (
        "import sys, app.main\n"
        "heavy = {'torch', 'transformers', 'faiss', 'matplotlib', 'SimpleITK'} & set(sys.modules)\n"
        "pages = [n for n in sys.modules if n.startswith('app.views.')]\n"
        "sys.exit(f'{heavy} {pages}' if heavy or pages else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
