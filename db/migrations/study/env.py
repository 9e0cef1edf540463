"""Runs the migrations on the connection handed in by ``db.migrate``; knows no file and no URL."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
