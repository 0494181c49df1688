"""Compares the games of one match that two programs played, by opening and by who had White.

    fastchess.py ONE.pgn OTHER.pgn

Prints the number of games and of moves.
"""

import sys

import chess.pgn


def games(path):
    found = {}
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors, game.errors
            key = (game.board().fen(), game.headers["White"])
            assert key not in found, f"{path} has two games of {key}"
            found[key] = (game.headers["Result"], [move.uci() for move in game.mainline_moves()])
    return found


one, other = games(sys.argv[1]), games(sys.argv[2])
assert one.keys() == other.keys(), one.keys() ^ other.keys()
for key, (result, moves) in one.items():
    assert moves == other[key][1], f"{key}: {moves} {other[key][1]}"
    assert result == other[key][0], f"{key}: {result} {other[key][0]}"
print(len(one), "games", sum(len(moves) for _, moves in one.values()), "moves")
