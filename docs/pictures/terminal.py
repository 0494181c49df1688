"""Draws what a terminal shows as SVG. Needs nothing but Python.

    python3 docs/pictures/terminal.py PROGRAM 'MOVE MOVE ... hint' > docs/pictures/play.svg
    python3 docs/pictures/terminal.py PROGRAM run 'explain startpos --color always' [FIRST LAST] > docs/pictures/explain.svg

The first one plays a game in 80 columns: PROGRAM is `dc0-run`, each word is typed at its prompt, and the picture begins with the
last move that is typed. The second one runs PROGRAM with some arguments in 100 columns and draws its lines from FIRST to LAST.
"""

import html
import itertools
import os
import pty
import re
import select
import shlex
import sys

COLUMNS, ROWS = 80, 30
WIDTH, HEIGHT, MARGIN = 9.0, 20, 16
GROUND, INK = "#16191f", "#d5dae3"
FONTS = "'DejaVu Sans Mono', Menlo, Consolas, 'Segoe UI Symbol', 'Apple Symbols', 'Noto Sans Symbols2', monospace"
# Characters that are drawn as rectangles: fonts leave gaps between them.
SHADES = {"█": 1.0, "▓": 0.75, "▒": 0.5, "░": 0.28}
# Pieces on the board are as large as a line allows.
PIECE = 22
CHESS = "♔♕♖♗♘♙♚♛♜♝♞♟"


def played(program, words):
    """Everything that the program wrote, to its prompt after the last word."""
    pid, terminal = pty.fork()
    if pid == 0:
        changes = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(ROWS)}
        os.execvpe(program, [program, "play", "--color", "always", "--seed", "1"], {**os.environ, **changes})
    text = b""
    for word in [*words, None]:
        while not re.search(rb"> (\x1b\[0m)?$", text):
            if not select.select([terminal], [], [], 30)[0]:
                sys.exit(f"no prompt after {text.decode()}")
            text += os.read(terminal, 65536)
        if word is not None:
            os.write(terminal, f"{word}\n".encode())
            text += os.read(terminal, 1)
    os.write(terminal, b"\x04")
    return text.decode()


def printed(program, arguments):
    """The lines that the program writes to a terminal of 100 columns."""
    pid, terminal = pty.fork()
    if pid == 0:
        changes = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": "100", "LINES": str(ROWS)}
        os.execvpe(program, [program, *shlex.split(arguments)], {**os.environ, **changes})
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        sys.exit(text.decode())
    return text.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def page(text, last_move):
    """The lines from the last move that was typed."""
    lines = [line.split("\r\x1b[K")[-1] for line in text.replace("\r\n", "\n").split("\n")]
    begins = max(at for at, line in enumerate(lines) if line.endswith(last_move))
    return lines[begins:]


def colour(number):
    """A colour of the palette of 256."""
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    if number >= 16:
        steps = [0, 95, 135, 175, 215, 255]
        number -= 16
        return "#" + "".join(f"{steps[part]:02x}" for part in (number // 36, number // 6 % 6, number % 6))
    return ["#16191f", "#e06c75"][number] if number < 2 else INK


def cells(line):
    """Every character with ink, ground, and whether it is bold or dim."""
    style = dict(ink=INK, ground=None, bold=False, dim=False)
    for code, character in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
        if character:
            yield character, dict(style)
            continue
        numbers = [int(part or 0) for part in code.split(";")]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                style = dict(ink=INK, ground=None, bold=False, dim=False)
            elif number in (1, 2):
                style["bold" if number == 1 else "dim"] = True
            elif 30 <= number <= 37:
                style["ink"] = colour(number - 30)
            elif number in (38, 48):
                style["ink" if number == 38 else "ground"] = colour(numbers[1])
                del numbers[:2]


def unbroken(text):
    """A text whose blanks are kept: browsers make one of several."""
    return html.escape(text).replace(" ", "\N{NO-BREAK SPACE}")


def box(x, y, width, height, fill, opacity=1.0):
    faint = f' fill-opacity="{opacity}"' if opacity < 1 else ""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"{faint}/>'


def grounds(line, top):
    """What lies behind the characters of a line: squares of the board, and the bar. Equal neighbours are one rectangle."""
    shapes, x = [], MARGIN

    def shape(cell):
        character, style = cell
        if character in SHADES:
            return top + 3, HEIGHT - 6, style["ink"], SHADES[character]
        return top, HEIGHT + 0.5, style["ground"], 1.0

    for (y, height, fill, opacity), same in itertools.groupby(line, shape):
        width = WIDTH * len(list(same))
        if fill:
            shapes.append(box(x, y, width, height, fill, opacity))
        x += width
    return shapes


def drawn(line, top):
    """One line; characters of one style are one text, pieces stand alone in the middle of their square."""
    all_cells = list(cells(line))
    shapes, run = [], []

    def finish():
        text = "".join(character for _, character, _ in run)
        if text.strip():
            start = len(text) - len(text.lstrip())
            style, text = run[0][2], text.strip()
            weight = ' font-weight="bold"' if style["bold"] else ""
            faint = ' fill-opacity="0.6"' if style["dim"] else ""
            x, length = MARGIN + WIDTH * (run[0][0] + start), WIDTH * len(text)
            shapes.append(
                f'<text x="{x:g}" y="{top + 15}" textLength="{length:g}" lengthAdjust="spacingAndGlyphs" '
                f'fill="{style["ink"]}"{weight}{faint}>{unbroken(text)}</text>'
            )
        run.clear()

    for column, (character, style) in enumerate(all_cells):
        x = MARGIN + WIDTH * column
        if run and style != run[0][2]:
            finish()
        if character in CHESS:
            finish()
            size, base = (PIECE, 17) if style["ground"] else (15, 15)
            shapes.append(
                f'<text x="{x + WIDTH / 2:g}" y="{top + base}" font-size="{size}" text-anchor="middle" '
                f'fill="{style["ink"]}" style="font-variant-emoji:text">{character}</text>'
            )
        elif character in SHADES:
            finish()
        else:
            run.append((column, character, style))
    finish()
    return grounds(all_cells, top) + shapes


def picture(lines, columns, about):
    width, height = 2 * MARGIN + WIDTH * columns, 2 * MARGIN + HEIGHT * len(lines)
    parts = [part for row, line in enumerate(lines) for part in drawn(line, MARGIN + HEIGHT * row)]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}" '
        f'font-family="{FONTS}" font-size="15" xml:space="preserve" role="img" aria-label="{about}">',
        f'<rect width="{width:g}" height="{height}" rx="10" fill="{GROUND}"/>',
        *parts,
        "</svg>",
    ])


if __name__ == "__main__":
    if len(sys.argv) in (4, 6) and sys.argv[2] == "run":
        lines = printed(sys.argv[1], sys.argv[3])
        first, last = (int(number) for number in sys.argv[4:6]) if len(sys.argv) == 6 else (1, len(lines))
        print(picture(lines[first - 1 : last], 100, "What dc0-run prints"))
        sys.exit()
    if len(sys.argv) != 3:
        sys.exit("usage: terminal.py PROGRAM 'MOVE MOVE ... hint', or terminal.py PROGRAM run 'ARGUMENTS' [FIRST LAST]")
    words = sys.argv[2].split()
    moves = [word for word in words if word != "hint"]
    print(picture(page(played(sys.argv[1], words), moves[-1]), COLUMNS, "A game in the terminal"))
