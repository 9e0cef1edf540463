"""PublicHealthQA in miniature: one table of questions and answers per language.

Owns the layout and its oddities: rows with an empty cell, letters of many scripts, and a pair that
stands in two languages.
"""

from __future__ import annotations

from pathlib import Path

from studies.medheb.mini.files import write_table

# language: words for "question" and "answer" in it
LANGUAGES = {
    "arabic": ("سؤال", "جواب"),
    "chinese": ("问题", "答案"),
    "english": ("question", "answer"),
    "french": ("question posée", "réponse"),
    "korean": ("질문", "대답"),
    "russian": ("вопрос", "ответ"),
    "spanish": ("pregunta", "respuesta"),
    "vietnamese": ("câu hỏi", "trả lời"),
}
ROWS = {"english": 18}
FEW = 4
TOPICS = ("masks", "vaccines", "distance", "travel", "children", "tests")


def write(folder: Path, *, seed: int) -> None:
    """``data/<language>.csv``."""
    for language, (asks, tells) in LANGUAGES.items():
        rows = []
        for place in range(ROWS.get(language, FEW)):
            topic = TOPICS[(place + seed) % len(TOPICS)]
            question = f"{asks.capitalize()} {place}: {topic}, {language}?"
            answer = f"{tells.capitalize()} {place}: {topic}.\nOne more line, {language} {place}."
            rows.append({"question": question, "answer": answer})
        if language == "arabic":
            rows[1]["answer"] = ""
        if language == "french":
            rows.append({"question": "COVID-19?", "answer": "COVID-19."})
        if language == "spanish":
            rows.append({"question": "COVID-19?", "answer": "COVID-19."})
        write_table(folder / "data" / f"{language}.csv", rows, ["question", "answer"])
