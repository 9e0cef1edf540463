"""CirrMRI600+: liver MRI, T1 and T2, graded by severity, with healthy subjects as a fourth class.

The grade comes from the tables, the official part from the folder. Healthy numbers restart at 1
and collide with patients', so they carry ``healthy_``; having no official part, they are cut by
subject, once for both sequences. T1 and T2 were split apart: a pair is tested only where both
sides are. Refuses a patient with two grades or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders import choose, volumes
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record, Volume
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.stacks import mr_slices, plain_name
from studies.medheb.sources.tables import read_table

HEALTHY = "No liver cirrhosis"
WORDINGS = {
    "plain": ("mild", "moderate", "severe"),
    "full": ("mild liver cirrhosis", "moderate liver cirrhosis", "severe liver cirrhosis"),
}
SEQUENCES = ("T1", "T2")
PARTS = ("train", "valid", "test")
# name to (folder, file, official part)
Found = dict[str, tuple[str, Path, str]]


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """T1 volumes with their grade, then pairs of both sequences."""
    grades = Grades(WORDINGS[str(settings["wording"])])
    yield from grades.read(root)
    healthy = _healthy(root, settings)
    files = {sequence: _volumes(root, sequence) | healthy[sequence] for sequence in SEQUENCES}
    for sequence in SEQUENCES:
        if not files[sequence]:
            yield Fault(str(root), f"there are no {sequence} volumes in it")
    for name, (_, path, part) in files["T1"].items():
        label = grades.of(name)
        if label is None:
            yield Fault(f"T1 {name}", "no table grades this patient, or two disagree")
            continue
        yield Record(f"t1/{name}", name, part, (label,), volumes={"t1": _shown("T1", name, path)})
    if not settings["healthy_pairs"]:
        files["T2"] = {name: one for name, one in files["T2"].items() if name not in healthy["T2"]}
    yield from _pairs(files, str(settings["pair_part"]))


def _volumes(root: Path, sequence: str) -> Found:
    """Patients' volumes of one sequence; masks of the same names stay out."""
    base = find_inside(root, f"Cirrhosis_{sequence}_3D")
    found: Found = {}
    for part in PARTS if base is not None else ():
        for path in _files(base / f"{part}_images"):  # type: ignore[operator]
            found.setdefault(plain_name(path), (sequence, path, part))
    return found


def _files(folder: Path | None) -> list[Path]:
    """The volumes in a folder, without what an operating system adds."""
    paths = sorted(folder.glob("*.nii*")) if folder is not None else []
    return [path for path in paths if not path.name.startswith(".")]


def _healthy(root: Path, settings: Mapping[str, Any]) -> dict[str, Found]:
    """Healthy subjects' volumes by sequence, cut by subject."""
    files: dict[str, dict[str, Path]] = {}
    for sequence in SEQUENCES:
        folder = find_inside(root, f"{sequence}_W_Healthy/{sequence}_images", depth=4)
        files[sequence] = {f"healthy_{plain_name(path)}": path for path in _files(folder)}
    subjects = [Record(name, name) for name in sorted({n for of in files.values() for n in of})]
    cut = choose.side_of_test(
        subjects, seed=int(settings["seed"]), share=float(settings["test_share"])
    )
    tested = {record.key for record in cut}
    return {
        sequence: {
            name: (sequence, path, "test" if name in tested else "train")
            for name, path in of.items()
        }
        for sequence, of in files.items()
    }


def _shown(sequence: str, name: str, path: Path) -> Volume:
    slices = partial(mr_slices, path, share=0.01, low=1, high=99.5, pick=volumes.between_filled)
    return Volume(f"{sequence}/{name}", slices)


def _pairs(files: Mapping[str, Found], part: str) -> Iterator[Record | Fault]:
    for name in sorted(files["T1"].keys() & files["T2"].keys()):
        first, second = files["T1"][name], files["T2"][name]
        parts = {"both": {first[2], second[2]}, "t1": {first[2]}, "t2": {second[2]}}[part]
        if len(parts) > 1 and "test" in parts:
            yield Fault(
                f"pair {name}",
                f"T1 is of the {first[2]} part and T2 of the {second[2]} part: not tested",
            )
        shown = {key: _shown(key.upper(), name, one[1]) for key, one in
                 (("t1", first), ("t2", second))}  # fmt: skip
        split = next(iter(parts)) if len(parts) == 1 else "mixed"  # neither tested nor trained on
        yield Record(f"pair/{name}", name, split, volumes=shown)


