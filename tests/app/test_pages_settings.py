"""The settings page, the form made from a dataclass, tables, charts, and the list of screens."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSpinBox

from app.actions import PAGES
from app.changes import Changes
from app.presenters.settings import SettingsPresenter
from app.presenters.settings_keys import all_keys
from app.settings import SettingsKeeper
from app.tables.rows import Column, RowsModel
from app.tables.scores import SCORE, ScoresModel
from app.views.settings import SettingsView
from app.widgets.chart import IntervalBars, shade_text
from app.widgets.form import DataForm
from app.widgets.heat_map import ramp
from db.home import Home
from db.settings import Settings, load_settings
from tests import screens
from tests.app import page_data as made
from tests.app.page_fakes import page_services


def other(value: Any, metadata: Any) -> Any:
    """A value of the same kind that may stand in the field."""
    if metadata.get("choices"):
        return next(choice for choice in metadata["choices"] if choice != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return metadata["bounds"][1]
    return "Dr. Łukasz"


def put(widget: Any, value: Any) -> None:
    """Edit as a person would."""
    if isinstance(widget, QComboBox):
        widget.setCurrentIndex(widget.findData(value))
    elif isinstance(widget, QCheckBox):
        widget.setChecked(value)
    elif isinstance(widget, QSpinBox):
        widget.setValue(value)
    else:
        assert isinstance(widget, QLineEdit)
        widget.setText(value)
        widget.editingFinished.emit()


@pytest.fixture
def page(home: Home, qtbot: Any) -> Any:
    view = SettingsView()
    qtbot.addWidget(view)
    keeper = SettingsKeeper(home.settings, Changes())
    services = page_services(home=home, settings=keeper)
    presenter = SettingsPresenter(view, services)
    presenter.shown()
    return view, services, presenter


DRAWN = [one.name for one in fields(Settings) if not one.metadata["hidden"]]


@pytest.mark.parametrize("name", DRAWN)
def test_every_setting_goes_to_the_file_and_back(name: str, page: Any, home: Home) -> None:
    view, services, _ = page
    metadata = next(one for one in fields(Settings) if one.name == name).metadata
    wanted = other(getattr(Settings(), name), metadata)
    put(view.form.editor(name), wanted)
    assert load_settings(home.settings) == replace(Settings(), **{name: wanted})
    assert services.settings.current == replace(Settings(), **{name: wanted})
    again = SettingsView()
    again.show_settings(load_settings(home.settings), "")
    assert again.settings() == services.settings.current
    again.deleteLater()


def test_leaving_a_field_as_it_was_saves_nothing_and_says_nothing(page: Any) -> None:
    view, services, _ = page
    before = services.settings.current
    view.form.edited.emit("rater_name")
    assert view.state.text() == ""
    assert services.settings.current is before
    put(view.form.editor("text_scale"), 150)
    assert "Saved" in view.state.text()


def test_the_defaults_come_back(page: Any, home: Home) -> None:
    view, services, _ = page
    put(view.form.editor("text_scale"), 150)
    view.defaults_wanted.emit()
    assert services.settings.current == Settings()
    assert view.settings() == Settings()


def test_a_home_that_cannot_be_written_is_told(page: Any, home: Home,
                                               monkeypatch: Any) -> None:  # fmt: skip
    from db.errors import NotWritable

    view, services, _ = page

    def refuse(*_values: Any, **_named: Any) -> None:
        raise NotWritable("The folder cannot be written. Choose another with --home.")

    monkeypatch.setattr(services.settings, "save", refuse)
    put(view.form.editor("text_scale"), 150)
    assert "--home" in view.state.text()


def test_the_search_finds_by_title_help_and_name(page: Any) -> None:
    view, _, _ = page
    view.search.setText("pause")
    assert not view.form.editor("rest_minutes").isHidden()
    lines = [name for name, (line, _) in view.form._lines.items() if not line.isHidden()]
    assert lines == ["rest_minutes"]
    view.search.setText("no such words")
    assert not view.none_found.isHidden()
    assert view.keys.total == 0
    view.search.setText("")
    assert view.keys.total == len(all_keys())


def test_keys_hold_every_page_and_no_conflict() -> None:
    keys = all_keys()
    assert {page.text for page in PAGES} <= {key.command for key in keys}
    assert not [key for key in keys if key.conflict], "two commands on one key"


@dataclass(frozen=True)
class Sample:
    """Every kind of field the form knows, and one it does not."""

    count: int = field(default=3, metadata={"title": "Count", "bounds": (1, 9)})
    share: float = field(default=0.5, metadata={"title": "Share", "bounds": (0.0, 1.0)})
    on: bool = True
    word: Literal["a", "b"] = "a"
    place: Path | None = None
    names: tuple[str, ...] = ("x", "y")
    limit: int | None = None
    odd: complex = 1j


def test_a_form_reads_back_what_it_shows(qtbot: Any) -> None:
    form = DataForm()
    qtbot.addWidget(form)
    for value in (Sample(), Sample(count=9, share=1.0, on=False, word="b", place=Path("p"),
                                   names=(), limit=4)):  # fmt: skip
        form.show_value(value)
        assert form.value() == value


def test_a_form_says_which_field_is_wrong(qtbot: Any) -> None:
    form = DataForm()
    qtbot.addWidget(form)
    form.show_value(Sample())
    form.editor("limit").setText("many")
    with pytest.raises(ValueError, match="Limit"):
        form.value()
    told: list[str] = []
    form.edited.connect(told.append)
    form.show_value(Sample(count=5))
    assert told == [], "showing is not editing"
    form.editor("count").setValue(6)
    assert told == ["count"]


def test_rows_are_handed_out_page_by_page(qapp: object) -> None:
    model = RowsModel[int]([Column("n", str)], page=100)
    model.set_rows(range(250))
    assert model.rowCount() == 100
    model.fetchMore(QModelIndex())
    model.fetchMore(QModelIndex())
    assert model.rowCount() == 250
    assert not model.canFetchMore(QModelIndex())
    assert model.index(249, 0).data() == "249"


def test_scores_mark_the_best_of_our_own_and_spell_the_interval(qapp: object) -> None:
    model = ScoresModel()
    model.set_table(made.scores(3, 4), [("m0", "0.4")])
    cells = [model.index(row, 1).data(SCORE) for row in range(model.rowCount())]
    assert [cell.best for cell in cells] == [False, False, False, False, True]
    assert cells[1].detail == "0.0–100.0"
    assert model.index(1, 3).data(SCORE).text == "–"
    assert model.headerData(4, Qt.Orientation.Horizontal) == "CV"
    assert model.index(1, 4).data() == "0.4"


def test_a_chart_tells_its_numbers_to_a_screen_reader(qtbot: Any) -> None:
    bars = IntervalBars()
    qtbot.addWidget(bars)
    bars.show_table(made.scores(2, 2))
    assert "Model 1: I-I (0) 13.0" in bars.accessibleDescription()


def test_colours_of_the_heat_map_grow_lighter_and_stay_readable() -> None:
    lightness = [ramp(value).lightnessF() for value in range(0, 101, 5)]
    assert lightness == sorted(lightness)
    for value in range(0, 101, 5):
        ground, words = ramp(value), shade_text(ramp(value))
        light, dark = sorted((_luminance(ground), _luminance(words)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def _luminance(colour: Any) -> float:
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_screens_hold_every_page() -> None:
    names = [name for name, _, _ in screens.SCREENS]
    assert {page.id for page in PAGES} <= {name.split("-")[0] for name in names}
    assert len(set(names)) == len(names)


def test_every_page_opens_on_an_empty_home(program: Any, qtbot: Any) -> None:
    made_program = program()
    for page in PAGES:
        made_program.window.go(page.id)
        qtbot.wait(30)
        assert made_program.window.page_id == page.id
    assert made_program.window.notices.current is None


def test_a_search_says_where_its_words_are(page: Any) -> None:
    view, _services, _presenter = page
    view.search.setText("invert")
    assert view.tabs.tabText(0) == "Settings (0)"
    assert view.tabs.tabText(1) == "Keys (1)"
    assert view.tabs.currentIndex() == 1
    assert "1 key does" in view.none_found.text()
    view.search.setText("rater")
    assert view.tabs.currentIndex() == 0
    view.search.setText("zzzz")
    assert view.none_found.text() == "No setting and no key holds these words."
    view.search.setText("")
    assert view.tabs.tabText(1) == "Keys"
