"""Compares a dataset of `dc0-run import pgn` with what python-chess reads from the same files.

    python replay_import.py DATASET FILE.pgn …

Every game of the files must be in the dataset with the same moves, positions, legal moves, result, tags, clocks and evaluations, or
among its rejects if python-chess finds a fault in it. Also reads the front matter of the dataset's page, and that each of its
configurations names files. Prints how many games of each kind there were. Exits with 1 and the differences otherwise.
"""

import glob
import math
import re
import sys
from pathlib import Path

import chess
import chess.pgn
import polars
import yaml

RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}
TAGS = {"event": "Event", "site": "Site", "round": "Round", "white": "White", "black": "Black", "eco": "ECO",
        "time_control": "TimeControl", "result_tag": "Result"}


def packed(move):
    """A move as dc0 packs it: castling is the king's two squares."""
    promotion = {None: 0, chess.KNIGHT: 1, chess.BISHOP: 2, chess.ROOK: 3, chess.QUEEN: 4}[move.promotion]
    return move.from_square + 64 * move.to_square + 4096 * promotion


def is_standard(game):
    return game.headers.get("Variant", "Standard").lower() in {"standard", "chess", "from position"}


def is_sound(game):
    """Whether python-chess finds nothing wrong with a game, and it has a result that fits the board."""
    if game.errors or not is_standard(game) or game.headers["Result"] not in RESULTS:
        return False
    if any(not node.move for node in game.mainline()):
        return False
    outcome = game.end().board().outcome()
    is_final = outcome is not None and outcome.termination in {chess.Termination.CHECKMATE, chess.Termination.STALEMATE}
    return not is_final or outcome.result() == game.headers["Result"]


def termination(headers):
    """What a game's tags say of its end: dc0's own tag goes before the standard's."""
    return headers.get("DC0Reason") or headers.get("Termination")


def known(value):
    return "" if value in {None, "?"} else value


def white_score(evaluation):
    """An evaluation as the table has it: White's centipawns, or ±(32000 − moves to mate)."""
    if evaluation is None:
        return math.nan
    white = evaluation.white()
    mate = white.mate()
    if mate is None:
        return float(white.score())
    return math.copysign(32000 - abs(mate), mate)


def players_score(node):
    """The score that dc0 wrote of the player that moved, as the table has it; a mate that the move began is one move nearer."""
    found = re.match(r"([+-])(M?)([0-9.]+)(?:/([0-9]+))?(?: |$)", node.comment)
    if found is None or found[4] == "0":
        return math.nan
    sign, is_mate, number, _ = found.groups()
    white = (1 if sign == "+" else -1) * (1 if node.turn() == chess.BLACK else -1)
    if not is_mate:
        return white * 100 * float(number)
    moves = int(number) - (sign == "+")
    return white * (32000 - moves) if moves else math.nan


def same(found, expected):
    return len(found) == len(expected) and all(
        (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, abs_tol=1e-3) for a, b in zip(found, expected)
    )


def differences(game, row, positions):
    """What differs between a game and its rows."""
    nodes = list(game.mainline())
    if row["moves"] != [packed(node.move) for node in nodes]:
        yield f"moves {row['moves']}"
        return
    if row["result"] != RESULTS[game.headers["Result"]]:
        yield f"result {row['result']}"
    if row["start_fen"] != game.board().fen(en_passant="legal"):
        yield f"start {row['start_fen']}"
    tags = {column: game.headers.get(tag) for column, tag in TAGS.items()} | {"termination": termination(game.headers)}
    for column, text in tags.items():
        if row[column] != known(text):
            yield f"{column} {row[column]!r}, not {text!r}"
    for column, tag in {"white_elo": "WhiteElo", "black_elo": "BlackElo"}.items():
        text = game.headers.get(tag, "")
        if row[column] != (int(text) if text.isdigit() else 0):
            yield f"{column} {row[column]}, not {text!r}"
    for column, expected in {
        "clocks": [math.nan if node.clock() is None else node.clock() for node in nodes],
        "evals": [white_score(node.eval()) if node.eval() else players_score(node) for node in nodes],
    }.items():
        if not same(row[column] or [math.nan] * len(nodes), expected):
            yield f"{column} {row[column]}, not {expected}"
    board = game.board()
    opening_plies = int(game.headers.get("DC0OpeningPlies", "0"))
    if row["opening_plies"] != opening_plies:
        yield f"{row['opening_plies']} plies of the opening, not {opening_plies}"
    for node in nodes[:opening_plies]:
        board.push(node.move)
    trained = nodes[opening_plies:]
    if len(positions) != len(trained):
        yield f"{len(positions)} positions of {len(trained)} plies"
    for ply, (position, node) in enumerate(zip(positions, trained), opening_plies):
        side = 1 if board.turn == chess.WHITE else -1
        found = [position[name] for name in ("ply", "fen", "played", "legal", "moves", "target", "result")]
        move = packed(node.move)
        expected = [ply, board.fen(en_passant="legal"), move, board.legal_moves.count(), [move], [65535], side * row["result"]]
        if found != expected:
            yield f"ply {ply}: {found}, not {expected}"
        board.push(node.move)


def check_card(root):
    """The configurations of the page's front matter, each with the rows of its files."""
    text = (root / "README.md").read_text()
    begin, front, _ = text.split("---\n", 2)
    assert begin == "", "the page begins with its front matter"
    about = yaml.safe_load(front)
    assert about["license"] and about["size_categories"] and "chess" in about["tags"], about
    assert sum(config.get("default", False) for config in about["configs"]) == 1, about
    for config in about["configs"]:
        files = glob.glob(str(root / config["data_files"]))
        assert files, config
        print(config["config_name"], polars.read_parquet(files).height)


def main(root, files):
    tables = {name: polars.read_parquet(root / name / "*" / "*.parquet") for name in ("games", "headers", "positions", "rejects")}
    games = tables["games"].join(tables["headers"].rename({"result": "result_tag"}), on="game")
    rows = {(row["source"], row["number"]): row for row in games.iter_rows(named=True)}
    positions = {game: list(part.iter_rows(named=True))
                 for (game,), part in tables["positions"].partition_by("game", as_dict=True, maintain_order=True).items()}
    rejects = {(row["source"], row["number"]) for row in tables["rejects"].iter_rows(named=True)}
    problems, counts = [], {"same": 0, "rejected": 0, "without moves": 0}
    for path in files:
        number = 0
        with open(path, encoding="utf-8") as file:
            while (game := chess.pgn.read_game(file)) is not None:
                number += 1
                key = (Path(path).name, number)
                if key in rows:
                    row = rows[key]
                    found = list(differences(game, row, positions.get(row["game"], [])))
                    problems += [f"{key}: {problem}" for problem in found]
                    counts["same"] += not found
                    if not is_sound(game):
                        problems.append(f"{key}: python-chess finds faults: {game.errors or game.headers['Result']}")
                elif key in rejects:
                    counts["rejected"] += 1
                    if is_sound(game):
                        problems.append(f"{key}: rejected, and python-chess finds no fault")
                elif game.end() is game:
                    counts["without moves"] += 1
                else:
                    problems.append(f"{key}: neither imported nor rejected")
    check_card(root)
    print(*(f"{name}: {count}" for name, count in counts.items()), sep="\n")
    print(*problems[:20], sep="\n", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: replay_import.py DATASET FILE.pgn …")
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
