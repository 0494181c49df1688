"""Compares the output of dc0's encodings with planes and indices computed here from their definitions.

    python encodings.py PROGRAM [POSITIONS]

PROGRAM is dc0-run. Plays random games with python-chess, from the initial position and from corner cases, passes at least
POSITIONS (default 5000) of their positions to `dc0-run encode` for every encoding in its orientations, and compares every plane
and every index. For dc0-20 it also compares each position with its colour-swapped twin, made by python-chess. Prints what was
compared. Exits with 1 and the first differences if there are any.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import chess
import numpy as np

SHOWN_DIFFERENCES = 10
PIECES = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]
PLIES = 90
STEPS = 8

STARTS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 6 4",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 3 20",
    "8/PPPPPPPP/8/2k1K3/8/8/pppppppp/8 b - - 0 1",
    "1n1n1n1n/P1P1P1P1/8/2k1K3/8/8/1p1p1p1p/N1N1N1N1 w - - 0 1",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    "rnbqkbnr/pppp1ppp/8/3Pp3/8/8/PPP1PPPP/RNBQKBNR w KQkq e6 0 3",
    # Capturing on e3 or e6 would leave the king in check, and no pawn can capture on c6.
    "8/8/8/8/k2pP2Q/8/8/4K3 b - e3 0 1",
    "4k3/8/8/K2Pp2r/8/8/8/8 w - e6 0 1",
    "4k3/8/8/2p5/8/8/4P3/4K3 w - c6 0 9",
    "4k3/8/8/8/8/8/4P3/4K3 w - - 49 150",
    "k7/8/8/8/8/8/8/K6R w - - 93 100",
    "8/8/8/4k3/8/8/3QK3/8 b - - 0 1",
]


class History:
    """The positions of a game so far, oldest first, with the number of earlier occurrences of each."""

    def __init__(self, start):
        self.start = start
        self.board = chess.Board() if start == "startpos" else chess.Board(start)
        self.seen = Counter()
        self.boards = []
        self.repetitions = []
        self.record()

    def push(self, move):
        self.board.push(move)
        self.record()

    def record(self):
        board = self.board
        key = (board.board_fen(), board.turn, board.castling_xfen(), en_passant(board))
        self.repetitions.append(self.seen[key])
        self.boards.append(pieces(board))
        self.seen[key] += 1

    def line(self):
        moves = " ".join(move.uci() for move in self.board.move_stack)
        return f"{self.start} moves {moves}" if moves else self.start


class Sample:
    """One position with what the encodings need of its history."""

    def __init__(self, history):
        self.line = history.line()
        self.board = history.board.copy(stack=False)
        self.boards = history.boards[-STEPS:][::-1]
        self.repetitions = history.repetitions[-STEPS:][::-1]
        self.moves = {move.uci(): move for move in self.board.legal_moves}
        self.leela = {uci: leela_index(self.board, move) for uci, move in self.moves.items()}
        # The game's start, if the history planes reach beyond it.
        first = chess.Board() if history.start == "startpos" else chess.Board(history.start)
        self.first = first if len(history.boards) < STEPS else None


def en_passant(board):
    return board.ep_square if board.has_legal_en_passant() else None


def pieces(board):
    """[12, 8, 8]: White's and Black's pieces; rank 1 and file a come first."""
    planes = np.zeros((12, 64), np.float32)
    for square, piece in board.piece_map().items():
        planes[(0 if piece.color == chess.WHITE else 6) + PIECES.index(piece.piece_type), square] = 1
    return planes.reshape(12, 8, 8)


def filled(value):
    return np.full((1, 8, 8), value, np.float32)


class View:
    """A sample in an orientation."""

    def __init__(self, sample, orientation):
        self.sample = sample
        self.board = sample.board
        self.turned = orientation == "side_to_move" and sample.board.turn == chess.BLACK
        self.first = chess.BLACK if self.turned else chess.WHITE

    def turn(self, planes):
        return planes[:, ::-1, :] if self.turned else planes

    def turn_pieces(self, planes):
        return np.concatenate([self.turn(planes[6:]), self.turn(planes[:6])]) if self.turned else planes

    def castling(self, king_side, own):
        rights = self.board.has_kingside_castling_rights if king_side else self.board.has_queenside_castling_rights
        return filled(rights(self.first if own else not self.first))

    def en_passant(self):
        plane = np.zeros((1, 64), np.float32)
        if en_passant(self.board) is not None:
            plane[0, en_passant(self.board)] = 1
        return self.turn(plane.reshape(1, 8, 8))

    def steps(self, repetition_planes, missing):
        planes = []
        for step in range(STEPS):
            if step < len(self.sample.boards):
                board, repeated = self.sample.boards[step], self.sample.repetitions[step]
            else:
                board, repeated = missing(self.sample), 0
            planes.append(self.turn_pieces(board))
            planes += [filled(repeated > times) for times in range(repetition_planes)]
        return planes

    def one_step(self):
        return self.steps(2, nothing)[:3]

    def number(self, count, divisor):
        return filled(np.float32(count) / np.float32(divisor))


def nothing(_):
    return np.zeros((12, 8, 8), np.float32)


def repeated_start(sample):
    """Leela's `fen_only`: repeats the start unless it is the initial position; a double step just made is undone."""
    first, initial = sample.first, chess.Board()
    if (first.board_fen(), first.turn, first.castling_xfen()) == (initial.board_fen(), chess.WHITE, "KQkq"):
        return nothing(sample)
    before = first.copy()
    if en_passant(first) is not None:
        back = 8 if first.turn == chess.WHITE else -8
        before.set_piece_at(first.ep_square + back, before.remove_piece_at(first.ep_square - back))
    return pieces(before)


