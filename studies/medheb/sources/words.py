"""What several sources share: questions and answers as records, and tables of JSON.

Owns how a cell becomes a text, what is missing in a pair, and when two spellings are one answer.
Changes no wording unless a source's setting asks for it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import Any

from engine.errors import EvidenceError
from engine.evidence.files import exists, open_file
from studies.medheb.builders.card import Reader
from studies.medheb.builders.pictures import POINTER, is_pointer
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.tasks import stays_inside

Found = Record | Fault
_BLANKS = re.compile(r"\s+")


def telling(read: Reader) -> Reader:
    """A reader whose failures over a whole file are faults that name the file."""

    @wraps(read)
    def told(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
        try:
            yield from read(root, settings)
        except EvidenceError as error:
            yield Fault(error.path.name, error.reason)

    return told


def unpacked(root: Path, folder: str, archive: str) -> Path | None:
    """A folder of pictures, or its place inside the archive that was not unpacked.

    Raises:
        EvidenceError: the archive is a pointer, or only part of one.
    """
    found = find_inside(root, folder)
    if found is not None:
        return found
    packed = find_inside(root, archive)
    if packed is None:
        return None
    if is_pointer(packed):
        says = "this is a Git LFS pointer, not the archive; download the archive itself"
        raise EvidenceError(packed, "missing", says)
    if not zipfile.is_zipfile(packed):
        says = "is no archive that opens: it ends too early; download it again"
        raise EvidenceError(packed, "damaged", says)
    return packed / folder


def picture_at(folder: Path, name: object, where: str) -> Picture | Fault:
    """The picture file of a row; a fault where it names none, or none that is there."""
    if not isinstance(name, str) or not name.strip() or not stays_inside(name):
        return Fault(where, "names no picture inside the set")
    path = folder / name
    try:
        there = path.is_file() or (not folder.is_dir() and exists(path))
    except OSError:  # a name that no file can have
        there = False
    if not there:
        return Fault(where, f"its picture is not in {folder.name}")
    return Picture(str(PurePosixPath(name)), path)


def text_of(value: object) -> str:
    """A cell as text without blanks round it: numbers as they are written, nothing as nothing.

    Raises:
        ValueError: it is a list, an object, a truth value or a text that UTF-8 cannot hold.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{type(value).__name__} where a text was expected")
    text = str(value).strip()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("a text holds half a character") from error
    return text


def lowered(text: str) -> str:
    """Lower case, blanks squeezed."""
    return _BLANKS.sub(" ", text).strip().lower()


def folded(text: str) -> str:
    """What two spellings of one answer share: case, blanks and a final full stop set aside."""
    return _BLANKS.sub(" ", text).strip().rstrip(".").rstrip().casefold()


def asked(
    where: str,
    key: str,
    question: object,
    answer: object,
    *,
    group: str = "",
    split: str = "test",
    pictures: tuple[Picture, ...] = (),
    stratum: str = "",
) -> Found:
    """A question with its answer; a fault naming what is missing.

    Args:
        where: file and row, for the fault.
        key: of the record.
        question: as the source has it.
        answer: as the source has it.
        group: of the record; the key where empty.
        split: the official part, empty where there is none.
        pictures: what the question is about.
        stratum: kind of question, or set it is from.
    """
    try:
        words = {"question": text_of(question), "answer": text_of(answer)}
    except ValueError as error:
        return Fault(where, str(error))
    for name, text in words.items():
        if not text:
            return Fault(where, f"there is no {name}")
    return Record(key, group or key, split, (), pictures, texts=words, stratum=stratum)


def once(found: Iterable[Found]) -> Iterator[Found]:
    """Leave out a pair that its part had already about the same picture, and say so."""
    seen: set[tuple[str, ...]] = set()
    for one in found:
        if isinstance(one, Record):
            named = (picture.name for picture in one.pictures)
            same = (one.split, *named, *one.texts.values())
            if same in seen:
                yield Fault(one.key, "the same question and answer stood there already: left out")
                continue
            seen.add(same)
        yield one


def with_answers(found: Iterable[Found], change: Callable[[str], str]) -> Iterator[Found]:
    """The records with their answers reworded."""
    for one in found:
        if isinstance(one, Record):
            one = replace(one, texts={**one.texts, "answer": change(one.texts["answer"])})
        yield one


def merged(found: Iterable[Found], same: Callable[[str], str] = folded) -> Iterator[Found]:
    """The records with one spelling for each answer: the most frequent, of equals the first."""
    listed = list(found)
    spellings: dict[str, Counter[str]] = {}
    for one in listed:
        if isinstance(one, Record):
            answer = one.texts["answer"]
            spellings.setdefault(same(answer), Counter())[answer] += 1
    chosen = {
        key: min(counts, key=lambda text: (-counts[text], text))
        for key, counts in spellings.items()
    }  # fmt: skip
    yield from with_answers(listed, lambda answer: chosen[same(answer)])


def name_of(*parts: str) -> str:
    """A short stable name made of texts."""
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=12).hexdigest()


def read_text(path: Path) -> str:
    """A text file in UTF-8, with or without its mark, also gzip.

    Raises:
        EvidenceError: it is missing, a pointer, or no such text.
    """
    try:
        with open_file(path) as stream:
            content = stream.read()
    except OSError as error:
        raise EvidenceError(path, "missing", f"cannot be read ({error.strerror})") from error
    if content.startswith(POINTER):
        says = "this is a Git LFS pointer, not the file; download the file itself"
        raise EvidenceError(path, "missing", says)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EvidenceError(path, "damaged", "is no text in UTF-8") from error


def read_json(path: Path) -> Any:
    """A JSON document.

    Raises:
        EvidenceError: it cannot be read or is no JSON.
    """
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise EvidenceError(path, "damaged", f"is no JSON ({error})") from error


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]] | Fault]:
    """The objects of a JSON array or of JSON lines, each with its place; bad ones as faults.

    Raises:
        EvidenceError: the file cannot be read, or is an array that is damaged.
    """
    text = read_text(path)
    if text.lstrip().startswith("["):
        for place, value in enumerate(read_json(path)):
            yield _object(f"{path.name}, entry {place}", value)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _line(f"{path.name}, line {number}", line)


def _line(where: str, line: str) -> tuple[str, dict[str, Any]] | Fault:
    try:
        return _object(where, json.loads(line))
    except (ValueError, RecursionError) as error:
        return Fault(where, f"is no JSON ({error})")


def _object(where: str, value: Any) -> tuple[str, dict[str, Any]] | Fault:
    return (where, value) if isinstance(value, dict) else Fault(where, "is no object with fields")
