"""Plays the games of a stored match again, with python-chess as the referee, and compares them.

    arena.py ENGINE.js MATCH.pgn

ENGINE.js is Stockfish for Node.js. The match is between `strong` with 300 nodes for each move and `weak` with 60.
"""

import asyncio
import sys

import chess
import chess.engine
import chess.pgn

NODES = {"strong": 300, "weak": 60}


def stored(path):
    games = []
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors, game.errors
            games.append(game)
    return games


async def play(engines, game):
    """The moves of a game from the start of another one, between the same players."""
    board = game.board()
    names = {chess.WHITE: game.headers["White"], chess.BLACK: game.headers["Black"]}
    while not (board.is_game_over() or board.is_repetition(3) or board.is_fifty_moves()):
        name = names[board.turn]
        limit = chess.engine.Limit(nodes=NODES[name])
        # A new `game` makes python-chess send `ucinewgame`.
        board.push((await engines[name].play(board, limit, game=id(game))).move)
    outcome = board.outcome(claim_draw=True)
    return [move.uci() for move in board.move_stack], outcome.result()


async def main(engine, path):
    engines = {}
    for name in NODES:
        _, engines[name] = await chess.engine.popen_uci(["node", engine])
    games = stored(path)
    for number, game in enumerate(games):
        moves, result = await play(engines, game)
        expected = [move.uci() for move in game.mainline_moves()]
        assert moves == expected, f"game {number}: {moves} {expected}"
        assert result == game.headers["Result"], f"game {number}"
        assert game.headers["Termination"] in ("normal", "adjudication"), game.headers["Termination"]
        comments = [node.comment for node in game.mainline()]
        assert all("/" in comment for comment in comments), f"game {number}: {comments}"
    for player in engines.values():
        await player.quit()
    print(len(games), "games")


asyncio.run(main(sys.argv[1], sys.argv[2]))
