"""The sections of a report: findings, impression and their kin, found by the headings' words.

Owns the usual headings in English, German, French, Spanish, Italian, Portuguese and Dutch, the
commonest in Russian, Greek, Chinese, Japanese and Korean, and the rules by which a line or the
start of a sentence is a heading. Refuses to change a letter: every section says where it stands.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

NAMES = (
    "history", "technique", "comparison", "findings", "impression", "recommendation", "other",
    "whole",
)  # fmt: skip
_HEADINGS = {
    "findings": """
        findings|finding|result|results|observations|description|imaging findings|ct findings
        mr findings|mri findings|chest findings|radiographic findings|radiological findings
        sonographic findings|ultrasound findings|findings and measurements|report|report text
        full findings|detailed findings|pertinent findings|abnormal findings|key findings
        befund|befunde|befundbericht|befundtext|beschreibung|ergebnis|ergebnisse|bildbefund
        résultats|résultat|constatations|constatation|description|analyse|compte rendu
        hallazgos|hallazgo|descripción|resultados|resultado|informe|informe radiológico
        referto|reperti|reperto|descrizione|rilievi|esito|osservazioni
        achados|descrição|relatório|bevindingen|verslag|описание|описание исследования
        所見|画像所見|影像所见|检查所见|檢查所見|影像表现|影像學所見|소견|판독소견|영상소견|ευρήματα
    """,
    "impression": """
        impression|impressions|conclusion|conclusions|opinion|diagnosis|final diagnosis|summary
        assessment|interpretation|overall impression|radiological diagnosis|imaging diagnosis
        diagnostic impression|impression and recommendation|impression and recommendations
        impression/recommendation|impression/recommendations|conclusion and recommendation
        impression/plan|assessment and plan|final impression|diagnoses|bottom line|comment
        beurteilung|zusammenfassung|fazit|schlussfolgerung|diagnose|diagnosen|eindruck
        zusammenfassende beurteilung|abschließende beurteilung|bewertung|gesamtbeurteilung
        konklusion|synthèse|au total|interprétation|en conclusion|diagnostic
        impresión|impresión diagnóstica|conclusión|conclusiones|diagnóstico|juicio diagnóstico
        impresión radiológica|interpretación|opinión|comentario
        conclusioni|conclusione|impressione|giudizio diagnostico|diagnosi|commento
        conclusioni diagnostiche|sintesi|impressão|impressão diagnóstica|conclusão|conclusões
        conclusie|samenvatting|заключение|вывод|выводы|συμπέρασμα|συμπεράσματα
        診断|読影診断|印象|诊断|诊断意见|影像诊断|检查结论|结论|結論|診斷|診斷意見|결론|판독결과|판독결론
    """,
    "history": """
        history|clinical history|clinical indication|indication|indications|clinical information
        reason for exam|reason for examination|reason for study|reason for the study
        reason for visit|reason for referral|clinical data|clinical details|clinical question
        clinical statement|clinical note|clinical notes|clinical context|medical history
        patient history|present illness|history of present illness|indication for exam
        indication for study|indication for examination|history/indication|indication/history
        clinical history/indication|symptoms|clinical background|procedure indication|presentation
        indikation|klinische angaben|klinische angabe|fragestellung|anamnese|klinik
        klinische fragestellung|rechtfertigende indikation|vorgeschichte|klinische information
        klinische informationen|klinischer befund|anamnese/fragestellung|klinik und fragestellung
        klinische angaben und fragestellung|klinische angaben/fragestellung|überweisungsgrund
        indikation/fragestellung|klinischer hintergrund|renseignements cliniques|motif|antécédents
        contexte|contexte clinique|histoire clinique|motif de l'examen|informations cliniques
        motif de consultation|indication clinique|indication de l'examen|histoire de la maladie
        indicación|indicaciones|motivo|historia clínica|antecedentes|datos clínicos
        información clínica|motivo de consulta|motivo de la exploración|motivo del estudio
        motivo de estudio|indicación clínica|sospecha diagnóstica|historia|antecedentes personales
        indicazione|indicazioni|quesito clinico|quesito diagnostico|anamnesi|notizie cliniche
        dati clinici|indicazione clinica|indicazioni cliniche|motivo dell'esame|quesito
        indicação|história clínica|dados clínicos|informação clínica|indicação clínica
        臨床情報|依頼目的|检查目的|临床诊断|临床病史|病史|臨床診斷|병력|임상정보|анамнез
        клинические данные|klinische gegevens|vraagstelling|indicatie|voorgeschiedenis
    """,
    "technique": """
        technique|techniques|procedure|protocol|examination technique|imaging technique
        technical details|technical information|exam|examination|study|type of exam
        type of examination|method|methods|imaging protocol|scan technique|contrast
        technical factors|procedures|exam type|views|procedure description|study type
        technik|methode|methodik|untersuchungstechnik|untersuchung|untersuchungen
        art der untersuchung|durchführung|durchgeführte untersuchung|protokoll|aufnahmetechnik
        technik/methode|technische durchführung|kontrastmittel|untersuchungsart
        protocole|examen|méthode|technique d'examen|type d'examen|acquisition|technique de l'examen
        técnica|procedimiento|protocolo|estudio|exploración|técnica de estudio|prueba
        estudio realizado|técnica utilizada|tipo de estudio|tecnica|metodica|esame|procedura
        tecnica d'esame|tecnica di esame|metodo|esame eseguito|protocollo|indagine
        exame|método|techniek|onderzoek|onderzoekstechniek
    """,
    "comparison": """
        comparison|comparisons|comparison study|comparison studies|prior studies|prior study
        previous studies|previous study|prior exams|compared to|correlation|prior imaging
        comparison exam|comparison exams|comparison examination|comparison date|priors|prior exam
        voruntersuchung|voruntersuchungen|vergleich|zum vergleich|voraufnahmen|voraufnahme
        vergleichsuntersuchung|vergleichsuntersuchungen|vergleich mit
        comparaison|comparaisons|examens antérieurs|examen antérieur|comparatif
        éléments de comparaison|comparación|estudios previos|estudio previo|comparativa
        se compara con|confronto|confronti|esami precedenti|esame precedente|precedenti
        esami di confronto|comparação|exames anteriores|vergelijking|vergelijk
    """,
    "recommendation": """
        recommendation|recommendations|follow-up|follow up|followup|advice|plan|suggestion
        suggested follow-up|recommended follow-up|suggestions|management|next steps
        follow-up recommendation|follow-up recommendations|advised|action
        empfehlung|empfehlungen|procedere|weiteres vorgehen|therapieempfehlung|prozedere|vorgehen
        empfohlenes vorgehen|recommandation|recommandations|conduite à tenir|suivi
        prise en charge|recomendación|recomendaciones|seguimiento|conducta|sugerencias|sugerencia
        raccomandazione|raccomandazioni|consigli|indicazioni al follow-up|suggerimenti
        recomendações|recomendação|aanbeveling|advies
    """,
    "other": """
        addendum|addenda|nachtrag|complications|komplikationen|notification|communication
        critical results|limitations|dose|strahlendosis|exposure|signature|attestation|disclaimer
        radiation dose|dosis|anmerkung|bemerkung|note|remarks|measurements|messungen|date
        electronically signed|signed by|teaching points|dlp
    """,
}


def _plain(words: str) -> str:
    """Lower case without accents and doubled spaces, so that résultats equals RESULTATS."""
    bare = unicodedata.normalize("NFKD", words.casefold().replace("ß", "ss"))
    kept = "".join(one for one in bare if not unicodedata.combining(one))
    return " ".join(kept.replace("’", "'").split())


WORDS = {
    _plain(one): name
    for name, block in _HEADINGS.items()
    for line in block.strip().splitlines()
    for one in line.strip().split("|")
}  # the first meaning of a word stands: findings before impression before history
# titles of whole documents: headings only where a colon says so
TITLES = frozenset(
    {"report", "report text", "informe", "informe radiologico", "relatorio", "verslag",
     "compte rendu", "befundbericht", "exam", "study", "protocol", "note", "plan", "procedure"}
)  # fmt: skip
_NUMBER = r"(?:(?:\d{1,2}|[IVX]{1,4}|[A-Ha-h])[.)]\s+|[-•*#]{1,4}\s*)?"
# a line that begins with a heading: number or mark, words, a bracket, then a colon or the end
LINE = re.compile(
    rf"^[ \t]*(?P<lead>{_NUMBER})(?P<mark>\*\*|__)?(?P<words>[^\W\d_][^\n:：*]{{1,60}}?)"
    r"[ \t]*(?:\([^()\n]{1,60}\))?[ \t]*(?:\*\*|__)?[ \t]*"
    r"(?P<end>[:：](?:\*\*)?|(?=\n)|\Z|[ \t][-–—](?=[ \t]))",
    re.MULTILINE,
)
# a heading inside a line: in capitals after a space, or capitalised after the end of a sentence
INLINE = re.compile(
    r"(?:(?<=\s)|(?<=[.;!?]))(?P<words>[A-ZÀ-Þ][A-ZÀ-Þ'/ \-]{2,50}"
    r"|(?<=[.;!?]\s)[A-ZÀ-Þ][\w'/ \-]{2,50}?|(?<=[.;!?]\s\s)[A-ZÀ-Þ][\w'/ \-]{2,50}?)[ \t]*[:：]"
)


@dataclass(frozen=True)
class Section:
    """One section of a report.

    Attributes:
        name: one of ``NAMES``.
        heading: the heading as it is written, colon included; empty where there is none.
        start: offset of the heading, or of the words where there is none.
        end: offset behind the section; ``text[start:end]`` starts with ``heading``.
        text: the words below the heading, without spaces around them.
    """

    name: str
    heading: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Mark:
    start: int
    end: int
    name: str


def sections(text: str) -> tuple[Section, ...]:
    """Cut a report at its headings.

    Returns:
        Sections in the order of the text, without gaps; one ``whole`` where no heading is known.
        Words before the first heading have the name ``other``.
    """
    marks = _marks(text.replace("\r", "\n"))
    if not any(mark.name != "other" for mark in marks):
        return (Section("whole", "", 0, len(text), text.strip()),)
    found = []
    if text[: marks[0].start].strip():
        found.append(Section("other", "", 0, marks[0].start, text[: marks[0].start].strip()))
    ends = [mark.start for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        heading, body = text[mark.start : mark.end], text[mark.end : end].strip()
        found.append(Section(mark.name, heading, mark.start, end, body))
    return tuple(found)


def part_of(text: str, name: str) -> str:
    """The words of all sections of one name, joined; empty if there is none."""
    return "\n".join(one.text for one in sections(text) if one.name == name and one.text)


def _marks(flat: str) -> list[_Mark]:
    """All headings, of lines and inside lines, in order and not overlapping."""
    found = [mark for line in LINE.finditer(flat) if (mark := _of_line(line)) is not None]
    for match in INLINE.finditer(flat):
        name = WORDS.get(_plain(match["words"]))
        if name is not None:
            found.append(_Mark(match.start("words"), match.end(), name))
    apart: list[_Mark] = []
    for mark in sorted(found, key=lambda one: (one.start, -one.end)):
        if not apart or mark.start >= apart[-1].end:
            apart.append(mark)
    return apart


def _of_line(line: re.Match[str]) -> _Mark | None:
    """The heading that a line begins with, None if its words are not known as one."""
    name = WORDS.get(_plain(line["words"]))
    colon, capitals = line["end"].startswith((":", "：")), line["words"].isupper()
    if name is None or (not colon and _plain(line["words"]) in TITLES):
        return None
    if not colon and not capitals and (line["end"] or name == "other"):
        return None
    first = "lead" if line["lead"] else "mark" if line["mark"] else "words"
    return _Mark(line.start(first), line.end() if colon else line.start("end"), name)
