"""Reads a PGN file with python-chess and prints a line for each game.

    python read_games.py FILE

A line holds the result, the number of plies, the number of moves with an evaluation, and the last position. Exits with 1 if a game
has an error, a tag of the roster is missing, or the result contradicts the board.
"""

import sys

import chess.pgn

ROSTER = ["Event", "Site", "Date", "Round", "White", "Black", "Result"]


def faults(game):
    found = [str(error) for error in game.errors]
    found += [f"no tag {tag}" for tag in ROSTER if tag not in game.headers]
    end = game.end()
    outcome = end.board().outcome(claim_draw=True)
    if outcome is not None and outcome.result() != game.headers["Result"]:
        found.append(f"{outcome} is recorded as {game.headers['Result']}")
    if int(game.headers["PlyCount"]) != sum(1 for _ in game.mainline()):
        found.append("PlyCount is wrong")
    return found


def main(path):
    is_sound = True
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            evaluated = sum(node.eval() is not None for node in game.mainline())
            board = game.end().board()
            print(game.headers["Result"], len(list(game.mainline())), evaluated, board.fen(en_passant="legal"), sep="\t")
            for fault in faults(game):
                is_sound = False
                print(fault, file=sys.stderr)
    return 0 if is_sound else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read_games.py FILE")
    sys.exit(main(sys.argv[1]))
