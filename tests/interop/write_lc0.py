"""Writes training data of lc0 for random games, and what python-chess says of each of its positions.

    python write_lc0.py FOLDER GAMES

Writes FOLDER/training.tar, with one chunk for each game, and FOLDER/positions.jsonl, with one line for each of its positions. Records
are made from python-chess alone, by the layout in lc0's `src/trainingdata/trainingdata_v6.h`; the order of the policy indices is
that of `src/neural/encoder.cc`. Some games begin with their openings missing, some have the input format with the files of rooks, as
those of Chess960 must, and some are broken.
"""

import gzip
import io
import json
import math
import random
import struct
import sys
import tarfile
from pathlib import Path

import chess

RECORD = struct.Struct("<II1858f104Q8B15fIHHfI")
assert RECORD.size == 8356, RECORD.size
PIECES = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]


def policy_texts():
    """The moves of the policy indices as texts, seen from White: queens and knights from each square, then promotions."""
    texts = []
    for start in chess.SQUARES:
        board = chess.Board(None)
        targets = set()
        for piece in (chess.QUEEN, chess.KNIGHT):
            board.set_piece_at(start, chess.Piece(piece, chess.WHITE))
            targets |= set(board.attacks(start))
        texts += [chess.SQUARE_NAMES[start] + chess.SQUARE_NAMES[target] for target in sorted(targets)]
    for start in range(8):
        for target in range(max(start - 1, 0), min(start + 2, 8)):
            texts += [f"{chess.FILE_NAMES[start]}7{chess.FILE_NAMES[target]}8{piece}" for piece in "qrb"]
    assert len(texts) == 1858, len(texts)
    return {text: index for index, text in enumerate(texts)}


INDICES = policy_texts()


def policy_index(board, move):
    """The policy index of a legal move: castling takes the own rook, a knight is the plain promotion."""
    start, target = move.from_square, move.to_square
    if board.is_castling(move) and not board.chess960:
        target = chess.square(7 if board.is_kingside_castling(move) else 0, chess.square_rank(start))
    if board.turn == chess.BLACK:
        start, target = chess.square_mirror(start), chess.square_mirror(target)
    promotion = {None: "", chess.KNIGHT: ""}.get(move.promotion, None)
    if promotion is None:
        promotion = chess.piece_symbol(move.promotion)
    return INDICES[chess.SQUARE_NAMES[start] + chess.SQUARE_NAMES[target] + promotion]


def packed(board, move):
    """A move as dc0 packs it: castling of a king on the e-file with a rook on the a- or h-file is the king's two squares, other
    castling the king's move to its rook."""
    promotion = {None: 0, chess.KNIGHT: 1, chess.BISHOP: 2, chess.ROOK: 3, chess.QUEEN: 4}[move.promotion]
    start, target = move.from_square, move.to_square
    if board.is_castling(move) and chess.square_file(start) == 4 and chess.square_file(target) in {0, 7}:
        target = start + (2 if target > start else -2)
    return start + 64 * target + 4096 * promotion


def rook_file(board, colour, king_side):
    """The file of the rook that may castle, as a bit; 0 without the right."""
    king = board.king(colour)
    rooks = chess.SquareSet(board.clean_castling_rights() & (chess.BB_RANK_1 if colour else chess.BB_RANK_8))
    return next((1 << chess.square_file(rook) for rook in rooks if (rook > king) == king_side), 0)


def plane(squares):
    """The squares of a plane as lc0 stores them: a byte for each rank, the a-file in its highest bit."""
    ranks = [0] * 8
    for square in squares:
        ranks[chess.square_rank(square)] |= 0x80 >> chess.square_file(square)
    return int.from_bytes(bytes(ranks), "little")


def planes(board, turn):
    """The 13 planes of a position, seen from a side."""
    seen = board if turn == chess.WHITE else board.transform(chess.flip_vertical)
    stored = [plane(seen.pieces(piece, colour)) for colour in (turn, not turn) for piece in PIECES]
    return stored + [2**64 - 1 if board.is_repetition(2) else 0]


def result_for(turn, winner):
    return (0.0, 1.0) if winner is None else (1.0 if winner == turn else -1.0, 0.0)


