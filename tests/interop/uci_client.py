"""Plays and analyses with python-chess as the chess program, which checks every line that the engine says.

    python uci_client.py PROGRAM [GAMES]

PROGRAM is `dc0-run`; with GAMES it only plays as many games against Stockfish. Games by nodes, by clock and by depth, analysis with several lines, pondering, stops at random times; games
against Stockfish, if a program of that name is on the PATH. python-chess raises an error at an illegal move, and logs one at a
line that it cannot read; both count, and with GAMES so do losses on time. Prints a summary line; exits with 1 if anything was wrong.
"""

import asyncio
import logging
import random
import shutil
import sys
from collections import Counter

import chess
import chess.engine

CLOCK = 2.0
INCREMENT = 0.05
PLIES = 80
COMPLAINTS = []


class Complaints(logging.Handler):
    """Keeps what python-chess logs as a warning or worse."""

    def emit(self, record):
        COMPLAINTS.append(record.getMessage())


def expect(what, holds):
    if not holds:
        COMPLAINTS.append(what)


def opening(chance):
    """A position after a few random moves."""
    board = chess.Board()
    for _ in range(chance.randrange(8)):
        board.push(chance.choice(list(board.legal_moves)))
    return board


async def start(program, options=None):
    _, engine = await chess.engine.popen_uci([program, "uci", "--device", "cpu"])
    await engine.configure(options or {})
    return engine


async def play_game(engine, board, limit, counts, opponent=None):
    """A game with itself or an opponent to its end or for a number of plies; the clock runs if the limit has one."""
    clocks = {chess.WHITE: CLOCK, chess.BLACK: CLOCK}
    loop = asyncio.get_running_loop()
    own = board.turn
    game = object()
    for _ in range(PLIES):
        if board.is_game_over():
            break
        player = engine if opponent is None or board.turn == own else opponent
        if limit == "clock":
            asked = chess.engine.Limit(
                white_clock=clocks[chess.WHITE], black_clock=clocks[chess.BLACK], white_inc=INCREMENT, black_inc=INCREMENT
            )
        else:
            asked = limit
        begun = loop.time()
        result = await player.play(board, asked, game=game, info=chess.engine.INFO_ALL)
        spent = loop.time() - begun
        expect(f"no move in {board.fen()}", result.move is not None)
        if result.move is None:
            break
        if limit == "clock":
            clocks[board.turn] -= spent
            counts["losses on time"] += player is engine and clocks[board.turn] < 0
            clocks[board.turn] = max(clocks[board.turn], 0) + INCREMENT
        if player is engine:
            expect(f"no score in {board.fen()}", "score" in result.info)
        board.push(result.move)
        counts["moves"] += 1
    counts["games"] += 1


async def play_games(program, counts):
    chance = random.Random(1)
    engine = await start(program)
    limits = [chess.engine.Limit(nodes=30)] * 4 + [chess.engine.Limit(depth=5)] * 2 + [chess.engine.Limit(time=0.07)]
    for limit in [*limits, "clock", "clock"]:
        await play_game(engine, opening(chance), limit, counts)
    await engine.quit()


async def analyse(program, counts):
    """Several lines, with chances, in every kind of position; then without an end, stopped after a random time."""
    chance = random.Random(2)
    engine = await start(program, {"UCI_ShowWDL": True, "Threads": 2})
    for _ in range(10):
        board = opening(chance)
        infos = await engine.analyse(board, chess.engine.Limit(nodes=100), multipv=3)
        firsts = {info["pv"][0] for info in infos}
        expect(f"{len(infos)} lines in {board.fen()}", len(infos) == 3 and len(firsts) == 3)
        expect("no chances", all("wdl" in info for info in infos))
        counts["analyses"] += 1
    for _ in range(30):
        board = opening(chance)
        with await engine.analysis(board) as analysis:
            await asyncio.sleep(chance.random() * 0.1)
            analysis.stop()
            best = await analysis.wait()
        expect(f"{best.move} in {board.fen()}", best.move in board.legal_moves)
        counts["stops"] += 1
    await engine.quit()


async def ponder(program, counts):
    """Pondering: python-chess sends `ponderhit` where the expected move is played, else `stop` and the new position."""
    chance = random.Random(3)
    engine = await start(program)
    for _ in range(4):
        board, game = chess.Board(), object()
        for _ in range(12):
            limit = chess.engine.Limit(white_clock=3, black_clock=3)
            result = await engine.play(board, limit, game=game, ponder=True)
            expect(f"{result.move} in {board.fen()}", result.move in board.legal_moves)
            board.push(result.move)
            if board.is_game_over():
                break
            hits = result.ponder is not None and chance.random() < 0.5
            board.push(result.ponder if hits else chance.choice(list(board.legal_moves)))
            counts["ponder hits" if hits else "ponder misses"] += 1
            if board.is_game_over():
                break
    await engine.quit()


async def play_stockfish(program, counts, games=4):
    path = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if path is None:
        print("no stockfish on the PATH: games against it are left out")
        return
    chance = random.Random(4)
    engine = await start(program)
    _, opponent = await chess.engine.popen_uci(path)
    for _ in range(games):
        await play_game(engine, opening(chance), "clock", counts, opponent)
        counts["games against stockfish"] += 1
    await engine.quit()
    await opponent.quit()


async def main(program, games=None):
    logging.getLogger("chess.engine").addHandler(Complaints(level=logging.WARNING))
    counts = Counter()
    if games is None:
        for part in (play_games, analyse, ponder, play_stockfish):
            await part(program, counts)
    else:
        await play_stockfish(program, counts, int(games))
        # Without a number of games this is a test, which a busy machine must not fail.
        expect(f"{counts['losses on time']} losses on time", counts["losses on time"] == 0)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    for complaint in COMPLAINTS[:10]:
        print(complaint, file=sys.stderr)
    return 1 if COMPLAINTS else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: uci_client.py PROGRAM [GAMES]")
    sys.exit(asyncio.run(main(*sys.argv[1:])))
