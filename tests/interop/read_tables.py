"""Reads every table of a run with DuckDB and with polars, and compares what they read.

    python read_tables.py RUN_FOLDER

For each table: the same columns and rows, the same sum of every number (NaN counts as 0), the same length of every text and list. Then the
queries of `datasets/README.md` are run. Prints a line for each table and each query. Exits with 1 and the differences if
there are any.
"""

import math
import re
import sys
from pathlib import Path

import duckdb
import polars

TABLES = ["games", "positions", "matches", "training", "validation", "searches", "trees"]
PAGE = Path(__file__).resolve().parents[2] / "datasets" / "README.md"


def polars_figures(frame):
    """Number of rows, and one number for each column."""
    figures = {"rows": frame.height}
    for name, kind in frame.schema.items():
        column = frame[name]
        if kind == polars.List:
            items = column.explode(empty_as_null=False)
            if items.dtype.is_float():
                items = items.cast(polars.Float64).fill_nan(0)
            else:
                items = items.cast(polars.Int64)
            figures[name] = [items.len(), items.sum()]
        elif kind == polars.String:
            figures[name] = column.str.len_bytes().cast(polars.Int64).sum()
        else:
            figures[name] = column.cast(polars.Float64).sum()
    return figures


def duckdb_figures(glob):
    source = f"read_parquet('{glob}', hive_partitioning = false)"
    columns = duckdb.sql(f"describe select * from {source}").fetchall()
    questions = ["count(*)"]
    for name, kind, *_ in columns:
        name = f'"{name}"'
        if kind in ("FLOAT[]", "DOUBLE[]"):
            known = f"[case when isnan(item) then 0 else item::double end for item in {name}]"
            questions.append(f"[coalesce(sum(len({name})), 0), coalesce(sum(list_sum({known})), 0)]::double[]")
        elif kind.endswith("[]"):
            questions.append(f"[coalesce(sum(len({name})), 0), coalesce(sum(list_sum({name})), 0)]::bigint[]")
        elif kind == "VARCHAR":
            questions.append(f"coalesce(sum(strlen({name})), 0)::bigint")
        else:
            questions.append(f"coalesce(sum({name}::double), 0)")
    answers = duckdb.sql(f"select {', '.join(questions)} from {source}").fetchall()[0]
    return dict(zip(["rows", *(column[0] for column in columns)], answers))


def agree(first, second):
    if isinstance(first, list):
        return all(map(agree, first, second))
    # The mean of a column with numbers that are none is none.
    if math.isnan(first) and math.isnan(second):
        return True
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9)


def compare(table, glob):
    """The differences between the two readers."""
    ours = polars_figures(polars.read_parquet(glob, hive_partitioning=False))
    theirs = duckdb_figures(glob)
    print(f"{table}: {ours['rows']} rows, {len(ours) - 1} columns")
    if table == "positions":
        print(f"sum of visits: {ours['visits'][1]}")
    if list(ours) != list(theirs):
        return [f"{table}: polars finds the columns {list(ours)}, DuckDB {list(theirs)}"]
    return [
        f"{table}.{name}: polars finds {ours[name]}, DuckDB {theirs[name]}"
        for name in ours
        if not agree(ours[name], theirs[name])
    ]


def run_page(folder):
    """Runs the queries of the schema page, whose paths start with `datasets/az_small`; those about costs only if the run has them."""
    text = PAGE.read_text().replace("datasets/az_small", str(folder))
    for query in re.findall(r"```sql\n(.*?)```", text, re.S):
        if "costs.parquet" in query and not (folder / "costs.parquet").is_file():
            continue
        rows = duckdb.sql(query).fetchall()
        print(f"DuckDB query of the page: {len(rows)} rows")
    for program in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(program, str(PAGE), "exec"), {})


def main(folder):
    differences, found = [], []
    for table in TABLES:
        if any(folder.glob(f"{table}/**/*.parquet")):
            found.append(table)
            differences += compare(table, f"{folder}/{table}/**/*.parquet")
    if (folder / "costs.parquet").is_file():
        differences += compare("costs", f"{folder}/costs.parquet")
    if not found:
        differences.append(f"no tables under {folder}")
    if {"games", "positions"} <= set(found):
        run_page(folder)
    for difference in differences:
        print(difference, file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read_tables.py RUN_FOLDER")
    sys.exit(main(Path(sys.argv[1])))
