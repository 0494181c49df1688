"""Plays and analyses with python-chess as the GUI, which checks every line of the engine's output.

    python uci_client.py PROGRAM
    python uci_client.py PROGRAM --games 200 --clock 1 --increment 0.01 --overhead 10 --ponder

PROGRAM is `dc0-run`. Games limited by nodes, by clock and by depth, analysis with several lines, pondering, stops at random times;
games against Stockfish, if it is on the PATH; with `--games` only those, each to its end. python-chess raises an error for an illegal
move, and logs one for a line that it cannot read; both count, and with `--games` so do losses on time. Prints a summary line; exits
with 1 if anything was wrong.
"""

import argparse
import asyncio
import logging
import random
import shutil
import sys
from collections import Counter
from dataclasses import dataclass

import chess
import chess.engine

COMPLAINTS = []


@dataclass
class TimeControl:
    """Clock, length and pondering of a game; times in seconds."""

    clock: float = 2.0
    increment: float = 0.05
    plies: int = 80
    ponder: bool = False


class Complaints(logging.Handler):
    """Collects warnings and errors that python-chess logs."""

    def emit(self, record):
        COMPLAINTS.append(record.getMessage())


def expect(what, holds):
    if not holds:
        COMPLAINTS.append(what)


def opening(rng):
    """A position after a few random moves."""
    board = chess.Board()
    for _ in range(rng.randrange(8)):
        board.push(rng.choice(list(board.legal_moves)))
    return board


async def start(program, options=None):
    _, engine = await chess.engine.popen_uci([program, "uci", "--device", "cpu"])
    await engine.configure(options or {})
    return engine


async def play_game(engine, board, limit, counts, opponent=None, control=None):
    """Plays a game against itself or an opponent, to its end or for a number of plies; the clock runs if `limit` is "clock"."""
    control = control or TimeControl()
    clocks = {chess.WHITE: control.clock, chess.BLACK: control.clock}
    loop = asyncio.get_running_loop()
    own = board.turn
    game = object()
    for _ in range(control.plies):
        if board.is_game_over():
            break
        player = engine if opponent is None or board.turn == own else opponent
        if limit == "clock":
            move_limit = chess.engine.Limit(
                white_clock=clocks[chess.WHITE],
                black_clock=clocks[chess.BLACK],
                white_inc=control.increment,
                black_inc=control.increment,
            )
        else:
            move_limit = limit
        started = loop.time()
        result = await player.play(
            board, move_limit, game=game, info=chess.engine.INFO_ALL, ponder=control.ponder and player is engine
        )
        spent = loop.time() - started
        expect(f"no move in {board.fen()}", result.move is not None)
        if result.move is None:
            break
        if limit == "clock":
            if player is engine and spent > clocks[board.turn]:
                counts["losses on time"] += 1
                print(f"{spent:.3f} s of {clocks[board.turn]:.3f} s at ply {board.ply()} of {board.fen()}", file=sys.stderr)
            clocks[board.turn] = max(clocks[board.turn] - spent, 0) + control.increment
        if player is engine:
            expect(f"no score in {board.fen()}", "score" in result.info)
        board.push(result.move)
        counts["moves"] += 1
    counts["games"] += 1


async def play_games(program, counts):
    rng = random.Random(1)
    engine = await start(program)
    limits = [chess.engine.Limit(nodes=30)] * 4 + [chess.engine.Limit(depth=5)] * 2 + [chess.engine.Limit(time=0.07)]
    for limit in [*limits, "clock", "clock"]:
        await play_game(engine, opening(rng), limit, counts)
    await engine.quit()


async def analyse(program, counts):
    """Analyses several lines with WDL in random positions; then infinite analyses, stopped after a random time."""
    rng = random.Random(2)
    engine = await start(program, {"UCI_ShowWDL": True, "Threads": 2})
    for _ in range(10):
        board = opening(rng)
        infos = await engine.analyse(board, chess.engine.Limit(nodes=100), multipv=3)
        firsts = {info["pv"][0] for info in infos}
        expect(f"{len(infos)} lines in {board.fen()}", len(infos) == 3 and len(firsts) == 3)
        expect("no WDL", all("wdl" in info for info in infos))
        counts["analyses"] += 1
    for _ in range(30):
        board = opening(rng)
        with await engine.analysis(board) as analysis:
            await asyncio.sleep(rng.random() * 0.1)
            analysis.stop()
            best = await analysis.wait()
        expect(f"{best.move} in {board.fen()}", best.move in board.legal_moves)
        counts["stops"] += 1
    await engine.quit()


async def ponder(program, counts):
    """Pondering: python-chess sends `ponderhit` if the expected move is played, else `stop` and the new position."""
    rng = random.Random(3)
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
            hits = result.ponder is not None and rng.random() < 0.5
            board.push(result.ponder if hits else rng.choice(list(board.legal_moves)))
            counts["ponder hits" if hits else "ponder misses"] += 1
            if board.is_game_over():
                break
    await engine.quit()


async def play_stockfish(program, counts, games=4, control=None, options=None):
    path = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if path is None:
        print("no stockfish on the PATH: games against it are left out")
        return
    rng = random.Random(4)
    engine = await start(program, options)
    _, opponent = await chess.engine.popen_uci(path)
    for _ in range(games):
        await play_game(engine, opening(rng), "clock", counts, opponent, control)
        counts["games against stockfish"] += 1
    await engine.quit()
    await opponent.quit()


async def main(args):
    logging.getLogger("chess.engine").addHandler(Complaints(level=logging.WARNING))
    counts = Counter({"losses on time": 0})
    if args.games is None:
        for part in (play_games, analyse, ponder, play_stockfish):
            await part(args.program, counts)
    else:
        control = TimeControl(args.clock, args.increment, plies=600, ponder=args.ponder)
        options = {} if args.overhead is None else {"Move Overhead": args.overhead}
        await play_stockfish(args.program, counts, args.games, control, options)
        # Checked only with `--games`: the test must not fail on a busy machine.
        expect(f"{counts['losses on time']} losses on time", counts["losses on time"] == 0)
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    for complaint in COMPLAINTS[:10]:
        print(complaint, file=sys.stderr)
    return 1 if COMPLAINTS else 0


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--games", type=int, help="only play this many games against Stockfish")
    parser.add_argument("--clock", type=float, default=TimeControl.clock, help="seconds per side and game")
    parser.add_argument("--increment", type=float, default=TimeControl.increment, help="seconds added after a move")
    parser.add_argument("--overhead", type=int, help="the engine's Move Overhead in milliseconds")
    parser.add_argument("--ponder", action="store_true", help="the engine thinks on the opponent's time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(arguments())))
