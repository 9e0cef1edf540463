"""${message}."""

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the older schema here."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Not offered: a backup is made before every migration."""
    raise NotImplementedError
