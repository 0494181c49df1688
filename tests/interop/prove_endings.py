"""Proves puzzles of endings with python-chess's tablebases.

    python prove_endings.py PUZZLES.epd

The first line is a comment that names the folder of the tablebases. Every other line has one best move and an `id` that begins with whether it is the only
one that wins or the only one that draws. Prints how many of both were proved. Exits with 1 at the first that is wrong.
"""

import sys
from collections import Counter
from pathlib import Path

import chess
import chess.syzygy


def outcome(tables, board, move):
    """1 if the move wins, 0 if it draws, -1 if it loses, with the fifty-move rule."""
    board.push(move)
    try:
        if board.is_checkmate():
            return 1
        if board.halfmove_clock >= 100:
            return 0
        wdl = tables.probe_wdl(board)
        if abs(wdl) < 2:
            return 0
        is_in_time = board.halfmove_clock == 0 or abs(tables.probe_dtz(board)) + board.halfmove_clock <= 100
        return -wdl // 2 if is_in_time else 0
    finally:
        board.pop()


def main(path):
    comment, *lines = Path(path).read_text().splitlines()
    counts = Counter()
    with chess.syzygy.open_tablebase(comment.removeprefix("# ")) as tables:
        for line in lines:
            board = chess.Board()
            operations = board.set_epd(line)
            outcomes = {move: outcome(tables, board, move) for move in board.legal_moves}
            best = max(outcomes.values())
            kept = [move for move, found in outcomes.items() if found == best]
            kind = operations["id"].split(",")[0]
            expected = {"only winning move": 1, "only drawing move": 0}[kind]
            if kept != operations["bm"] or best != expected or len(outcomes) < 2:
                sys.exit(f"{line}: {kept} have the outcome {best}")
            counts[kind] += 1
    print(*(counts[name] for name in ("only winning move", "only drawing move")))


main(*sys.argv[1:])
