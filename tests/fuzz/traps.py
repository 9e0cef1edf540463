"""Small files that claim or unpack to far more than a machine has. Each must end in a sentence.

What unpacks to gigabytes is made by repeating one piece of a deflate stream, in milliseconds.
"""

from __future__ import annotations

import binascii
import bz2
import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np
from pydicom.uid import JPEG2000Lossless, RLELossless

from tests.fuzz import makers, makers_dicom
from tests.fuzz.makers import STAMP, nifti_bytes, ramp

PIECE = 32 << 20
GIGA = 1 << 30


def endless(size: int, *, start: bytes = b"", fill: bytes = b"\0", end: bytes = b"") -> bytes:
    """A raw deflate stream of ``start``, about ``size`` bytes of ``fill``, and ``end``."""
    engine = zlib.compressobj(9, wbits=-15)
    first = engine.compress(start) + engine.flush(zlib.Z_FULL_FLUSH)
    engine = zlib.compressobj(9, wbits=-15)
    piece = engine.compress(fill * PIECE) + engine.flush(zlib.Z_FULL_FLUSH)
    return first + piece * max(1, size // PIECE) + _last(end)


def _last(raw: bytes) -> bytes:
    engine = zlib.compressobj(9, wbits=-15)
    return engine.compress(raw) + engine.flush()


def gzipped(size: int, start: bytes) -> bytes:
    """A gzip file that unpacks to gigabytes of zeros after ``start``."""
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + endless(size, start=start) + bytes(8)


def in_zip(name: str, stream: bytes, size: int) -> bytes:
    """An archive whose only member is a ready deflate stream."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(name, STAMP), stream)
    made = bytearray(raw.getvalue())
    central = made.rindex(b"PK\x01\x02")
    for at in (8, central + 10):
        struct.pack_into("<H", made, at, zipfile.ZIP_DEFLATED)
    for at in (22, central + 24):
        struct.pack_into("<I", made, at, min(size, 0xFFFFFFF0))
    return bytes(made)


def zip_bomb() -> bytes:
    size = 3 * GIGA
    return in_zip("a.txt", endless(size), size)


def zip_lies() -> bytes:
    """The directory claims a thousand bytes."""
    return in_zip("a.dcm", endless(3 * GIGA), 1000)


def zip_nested() -> bytes:
    raw = makers.png()["a.png"]
    for depth in range(60):
        raw = makers.zipped({f"{depth}.zip" if depth else "a.png": raw})
    return raw


def zip_many() -> bytes:
    """A hundred thousand names for one member's bytes."""
    raw = bytearray(makers.zipped({"a.txt": b"Normal chest."}))
    start, end = raw.rindex(b"PK\x01\x02"), raw.rindex(b"PK\x05\x06")
    entry, count = bytes(raw[start:end]), 65_000
    tail = bytearray(raw[end:])
    struct.pack_into("<HHII", tail, 8, count, count, count * len(entry), start)
    return bytes(raw[:start]) + entry * count + bytes(tail)


def csv_long_line() -> bytes:
    size = 224 << 20
    return in_zip("reports.csv", endless(size, start=b"id,report\n1,", fill=b"a"), size)


def jsonl_long_line() -> bytes:
    size = 224 << 20
    head = b'{"report": "Normal."}\n{"report": "'
    return in_zip("reports.jsonl", endless(size, start=head, fill=b"a"), size)


def jsonl_deep() -> bytes:
    return b'{"report": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"


def nifti_claim() -> bytes:
    raw = bytearray(nifti_bytes(ramp(5, 4, 3, kind="i2"), 4))
    struct.pack_into("<8h", raw, 40, 7, 32000, 32000, 32000, 32000, 100, 100, 100)
    return bytes(raw)


def nifti_large() -> bytes:
    """Claims what may be opened, holds nothing of it."""
    raw = bytearray(nifti_bytes(ramp(5, 4, 3, kind="i2"), 4))
    struct.pack_into("<8h", raw, 40, 3, 1800, 1800, 1500, 1, 1, 1, 1)
    return bytes(raw)


def nifti_gzip_bomb() -> bytes:
    head = bytearray(nifti_bytes(ramp(5, 4, 3, kind="i2"), 4))
    struct.pack_into("<8h", head, 40, 3, 1800, 1800, 1500, 1, 1, 1, 1)
    return gzipped(10 * GIGA, bytes(head[:352]))


def gzip_bomb() -> bytes:
    return gzipped(10 * GIGA, b"FINDINGS: ")


def _nrrd(sizes: str, encoding: str, body: bytes) -> bytes:
    head = f"NRRD0004\ntype: int16\ndimension: 3\nsizes: {sizes}\nencoding: {encoding}\n"
    return f"{head}endian: little\n\n".encode() + body


def nrrd_claim() -> bytes:
    return _nrrd("999999 999999 999999", "raw", bytes(100))


def nrrd_large() -> bytes:
    return _nrrd("1800 1800 1500", "raw", bytes(100))


def nrrd_gzip_bomb() -> bytes:
    return _nrrd("8 8 8", "gzip", gzipped(10 * GIGA, b""))


def nrrd_bzip2_bomb() -> bytes:
    return _nrrd("1800 1800 1500", "bzip2", bz2.compress(bytes(PIECE)) * 3)


def mha_claim() -> bytes:
    head = "ObjectType = Image\nNDims = 3\nDimSize = 99999 99999 99999\nElementType = MET_SHORT\n"
    return f"{head}ElementDataFile = LOCAL\n".encode() + bytes(50)


def mha_large() -> bytes:
    head = "ObjectType = Image\nNDims = 3\nDimSize = 1800 1800 1500\nElementType = MET_SHORT\n"
    return f"{head}CompressedData = True\nElementDataFile = LOCAL\n".encode() + bytes(50)


def _chunk(name: bytes, body: bytes) -> bytes:
    check = binascii.crc32(name + body)
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", check)


def _png(width: int, height: int, *chunks: bytes) -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + _chunk(b"IEND", b"")


def png_claim() -> bytes:
    return _png(2_000_000_000, 2_000_000_000, _chunk(b"IDAT", zlib.compress(b"\0" * 100)))


def png_large() -> bytes:
    return _png(19_000, 19_000, _chunk(b"IDAT", zlib.compress(b"\0" * 100)))


def png_words_bomb() -> bytes:
    words = b"\x78\xda" + endless(GIGA, fill=b"a")
    return _png(4, 4, _chunk(b"zTXt", b"Comment\0\0" + words), _chunk(b"IDAT", zlib.compress(
        b"\0" * 52)))  # fmt: skip


def _tiff(width: int, height: int, *, next_ifd: int = 0, strips: int = 1) -> bytes:
    tags = [
        (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1),
        (273, 4, strips, 8), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, strips, 100),
    ]  # fmt: skip
    body = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return b"II*\0" + struct.pack("<I", 8) + body + struct.pack("<I", next_ifd) + bytes(200)


