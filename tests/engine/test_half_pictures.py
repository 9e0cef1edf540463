"""Compressed frames that lost their end and got a new one: never shown as whole pictures.

Decoders fill what is missing with grey, with zeros or by going on as before, and say nothing.
"""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.encaps import encapsulate, generate_frames
from pydicom.uid import DeflatedExplicitVRLittleEndian, RLELossless

from engine.errors import EvidenceError
from engine.evidence.open import load_pixels, read_file
from engine.evidence.pictures import png_end
from tests.fuzz import bases, makers_dicom
from tests.shared import SHARED, shared_path

SHARES = (0.4, 0.8, 0.95, 0.99, 0.999)
END = b"\xff\xd9"
MADE = [name for name in makers_dicom.MADE if "cine" in name]


def compressed() -> list[str]:
    """Handed and synthetic files with compressed frames."""
    handed = sorted((SHARED / "data/files/dicom").glob("*"))
    marks = ("jpeg", "j2k", "jls", "rle", "cine", "mg_", "pt_", "cr_")
    return [path.name for path in handed if any(mark in path.name for mark in marks)] + MADE


def raw_of(name: str) -> bytes:
    if name in MADE:
        return bases.load(f"made:{name}").raw
    return shared_path(f"data/files/dicom/{name}").read_bytes()


@pytest.mark.parametrize("name", compressed())
def test_a_frame_with_a_new_end_is_a_cut_frame(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.dcm"
    path.write_bytes(raw_of(name))
    dataset = pydicom.dcmread(io.BytesIO(raw_of(name)), force=True)
    syntax = dataset.file_meta.get("TransferSyntaxUID")
    if syntax in (None, DeflatedExplicitVRLittleEndian) or not syntax.is_compressed:
        pytest.skip("not compressed")
    whole = load_pixels(read_file(path)).array
    count = int(dataset.get("NumberOfFrames") or 1)
    frames = list(generate_frames(dataset.PixelData, number_of_frames=count))
    shares = SHARES[:3] if syntax == RLELossless else SHARES  # a lost last byte is padding's
    for share in shares:
        last = frames[-1][: int(share * len(frames[-1]))] + END
        dataset.PixelData = encapsulate([*frames[:-1], last + b"\0" * (len(last) % 2)])
        dataset["PixelData"].is_undefined_length = True
        dataset.save_as(path)
        try:
            shown = load_pixels(read_file(path)).array
        except EvidenceError:
            continue
        assert np.array_equal(shown, whole), share


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(values: np.ndarray, *, rows: int) -> bytes:
    """A PNG file, right in every byte, with data for so many rows."""
    kind, depth = (2 if values.ndim == 3 else 0), 8 * values.dtype.itemsize
    big = values.astype(values.dtype.newbyteorder(">"))
    data = b"".join(b"\0" + row.tobytes() for row in big[:rows])
    head = struct.pack(">IIBBBBB", values.shape[1], values.shape[0], depth, kind, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize("shape", [(20, 9), (20, 9, 3)])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_a_png_with_fewer_rows_is_cut(tmp_path: Path, shape: tuple[int, ...], kind: type) -> None:
    values = (np.arange(np.prod(shape)) % 200 + 1).reshape(shape).astype(kind)
    values[-1] = 0  # the last row is as dark as a missing one
    path = tmp_path / "a.png"
    path.write_bytes(png(values, rows=20))
    assert load_pixels(read_file(path)).array.shape[:3] == (1, 20, 9)
    for rows in (1, 12, 19):
        path.write_bytes(png(values, rows=rows))
        with pytest.raises(EvidenceError) as caught:
            load_pixels(read_file(path))
        assert caught.value.code in ("truncated", "damaged")


def test_a_laced_png_without_its_last_pass_is_cut(tmp_path: Path) -> None:
    values = (np.arange(64 * 64) % 251 + 1).reshape(64, 64).astype(np.uint8)
    passes = [
        values[top::down, left::across]
        for top, left, down, across in png_end.PASSES
    ]  # fmt: skip
    data = [b"".join(b"\0" + row.tobytes() for row in one) for one in passes]
    head = struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 1)
    path = tmp_path / "a.png"
    for count in (7, 6, 3):
        body = zlib.compress(b"".join(data[:count]))
        parts = chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)
        if count == 7:
            assert (load_pixels(read_file(path)).array[0] == values).all()
            continue
        with pytest.raises(EvidenceError) as caught:
            load_pixels(read_file(path))
        assert caught.value.code == "truncated"
