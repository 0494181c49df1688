"""Runs every code block of a guide, in order: `sh` blocks in a shell, `python` blocks in one interpreter.

    python run_guide.py GUIDE.md

Blocks run in the current folder with the current PATH. Prints how many of each kind ran. Exits with 1 and the block's location
if one fails, or if a Python block neither prints nor defines anything.
"""

import contextlib
import io
import re
import subprocess
import sys
import traceback
from pathlib import Path

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_shell(text):
    """Why a block failed, or None."""
    done = subprocess.run(["sh", "-e", "-c", text], capture_output=True, text=True)
    return None if done.returncode == 0 else f"ended with {done.returncode}\n{done.stdout}{done.stderr}"


def run_python(text, location, names):
    """Why a block failed, or None."""
    printed, before = io.StringIO(), len(names)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(text, location, "exec"), names)
    except Exception:
        return traceback.format_exc()
    print(printed.getvalue(), end="")
    return None if printed.getvalue() or len(names) > before else "prints and defines nothing"


def main(page):
    text = Path(page).read_text()
    names, ran = {}, {"sh": 0, "python": 0}
    for block in BLOCK.finditer(text):
        kind, code = block.groups()
        location = f"{Path(page).name}:{text.count(chr(10), 0, block.start()) + 1}"
        problem = run_shell(code) if kind == "sh" else run_python(code, location, names)
        if problem:
            print(f"{location}: {problem}", file=sys.stderr)
            return 1
        ran[kind] += 1
    print(f"ran {ran['sh']} shell blocks and {ran['python']} of Python")
    return 0 if ran["python"] else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: run_guide.py GUIDE.md")
    sys.exit(main(sys.argv[1]))
