"""What is said about a patient: labels, reports, impressions, questions and their answers.

Owns every sentence of the demo: a small vocabulary, short sentences, ASCII only, distinct per
patient by side, lobe, size, severity, heart and device.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studies.demo.chest_case import ChestCase
from studies.demo.phantom_brain import BrainCase


@dataclass(frozen=True)
class Report:
    """Findings and impression of one study."""

    findings: str
    impression: str

    @property
    def text(self) -> str:
        """Both parts under their headings."""
        return f"FINDINGS: {self.findings} IMPRESSION: {self.impression}"


DEVICE_WORDS = {
    "none": "No device",
    "pacemaker": "Pacemaker on the {side}",
    "port": "Port catheter on the {side}",
    "wires": "Sternal wires",
    "valve": "Heart valve ring",
}


def device_words(case: ChestCase) -> str:
    """The device without a full stop."""
    return DEVICE_WORDS[case.device].format(side=case.device_side)


def chest_report(case: ChestCase) -> Report:
    """The report of a chest patient, in the wording of the patient's source."""
    return _held_out_report(case) if case.source == "chest_b" else _chest_report(case)


def _chest_report(case: ChestCase) -> Report:
    size, side, lobe = case.size_mm, case.side, case.lobe
    found = {
        "No finding": "The lungs are clear. No effusion.",
        "Lung nodule": f"There is a round nodule of {size} mm in the {lobe}.",
        "Lung mass": f"There is a large mass of {size} mm in the {lobe}.",
        "Pleural effusion": f"There is a {case.grade} {side} pleural effusion of {size} mm.",
        "Pneumothorax": f"There is a {case.grade} {side} pneumothorax of {size} mm.",
        "Consolidation": f"There is a patchy consolidation of {size} mm in the {lobe}.",
        "Cardiomegaly": "The heart is enlarged. The lungs are clear.",
        "Emphysema": f"There is {case.grade} emphysema of both lungs. The diaphragm is flat.",
    }[case.label]
    heart = "wide" if case.label == "Cardiomegaly" else "normal"
    findings = (
        f"{found} Heart size is {heart} with a ratio of {case.heart_ratio:.2f}. "
        f"{device_words(case)}."
    )
    return Report(findings, f"{chest_summary(case)}. {device_words(case)}.")


def chest_summary(case: ChestCase) -> str:
    """The finding in a few words."""
    size, side, lobe = case.size_mm, case.side, case.lobe
    return {
        "No finding": f"No acute finding, heart ratio {case.heart_ratio:.2f}",
        "Lung nodule": f"Lung nodule of {size} mm, {lobe}",
        "Lung mass": f"Lung mass of {size} mm, {lobe}",
        "Pleural effusion": f"{case.grade.capitalize()} {side} pleural effusion of {size} mm",
        "Pneumothorax": f"{case.grade.capitalize()} {side} pneumothorax of {size} mm",
        "Consolidation": f"Consolidation of {size} mm, {lobe}",
        "Cardiomegaly": f"Cardiomegaly, heart ratio {case.heart_ratio:.2f}",
        "Emphysema": f"{case.grade.capitalize()} emphysema, heart ratio {case.heart_ratio:.2f}",
    }[case.label]


def _held_out_report(case: ChestCase) -> Report:
    """Another hospital's style: the same facts, other sentences."""
    size, side, lobe = case.size_mm, case.side, case.lobe
    found = {
        "No finding": "Both lungs well aerated, no focal lesion.",
        "Lung nodule": f"Small rounded nodule, {lobe}, diameter {size} mm.",
        "Lung mass": f"Bulky mass, {lobe}, diameter {size} mm.",
        "Pleural effusion": f"Pleural effusion {side}, depth {size} mm, {case.grade}.",
        "Pneumothorax": f"Pneumothorax {side}, width {size} mm, {case.grade}.",
        "Consolidation": f"Airspace consolidation, {lobe}, extent {size} mm.",
        "Cardiomegaly": "Cardiac shadow broad, lungs free.",
        "Emphysema": f"Emphysema, {case.grade}, lungs over inflated.",
    }[case.label]
    ratio = f"{case.heart_ratio:.2f}"
    findings = (
        f"Portable film. {found} Cardiothoracic ratio {ratio}. Hardware: {device_words(case)}."
    )
    return Report(findings, f"{chest_summary(case)}. Hardware: {device_words(case)}.")


