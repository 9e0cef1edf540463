"""Body part, tokens of study and series, shifted day, warnings; files that were read to their end.

What an older version stored keeps its rows. It knew no tokens, so nothing counts as read: the
next import of the same folders reads them again and puts the new rows in place of the old.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COLUMNS = (
    ("body_part", sa.Text(), None),
    ("study", sa.Text(), None),
    ("series", sa.Text(), None),
    ("day", sa.Integer(), None),
    ("warnings", sa.JSON(none_as_null=True), None),
    ("times", sa.Integer(), "1"),
    ("folder", sa.Text(), ""),
    ("file_count", sa.Integer(), "0"),
)
INDEXES = {
    "ix_evidence_body_part": ["collection_id", "body_part"],
    "ix_evidence_subject": ["collection_id", "subject"],
    "ix_evidence_study": ["collection_id", "study"],
    "ix_evidence_folder": ["collection_id", "folder", "series"],
}
TOLD = {
    "ix_evidence_told_study": ["collection_id", "study"],
    "ix_evidence_told_folder": ["collection_id", "folder", "study"],
}
AT_ONCE = 1000


def upgrade() -> None:
    """Add the columns and fill those that can be told from what is stored."""
    for name, kind, default in COLUMNS:
        column = sa.Column(name, kind, nullable=default is None, server_default=default)
        op.add_column("evidence", column)
    for name, columns in INDEXES.items():
        op.create_index(name, "evidence", columns, unique=False)
    for name, columns in TOLD.items():
        told = sa.text("text <> ''")
        op.create_index(name, "evidence", columns, unique=False, sqlite_where=told)
    make_indexed_file()
    fill()


def make_indexed_file() -> None:
    """Make the table ``indexed_file``."""
    op.create_table(
        "indexed_file",
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("reader", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("fk_indexed_file_collection_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection_id", "folder", "name", name=op.f("pk_indexed_file")),
        sqlite_with_rowid=False,
    )


def fill() -> None:
    """Facts that the old rows hold elsewhere; rows that only marked a file as read go."""
    connection = op.get_bind()
    for words in (
        "DELETE FROM evidence WHERE kind = 'other' AND json_extract(details, '$.companion')",
        "UPDATE evidence SET body_part = json_extract(details, '$.body_part'),"
        " times = coalesce(json_extract(details, '$.times'), 1),"
        " file_count = (SELECT count(*) FROM evidence_file f WHERE f.evidence_id = evidence.id)",
        "UPDATE evidence SET error_code = 'not_evidence',"
        " error_message = 'not a kind of file that is read as evidence'"
        " WHERE kind = 'other' AND json_extract(details, '$.source.object') = 'unknown file'",
    ):
        connection.execute(sa.text(words))
    rows = connection.execute(sa.text("SELECT id, series_key, path FROM evidence")).all()
    change = sa.text("UPDATE evidence SET folder = :folder WHERE id = :id")
    for start in range(0, len(rows), AT_ONCE):
        part = rows[start : start + AT_ONCE]
        connection.execute(
            change, [{"id": i, "folder": above(key or path)} for i, key, path in part]
        )


def above(path: str) -> str:
    """The folder of a path, whichever system wrote it."""
    return path[: max(path.rfind("/"), path.rfind("\\"), 0)]


def downgrade() -> None:
    """Not offered: a backup is made before every migration."""
    raise NotImplementedError
