"""Compares the tables and functions of `dc0-run sql --views polars` with dc0's answers.

    python polars_tables.py write FOLDER     writes `statements.jsonl`, as sql_statements.py does
    python polars_tables.py compare FOLDER   compares the answers in `answers.jsonl` with those of the module `tables.py`

Prints how many were equal. Exits with 1 and the differences if there are any.
"""

import json
import sys
from pathlib import Path

from sql_statements import same

TABLES = ["games", "positions", "training", "validation", "matches", "searches", "trees", "costs", "steps", "runs", "ratings"]

# Texts, some of which have a board.
BOARDS = ["hello", "", "8/8/8/8/8/8/8/8 x", "8/8/8/8/8/8/8/44 w", "8/8 w", "8/8/8/8/8/8/8/44444 w - - 0 1", "8/8/8/8/8/8/8/9 w",
             "xyz5/8/8/8/8/8/8/8 w - - 0 1", "zz6/8/8/8/8/8/8/8 w", "......../8/8/8/8/8/8/8 w", "8/8/8/8/8/8/8/8/8 w"]

# FENs, some of them of legal positions.
ONE_PAWN = ["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w KQ - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w - -", "4k3/8/8/8/8/8/4P3/4K3", "hello", ""]

# A statement of dc0, and the same question to the module `t` and polars `pl`.
QUESTIONS = [
    *((f"select count(*) as n from {table}", f"t.{table}.select(pl.len())") for table in TABLES),
    *((f"select * from {table} limit 5", f"t.{table}.head(5)") for table in ["games", "positions", "training", "matches", "costs", "steps", "runs", "ratings"]),
    ("select reason, count(*) as n from games group by reason order by reason", "t.games.group_by('reason').len().sort('reason')"),
    ("select iteration, avg(len(moves)) as plies from games group by iteration order by iteration",
     "t.games.group_by('iteration').agg(pl.col('moves').list.len().mean()).sort('iteration')"),
    ("select material(fen), phase(fen), piece_count(fen), side(fen) from positions order by iteration, game, ply",
     "t.positions.sort('iteration', 'game', 'ply').select(t.material('fen'), t.phase('fen'), t.piece_count('fen'), t.side('fen'))"),
    ("select board(fen) from positions order by iteration, game, ply", "t.positions.sort('iteration', 'game', 'ply').select(t.board('fen'))"),
    ("select uci(played), uci(moves) from positions order by iteration, game, ply",
     "t.positions.sort('iteration', 'game', 'ply').select(t.uci('played').alias('a'), t.uci('moves').alias('b'))"),
    ("select san(fen, played) from positions order by iteration, game, ply", "t.positions.sort('iteration', 'game', 'ply').select(t.san('fen', 'played'))"),
    ("select san(fen, played + 1) from positions order by iteration, game, ply",
     "t.positions.sort('iteration', 'game', 'ply').select(t.san('fen', pl.col('played') + 1))"),
    ("select policy_entropy(visits), policy_entropy(target) from positions order by iteration, game, ply",
     "t.positions.sort('iteration', 'game', 'ply').select(t.policy_entropy('visits').alias('a'), t.policy_entropy('target').alias('b'))"),
    ("select opening(moves), eco(moves) from games order by iteration, game",
     "t.games.sort('iteration', 'game').select(t.opening('moves'), t.eco('moves'))"),
    ("select opening(moves[:4]), eco(moves[2:]) from matches order by match, game",
     "t.matches.sort('match', 'game').select(t.opening(pl.col('moves').list.head(4)), t.eco(pl.col('moves').list.slice(1)))"),
    ("select side(fen) as s, avg(root_q) as q, max(legal) as l from positions group by s order by s",
     "t.positions.group_by(t.side('fen').alias('s')).agg(pl.col('root_q').cast(pl.Float64).mean(), pl.col('legal').max()).sort('s')"),
    (f"select material(f), side(f), board(f), piece_count(f), phase(f) from (values {', '.join(f'({text!r})' for text in BOARDS)}, (null)) as v(f)",
     f"pl.LazyFrame({{'f': {[*BOARDS, None]}}}).select(t.material('f'), t.side('f'), t.board('f'), t.piece_count('f'), t.phase('f'))"),
    ("select uci(m), san('rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1', m) from (values (1804), (-1), (20480), (65535), (null)) as v(m)",
     "pl.LazyFrame({'m': [1804, -1, 20480, 65535, None]}).select(t.uci('m'), t.san(pl.lit('rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'), 'm'))"),
    ("select uci(l), opening(l), eco(l) from (values ([1804]), ([1804, null]), ([null, 1804]), ([65535]), ([1804, -1]), ([]), (null)) as v(l)",
     "pl.LazyFrame({'l': [[1804], [1804, None], [None, 1804], [65535], [1804, -1], [], None]}).select(t.uci('l'), t.opening('l'), t.eco('l'))"),
    (f"select san(f, 196) from (values {', '.join(f'({text!r})' for text in ONE_PAWN)}, (null)) as v(f)",
     f"pl.LazyFrame({{'f': {[*ONE_PAWN, None]}}}).select(t.san('f', pl.lit(196)))"),
    ("select policy_entropy(l) from (values ([1.0, 1.0]), ([]), (null), ([0.0, 5.0])) as v(l)",
     "pl.LazyFrame({'l': [[1.0, 1.0], [], None, [0.0, 5.0]]}).select(t.policy_entropy('l'))"),
    ("select games.reason, avg(positions.legal) as legal from positions join games using (run, iteration, game) group by games.reason order by games.reason",
     "t.positions.join(t.games, on=['run', 'iteration', 'game']).group_by('reason').agg(pl.col('legal').mean()).sort('reason')"),
    ("select min(ply - 100) as a, max(simulations) * 3000000000 as b from positions",
     "t.positions.select((pl.col('ply') - 100).min().alias('a'), (pl.col('simulations').max() * 3000000000).alias('b'))"),
]

