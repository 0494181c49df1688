"""Plays many moves in one engine process and watches its memory. Linux only.

    python uci_memory.py PROGRAM [--moves 10000]

PROGRAM is `dc0-run`. The engine plays itself, game after game: most moves with few nodes, some with many, with a clock or as an
analysis of several lines; half of the games with pondering; with one or two threads. After each tenth of the moves a line reports the
resident memory (VmRSS). The first tenth fills tables and the allocator's pages, which are held for a while when freed. Memory is
steady if its median in the last half is above that before by less than 16 MB; exits with 1 if it is not.
"""

import argparse
import asyncio
import random
import sys
from pathlib import Path
from statistics import median

import chess
import chess.engine

MEGABYTE = 1 << 20


def resident(pid):
    """Resident memory of a process in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"process {pid} has no VmRSS")


def limit_of(rng):
    kind = rng.randrange(20)
    if kind == 0:
        return chess.engine.Limit(nodes=rng.randrange(500, 2000))
    if kind == 1:
        return chess.engine.Limit(white_clock=0.5, black_clock=0.5)
    return chess.engine.Limit(nodes=rng.randrange(1, 80))


async def move(engine, board, game, rng, ponders):
    """A move, from play or from an analysis."""
    if rng.randrange(20) > 0:
        result = await engine.play(board, limit_of(rng), game=game, ponder=ponders)
        return result.move
    infos = await engine.analyse(board, chess.engine.Limit(nodes=100), multipv=4, game=game)
    return infos[0]["pv"][0]


async def play(engine, moves, sample):
    """Plays that many moves, game after game; some at random, so that games differ and pondered moves are missed."""
    rng = random.Random(7)
    done, number = 0, 0
    while done < moves:
        board, game, ponders = chess.Board(), object(), number % 2 == 1
        if number % 10 == 0:
            await engine.configure({"Threads": 1 + number // 10 % 2})
        while done < moves and not board.is_game_over(claim_draw=True) and board.ply() < 200:
            chosen = await move(engine, board, game, rng, ponders)
            if rng.randrange(4) == 0:
                chosen = rng.choice(list(board.legal_moves))
            board.push(chosen)
            done += 1
            sample(done)
        number += 1
    return number


async def main(args):
    transport, engine = await chess.engine.popen_uci([args.program, "uci", "--device", "cpu"])
    sizes = []

    def sample(done):
        if done % (args.moves // 10) == 0:
            sizes.append(resident(transport.get_pid()))
            print(f"{sizes[-1] / MEGABYTE:.1f} MB after {done} moves")

    games = await play(engine, args.moves, sample)
    await engine.quit()
    is_steady = median(sizes[5:]) - median(sizes[1:5]) < 16 * MEGABYTE
    print(f"{games} games, memory is {'steady' if is_steady else 'growing'}")
    return 0 if is_steady else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--moves", type=int, default=10_000)
    sys.exit(asyncio.run(main(parser.parse_args())))
