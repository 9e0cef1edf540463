"""The window: views, presenters, tables, widgets."""
