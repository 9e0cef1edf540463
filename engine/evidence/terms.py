"""Coded words that may leave a header: modalities and body parts as the standard defines them.

A coded tag is free text in practice, and people type names into it. What is not a defined term
does not leave the reader. Sources: DICOM PS3.3 C.7.3.1.1.1 (modalities, retired ones too) and
PS3.16 Annex L (Body Part Examined).
"""

from __future__ import annotations

_MODALITIES = """
    ANN AR ASMT AU BDUS BI BMD CD CF CFM CP CR CS CT CTPROTOCOL DD DF DG DM DMS DS DX EC ECG EEG
    EM EMG EOG EPS ES FA FID FS GM HC HD IO IOL IVOCT IVUS KER KO LEN LP LS MA MG MR MS NM OAM OCT
    OP OPM OPR OPT OPTBSV OPTENF OPV OSS OT PA PLAN POS PR PT PX REG RESP RF RG RTDOSE RTIMAGE
    RTINTENT RTPLAN RTRAD RTRECORD RTSEGANN RTSTRUCT RWV SC SEG SM SMR SR SRF ST STAIN TEXTUREMAP
    TG US VA VF VIDD XA XAPROTOCOL XC
"""
_BODY_PARTS = """
    ABDOMEN ABDOMENPELVIS ADRENAL ANKLE AORTA ARM AXILLA BACK BLADDER BRAIN BREAST BRONCHUS
    BUTTOCK CALCANEUS CALF CAROTID CEREBELLUM CERVIX CHEEK CHEST CHESTABDOMEN CHESTABDPELVIS
    CLAVICLE COCCYX COLON CORNEA CORONARYARTERY CSPINE CTSPINE DUODENUM EAR ELBOW ESOPHAGUS
    EXTREMITY EYE EYELID FACE FEMUR FINGER FOOT FOREARM GALLBLADDER HAND HEAD HEADNECK HEART HIP
    HUMERUS IAC ILEUM ILIUM JAW JEJUNUM KIDNEY KNEE LARYNX LEG LIVER LSPINE LSSPINE LUNG MANDIBLE
    MAXILLA MEDIASTINUM MOUTH NECK NECKCHEST NECKCHESTABDOMEN NECKCHESTABDPELV NOSE ORBIT OVARY
    PANCREAS PAROTID PATELLA PELVIS PENIS PHARYNX PLACENTA PROSTATE RADIUS RECTUM RIB RIBS SACRUM
    SCALP SCAPULA SCLERA SCROTUM SELLA SHOULDER SINUS SKIN SKULL SPINE SPLEEN SSPINE STERNUM
    STOMACH SUBMANDIBULAR TESTIS THIGH THORAX THUMB THYMUS THYROID TIBIA TOE TONGUE TRACHEA TSPINE
    TLSPINE UMBILICUS URETER URETHRA UTERUS VAGINA VULVA WHOLEBODY WRIST ZYGOMA
"""
# View Position of projections (PS3.3 C.8.11.5) and of mammograms (PS3.16 CID 4014)
_VIEWS = """
    AP PA LL RL RLD LLD RLO LLO CC MLO ML LM LMO XCC XCCL XCCM FB SIO ISO CV AT
"""
VIEWS = frozenset(_VIEWS.split())
LATERALITIES = frozenset("LRBU")
MODALITIES = frozenset(_MODALITIES.split())
BODY_PARTS = frozenset(_BODY_PARTS.split())


def modality_of(word: str) -> str | None:
    """A modality as the standard spells it; None for anything else."""
    return _defined(word, MODALITIES)


def body_part_of(word: str) -> str | None:
    """A body part as the standard spells it; None for anything else."""
    return _defined(word, BODY_PARTS)


def view_of(word: str) -> str | None:
    """A view position as the standard spells it; None for anything else."""
    return _defined(word, VIEWS)


def laterality_of(word: str) -> str | None:
    """``L``, ``R``, ``B`` (both) or ``U`` (unpaired); None for anything else."""
    return _defined(word, LATERALITIES)


def _defined(word: str, terms: frozenset[str]) -> str | None:
    plain = word.strip().upper()
    return plain if plain in terms else None
