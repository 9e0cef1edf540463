"""The tables, as they are now. The home database and a study file are two separate schemas.

Owns names and types only; how a file gets here from an older version is in ``db.migrations``,
and a test holds the two together. Refuses to hold, in a study file, anything that tells a
model, the gold or the stratum.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}

_JSON = JSON(none_as_null=True)
# 64 bits in both dialects; SQLite's only integer primary key that needs no index is INTEGER
_LONG = BigInteger().with_variant(Integer(), "sqlite")

HOME = MetaData(naming_convention=NAMES)
STUDY = MetaData(naming_convention=NAMES)

# ---------------------------------------------------------------- home database

meta = Table(
    "meta",
    HOME,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

collection = Table(
    "collection",
    HOME,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_utc", Text, nullable=False),
)

evidence = Table(
    "evidence",
    HOME,
    Column("id", Integer, primary_key=True),
    Column("collection_id", ForeignKey("collection.id", ondelete="CASCADE"), nullable=False),
    Column("path", Text, nullable=False),
    Column("series_key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("form", Text),
    Column("modality", Text),
    Column("shape", _JSON),
    Column("subject", Text),
    Column("text", Text),
    Column("digest", Text),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("details", _JSON, nullable=False),
    Column("added_utc", Text, nullable=False),
    Column("body_part", Text),
    # salted tokens and a day counted from a secret one: enough to say "the same", nothing else
    Column("study", Text),
    Column("series", Text),
    Column("day", Integer),
    Column("warnings", _JSON),
    Column("times", Integer, nullable=False, server_default="1"),
    Column("folder", Text, nullable=False, server_default=""),
    Column("file_count", Integer, nullable=False, server_default="0"),
    Column("laterality", Text),
    Column("view", Text),
    UniqueConstraint("collection_id", "path", "series_key", name="uq_evidence_place"),
)
Index("ix_evidence_filter", evidence.c.collection_id, evidence.c.form, evidence.c.modality)
Index("ix_evidence_body_part", evidence.c.collection_id, evidence.c.body_part)
Index("ix_evidence_subject", evidence.c.collection_id, evidence.c.subject)
Index("ix_evidence_study", evidence.c.collection_id, evidence.c.study)
Index("ix_evidence_folder", evidence.c.collection_id, evidence.c.folder, evidence.c.series)
_TOLD = text("text <> ''")
Index("ix_evidence_told_study", evidence.c.collection_id, evidence.c.study, sqlite_where=_TOLD)
Index(
    "ix_evidence_told_folder",
    evidence.c.collection_id,
    evidence.c.folder,
    evidence.c.study,
    sqlite_where=_TOLD,
)

evidence_file = Table(
    "evidence_file",
    HOME,
    Column("evidence_id", ForeignKey("evidence.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("path", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
)
Index("ix_evidence_file_path", evidence_file.c.path)

# files on disk that were read to their end, whatever came of them; what an import need not repeat
indexed_file = Table(
    "indexed_file",
    HOME,
    Column("collection_id", ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True),
    Column("folder", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("reader", Integer, nullable=False),
    sqlite_with_rowid=False,
)

task_result = Table(
    "task_result",
    HOME,
    Column("id", Integer, primary_key=True),
    Column("data_digest", Text, nullable=False),
    Column("task_digest", Text, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("model_id", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("family", Text, nullable=False),
    Column("form", Text, nullable=False),
    Column("split", Text, nullable=False),
    Column("n", Integer, nullable=False),
    Column("chance", _JSON, nullable=False),
    Column("scores", _JSON, nullable=False),
    Column("details", _JSON, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("created_utc", Text, nullable=False),
    UniqueConstraint("data_digest", "task_id", "model_id", name="uq_task_result_cell"),
)

query_result = Table(
    "query_result",
    HOME,
    Column("task_result_id", ForeignKey("task_result.id", ondelete="CASCADE"), primary_key=True),
    Column("row", Integer, primary_key=True),
    Column("rank", Integer, nullable=False),
    Column("pool", Integer, nullable=False),
    Column("gold", Text, nullable=False),
    Column("ordered", _JSON, nullable=False),
)

job = Table(
    "job",
    HOME,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("arguments", _JSON, nullable=False),
    Column("state", Text, nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("unit", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("result", _JSON),
    Column("exit_code", Integer),
    Column("created_utc", Text, nullable=False),
    Column("started_utc", Text),
    Column("ended_utc", Text),
)

# ---------------------------------------------------------------- study file

study = Table(
    "study",
    STUDY,
    Column("one", Integer, primary_key=True),
    Column("study_id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("created_utc", Text, nullable=False),
    Column("software", Text, nullable=False),
    Column("order_seed", Text, nullable=False),
    Column("settings", _JSON, nullable=False),
    Column("sealed_sha256", Text, nullable=False),
    Column("commitment", Text, nullable=False),
    Column("hash", Text, nullable=False),
    CheckConstraint("one = 1", name="single"),
)

item = Table(
    "item",
    STUDY,
    Column("item_id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("block", Text, nullable=False),
    Column("prompt", Text, nullable=False),
    Column("query", _JSON, nullable=False),
    Column("left", _JSON, nullable=False),
    Column("right", _JSON, nullable=False),
)

medium = Table(
    "medium",
    STUDY,
    Column("key", _LONG, primary_key=True, autoincrement=False),
    Column("media_id", Text, nullable=False, unique=True),
    Column("coding", Text, nullable=False),
    Column("shape", _JSON, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

rater = Table(
    "rater",
    STUDY,
    Column("name", Text, primary_key=True),
    Column("created_utc", Text, nullable=False),
    Column("specialty", Text),
    Column("years", Integer),
    Column("modalities", Text),
    Column("display", Text),
)

presentation = Table(
    "presentation",
    STUDY,
    Column("rater", ForeignKey("rater.name"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("item_id", ForeignKey("item.item_id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("swapped", Boolean, nullable=False),
)

session = Table(
    "session",
    STUDY,
    Column("session_id", Text, primary_key=True),
    Column("rater", ForeignKey("rater.name"), nullable=False),
    Column("started_utc", Text, nullable=False),
    Column("software", Text, nullable=False),
)

entry = Table(
    "entry",
    STUDY,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("action", Text, nullable=False),
    Column("at_utc", Text, nullable=False),
    Column("rater", Text),
    Column("session_id", Text),
    Column("position", Integer),
    Column("item_id", Text),
    Column("kind", Text),
    Column("answer", Text),
    Column("shown_utc", Text),
    Column("first_action_ms", _LONG),
    Column("answer_ms", _LONG),
    Column("idle_ms", _LONG),
    Column("confidence", Integer),
    Column("comment", Text),
    Column("usefulness", _JSON),
    Column("viewer_state", _JSON),
    Column("software", Text),
    Column("note", Text),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)
Index("ix_entry_place", entry.c.rater, entry.c.position)

head = Table(
    "head",
    STUDY,
    Column("one", Integer, primary_key=True),
    Column("entries", Integer, nullable=False),
    Column("hash", Text, nullable=False),
    CheckConstraint("one = 1", name="single"),
)

# files handed to raters; what came back lies in ``returned``
pack = Table(
    "pack",
    STUDY,
    Column("pack_id", Text, primary_key=True),
    Column("rater", Text, nullable=False),
    Column("created_utc", Text, nullable=False),
    Column("public_key", Text, nullable=False),
    Column("note", Text),
)

# in a rater's file only: whose it is, and what its answers are signed with
seat = Table(
    "seat",
    STUDY,
    Column("one", Integer, primary_key=True),
    Column("pack_id", Text, nullable=False),
    Column("rater", Text, nullable=False),
    Column("private_key", Text, nullable=False),
    CheckConstraint("one = 1", name="single"),
)

returned = Table(
    "returned",
    STUDY,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("pack_id", Text, nullable=False),
    Column("rater", Text, nullable=False),
    Column("received_utc", Text, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("head", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)
