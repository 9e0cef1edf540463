"""Packs for raters, what they return, and a log that nobody changes on a server either."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

OLD = ("study", "item", "medium", "rater", "presentation", "session", "entry")
NEW = ("pack", "seat", "returned")


def upgrade() -> None:
    """Make the tables; nothing written is changed, so every old entry keeps its hash."""
    make_pack()
    make_seat()
    make_returned()
    if op.get_bind().dialect.name == "postgresql":
        refuse_on_server((*OLD, *NEW))
    else:
        refuse_in_file(NEW)


def make_pack() -> None:
    """Make the table ``pack``."""
    op.create_table(
        "pack",
        sa.Column("pack_id", sa.Text(), nullable=False),
        sa.Column("rater", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("pack_id", name=op.f("pk_pack")),
    )


def make_seat() -> None:
    """Make the table ``seat``."""
    op.create_table(
        "seat",
        sa.Column("one", sa.Integer(), nullable=False),
        sa.Column("pack_id", sa.Text(), nullable=False),
        sa.Column("rater", sa.Text(), nullable=False),
        sa.Column("private_key", sa.Text(), nullable=False),
        sa.CheckConstraint("one = 1", name=op.f("ck_seat_single")),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_seat")),
    )


def make_returned() -> None:
    """Make the table ``returned``."""
    op.create_table(
        "returned",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pack_id", sa.Text(), nullable=False),
        sa.Column("rater", sa.Text(), nullable=False),
        sa.Column("received_utc", sa.Text(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_returned")),
    )


def refuse_in_file(tables: tuple[str, ...]) -> None:
    """Let rows be written once (SQLite)."""
    for table in tables:
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def refuse_on_server(tables: tuple[str, ...]) -> None:
    """Let rows be written once (PostgreSQL)."""
    op.execute(
        "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION '% is append-only', TG_TABLE_NAME "
        "USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    for table in tables:
        for act, each in (("UPDATE", "ROW"), ("DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
            op.execute(
                f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
                f"FOR EACH {each} EXECUTE FUNCTION refuse_change()"
            )


def downgrade() -> None:
    """Not offered: a backup is made before every migration."""
    raise NotImplementedError
