"""DICOM objects that hold no picture: what each of them is, in a sentence.

Owns the list of their classes (PS3.4 B.5 and others). Refuses to show anything of what they hold.
"""

from __future__ import annotations

STORAGE = "1.2.840.10008.5.1.4.1.1."
# how the class's identifier begins, what it is; the longest beginning counts
SENTENCES = {
    "9.": "it holds curves over time, such as an ECG or a pulse",
    "11.": "it says how another picture is to be shown",
    "88.59": "it lists pictures that somebody marked",
    "88.40": "it is a log of a procedure",
    "88.67": "it is a report of radiation dose",
    "88.68": "it is a report of radiation dose",
    "4.2": "it holds spectra of nuclear magnetic resonance",
    "66": "it holds raw data of a scanner, not yet a picture",
    "66.1": "it holds a registration: how one space lies in another",
    "66.2": "it holds fiducial points of other pictures",
    "66.3": "it holds a registration that deforms: how one space lies in another",
    "66.5": "it holds surfaces found in another series",
    "66.6": "it holds tracts of nerve fibres",
    "67": "it says which measurements the values of other pictures are",
    "68.": "it holds a surface scan of a body",
    "78.": "it holds measurements of eyes",
    "79.1": "it holds measurements of eyes",
    "80.1": "it holds measurements of eyes",
    "104.1": "it holds an enclosed PDF document",
    "104.2": "it holds an enclosed clinical document",
    "104.3": "it holds an enclosed three-dimensional model",
    "104.4": "it holds an enclosed three-dimensional model",
    "104.5": "it holds the surface colours of a three-dimensional model",
    "131": "it says how other pictures are to be laid out",
    "481.3": "it holds outlines of organs and targets, drawn on another series",
    "481.4": "it is a record of treatment with radiation",
    "481.5": "it is a plan of treatment with radiation",
    "481.6": "it is a record of treatment with radiation",
    "481.7": "it is a record of treatment with radiation",
    "481.8": "it is a plan of treatment with radiation",
    "481.9": "it is a record of treatment with radiation",
    "481.10": "it is a plan of treatment with radiation",
}
OTHERS = {
    "1.2.840.10008.5.1.4.38.1": "it says how pictures are to be hung",
    "1.2.840.10008.5.1.4.39.1": "it holds a palette of colours",
    "1.2.840.10008.5.1.4.43.1": "it describes an implant",
    "1.2.840.10008.1.3.10": "it lists the files of a disc",
}


def sentence_of(uid: str) -> str:
    """What an object of this class is; empty for classes that are not listed."""
    if uid in OTHERS:
        return OTHERS[uid]
    kind = uid.removeprefix(STORAGE)
    if kind == uid:
        return ""
    if kind in SENTENCES:
        return SENTENCES[kind]
    starts = [one for one in SENTENCES if one.endswith(".") and kind.startswith(one)]
    return SENTENCES[max(starts, key=len)] if starts else ""