def dc0_20(view):
    planes = view.one_step()
    planes += [view.castling(king_side, own) for own in (True, False) for king_side in (True, False)]
    return planes + [view.en_passant(), view.number(view.board.halfmove_clock, 100)]


def dc0_22(view):
    board = view.board
    planes = view.one_step() + [filled(board.turn == chess.WHITE), view.number(board.fullmove_number, 100)]
    planes += [view.castling(king_side, own) for own in (True, False) for king_side in (True, False)]
    return planes + [view.en_passant(), view.number(board.halfmove_clock, 100)]


def dlchess_22(view):
    board = view.board
    planes = view.one_step() + [filled(board.turn == chess.BLACK), filled(1)]
    planes += [view.castling(king_side, own) for own in (True, False) for king_side in (True, False)]
    return planes + [view.number(board.halfmove_clock, 100), view.en_passant()]


def az_119(view):
    board = view.board
    planes = view.steps(2, nothing)
    planes += [filled(board.turn == chess.BLACK), view.number(board.fullmove_number, 100)]
    planes += [view.castling(king_side, own) for own in (True, False) for king_side in (True, False)]
    return planes + [view.number(board.halfmove_clock, 100)]


def lc0_112(view):
    board = view.board
    planes = view.steps(1, repeated_start)
    planes += [view.castling(king_side, own) for own in (True, False) for king_side in (False, True)]
    planes += [filled(board.turn == chess.BLACK), view.number(board.halfmove_clock, 99)]
    return planes + [filled(0), filled(1)]


TABLES = {"dc0-20": dc0_20, "dc0-22": dc0_22, "dlchess-22": dlchess_22, "az-119": az_119, "lc0-112": lc0_112}
BOTH = ("absolute", "side_to_move")
# Without a plane for the side to move, an absolute view would be ambiguous.
ORIENTATIONS = {name: BOTH[1:] if name == "dc0-20" else BOTH for name in TABLES}


def policy_moves():
    """The move of each of the 4672 indices: (from, to, promotion), or None off the board; AlphaZero 2018, supplement, table S2."""
    queen = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    knight = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
    steps = [(files * far, ranks * far, None) for files, ranks in queen for far in range(1, 8)]
    steps += [(files, ranks, None) for files, ranks in knight]
    steps += [(side, 1, piece) for side in (-1, 0, 1) for piece in (chess.KNIGHT, chess.BISHOP, chess.ROOK)]
    moves = []
    for files, ranks, promotion in steps:
        for square in chess.SQUARES:
            file, rank = chess.square_file(square) + files, chess.square_rank(square) + ranks
            # Underpromotions are steps up the board; if the board is not turned, Black's go down.
            if promotion and chess.square_rank(square) == 1:
                rank = 0
            on_board = 0 <= file < 8 and 0 <= rank < 8
            moves.append((square, chess.square(file, rank), promotion) if on_board else None)
    return moves