def tiff_claim() -> bytes:
    return _tiff(0x7FFFFFFF, 0x7FFFFFFF)


def tiff_large() -> bytes:
    return _tiff(19_000, 19_000)


def tiff_loop() -> bytes:
    """The directory of pages leads back to its start."""
    return _tiff(4, 4, next_ifd=8)


def tiff_strips() -> bytes:
    return _tiff(64, 64, strips=0x3FFFFFFF)


def gif_claim() -> bytes:
    raw = bytearray(makers.gif()["a.gif"])
    struct.pack_into("<HH", raw, 6, 65535, 65535)
    return bytes(raw)


def dicom_claim() -> bytes:
    dataset = makers_dicom.pictured(makers_dicom.header("US"), ramp(2, 8, 8))
    dataset.Rows = dataset.Columns = 65535
    dataset.NumberOfFrames = 2_000_000
    return makers_dicom.saved(dataset)


def dicom_codestream_claim() -> bytes:
    """The DICOM header is small, the JPEG 2000 codestream claims gigabytes."""
    import imagecodecs

    frame = bytearray(imagecodecs.jpeg2k_encode(ramp(32, 32), codecformat="j2k"))
    at = frame.index(b"\xff\x51")
    struct.pack_into(">IIIIIIII", frame, at + 6, 60_000, 60_000, 0, 0, 60_000, 60_000, 0, 0)
    return makers_dicom.compressed(JPEG2000Lossless, [bytes(frame)], ramp(1, 32, 32))


def dicom_rle_claim() -> bytes:
    dataset_frame = struct.pack("<16I", 1, 64, *[0] * 14) + b"\x81\0" * 50
    return makers_dicom.compressed(RLELossless, [dataset_frame], np.zeros((1, 9000, 9000), "u1"))


def dicom_deflated_bomb() -> bytes:
    raw = makers_dicom.ct(syntax=makers_dicom.DEFLATED)
    meta = raw.index(b"\x02\x00\x00\x00UL") + 8
    start = meta + 4 + struct.unpack_from("<I", raw, meta)[0]
    inside = zlib.decompress(raw[start:], -15)
    words = b"\x08\x00\x20\x40UT\0\0" + struct.pack("<I", 0xF0000000)
    return raw[:start] + endless(4 * GIGA, start=inside[:60] + words)


