"""Progress on a terminal and elsewhere."""

import io

from studies.messages import Log, Progress
from studies.terminal import Follower, bar, left


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_elsewhere_lines_are_plain_and_few():
    out = io.StringIO()
    follower = Follower(out)
    follower(Progress("j", 0, 0, "items", "Loading"))
    for done in range(101):
        follower(Progress("j", done, 100, "items", "Embedding"))
    follower(Log("j", "Memory ran out; going on with 2 items at a time."))
    lines = out.getvalue().splitlines()
    assert lines[0] == "Loading ..."
    assert lines[1] == "Embedding: 0 of 100 items"
    assert lines[-2] == "Embedding: 100 of 100 items"
    assert lines[-1].startswith("Memory ran out")
    assert len(lines) <= 6


def test_a_phase_without_an_end_is_named_once_and_counts():
    out, screen = io.StringIO(), Screen()
    for stream in (out, screen):
        follower = Follower(stream)
        for done in range(500):
            follower(Progress("j", done, 0, "records", "Reading"))
    assert out.getvalue() == "Reading ...\n"
    assert screen.getvalue().startswith("Reading ...\n\rReading: 1 records")
    assert screen.getvalue().endswith("\rReading: 499 records")


def test_on_a_screen_one_line_moves_and_is_cleared():
    out = Screen()
    follower = Follower(out)
    follower(Progress("j", 5, 10, "items", "Embedding"))
    assert out.getvalue().startswith("\rEmbedding [############............] 5/10 items")
    follower.finish()
    assert out.getvalue().endswith("\r")


def test_the_time_left_is_honest():
    assert left(0.5, 1, 10) == ""
    assert left(10, 5, 10) == ", about 10 s left"
    assert left(600, 1, 11) == ", about 1.7 h left"
    assert bar(0, 0).count("#") == 0