def chest_questions(case: ChestCase) -> tuple[tuple[str, str], ...]:
    """Question and answer pairs that the picture can answer."""
    pairs = [
        ("What is the main finding?", case.label),
        ("What device is seen?", device_words(case)),
        ("Is the heart enlarged?", "Yes, enlarged" if case.label == "Cardiomegaly" else "No"),
    ]
    if case.side:
        pairs.append(("Which side is abnormal?", case.side.capitalize()))
    if case.lobe:
        pairs.append(("Which lobe is abnormal?", case.lobe.capitalize()))
    if case.grade:
        pairs.append(("How severe is the finding?", case.grade.capitalize()))
    return tuple(pairs)


def brain_report(case: BrainCase) -> Report:
    """The report of a brain patient."""
    where = f"the {case.side} {case.lobe}"
    found = {
        "No lesion": "No mass. No infarct.",
        "Glioma": f"There is an irregular glioma of {case.size_mm} mm in {where} with edema.",
        "Meningioma": f"There is a smooth meningioma of {case.size_mm} mm over {where}.",
        "Metastases": f"There are {case.count} metastases, the largest of {case.size_mm} mm in "
        f"{where}.",
        "Infarct": f"There is an infarct of {case.size_mm} mm in {where}.",
        "Hydrocephalus": "Both lateral ventricles are very wide. No mass.",
    }[case.label]
    return Report(f"{found} The ventricles are {case.grade}.", f"{brain_summary(case)}.")


def brain_summary(case: BrainCase) -> str:
    """The finding in a few words."""
    if case.label in ("No lesion", "Hydrocephalus"):
        return f"{case.label}, {case.grade} ventricles"
    return f"{case.label} of {case.size_mm} mm, {case.side} {case.lobe}"


def brain_questions(case: BrainCase) -> tuple[tuple[str, str], ...]:
    """Question and answer pairs that the volume can answer."""
    pairs = [
        ("What is the main finding?", case.label),
        ("How wide are the ventricles?", case.grade.capitalize()),
    ]
    if case.side:
        pairs += [
            ("Which side is abnormal?", case.side.capitalize()),
            ("Which lobe is abnormal?", case.lobe.capitalize()),
            (
                "Is there more than one lesion?",
                "Several lesions" if case.count > 1 else "One lesion",
            ),
        ]
    return tuple(pairs)


# What is done next, and who asks for it; {what} is the finding in words.
ADVICE = {
    "No finding": "No further imaging is needed for",
    "Lung nodule": "Repeat the chest CT in six months for",
    "Lung mass": "Take a biopsy of",
    "Pleural effusion": "Drain the fluid of",
    "Pneumothorax": "Place a chest drain for",
    "Consolidation": "Give antibiotics for",
    "Cardiomegaly": "Ask for an echocardiogram for",
    "Emphysema": "Measure lung function for",
    "No lesion": "No further imaging is needed for",
    "Glioma": "Ask the neurosurgeon about resection of",
    "Meningioma": "Repeat the MRI in one year for",
    "Metastases": "Plan radiotherapy for",
    "Infarct": "Start stroke treatment for",
    "Hydrocephalus": "Consider a shunt for",
}
ASKS = (
    "What should be done for this patient? {what}.",
    "A patient has this result: {what}. What is the next step?",
    "Which step follows for a patient with {what}?",
)


def advice(case: ChestCase | BrainCase, rng: np.random.Generator) -> tuple[str, str]:
    """A question about a patient and the answer that repeats what it is about."""
    what = chest_summary(case) if isinstance(case, ChestCase) else brain_summary(case)
    what = what[0].lower() + what[1:]
    ask = str(rng.choice(ASKS)).format(what=what)
    return ask[0].upper() + ask[1:], f"{ADVICE[case.label]} {what}."


# Regions of a frontal film: name, centre in mm (x, z) and reach in mm (x, z).
REGIONS = {
    "right upper lung zone": ((-72.0, 70.0), (48.0, 44.0)),
    "left upper lung zone": ((72.0, 70.0), (48.0, 44.0)),
    "right lower lung zone": ((-84.0, -30.0), (52.0, 50.0)),
    "left lower lung zone": ((92.0, -30.0), (48.0, 50.0)),
    "heart": ((20.0, -40.0), (74.0, 62.0)),
    "upper mediastinum": ((0.0, 78.0), (36.0, 54.0)),
}
