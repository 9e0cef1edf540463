"""Side of a paired body part, and the projection of a picture."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; the next import of the same folders fills them."""
    op.add_column("evidence", sa.Column("laterality", sa.Text(), nullable=True))
    op.add_column("evidence", sa.Column("view", sa.Text(), nullable=True))


def downgrade() -> None:
    """Not offered: a backup is made before every migration."""
    raise NotImplementedError
