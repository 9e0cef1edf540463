"""Names that a header tells are taken out of the words in whatever way they are spelt there."""

from __future__ import annotations

import pytest

from engine.evidence.identity.scrub import Scrubber

SPELT = [
    ("Müller^Jörg", "Mueller MÜLLER Müllers Muller Mu\u0308ller Joerg JÖRG"),
    ("MUELLER^JOERG", "Müller Jörg Muellers"),
    ("O'Brien^Sean", "OBrien O’Brien O'Brien O'BRIEN Sean's"),
    ("OBRIEN^SEAN", "O'Brien O’Brien Sean"),
    ("ZAPHOD-BEEBLE^X", "Zaphod-Beeble ZaphodBeeble Beeble"),
    ("Zaphodbeeble^Joe", "ZAPHODBEEBLE,joe Joe JOE"),
    ("Łukasiewicz^Łucja", "Lukasiewicz ŁUKASIEWICZ Lucja"),
    ("Иванов^Иван", "Иванов Ивановым Ивановой ИВАНОВ"),
    ("Wang^XiaoDong=王^小东", "王小东 王・小东 王,小东 小东"),
    ("김^희중", "김희중 희중 김,희중"),
    ("Yamada^Tarou=山田^太郎=やまだ^たろう", "山田太郎 太郎 やまだ YAMADA Tarou"),
    ("Zim=ザ^ジ", "ザ・ジ"),
    ("Nguyen^Thi^An^^Mrs", "Nguyen,An THI"),
]


@pytest.mark.parametrize(("name", "text"), SPELT, ids=[name for name, _ in SPELT])
def test_every_spelling_of_a_name_is_taken_out(name: str, text: str) -> None:
    scrubber = Scrubber(names=[name])
    for word in [*text.split(), text]:
        left = scrubber.clean(f"x {word} x").replace("[removed]", "")
        assert not any(one.isalpha() for one in left.replace("'s", "").strip("x ")), (word, left)


KEPT = [
    ("Li^A", "The line of a man; alike, a Limb."),
    ("王^伟", "王 without a given name; 国王; 王国"),
    ("Do^An^Max", "do an MRI; DO NOT; an AN; SUV max"),
    ("Koch^Eva", "Das Kochsalz; evaluation; kochen"),
    ("Левин^Ян", "левина слева"),
    ("Zaphod^^^Mr", "Mr. Smith; Mr"),
    ("Anonymous^Left^Chest", "Left chest: no anonymous"),
]


@pytest.mark.parametrize(("name", "text"), KEPT, ids=[name for name, _ in KEPT])
def test_words_that_are_no_name_stay(name: str, text: str) -> None:
    assert Scrubber(names=[name]).clean(text) == text


def test_particles_and_initials_go_with_the_name_only() -> None:
    clean = Scrubber(names=["van der Berg^Jan"]).clean
    assert clean("Herr van der Berg, der Patient") == (
        "Herr [removed] [removed] [removed], der Patient"
    )
    assert clean("J. Berg; die Lunge der Frau") == "[removed] [removed]; die Lunge der Frau"
    assert clean("王小明様") == "王小明様"
    assert Scrubber(names=["王^小明"]).clean("王様, 王小明様") == "[removed]様, [removed]様"
