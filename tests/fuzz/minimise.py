"""A finding made small: edits left out, names and wraps dropped, counts halved, while it lasts."""

from __future__ import annotations

from collections.abc import Iterator

from tests.fuzz.mutate import Recipe
from tests.fuzz.pool import Worker

MOST_TRIES = 60


def smallest(recipe: Recipe, wanted: list[str], worker: Worker) -> Recipe:
    """The smallest recipe found that still gives the finding (kind, what)."""
    tries = 0
    best = recipe
    progress = True
    while progress and tries < MOST_TRIES:
        progress = False
        for candidate in simpler(best):
            tries += 1
            if tries > MOST_TRIES:
                break
            found = worker.ask(candidate)["findings"]
            if any(one[:2] == wanted for one in found):
                best, progress = candidate, True
                break
    return best


def simpler(recipe: Recipe) -> Iterator[Recipe]:
    """Recipes with a little less in them, the boldest first."""
    edits = recipe["edits"]
    if len(edits) > 3:
        half = len(edits) // 2
        yield {**recipe, "edits": edits[:half]}
        yield {**recipe, "edits": edits[half:]}
    for index in range(len(edits)):
        yield {**recipe, "edits": edits[:index] + edits[index + 1 :]}
    for key in ("name", "wrap"):
        if key in recipe:
            yield {name: value for name, value in recipe.items() if name != key}
    for index, edit in enumerate(edits):
        for shorter in _shorter(edit):
            yield {**recipe, "edits": [*edits[:index], shorter, *edits[index + 1 :]]}


def _shorter(edit: list) -> Iterator[list]:
    """The same edit on fewer bytes."""
    kind = edit[0]
    if kind in ("set", "insert") and len(edit[2]) > 2:
        half = len(edit[2]) // 4 * 2 or 2
        yield [kind, edit[1], edit[2][:half]]
    elif kind in ("fill", "delete") and edit[2] > 1:
        yield [kind, edit[1], edit[2] // 2, *edit[3:]]
    elif kind == "copy" and edit[2] > 1:
        yield [kind, edit[1], edit[2] // 2, edit[3]]
    elif kind == "splice" and edit[4] > 1:
        yield [*edit[:4], edit[4] // 2]
