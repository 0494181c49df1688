"""Replays every stored game with python-chess and compares dc0's records with python-chess.

    python replay_games.py RUN_FOLDER

Reads `games/**/*.parquet` with the file of the same name under `positions/`, and `matches/**/*.parquet`.
Prints a summary line. Exits with 1 and the first differences if there are any.
"""

import sys
from collections import Counter
from pathlib import Path

import chess
import polars

SHOWN_DIFFERENCES = 10
PROMOTIONS = [None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN]


class Difference(Exception):
    """A game on which python-chess disagrees; the rest of it is not compared."""


def unpack(packed):
    """A move from its 16 bits: from + 64 * to + 4096 * promotion."""
    return chess.Move(packed & 63, packed >> 6 & 63, PROMOTIONS[packed >> 12])


def expect(what, stored, found):
    if stored != found:
        raise Difference(f"{what}: stored {stored!r}, python-chess finds {found!r}")


def ending(board):
    """Why the game is over, checked in dc0's order; None while only a ply cap could end it."""
    if not any(board.legal_moves):
        return "checkmate" if board.is_check() else "stalemate"
    if board.is_insufficient_material():
        return "insufficient_material"
    if board.is_repetition(3):
        return "threefold"
    return "fifty_moves" if board.halfmove_clock >= 100 else None


def check_position(board, played, row):
    """Compares one row of `positions` with the board before the move."""
    legal = set(board.legal_moves)
    visited = [unpack(packed) for packed in row["moves"]]
    expect("fen", row["fen"], board.fen(en_passant="legal"))
    expect("played", unpack(row["played"]), played)
    expect("legal", row["legal"], len(legal))
    expect("illegal moves that were visited", [move.uci() for move in visited if move not in legal], [])
    expect("moves twice in a row", len(visited), len(set(visited)))


def check_end(board, game):
    """Compares reason and result with the final board."""
    expect("reason", game["reason"], ending(board) or "ply_cap")
    winner = -1 if board.turn == chess.WHITE else 1
    expect("result", game["result"], winner if game["reason"] == "checkmate" else 0)


def count_kind(board, move, kinds):
    kinds["castlings"] += board.is_castling(move)
    kinds["en passant"] += board.is_en_passant(move)
    kinds["promotions"] += move.promotion is not None


def replay(game, positions, kinds):
    """Replays one game; `positions` are its rows by ply, or None if none are stored."""
    board = chess.Board(game["start_fen"])
    expect("start_fen", game["start_fen"], board.fen(en_passant="legal"))
    for ply, packed in enumerate(game["moves"]):
        move = unpack(packed)
        if not board.is_legal(move):
            raise Difference(f"ply {ply}: {move.uci()} is not legal in {board.fen()}")
        expect(f"ending before ply {ply}", None, ending(board))
        if positions is not None and ply >= game["opening_plies"]:
            check_row(board, move, positions.pop(ply, None), ply, game)
        count_kind(board, move, kinds)
        board.push(move)
    expect("positions of plies that were not played", sorted(positions or {}), [])
    check_end(board, game)


def check_row(board, move, row, ply, game):
    if row is None:
        raise Difference(f"ply {ply} has no position")
    try:
        check_position(board, move, row)
        viewed = game["result"] if board.turn == chess.WHITE else -game["result"]
        expect("result", row["result"], viewed)
    except Difference as difference:
        raise Difference(f"ply {ply}: {difference}") from None


def positions_of(path):
    """The rows of a file of `positions` as {game: {ply: row}}."""
    games = {}
    for row in polars.read_parquet(path).iter_rows(named=True):
        games.setdefault(row["game"], {})[row["ply"]] = row
    return games


def check_file(path, positions, counts, differences):
    for game in polars.read_parquet(path).iter_rows(named=True):
        counts["games"] += 1
        rows = None
        if positions is not None:
            rows = positions.pop(game["game"], {})
            counts["positions"] += len(rows)
        try:
            replay(game, rows, counts)
        except Difference as difference:
            differences.append(f"{path}: game {game['game']}: {difference}")
    if positions:
        differences.append(f"{path}: positions of games that do not exist: {sorted(positions)}")


def main(folder):
    counts, differences = Counter(), []
    games = sorted(folder.glob("games/**/*.parquet"))
    matches = sorted(folder.glob("matches/**/*.parquet"))
    for path in games:
        positions = folder / "positions" / path.relative_to(folder / "games")
        if positions.exists():
            check_file(path, positions_of(positions), counts, differences)
        else:
            differences.append(f"{path}: {positions} is missing")
    for path in matches:
        check_file(path, None, counts, differences)
    if not games:
        differences.append(f"no games under {folder / 'games'}")
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("castlings", "en passant", "promotions"))
    print(f"replayed {counts['games']} games, {counts['positions']} positions ({kinds})")
    for difference in differences[:SHOWN_DIFFERENCES]:
        print(difference, file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: replay_games.py RUN_FOLDER")
    sys.exit(main(Path(sys.argv[1])))