def leela_moves():
    """Leela's 1858 moves by name: a queen's and a knight's moves on an empty board, then promotions."""
    names = []
    for square in chess.SQUARES:
        board = chess.Board(None)
        board.set_piece_at(square, chess.Piece(chess.QUEEN, chess.WHITE))
        targets = set(board.attacks(square))
        board.set_piece_at(square, chess.Piece(chess.KNIGHT, chess.WHITE))
        names += [chess.Move(square, target).uci() for target in sorted(targets | set(board.attacks(square)))]
    for file in "abcdefgh":
        for target in "abcdefgh":
            if abs(ord(file) - ord(target)) <= 1:
                names += [f"{file}7{target}8{piece}" for piece in "qrb"]
    return names


POLICY_MOVES = policy_moves()
POLICY_INDICES = {move: index for index, move in enumerate(POLICY_MOVES) if move}
LEELA_INDICES = {name: index for index, name in enumerate(leela_moves())}


def policy_index(move, turned):
    promotion = None if move.promotion == chess.QUEEN else move.promotion
    squares = [chess.square_mirror(square) if turned else square for square in (move.from_square, move.to_square)]
    return POLICY_INDICES[(*squares, promotion)]


def move_at(board, index, turned):
    if POLICY_MOVES[index] is None:
        return None
    origin, target, promotion = POLICY_MOVES[index]
    if turned:
        origin, target = chess.square_mirror(origin), chess.square_mirror(target)
    if promotion is None and board.piece_type_at(origin) == chess.PAWN and chess.square_rank(target) in (0, 7):
        promotion = chess.QUEEN
    return chess.Move(origin, target, promotion)


def leela_index(board, move):
    target = move.to_square
    if board.is_castling(move):
        target = chess.square(7 if board.is_kingside_castling(move) else 0, chess.square_rank(target))
    squares = [move.from_square, target]
    if board.turn == chess.BLACK:
        squares = [chess.square_mirror(square) for square in squares]
    letter = {chess.QUEEN: "q", chess.ROOK: "r", chess.BISHOP: "b"}.get(move.promotion, "")
    return LEELA_INDICES["".join(map(chess.square_name, squares)) + letter]


