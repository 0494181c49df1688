"""Compares dc0's probes of Syzygy tablebases with python-chess's.

    python probe_tables.py POSITIONS.jsonl

The first line names the folder of the tablebases. Every other line holds a position with dc0's WDL value (-2 to 2), the
outcome under the fifty-move rule (-1 to 1, or null), and every legal move as [uci, dtz, result, rank].
Prints how many positions and moves were compared. Exits with 1 and the first differences if there are any.
"""

import json
import sys
from pathlib import Path

import chess
import chess.syzygy

SHOWN_DIFFERENCES = 10
CERTAIN = 1 << 18


def distance_after(tables, board):
    """Plies from the position before the last move to the next zeroing move or mate, for the side that moved."""
    if board.is_checkmate():
        return 1
    if board.halfmove_clock >= 100:
        return 0
    if board.halfmove_clock == 0:
        return [-1, -101, 0, 101, 1][2 - tables.probe_wdl(board)]
    distance = -tables.probe_dtz(board)
    return distance + (distance > 0) - (distance < 0)


def result(distance, clock):
    """Win 2, cursed win 1, draw 0, blessed loss -1, loss -2."""
    if distance == 0:
        return 0
    size = 2 if abs(distance) + clock <= 100 else 1
    return size if distance > 0 else -size


def rank(distance, clock):
    """Ronald de Man's rank of a root move, without repetitions."""
    if distance > 0:
        return CERTAIN if distance + clock <= 99 else CERTAIN - (distance + clock)
    if distance < 0:
        return -CERTAIN if -2 * distance + clock < 100 else -CERTAIN + (-distance + clock)
    return 0


def outcomes_with_clock(tables, board):
    """The possible outcomes; more than one if it depends on the ply by which stored distances are rounded."""
    wdl, clock = tables.probe_wdl(board), board.halfmove_clock
    if abs(wdl) < 2:
        return [0]
    if clock == 0 or board.is_checkmate():
        return [wdl // 2]
    plies = abs(tables.probe_dtz(board)) + clock
    if plies == 100:
        return [wdl // 2, None]
    return [wdl // 2 if plies < 100 else 0]


def ranked_moves(tables, board):
    clock, moves = board.halfmove_clock, []
    for move in board.legal_moves:
        board.push(move)
        distance = distance_after(tables, board)
        board.pop()
        moves.append([move.uci(), distance, result(distance, clock), rank(distance, clock)])
    return sorted(moves)


def differences(tables, row):
    board = chess.Board(row["fen"])
    pairs = [("wdl", row["wdl"], [tables.probe_wdl(board)])]
    pairs.append(("outcome", row["outcome"], outcomes_with_clock(tables, board)))
    pairs.append(("moves", sorted(row["moves"]), [ranked_moves(tables, board)]))
    for what, found, expected in pairs:
        if found not in expected:
            yield f"{row['fen']}: {what}: dc0 says {found}, python-chess {expected}"


def main(path):
    heading, *rows = [json.loads(line) for line in path.read_text().splitlines()]
    with chess.syzygy.open_tablebase(heading["tables"]) as tables:
        found = [difference for row in rows for difference in differences(tables, row)]
    print(f"compared {len(rows)} positions, {sum(len(row['moves']) for row in rows)} moves")
    for difference in found[:SHOWN_DIFFERENCES]:
        print(difference, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: probe_tables.py POSITIONS.jsonl")
    sys.exit(main(Path(sys.argv[1])))