# Statements that polars' own SQL answers as dc0 does.
STATEMENTS = [
    "select reason, count(*) as games from games group by reason order by reason",
    "select iteration, game, ply, root_q from positions where legal > 20 order by iteration, game, ply limit 7",
    "select kind, seconds from costs order by step",
    "select net, max(loss) as highest, min(loss) as lowest from training group by net order by net",
    "select m.match, m.score, s.kind from matches as m join steps as s on s.number = m.match where s.kind = 'arena' order by m.match, m.game",
]


def statements():
    return [statement for statement, _ in QUESTIONS] + STATEMENTS


def write(folder):
    lines = [json.dumps({"title": "", "statement": statement}) for statement in statements()]
    (folder / "statements.jsonl").write_text("\n".join(lines) + "\n")


def compare(folder):
    sys.path.insert(0, str(folder))
    import polars as pl
    import tables as t

    questions = dict(QUESTIONS) | {statement: f"t.sql({statement!r})" for statement in STATEMENTS}
    wrong = []
    for line in (folder / "answers.jsonl").read_text().splitlines():
        answer = json.loads(line)
        statement = answer["statement"]
        found = eval(questions[statement], {"t": t, "pl": pl}).collect()
        rows = found.rows()
        if found.width != len(answer["columns"]) or len(rows) != len(answer["rows"]):
            wrong.append(f"{statement}\n    {found.shape}, dc0 has {len(answer['rows'])} rows of {answer['columns']}")
        for number, (other, own) in enumerate(zip(rows, answer["rows"])):
            if not all(map(same, own, other)):
                wrong.append(f"{statement}\n    row {number}: {other}, dc0 has {own}")
                break
    print(f"{len(questions) - len(wrong)} equal, {len(wrong)} different")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder]:
            write(Path(folder))
        case ["compare", folder]:
            sys.exit(compare(Path(folder)))
        case _:
            sys.exit("usage: polars_tables.py write FOLDER | compare FOLDER")