def record(history, move, visits, winner, choice, input_format):
    """A record's bytes, and what dc0 should make of them."""
    board = history[-1]
    legal = sorted(board.legal_moves, key=lambda legal_move: packed(board, legal_move))
    total = sum(visits)
    policy = [-1.0] * 1858
    for legal_move, count in zip(legal, visits):
        policy[policy_index(board, legal_move)] = count / total
    past = [planes(earlier, board.turn) for earlier in reversed(history[-8:])]
    past += [[0] * 13] * (8 - len(past))
    us, them = board.turn, not board.turn
    rights = [board.has_queenside_castling_rights(us), board.has_kingside_castling_rights(us),
              board.has_queenside_castling_rights(them), board.has_kingside_castling_rights(them)]
    if input_format == 2:
        rights = [rook_file(board, colour, king_side) for colour in (us, them) for king_side in (False, True)]
    root_d = choice.random() / 2
    root_q = (1 - root_d) * (2 * choice.random() - 1)
    best_q = (1 - root_d) * (2 * choice.random() - 1)
    net_d = choice.random() / 2
    net_q = (1 - net_d) * (2 * choice.random() - 1)
    if choice.random() < 0.1:
        net_q = net_d = math.nan
    kld = choice.choice([0.0, choice.random()])
    result_q, result_d = result_for(board.turn, winner)
    index = policy_index(board, move)
    fields = [root_q, best_q, root_d, root_d, 30.0, 30.0, 40.0, result_q, result_d, 0.0, 0.0, 30.0, net_q, net_d, math.nan]
    content = RECORD.pack(6, input_format, *policy, *[mask for position in past for mask in position],
                          *rights, int(board.turn == chess.BLACK), board.halfmove_clock, 0, 0,
                          *fields, total + 1, index, index, kld, 0)
    kept = [(packed(board, legal_move), count) for legal_move, count in zip(legal, visits) if count > 0]
    expected = {
        "fen": board.fen(en_passant="legal").rsplit(" ", 1)[0],
        "played": packed(board, move),
        "legal": len(legal),
        "moves": [of for of, _ in kept],
        "visits": [count for _, count in kept],
        "root": [root_q, root_d],
        "best": [best_q, root_d],
        "net": [root_q, root_d] if math.isnan(net_q) else [net_q, net_d],
        "surprise": kld if kld > 0 else None,
        "simulations": total + 1,
        "result": int(result_q),
    }
    return content, expected


def played_game(choice, number):
    """A random game: the boards before each move, the moves, and the winner."""
    starts = [
        chess.STARTING_FEN,
        chess.STARTING_FEN,
        "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
        "4k3/P5P1/8/8/8/8/p5p1/4K3 b - - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 3 1",
    ]
    if number % 4 == 3:
        board = chess.Board.from_chess960_pos(choice.randrange(960))
        # Without pieces between kings and rooks, so that both sides can castle early.
        for square in chess.SquareSet(chess.BB_BACKRANKS):
            if board.piece_type_at(square) not in {chess.KING, chess.ROOK}:
                board.remove_piece_at(square)
    else:
        board = chess.Board(starts[number % len(starts)])
    boards, moves = [], []
    for _ in range(choice.randrange(12, 90)):
        if board.is_game_over(claim_draw=False) or board.halfmove_clock >= 99:
            break
        # Castling, captures en passant and promotions are rare among random moves.
        special = [move for move in board.legal_moves
                   if board.is_castling(move) or board.is_en_passant(move) or move.promotion]
        move = choice.choice(special or list(board.legal_moves))
        boards.append(board.copy())
        moves.append(move)
        board.push(move)
    outcome = board.outcome(claim_draw=False)
    winner = outcome.winner if outcome else choice.choice([None, chess.WHITE, chess.BLACK])
    return boards, moves, winner


def counts(choice, legal):
    """Visits of the legal moves, at least one in all."""
    visits = [choice.choice([0, 0, 1, 7, 113]) for _ in range(legal)]
    visits[choice.randrange(legal)] += 1
    return visits


def main(folder, games):
    choice = random.Random(11)
    with tarfile.open(folder / "training.tar", "w") as archive, open(folder / "positions.jsonl", "w") as lines:
        def add(name, content):
            info = tarfile.TarInfo(f"training-run1/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))

        add("LICENSE", b"ODbL")
        for number in range(games):
            boards, moves, winner = played_game(choice, number)
            missing = min(choice.choice([0, 0, 6]), len(moves) - 1)
            input_format = 2 if boards[0].chess960 else choice.choice([1, 1, 2])
            chunk = []
            for ply in range(missing, len(moves)):
                board = boards[ply]
                visits = counts(choice, board.legal_moves.count())
                content, expected = record(boards[: ply + 1], moves[ply], visits, winner, choice, input_format)
                chunk.append(content)
                expected |= {"number": number, "ply": ply - missing}
                lines.write(json.dumps(expected) + "\n")
            name = f"training.{number}.gz"
            add(name, gzip.compress(b"".join(chunk)) if number % 3 else b"".join(chunk))
            if number % 10 == 9:
                add(f"broken.{number}.gz", gzip.compress(b"".join(chunk[:2] + chunk[3:])))
                add(f"cut.{number}.gz", gzip.compress(b"".join(chunk))[:-20])
                add(f"rooks.{number}.gz", gzip.compress(b"\x06\x00\x00\x00\x02" + chunk[0][5:8272] + b"\x03" + chunk[0][8273:]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: write_lc0.py FOLDER GAMES")
    main(Path(sys.argv[1]), int(sys.argv[2]))
