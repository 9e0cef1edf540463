"""The first home schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    make_collection()
    make_job()
    make_meta()
    make_task_result()
    make_evidence()
    make_query_result()
    make_evidence_file()


def make_collection() -> None:
    """Make the table ``collection``."""
    op.create_table(
        "collection",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collection")),
        sa.UniqueConstraint("name", name=op.f("uq_collection_name")),
    )


def make_job() -> None:
    """Make the table ``job``."""
    op.create_table(
        "job",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("arguments", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("result", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("created_utc", sa.Text(), nullable=False),
        sa.Column("started_utc", sa.Text(), nullable=True),
        sa.Column("ended_utc", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )


def make_meta() -> None:
    """Make the table ``meta``."""
    op.create_table(
        "meta",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
    )


def make_task_result() -> None:
    """Make the table ``task_result``."""
    op.create_table(
        "task_result",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("data_digest", sa.Text(), nullable=False),
        sa.Column("task_digest", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("model_id", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("split", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("chance", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("scores", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("created_utc", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_result")),
        sa.UniqueConstraint("data_digest", "task_id", "model_id", name="uq_task_result_cell"),
    )


def make_evidence() -> None:
    """Make the table ``evidence``."""
    op.create_table(
        "evidence",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("series_key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("form", sa.Text(), nullable=True),
        sa.Column("modality", sa.Text(), nullable=True),
        sa.Column("shape", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("added_utc", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("fk_evidence_collection_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evidence")),
        sa.UniqueConstraint("collection_id", "path", "series_key", name="uq_evidence_place"),
    )
    op.create_index(
        "ix_evidence_filter", "evidence", ["collection_id", "form", "modality"], unique=False
    )


def make_query_result() -> None:
    """Make the table ``query_result``."""
    op.create_table(
        "query_result",
        sa.Column("task_result_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("pool", sa.Integer(), nullable=False),
        sa.Column("gold", sa.Text(), nullable=False),
        sa.Column("ordered", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_result_id"],
            ["task_result.id"],
            name=op.f("fk_query_result_task_result_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("task_result_id", "row", name=op.f("pk_query_result")),
    )


def make_evidence_file() -> None:
    """Make the table ``evidence_file``."""
    op.create_table(
        "evidence_file",
        sa.Column("evidence_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evidence_id"],
            ["evidence.id"],
            name=op.f("fk_evidence_file_evidence_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("evidence_id", "position", name=op.f("pk_evidence_file")),
    )
    op.create_index("ix_evidence_file_path", "evidence_file", ["path"], unique=False)


def downgrade() -> None:
    """Not offered: a backup is made before every migration."""
    raise NotImplementedError
