"""The first study schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


LONG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSERT_ONLY = ("study", "item", "medium", "rater", "presentation", "session", "entry")


def upgrade() -> None:
    """Make every table and let nothing written be changed or removed."""
    make_entry()
    make_head()
    make_item()
    make_medium()
    make_rater()
    make_study()
    make_presentation()
    make_session()
    for table in INSERT_ONLY:
        refuse_changes(table)


def refuse_changes(table: str) -> None:
    """Let rows be written once."""
    if op.get_bind().dialect.name == "postgresql":
        return  # revision 0002 does it for all of them; no file of 0001 lies on a server
    for act in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )


def make_entry() -> None:
    """Make the table ``entry``."""
    op.create_table(
        "entry",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("at_utc", sa.Text(), nullable=False),
        sa.Column("rater", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("item_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("shown_utc", sa.Text(), nullable=True),
        sa.Column("first_action_ms", LONG, nullable=True),
        sa.Column("answer_ms", LONG, nullable=True),
        sa.Column("idle_ms", LONG, nullable=True),
        sa.Column("confidence", sa.Integer(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("usefulness", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("viewer_state", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("software", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_entry")),
    )
    op.create_index("ix_entry_place", "entry", ["rater", "position"], unique=False)


def make_head() -> None:
    """Make the table ``head``."""
    op.create_table(
        "head",
        sa.Column("one", sa.Integer(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint("one = 1", name=op.f("ck_head_single")),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_head")),
    )


def make_item() -> None:
    """Make the table ``item``."""
    op.create_table(
        "item",
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("block", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("query", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("left", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("right", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_item")),
    )


def make_medium() -> None:
    """Make the table ``medium``."""
    op.create_table(
        "medium",
        sa.Column("key", LONG, autoincrement=False, nullable=False),
        sa.Column("media_id", sa.Text(), nullable=False),
        sa.Column("coding", sa.Text(), nullable=False),
        sa.Column("shape", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_medium")),
        sa.UniqueConstraint("media_id", name=op.f("uq_medium_media_id")),
    )


def make_rater() -> None:
    """Make the table ``rater``."""
    op.create_table(
        "rater",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.Text(), nullable=False),
        sa.Column("specialty", sa.Text(), nullable=True),
        sa.Column("years", sa.Integer(), nullable=True),
        sa.Column("modalities", sa.Text(), nullable=True),
        sa.Column("display", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_rater")),
    )


def make_study() -> None:
    """Make the table ``study``."""
    op.create_table(
        "study",
        sa.Column("one", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.Text(), nullable=False),
        sa.Column("software", sa.Text(), nullable=False),
        sa.Column("order_seed", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("sealed_sha256", sa.Text(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint("one = 1", name=op.f("ck_study_single")),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_study")),
    )


def make_presentation() -> None:
    """Make the table ``presentation``."""
    op.create_table(
        "presentation",
        sa.Column("rater", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("swapped", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["item.item_id"], name=op.f("fk_presentation_item_id")
        ),
        sa.ForeignKeyConstraint(["rater"], ["rater.name"], name=op.f("fk_presentation_rater")),
        sa.PrimaryKeyConstraint("rater", "position", name=op.f("pk_presentation")),
    )


def make_session() -> None:
    """Make the table ``session``."""
    op.create_table(
        "session",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("rater", sa.Text(), nullable=False),
        sa.Column("started_utc", sa.Text(), nullable=False),
        sa.Column("software", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["rater"], ["rater.name"], name=op.f("fk_session_rater")),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_session")),
    )


def downgrade() -> None:
    """Not offered: a backup is made before every migration."""
    raise NotImplementedError
