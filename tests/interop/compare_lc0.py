"""Compares a dataset of `dc0-run import lc0` with what `write_lc0.py` says of the same positions.

    python compare_lc0.py DATASET FOLDER

Every position must be there with the same FEN (but for the move number), move, legal moves, visits, target, values and result, and
every broken game among the rejects. Prints how many there were. Exits with 1 and the differences otherwise.
"""

import json
import math
import sys
from pathlib import Path

import polars


def close(found, expected):
    return all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(found, expected, strict=True))


def differences(row, expected):
    """What differs between a row and what is expected of it."""
    if row["fen"].rsplit(" ", 1)[0] != expected["fen"]:
        yield f"fen {row['fen']}, not {expected['fen']}"
    for column in ("ply", "played", "legal", "moves", "visits", "simulations", "result"):
        if row[column] != expected[column]:
            yield f"{column} {row[column]}, not {expected[column]}"
    total = sum(expected["visits"])
    targets = [round(count / total * 65535) for count in expected["visits"]]
    if any(abs(a - b) > 1 for a, b in zip(row["target"], targets, strict=True)):
        yield f"target {row['target']}, not {targets}"
    if not close((row["root_q"], row["root_d"]), expected["root"]):
        yield f"root {row['root_q']}, {row['root_d']}, not {expected['root']}"
    if not close((row["net_q"], row["net_d"]), expected["net"]):
        yield f"net {row['net_q']}, {row['net_d']}, not {expected['net']}"
    surprise = math.nan if expected["surprise"] is None else expected["surprise"]
    if not (math.isnan(surprise) and math.isnan(row["policy_surprise"])) and not close([row["policy_surprise"]], [surprise]):
        yield f"surprise {row['policy_surprise']}, not {surprise}"
    if not row["full"]:
        yield "not full"


def main(root, folder):
    tables = {name: polars.read_parquet(root / name / "*" / "*.parquet") for name in ("headers", "positions", "rejects")}
    numbers = {row["game"]: int(row["event"].split(".")[-2]) for row in tables["headers"].iter_rows(named=True)}
    rows = {(numbers[row["game"]], row["ply"]): row for row in tables["positions"].iter_rows(named=True)}
    problems, same = [], 0
    with open(folder / "positions.jsonl") as lines:
        for line in lines:
            expected = json.loads(line)
            key = (expected["number"], expected["ply"])
            row = rows.pop(key, None)
            found = ["missing"] if row is None else list(differences(row, expected))
            problems += [f"{key}: {problem}" for problem in found]
            same += not found
    problems += [f"{key}: not expected" for key in rows]
    print(f"same: {same}")
    for reason, count in sorted(tables["rejects"].group_by("reason").len().iter_rows()):
        print(f"{reason}: {count}")
    print(*problems[:20], sep="\n", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: compare_lc0.py DATASET FOLDER")
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
