"""Checks dc0's Chess960 with python-chess.

    python chess960.py games FILE
    python chess960.py play PROGRAM STOCKFISH.js

FILE has a line of JSON for each game: its start, and for each ply the position's FEN, its legal moves as UCI writes them in Chess960, and the
move played in UCI and in SAN; python-chess must find the same. PROGRAM is `dc0-run`, which plays both colours of two games against
Stockfish for Node.js. Prints what was compared; exits with 1 if anything differs.
"""

import asyncio
import json
import sys
from collections import Counter

import chess
import chess.engine


def check_game(game, counts):
    board = chess.Board(game["start"], chess960=True)
    assert board.is_valid(), game["start"]
    for ply in game["plies"]:
        where = f"{game['start']}, ply {board.ply()}"
        assert ply["fen"] == board.fen(en_passant="legal"), f"{where}: {ply['fen']}, not {board.fen(en_passant='legal')}"
        legal = sorted(move.uci() for move in board.legal_moves)
        assert ply["legal"] == legal, f"{where}: {ply['legal']}, not {legal}"
        move = board.parse_san(ply["san"])
        assert move.uci() == ply["played"], f"{where}: {ply['san']} is {move.uci()}, not {ply['played']}"
        assert board.san(move) == ply["san"], f"{where}: {board.san(move)}, not {ply['san']}"
        counts["positions"] += 1
        counts["castlings"] += board.is_castling(move)
        counts["rooks by files"] += any(letter in "abcdefgh" for letter in ply["fen"].split()[2].lower().replace("-", ""))
        board.push(move)
    counts["games"] += 1


async def play_game(engines, board):
    """A game of the first engine with the second one; python-chess raises an error for an illegal move."""
    players = dict(zip((chess.WHITE, chess.BLACK), engines))
    castlings = 0
    while not board.is_game_over(claim_draw=True) and board.ply() < 160:
        result = await players[board.turn].play(board, chess.engine.Limit(nodes=200), info=chess.engine.INFO_ALL, game=board.fen)
        castlings += board.is_castling(result.move)
        # A line that cannot be read in this variant ends early.
        line = result.info.get("pv", [])
        assert not line or line[0] == result.move, f"{result.move} is not the first of {line}"
        board.push(result.move)
    return castlings


async def play(program, stockfish):
    _, dc0 = await chess.engine.popen_uci([program, "uci", "--device", "cpu"])
    _, other = await chess.engine.popen_uci(["node", stockfish] if stockfish.endswith(".js") else [stockfish])
    assert "UCI_Chess960" in dc0.options
    plies = castlings = 0
    starts = [chess.Board.from_chess960_pos(number) for number in (118, 777)]
    double = chess.Board("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/RKRNNQBB w KQkq - 0 1", chess960=True)
    for start in [*starts, double]:
        for engines in ([dc0, other], [other, dc0]):
            board = start.copy()
            castlings += await play_game(engines, board)
            plies += len(board.move_stack)
    for engine in (dc0, other):
        await engine.quit()
    print(f"6 games, {plies} plies, {castlings} castlings")


def main(what, *paths):
    if what == "play":
        asyncio.run(play(*paths))
        return
    counts = Counter()
    with open(paths[0], encoding="utf-8") as file:
        for line in file:
            check_game(json.loads(line), counts)
    print(", ".join(f"{counts[what]} {what}" for what in ("games", "positions", "castlings", "rooks by files")))


if __name__ == "__main__":
    main(*sys.argv[1:])
