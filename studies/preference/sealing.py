"""Locks and opens the key of a study: scrypt for the passphrase, AES-256-GCM for the content.

Owns the format of ``key.sealed``. Refuses to keep a passphrase, and to open what was altered.
"""

from __future__ import annotations

import base64
import json
import secrets
import unicodedata
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from studies.errors import BadStudy, WrongPassphrase
from studies.preference.frozen import canonical

FORMAT = "triptych-key-1"
COST = {"n": 2**15, "r": 8, "p": 1}
LIMITS = {"n": 2**20, "r": 16, "p": 4}
PAGE = 4096


def seal(plain: bytes, passphrase: str) -> bytes:
    """Encrypt a key.

    The plain text is padded to whole pages, so that the length of a name does not show.

    Raises:
        WrongPassphrase: the passphrase is empty.
    """
    if not passphrase.strip():
        raise WrongPassphrase("A study needs a passphrase that is not empty; choose one.")
    salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
    header = {
        "format": FORMAT,
        "kdf": "scrypt",
        **COST,
        "salt": _text(salt),
        "cipher": "AES-256-GCM",
        "nonce": _text(nonce),
    }
    padded = plain + b" " * (-len(plain) % PAGE)
    data = AESGCM(_derive(header, passphrase)).encrypt(nonce, padded, canonical(header))
    return canonical({**header, "data": _text(data)})


def unseal(sealed: bytes, passphrase: str) -> bytes:
    """Decrypt a key.

    Returns:
        The plain text without its padding.

    Raises:
        WrongPassphrase: the passphrase does not fit.
        BadStudy: the file is not a sealed key.
    """
    header, data = _read(sealed)
    try:
        padded = AESGCM(_derive(header, passphrase)).decrypt(
            base64.b64decode(header["nonce"]), data, canonical(header)
        )
    except InvalidTag as error:
        raise WrongPassphrase(
            "The key does not open with this passphrase. Check capitals and layout and try again; "
            "without the passphrase nobody can open it."
        ) from error
    return padded.rstrip(b" ")


def _read(sealed: bytes) -> tuple[dict[str, Any], bytes]:
    try:
        header = json.loads(sealed.decode("utf-8"))
        data = base64.b64decode(header.pop("data"), validate=True)
        fits = header["format"] == FORMAT and all(
            isinstance(header[name], int) and 1 <= header[name] <= limit
            for name, limit in LIMITS.items()
        )
        lengths = [len(base64.b64decode(header[name])) for name in ("salt", "nonce")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_key() from error
    if not fits or lengths != [16, 12]:
        raise _no_key()
    return header, data


def _no_key() -> BadStudy:
    return BadStudy("key.sealed is not a key of this program or was altered; fetch it again.")


def _derive(header: dict[str, Any], passphrase: str) -> bytes:
    kdf = Scrypt(
        salt=base64.b64decode(header["salt"]),
        length=32,
        n=header["n"],
        r=header["r"],
        p=header["p"],
    )
    # One spelling on every system: an accent may come as one character or as two.
    spelled = unicodedata.normalize("NFC", passphrase)
    return kdf.derive(spelled.encode("utf-8", "surrogatepass"))


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
