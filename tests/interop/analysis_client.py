"""Runs the Python client of the guide to the analysis server, then checks its answers on other games with python-chess.

    python analysis_client.py GUIDE.md

`dc0-run` is on the PATH. Prints a summary; exits with 1 if anything was wrong.
"""

import contextlib
import io
import random
import re
import sys
from pathlib import Path

import chess

PROBLEMS = []


def expect(what, holds):
    if not holds:
        PROBLEMS.append(what)


def client(page):
    """Runs the guide's code, and returns its names and what it printed."""
    [code] = re.findall(r"^```python\n(.*?)^```$", Path(page).read_text(), re.MULTILINE | re.DOTALL)
    names, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), names)
    return names, printed.getvalue().splitlines()


def random_game(rng):
    """The start, None for the initial position, and the moves of a random game, some of which are over."""
    board = chess.Board()
    for _ in range(rng.randrange(30)):
        board.push(rng.choice(list(board.legal_moves)))
    fen = board.fen() if rng.random() < 0.5 else None
    moves = [] if fen else [move.uci() for move in board.move_stack]
    for _ in range(rng.choice([0, 5, 5, 400])):
        if board.is_game_over(claim_draw=False):
            break
        move = rng.choice(list(board.legal_moves))
        board.push(move)
        moves.append(move.uci())
    return fen, moves


def check_moves(board, answer):
    """Every move and variation is legal, and its name is right."""
    where = f"{answer['id']} turn {answer['turn']}"
    for order, entry in enumerate(answer["moves"]):
        expect(f"{where}: order {entry['order']}", entry["order"] == order)
        expect(f"{where}: {entry['pv']} begins otherwise", entry["pv"][0] == entry["move"])
        line = board.copy()
        expect(f"{where}: {entry['san']}", line.san(chess.Move.from_uci(entry["move"])) == entry["san"])
        for move in map(chess.Move.from_uci, entry["pv"]):
            expect(f"{where}: {move} of {entry['pv']} is illegal", move in line.legal_moves)
            line.push(move)
        score = entry["score"]
        expect(f"{where}: {score}", abs(score["win"] + score["draw"] + score["loss"] - 1) < 1e-9)
        if (score["mate"] or 0) > 0:
            expect(f"{where}: {entry['pv']} is no mate", line.is_checkmate())


def check(query, answer):
    board = chess.Board(query["fen"] or chess.STARTING_FEN)
    for move in query["moves"][: answer["turn"]]:
        board.push_uci(move)
    where = f"{answer['id']} turn {answer['turn']}"
    expect(f"{where}: {answer['fen']}", chess.Board(answer["fen"]) == board)
    expect(f"{where}: {answer['side']}", answer["side"] == ("white" if board.turn else "black"))
    if answer["outcome"] is not None:
        over = board.is_repetition(3) or board.halfmove_clock >= 100 or board.is_game_over()
        expect(f"{where}: {answer['outcome']}", over and not answer["moves"])
        return
    expect(f"{where}: {len(answer['policy'])} priors", set(answer["policy"]) == {m.uci() for m in board.legal_moves})
    expect(f"{where}: no moves", answer["moves"] and answer["root"]["visits"] > 0)
    check_moves(board, answer)


def main(page):
    names, printed = client(page)
    print(f"the guide's game: {len(printed)} answers")
    expect(f"the guide printed {printed}", printed[-1].endswith("checkmate"))
    rng = random.Random(1)
    queries = {}
    for number in range(60):
        fen, moves = random_game(rng)
        turns = sorted(rng.sample(range(len(moves) + 1), min(3, len(moves) + 1)) + [len(moves)])
        queries[str(number)] = {
            "id": str(number),
            "fen": fen,
            "moves": moves,
            "turns": sorted(set(turns)),
            "search": {"simulations": 30, "leaf_batch": rng.choice([1, 4]), "mate_in_one": True},
            "priority": rng.randrange(3),
            "include_policy": True,
        }
    expected = {(query["id"], turn) for query in queries.values() for turn in query["turns"]}
    for answer in names["analyse"](queries.values(), "--device", "cpu"):
        if "error" in answer:
            PROBLEMS.append(answer["error"])
            continue
        expect(f"{answer['id']} turn {answer['turn']} twice", (answer["id"], answer["turn"]) in expected)
        expected.discard((answer["id"], answer["turn"]))
        check(queries[answer["id"]], answer)
    expect(f"no answer for {expected}", not expected)
    print(f"{len(queries)} games: {sum(len(query['turns']) for query in queries.values())} answers, {len(PROBLEMS)} problems")
    for problem in PROBLEMS[:10]:
        print(problem, file=sys.stderr)
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: analysis_client.py GUIDE.md")
    sys.exit(main(sys.argv[1]))
