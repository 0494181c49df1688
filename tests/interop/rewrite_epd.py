"""Reads a file of EPD lines with python-chess, and writes each as EPD and as FEN.

    python rewrite_epd.py FILE
"""

import sys

import chess


def main(path):
    sys.stdout.reconfigure(encoding="utf-8")
    with open(path, encoding="utf-8") as file:
        for line in file:
            board, operations = chess.Board.from_epd(line)
            status = board.status()
            if status != chess.STATUS_VALID:
                sys.exit(f"{status} in {line}")
            operations |= {"hmvc": board.halfmove_clock, "fmvn": board.fullmove_number}
            print(board.epd(en_passant="legal", **operations))
            print(board.fen(en_passant="legal"))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: rewrite_epd.py FILE")
    sys.exit(main(sys.argv[1]))
