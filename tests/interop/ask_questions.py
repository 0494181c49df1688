"""Runs dc0's twenty questions about a run in DuckDB and in Python's polars, and compares their answers with dc0's.

    python ask_questions.py FOLDER

FOLDER holds `questions.jsonl`, each line with a title, a statement and the rows of dc0's answer; the table `steps`, which only dc0
has, as a Parquet file, with `costs` or `trials`; and the path of the run in `run.txt`. Prints a line for each question. Exits with
1 and the differences if there are any.
"""

import json
import math
import sys
from pathlib import Path

import duckdb
import polars

FOLDERS = {"games": "iteration", "positions": "iteration", "searches": "analysis", "trees": "analysis"}
NAMES = {"training": "net", "validation": "net", "matches": "match"}
# Functions that have other names in polars than in DuckDB.
MACROS = [
    "create macro array_sum(list) as list_sum(list)",
    "create macro array_upper(list) as list_max(list)",
]


def tables(run, own):
    """Each table as a polars frame with the columns that its paths give."""
    frames = {}
    for table, number in FOLDERS.items():
        parts = [
            polars.scan_parquet(path, hive_partitioning=False).with_columns(
                polars.lit(int(path.parent.name.split("=")[1])).cast(polars.UInt32).alias(number)
            )
            for path in sorted(run.glob(f"{table}/{number}=*/*.parquet"))
        ]
        frames[table] = parts
    for table, number in NAMES.items():
        frames[table] = [
            polars.scan_parquet(path).with_columns(
                polars.lit(int(path.stem.split("-")[0])).cast(polars.UInt32).alias(number)
            )
            for path in sorted(run.glob(f"{table}/*.parquet"))
        ]
    frames = {table: polars.concat(parts).with_columns(run=polars.lit(run.name)) for table, parts in frames.items() if parts}
    for table in ["steps", "costs", "trials"]:
        if (own / f"{table}.parquet").exists():
            frames[table] = polars.scan_parquet(own / f"{table}.parquet")
    return frames


def views(connection, run, own):
    """The same tables as views."""
    for table, number in FOLDERS.items():
        if any(run.glob(f"{table}/*/*.parquet")):
            connection.sql(
                f"create view {table} as select '{run.name}' as run, * replace ({number}::int as {number}) "
                f"from read_parquet('{run}/{table}/*/*.parquet', hive_partitioning = true)"
            )
    for table, number in NAMES.items():
        if any(run.glob(f"{table}/*.parquet")):
            connection.sql(
                f"create view {table} as select '{run.name}' as run, * exclude (filename), "
                f"regexp_extract(filename, '([0-9]+)[^/]*$', 1)::int as {number} "
                f"from read_parquet('{run}/{table}/*.parquet', filename = true)"
            )
    for table in ["steps", "costs", "trials"]:
        if (own / f"{table}.parquet").exists():
            connection.sql(f"create view {table} as from read_parquet('{own}/{table}.parquet')")
    for macro in MACROS:
        connection.sql(macro)


def same(first, second):
    if isinstance(first, bool) or isinstance(second, bool) or first is None or second is None:
        return first == second
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return math.isclose(float(first), float(second), rel_tol=1e-5, abs_tol=1e-6)


def differences(who, expected, found):
    if len(expected) != len(found):
        return [f"{who}: {len(found)} rows, dc0 has {len(expected)}"]
    wrong = []
    for number, (own, other) in enumerate(zip(expected, found)):
        if len(own) != len(other) or not all(map(same, own.values(), other)):
            wrong.append(f"{who}: row {number}: {list(other)}, dc0 has {list(own.values())}")
    return wrong


def main(own):
    run = Path((own / "run.txt").read_text().strip())
    connection = duckdb.connect()
    views(connection, run, own)
    context = polars.SQLContext(tables(run, own))
    all_wrong = []
    for line in (own / "questions.jsonl").read_text().splitlines():
        question = json.loads(line)
        statement, expected = question["statement"], question["rows"]
        wrong = differences("DuckDB", expected, connection.sql(statement).fetchall())
        wrong += differences("polars", expected, context.execute(statement, eager=True).rows())
        print(f"{question['title']} {len(expected)} rows")
        all_wrong += [f"{question['title']}: {difference}" for difference in wrong]
    for difference in all_wrong:
        print(difference, file=sys.stderr)
    return 1 if all_wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: ask_questions.py FOLDER")
    sys.exit(main(Path(sys.argv[1])))
