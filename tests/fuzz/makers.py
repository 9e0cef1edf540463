"""Synthetic files that are not DICOM, small and always the same, with a name planted in them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

PLANTED = "ZQXDOE^JANEVRA"
STAMP = (2026, 1, 1, 0, 0, 0)


def ramp(*shape: int, kind: str = "u1") -> NDArray[Any]:
    """Distinct values where the type holds them."""
    return (np.arange(np.prod(shape)) % 251).reshape(shape).astype(kind)


def saved(values: NDArray[Any], kind: str, **options: Any) -> bytes:
    """A picture file as bytes."""
    stream = io.BytesIO()
    Image.fromarray(values).save(stream, kind, **options)
    return stream.getvalue()


def png() -> dict[str, bytes]:
    words = PngImagePlugin.PngInfo()
    words.add_text("Author", PLANTED)
    return {"a.png": saved(ramp(12, 9), "PNG", pnginfo=words)}


def png_palette() -> dict[str, bytes]:
    stream = io.BytesIO()
    Image.fromarray(ramp(12, 9)).convert("P").save(stream, "PNG", transparency=3)
    return {"a.png": stream.getvalue()}


def png_deep() -> dict[str, bytes]:
    return {"a.png": saved(ramp(12, 9, kind="u2") * 100, "PNG")}


def jpeg() -> dict[str, bytes]:
    return {"a.jpg": saved(ramp(16, 24, 3), "JPEG", comment=PLANTED.encode(), progressive=True)}


def gif() -> dict[str, bytes]:
    frames = [Image.fromarray(ramp(8, 8) + n) for n in range(3)]
    stream = io.BytesIO()
    frames[0].save(stream, "GIF", save_all=True, append_images=frames[1:], comment=PLANTED)
    return {"a.gif": stream.getvalue()}


def bmp() -> dict[str, bytes]:
    return {"a.bmp": saved(ramp(7, 5, 3), "BMP")}


def webp() -> dict[str, bytes]:
    return {"a.webp": saved(ramp(16, 16, 3), "WEBP", lossless=True)}


def _tiff(values: NDArray[Any], **options: Any) -> dict[str, bytes]:
    stream = io.BytesIO()
    form = {name: options.pop(name) for name in ("bigtiff", "byteorder") if name in options}
    with tifffile.TiffWriter(stream, **form) as writer:
        writer.write(values, metadata=None, description=PLANTED, **options)
    return {"a.tif": stream.getvalue()}


def tiff_float_tiled() -> dict[str, bytes]:
    return _tiff(ramp(40, 33, kind="f4") / 7, tile=(16, 16), compression="zlib")


def tiff_big_pages() -> dict[str, bytes]:
    return _tiff(ramp(3, 10, 11, kind="u2"), bigtiff=True, photometric="minisblack")


def tiff_rgb16() -> dict[str, bytes]:
    return _tiff(ramp(9, 8, 3, kind="u2") * 200, photometric="rgb", byteorder=">")


def tiff_lzw() -> dict[str, bytes]:
    return {"a.tif": saved(ramp(20, 20), "TIFF", compression="tiff_lzw")}


def nifti_bytes(values: NDArray[Any], code: int, *, slope: float = 0.0) -> bytes:
    """A single-file NIfTI-1 of [x, y, z, t] values with a planted description."""
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    dims = [values.ndim, *values.shape, *[1] * (7 - values.ndim)]
    struct.pack_into("<8h", head, 40, *dims)
    struct.pack_into("<2h", head, 70, code, 8 * values.dtype.itemsize)
    struct.pack_into("<8f", head, 76, 1, 1, 2, 3, 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, 352, slope, 0)
    head[123] = 2
    head[148 : 148 + len(PLANTED)] = PLANTED.encode()
    struct.pack_into("<2h", head, 252, 0, 1)
    struct.pack_into("<12f", head, 280, -1, 0, 0, 9, 0, 2, 0, 8, 0, 0, 3, 7)
    head[344:348] = b"n+1\0"
    return bytes(head) + values.tobytes(order="F")


def nifti_4d() -> dict[str, bytes]:
    return {"a.nii": nifti_bytes(ramp(5, 4, 3, 2, kind="i2"), 4, slope=0.5)}


def nifti_rgb() -> dict[str, bytes]:
    pixel = np.zeros((4, 3, 2), [("r", "u1"), ("g", "u1"), ("b", "u1")])
    return {"a.nii": nifti_bytes(pixel, 128)}


def nifti_zipped() -> dict[str, bytes]:
    raw = nifti_bytes(ramp(5, 4, 3, kind="f4"), 16)
    return {"a.nii.gz": gzip.compress(raw, mtime=0)}


def _nrrd(values: NDArray[Any], encoding: str, body: bytes, **more: str) -> dict[str, bytes]:
    kinds = {"u1": "uint8", "i2": "int16", "f4": "float"}
    sizes = " ".join(str(n) for n in values.shape[::-1])
    lines = [
        "NRRD0004", f"type: {kinds[values.dtype.str[1:]]}", f"dimension: {values.ndim}",
        f"sizes: {sizes}", f"encoding: {encoding}", "endian: little",
    ]  # fmt: skip
    lines += [f"{key}: {value}" for key, value in more.items()]
    lines += [f"patient:={PLANTED}", "", ""]
    return {"a.nrrd": "\n".join(lines).encode() + body}


def nrrd_bzip2() -> dict[str, bytes]:
    values = ramp(3, 4, 5, kind="i2")
    place = {
        "space": "left-posterior-superior",
        "space directions": "(1,0,0) (0,2,0) (0,0,3)",
        "space origin": "(1,2,3)",
    }
    return _nrrd(values, "bzip2", bz2.compress(values.tobytes()), **place)


def nrrd_raw_4d() -> dict[str, bytes]:
    values = ramp(2, 3, 4, 5)
    return _nrrd(values, "raw", values.tobytes(), kinds="domain domain domain time")


def nrrd_gzip() -> dict[str, bytes]:
    values = ramp(3, 4, 5, kind="f4")
    return _nrrd(values, "gzip", gzip.compress(values.tobytes(), mtime=0))


def nrrd_ascii() -> dict[str, bytes]:
    values = ramp(2, 3, 4)
    return _nrrd(values, "ascii", " ".join(str(n) for n in values.reshape(-1)).encode())


def mha() -> dict[str, bytes]:
    values = ramp(3, 4, 5, kind="i2")
    lines = [
        "ObjectType = Image", "NDims = 3", "DimSize = 5 4 3", "ElementType = MET_SHORT",
        "ElementSpacing = 1 2 3", f"Comment = {PLANTED}", "ElementByteOrderMSB = False",
        "ElementDataFile = LOCAL",
    ]  # fmt: skip
    return {"a.mha": ("\n".join(lines) + "\n").encode() + values.tobytes()}


def npz() -> dict[str, bytes]:
    stream = io.BytesIO()
    parts = {
        "train_images": ramp(4, 8, 8), "train_labels": ramp(4, 1),
        "test_images": ramp(2, 8, 8, 3), "test_labels": ramp(2, 1),
    }  # fmt: skip
    np.savez_compressed(stream, **parts)
    return {"amnist.npz": stream.getvalue()}


def npz_volumes() -> dict[str, bytes]:
    stream = io.BytesIO()
    np.savez(stream, train_images=ramp(3, 6, 6, 6), train_labels=ramp(3, 1))
    return {"amnist3d.npz": stream.getvalue()}


def zipped(files: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of some files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, raw in files.items():
            archive.writestr(zipfile.ZipInfo(name, STAMP), raw, method)
    return stream.getvalue()


def archive() -> dict[str, bytes]:
    inside = {f"IMAGES/{name}": raw for name, raw in {**png(), **nifti_4d(), **hl7()}.items()}
    return {"a.zip": zipped(inside)}


def archive_stored() -> dict[str, bytes]:
    inside = {**bmp(), "deep/inner.zip": zipped(png()), **text()}
    return {"a.zip": zipped(inside, method=zipfile.ZIP_STORED)}


def text() -> dict[str, bytes]:
    words = "FINDINGS: The lungs are clear. Größe normal.\r\nIMPRESSION: Normal chest.\r\n"
    return {"a.txt": words.encode("cp1252")}


def text_utf16() -> dict[str, bytes]:
    return {"a.txt": "Befund: regelrecht.\nBeurteilung: o.B.\n".encode("utf-16")}


def table() -> dict[str, bytes]:
    rows = ["patient,modality,report", f'{PLANTED},CT,"Clear lungs, ""normal"".\nNo effusion."']
    rows += [f"{PLANTED},MR,Brain {number} is normal." for number in range(3)]
    return {"reports.csv": "\r\n".join(rows).encode()}


def lines() -> dict[str, bytes]:
    rows = [{"patient": PLANTED, "findings": f"Lungs {n} clear.", "n": n} for n in range(3)]
    return {"reports.jsonl": "\n".join(json.dumps(row) for row in rows).encode()}


def hl7() -> dict[str, bytes]:
    segments = [
        "MSH|^~\\&|RIS|H|A|B|20260101||ORU^R01|1|P|2.3", f"PID|1||4711||{PLANTED}||19500101|F",
        "OBR|1|||71020^CHEST PA AND LATERAL", "OBX|1|TX|F^FINDINGS||Lungs are clear.||||||F",
        "OBX|2|FT|I^IMPRESSION||Normal\\.br\\chest \\T\\ heart.||||||F",
    ]  # fmt: skip
    return {"a.hl7": "\r".join(segments).encode()}


def pdf() -> dict[str, bytes]:
    shown = b"BT /F1 12 Tf 72 700 Td (FINDINGS: The lungs are clear.) Tj ET"
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Author (%s) >>" % PLANTED.encode(),
    ]  # fmt: skip
    raw, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(raw))
        raw += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    start = len(raw)
    raw += b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1)
    raw += b"".join(b"%010d 00000 n \n" % place for place in places)
    raw += b"trailer << /Size %d /Root 1 0 R /Info 6 0 R >>\n" % (len(parts) + 1)
    return {"a.pdf": raw + b"startxref\n%d\n%%%%EOF\n" % start}


MADE: dict[str, Callable[[], dict[str, bytes]]] = {
    make.__name__: make
    for make in (
        png, png_palette, png_deep, jpeg, gif, bmp, webp, tiff_float_tiled, tiff_big_pages,
        tiff_rgb16, tiff_lzw, nifti_4d, nifti_rgb, nifti_zipped, nrrd_bzip2, nrrd_raw_4d,
        nrrd_gzip, nrrd_ascii, mha, npz, npz_volumes, archive, archive_stored, text, text_utf16,
        table, lines, hl7, pdf,
    )
}  # fmt: skip