def sr_deep() -> bytes:
    """Ten thousand content items, each inside the last; written by hand, as recursion ends."""
    raw = makers_dicom.report()["a.dcm"]
    begin = b"\x40\x00\x30\xa7SQ\0\0\xff\xff\xff\xff\xfe\xff\x00\xe0\xff\xff\xff\xff"
    kind = b"\x40\x00\x40\xa0CS\x0a\0CONTAINER "
    end = b"\xfe\xff\x0d\xe0\0\0\0\0\xfe\xff\xdd\xe0\0\0\0\0"
    head = raw[: raw.index(b"\x40\x00\x30\xa7SQ")]
    return head + begin + (kind + begin) * 10_000 + end * 10_001


def sequences_endless() -> bytes:
    """Items are opened and never closed."""
    raw = makers_dicom.ct()
    at = raw.index(b"\x10\x00\x10\x00PN")
    begin = b"\x08\x00\x40\x11SQ\0\0\xff\xff\xff\xff\xfe\xff\x00\xe0\xff\xff\xff\xff"
    return raw[:at] + begin * 100_000


def pdf_bomb() -> bytes:
    body = b"\x78\xda" + endless(4 * GIGA, start=b"BT (Normal) Tj ET ", fill=b" ")
    return _pdf(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (
        len(body), body))  # fmt: skip


def pdf_loop() -> bytes:
    """The tree of pages has itself as a branch."""
    raw = makers.pdf()["a.pdf"]
    return raw.replace(b"/Kids [3 0 R]", b"/Kids [2 0 R]")


def _pdf(contents: bytes) -> bytes:
    raw = makers.pdf()["a.pdf"]
    start = raw.index(b"4 0 obj\n") + 8
    end = raw.index(b"\nendobj", start)
    return raw[:start] + contents + raw[end:]


def _npy(shape: str, descr: str = "|u1") -> bytes:
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (117 - len(head)) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + bytes(100)


def npz_claim() -> bytes:
    return makers.zipped({"train_images.npy": _npy("(9999999, 999, 999)"),
                          "train_labels.npy": _npy("(9999999, 1)")})  # fmt: skip


def npz_pickle() -> bytes:
    return makers.zipped({"train_images.npy": _npy("(4, 8, 8)", "|O"),
                          "train_labels.npy": _npy("(4, 1)")})  # fmt: skip


def npz_bomb() -> bytes:
    head = _npy("(65536, 256, 256)")[:128]
    return in_zip("train_images.npy", endless(4 * GIGA, start=head), 4 * GIGA)


# name of the file and its maker; what ends well may, all must end within bounds
TRAPS: dict[str, Callable[[], bytes]] = {
    "zip_bomb.zip": zip_bomb, "zip_lies.zip": zip_lies, "zip_nested.zip": zip_nested,
    "zip_many.zip": zip_many, "csv_long_line.zip": csv_long_line,
    "jsonl_long_line.zip": jsonl_long_line, "jsonl_deep.jsonl": jsonl_deep,
    "nifti_claim.nii": nifti_claim, "nifti_large.nii": nifti_large,
    "nifti_gzip_bomb.nii.gz": nifti_gzip_bomb, "gzip_bomb.txt.gz": gzip_bomb,
    "nrrd_claim.nrrd": nrrd_claim, "nrrd_large.nrrd": nrrd_large,
    "nrrd_gzip_bomb.nrrd": nrrd_gzip_bomb, "nrrd_bzip2_bomb.nrrd": nrrd_bzip2_bomb,
    "mha_claim.mha": mha_claim, "mha_large.mha": mha_large, "png_claim.png": png_claim,
    "png_large.png": png_large, "png_words_bomb.png": png_words_bomb, "tiff_claim.tif": tiff_claim,
    "tiff_large.tif": tiff_large, "tiff_loop.tif": tiff_loop, "tiff_strips.tif": tiff_strips,
    "gif_claim.gif": gif_claim, "dicom_claim.dcm": dicom_claim,
    "dicom_codestream_claim.dcm": dicom_codestream_claim, "dicom_rle_claim.dcm": dicom_rle_claim,
    "dicom_deflated_bomb.dcm": dicom_deflated_bomb, "sr_deep.dcm": sr_deep,
    "sequences_endless.dcm": sequences_endless, "pdf_bomb.pdf": pdf_bomb, "pdf_loop.pdf": pdf_loop,
    "npz_claim.npz": npz_claim, "npz_pickle.npz": npz_pickle, "npz_bomb.npz": npz_bomb,
}  # fmt: skip