class Grades:
    """The severity of each patient, from every table that is there."""

    def __init__(self, wording: tuple[str, ...]) -> None:
        self._wording = wording
        self._codes: dict[str, set[int]] = {}

    def read(self, root: Path) -> Iterator[Fault]:
        """Take in the tables; what cannot be read is a fault."""
        paths = sorted(root.glob("**/*age_gender_evaluation.csv"))
        if not paths:
            yield Fault(str(root), "there is no table ..._age_gender_evaluation.csv in it")
        for path in paths:
            try:
                yield from self._table(path)
            except EvidenceError as error:
                yield Fault(path.name, error.reason)

    def _table(self, path: Path) -> Iterator[Fault]:
        rows = read_table(path, needs=("Patient ID",))
        column = next((n for _, row in rows for n in row if n.startswith("Radiological")), None)
        if column is None:
            yield Fault(path.name, "there is no column Radiological Evaluation")
            return
        for line, row in rows:
            code = _whole(row.get(column, ""))
            patient = _whole(row["Patient ID"])
            if patient is None or code not in (1, 2, 3):
                if any(row.values()):
                    yield Fault(f"{path.name}, line {line}", "no patient with a grade of 1 to 3")
                continue
            self._codes.setdefault(str(patient), set()).add(code)

    def of(self, name: str) -> str | None:
        """The grade in words, None if there is none or two disagree."""
        if name.startswith("healthy_"):
            return HEALTHY
        number = _whole(name)
        codes = self._codes.get(str(number), set())
        return self._wording[next(iter(codes)) - 1] if len(codes) == 1 else None


def _whole(text: str) -> int | None:
    """A whole number, also one that a table wrote as ``3.0``."""
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() else None


def _graded(record: Record) -> bool:
    return record.key.startswith("t1/")


def _paired(record: Record) -> bool:
    return record.key.startswith("pair/")


CARDS = (
    SourceCard(
        id="cirrmri600_plus",
        title="CirrMRI600+",
        form="3d",
        modality="abdominal MRI, T1- and T2-weighted",
        anatomy="abdomen_pelvis",
        access="open",
        licence="CC BY-NC 4.0",
        url="https://osf.io/cuk24/",
        obtain="Download Cirrhosis_T1_3D.zip, Cirrhosis_T2_3D.zip, Healthy_subjects.zip and "
        "Metadata.zip of OSF project cuk24 and unpack them into one folder; no account is needed.",
        expects=("Cirrhosis_T1_3D", "*/Cirrhosis_T1_3D", "*/*/Cirrhosis_T1_3D"),
        read=read,
        stable=True,
        plans=(
            TaskPlan("cirrmri600/i2l", "label", serves=_graded),
            TaskPlan("cirrmri600/i2i", "exemplars", serves=_graded),
            TaskPlan("cirrmri600/t2i", "text-exemplars", serves=_graded),
            TaskPlan("cirrmri600/t1-t2", "pairs", {"query": "t1", "target": "t2"}, _paired),
            TaskPlan("cirrmri600/t2-t1", "pairs", {"query": "t2", "target": "t1"}, _paired),
        ),
        labels=(*WORDINGS["plain"], HEALTHY),
        settings=(
            Choice(
                "wording", "plain", tuple(WORDINGS),
                "the authors' words for the three grades are unknown",
            ),
            Choice(
                "pair_part", "both", ("both", "t1", "t2"),
                "which sequence's official part says that a pair is tested; T1 and T2 were split "
                "apart, and a patient may stand on different sides",
            ),
            Choice(
                "healthy_pairs", True, (),
                "equal numbers of healthy subjects are taken for one subject in both sequences, "
                "which nobody confirmed",
            ),
        ),
        aliases=("cirrmri600",),
    ),
)  # fmt: skip