def allows_en_passant(board, move):
    """Whether a pawn makes a double step to a square beside a pawn of the opponent."""
    if board.piece_type_at(move.from_square) != chess.PAWN or abs(move.to_square - move.from_square) != 16:
        return False
    beside = chess.BB_PAWN_ATTACKS[board.turn][(move.from_square + move.to_square) // 2]
    return bool(beside & board.pieces_mask(chess.PAWN, not board.turn))


def choose(rng, board):
    """A random move; sometimes one of a rare kind, or one that takes back the player's last move."""
    moves, dice = list(board.legal_moves), rng.random()
    rare = [move for move in moves if move.promotion or board.is_castling(move) or board.is_en_passant(move)]
    if rare and dice < 0.4:
        return rng.choice(rare)
    double = [move for move in moves if allows_en_passant(board, move)]
    if double and dice < 0.5:
        return rng.choice(double)
    if len(board.move_stack) > 1 and dice > 0.55:
        last = board.move_stack[-2]
        back = chess.Move(last.to_square, last.from_square)
        if back in moves:
            return back
    return rng.choice(moves)


def samples(count):
    rng = random.Random(20260401)
    found = []
    while len(found) < count:
        history = History(rng.choice(["startpos", rng.choice(STARTS)]))
        while any(history.board.legal_moves) and len(history.boards) < PLIES:
            if len(history.boards) <= STEPS + 2 or rng.random() < 0.25:
                found.append(Sample(history))
            history.push(choose(rng, history.board))
    return found


def kinds(found):
    """Counts positions by what they cover; without one of these kinds the comparison proves little."""
    return {
        "with a castling": sum(any(map(s.board.is_castling, s.moves.values())) for s in found),
        "with an en-passant capture": sum(en_passant(s.board) is not None for s in found),
        "with a promotion": sum(any(move.promotion for move in s.moves.values()) for s in found),
        "repeated once": sum(s.repetitions[0] == 1 for s in found),
        "repeated twice or more": sum(s.repetitions[0] > 1 for s in found),
        "after a FEN start": sum(not s.line.startswith("startpos") for s in found),
        "with missing history": sum(s.first is not None for s in found),
    }


def encoded(program, lines, name, orientation):
    with tempfile.TemporaryDirectory() as folder:
        positions = Path(folder, "positions.txt")
        positions.write_text("".join(line + "\n" for line in lines))
        words = [program, "encode", "--positions", positions, "--encoding", name, "--orientation", orientation]
        output = subprocess.run([*words, "--format", "json"], check=True, capture_output=True, text=True).stdout
        arrays = Path(folder, "planes.npy")
        positions.write_text("".join(line + "\n" for line in lines[:100]))
        subprocess.run([*words, "--format", "npy", "--out", arrays], check=True)
        return [json.loads(line) for line in output.splitlines()], np.load(arrays)


def planes_of(row):
    """[P, 8, 8]: the planes of a line of JSON."""
    planes = np.empty((len(row["planes"]), 64), np.float32)
    is_bits = np.array([isinstance(plane, str) for plane in row["planes"]])
    squares = bytes.fromhex("".join(plane for plane in row["planes"] if isinstance(plane, str)))
    squares = np.frombuffer(squares, np.uint8).reshape(-1, 8)[:, ::-1]
    planes[is_bits] = np.unpackbits(squares, axis=1, bitorder="little")
    planes[~is_bits] = np.array([[plane] for plane in row["planes"] if not isinstance(plane, str)], np.float32)
    return planes.reshape(-1, 8, 8)


def differences(sample, row, name, orientation):
    view = View(sample, orientation)
    board = sample.board
    expected, found = np.concatenate(TABLES[name](view)), planes_of(row)
    if expected.shape != found.shape:
        yield f"shape {found.shape}, expected {expected.shape}"
    else:
        for plane in np.flatnonzero((expected != found).any(axis=(1, 2))):
            yield f"plane {plane}:\n{found[plane]}\nexpected\n{expected[plane]}"
    if row["fen"] != board.fen():
        yield f"FEN {row['fen']}, expected {board.fen()}"
    if sorted(sample.moves) != sorted(one["uci"] for one in row["moves"]):
        yield "other legal moves"
        return
    for one in row["moves"]:
        move = sample.moves[one["uci"]]
        expected = [policy_index(move, view.turned), sample.leela[one["uci"]]]
        if [one["policy"], one["leela"]] != expected:
            yield f"{one}, expected the indices {expected}"
        if move_at(board, one["policy"], view.turned) != move:
            yield f"{one}: the index means {move_at(board, one['policy'], view.turned)}"


def twin_differences(program, found):
    """dc0-20 sees a position and its twin (colours and side to move swapped, ranks mirrored, another move number) alike."""
    fens, twins = [], []
    for sample in found:
        twin = sample.board.mirror()
        twin.fullmove_number = sample.board.fullmove_number % 150 + 7
        fens.append(sample.board.fen())
        twins.append(twin.fen())
    rows, _ = encoded(program, fens, "dc0-20", "side_to_move")
    twin_rows, _ = encoded(program, twins, "dc0-20", "side_to_move")
    for kind, answers in (("positions", rows), ("twins", twin_rows)):
        if len(answers) != len(fens):
            yield f"dc0-20: {len(answers)} lines for {len(fens)} {kind}"
    for fen, twin, row, other in zip(fens, twins, rows, twin_rows):
        indices = [sorted(move["policy"] for move in one["moves"]) for one in (row, other)]
        if row["planes"] != other["planes"] or indices[0] != indices[1]:
            yield f"dc0-20: {fen} differs from its twin {twin}"


def main(program, count):
    found, all_differences, moves = samples(count), [], 0
    for name in TABLES:
        for orientation in ORIENTATIONS[name]:
            rows, arrays = encoded(program, [sample.line for sample in found], name, orientation)
            if len(rows) != len(found):
                all_differences.append(f"{name} {orientation}: {len(rows)} lines for {len(found)} positions")
            for sample, row in zip(found, rows):
                where = f"{name} {orientation}: {sample.line}"
                all_differences += [f"{where}: {what}" for what in differences(sample, row, name, orientation)]
                moves += len(row["moves"])
            same = all(np.array_equal(array, planes_of(row)) for array, row in zip(arrays, rows))
            if not same or len(arrays) != len(rows[:100]):
                all_differences.append(f"{name} {orientation}: the arrays are not those of the JSON lines")
    all_differences += twin_differences(program, found)
    print(f"compared {len(found)} positions in {sum(map(len, ORIENTATIONS.values()))} encodings, {moves} indices of moves")
    print(f"{len(found)} positions compared with a twin")
    for kind, number in kinds(found).items():
        print(f"{number} positions {kind}")
    for difference in all_differences[:SHOWN_DIFFERENCES]:
        print(difference, file=sys.stderr)
    return 1 if all_differences else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: encodings.py PROGRAM [POSITIONS]")
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 5000))
