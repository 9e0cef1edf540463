"""Cards, caches and pictures that are not what they should be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pydicom
import pytest
from PIL import Image

from engine.cache import VectorCache
from engine.catalog import model_cards, require_loader
from engine.errors import EvidenceError, UnknownModel
from engine.evidence.open import find_evidence
from engine.evidence.pictures import raster
from engine.evidence.show import describe
from engine.evidence.terms import body_part_of, modality_of

KEY, DIGEST = "fingerprint1", "digest-of-content"


@pytest.mark.parametrize(
    ("name", "value"),
    [("id", "../../elsewhere"), ("id", "a/b"), ("id", ""), ("id", 5), ("settings", [1]),
     ("dim", "wide"), ("title", None), ("memory_mb", None)],
)  # fmt: skip
def test_a_card_with_a_wrong_value_is_named(tmp_path, name, value):
    content = {"family": "random", name: value}
    (tmp_path / "mine.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UnknownModel, match=rf"mine.json.* {name}"):
        require_loader(model_cards(tmp_path)[-1])


def test_a_vector_that_another_run_holds_open_counts_as_kept(tmp_path, monkeypatch):
    """Windows refuses to replace it; the other run wrote the same."""
    cache, vector = VectorCache(tmp_path), np.ones(4, np.float32)
    cache.put(KEY, DIGEST, vector)

    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "in use", str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    cache.put(KEY, DIGEST, vector)
    with pytest.raises(PermissionError):
        cache.put(KEY, "another-content", vector)
    assert not list(tmp_path.rglob("*.part"))


def test_pages_without_end_are_refused_before_they_fill_memory(tmp_path, monkeypatch):
    pages = [Image.fromarray(np.full((40, 40), n, np.uint8)) for n in range(20)]
    path = tmp_path / "many.tif"
    pages[0].save(path, save_all=True, append_images=pages[1:])
    assert len(raster.load_picture(path).array) == 20
    monkeypatch.setattr(raster, "LIMIT_BYTES", 10 * 40 * 40)
    with pytest.raises(EvidenceError, match="pages") as caught:
        raster.load_picture(path)
    assert caught.value.code == "too_large"


@pytest.mark.parametrize("tag", ["Modality", "BodyPartExamined"])
def test_a_name_typed_into_a_coded_tag_does_not_leave_the_reader(tmp_path, tag):
    path = Path(pydicom.data.get_testdata_file("CT_small.dcm"))
    dataset = pydicom.dcmread(path)
    setattr(dataset, tag, "DOE JANE")
    dataset.save_as(tmp_path / "ct.dcm")
    [found] = find_evidence([tmp_path])
    assert found.error is None
    assert "DOE" not in repr(describe(found)) + repr(found)


def test_the_standards_words_pass_as_it_spells_them():
    assert (modality_of(" ct "), body_part_of("chest")) == ("CT", "CHEST")
    assert (modality_of("DOE"), body_part_of("DOE JANE"), modality_of("")) == (None, None, None)
