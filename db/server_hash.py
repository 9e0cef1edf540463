"""The hash of an entry as the server computes it, so that no reader's login breaks the chain.

Owns the functions that write an entry the way ``db.chain`` does before it is hashed: canonical
JSON, keys in order, numbers as Python writes them. Refuses what Python could not read again as it
was: keys given twice, numbers without end or not in their shortest form where PostgreSQL and Python
disagree on it, nests and texts too large.
"""

from __future__ import annotations

from sqlalchemy import JSON, Integer

from db.schema import entry

DEEPEST, LARGEST, LONGEST_NUMBER = 30, 1 << 20, 300

FUNCTIONS = """
CREATE OR REPLACE FUNCTION {{own}}.plain_number(token text) RETURNS text LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
DECLARE told text; places integer; edge numeric;
BEGIN
  IF length(token) > {longest_number} THEN RAISE EXCEPTION 'too long' USING {{no_right}}; END IF;
  IF token ~ '^-?[0-9]+$' THEN RETURN CASE token WHEN '-0' THEN '0' ELSE token END; END IF;
  told := token::float8::text;
  IF told ~ 'e[+][0-9][0-9]$' AND right(told, 4) <> 'e+15' THEN
    -- where two shortest ones differ: PostgreSQL takes none from the very edge of what rounds to it
    IF token ~ '^-?[1-9]([.][0-9]*[1-9])?e[+][0-9][0-9]$' AND length(token) < length(told)
      THEN RETURN token; END IF;
    places := split_part(told, 'e', 2)::integer + 2
      - length(translate(split_part(told, 'e', 1), '-.', ''));
    edge := trunc(told::numeric, -places);
    IF told::float8 IN (edge::float8, (edge + sign(edge) * 10::numeric ^ places)::float8) THEN
      RAISE EXCEPTION 'longer than it need be' USING {{no_right}};
    END IF;
  END IF;
  IF right(told, 4) = 'e+15' THEN told := told::numeric::text; END IF;
  RETURN told || CASE WHEN told ~ '[.e]' THEN '' ELSE '.0' END;
END $$;
CREATE OR REPLACE FUNCTION {{own}}.plain_json(value json, depth integer) RETURNS text
  LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE told text;
BEGIN
  IF depth > {deepest} THEN RAISE EXCEPTION 'too deep' USING {{no_right}}; END IF;
  CASE coalesce(json_typeof(value), 'null')
    WHEN 'null' THEN RETURN 'null';
    WHEN 'boolean' THEN RETURN value #>> '{{{{}}}}';
    WHEN 'number' THEN RETURN {{own}}.plain_number(value #>> '{{{{}}}}');
    WHEN 'string' THEN RETURN to_json(value #>> '{{{{}}}}')::text;
    WHEN 'array' THEN
      SELECT string_agg({{own}}.plain_json(a.value, depth + 1), ',' ORDER BY a.ordinality)
        INTO told FROM json_array_elements(value) WITH ORDINALITY a;
      RETURN '[' || coalesce(told, '') || ']';
    ELSE
      IF EXISTS (SELECT FROM json_object_keys(value) k GROUP BY k HAVING count(*) > 1) THEN
        RAISE EXCEPTION 'a key twice' USING {{no_right}};
      END IF;
      SELECT string_agg(to_json(o.key)::text || ':' || {{own}}.plain_json(o.value, depth + 1),
        ',' ORDER BY o.key COLLATE "C") INTO told FROM json_each(value) o;
      RETURN '{{{{' || coalesce(told, '') || '}}}}';
  END CASE;
END $$
""".format(longest_number=LONGEST_NUMBER, deepest=DEEPEST)  # noqa: UP032


def content_of_new(own: str) -> str:
    """The SQL expression for what the hash of ``NEW`` is of.

    Args:
        own: the schema of the functions, quoted.
    """
    parts = []
    for column in sorted(entry.columns, key=lambda one: one.name):
        value = f'NEW."{column.name}"'
        if column.name == "hash":
            continue
        if isinstance(column.type, JSON):
            told = f"{own}.plain_json({value}, 0)"
        elif isinstance(column.type, Integer):
            told = f"coalesce({value}::text, 'null')"
        else:
            told = f"coalesce(to_json({value})::text, 'null')"
        parts.append(f"""'"{column.name}":' || {told}""")
    return "'{' || " + " || ',' || ".join(parts) + " || '}'"
