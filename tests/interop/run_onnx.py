"""Runs exported nets with ONNX Runtime and compares their answers with dc0's own.

    python run_onnx.py FOLDER

FOLDER holds cases: NAME.json with positions and libtorch's answers, NAME.planes.onnx and NAME.packed.onnx.
Each file is checked by onnx.checker, then run on the whole batch and on its first position alone.
Policies and values must agree within 1e-4, moves left within 1e-4 of 20 plies. Exits with 1 if anything is wrong.
"""

import json
import sys
from pathlib import Path

import numpy
import onnx
import onnxruntime

TOLERANCE = 1e-4
PLIES = 20.0


def expanded(case):
    """[B, P, 8, 8] from bits and scalars: square a1 is the lowest bit."""
    squares = numpy.arange(64, dtype=numpy.uint64)
    rows = []
    for binary, scalars in zip(case["binary"], case["scalars"]):
        binary, scalars = iter(binary), iter(scalars)
        planes = []
        for is_binary in case["is_binary"]:
            if is_binary:
                planes.append(numpy.uint64(next(binary)) >> squares & numpy.uint64(1))
            else:
                planes.append(numpy.full(64, next(scalars)))
        rows.append(planes)
    return numpy.array(rows, dtype=numpy.float32).reshape(len(rows), -1, 8, 8)


def feed_of(case, form):
    if form == "planes":
        return {"input": expanded(case)}
    packed = {"input": numpy.array(case["binary"], dtype=numpy.uint64)}
    if any(case["scalars"]):
        packed["scalars"] = numpy.array(case["scalars"], dtype=numpy.float32)
    return packed


def largest_difference(case, answers, rows):
    worst = 0.0
    for row in range(rows):
        logits = answers["policy"][row][case["legal"][row]].astype(numpy.float64)
        policy = numpy.exp(logits - logits.max())
        policy /= policy.sum()
        worst = max(worst, numpy.abs(policy - case["policy"][row]).max())
        win, draw, loss = case["wdl"][row]
        if "wdl" in answers:
            worst = max(worst, numpy.abs(answers["wdl"][row] - [win, draw, loss]).max())
        else:
            worst = max(worst, abs(answers["value"][row][0] - (win - loss)))
        if case["moves_left"]:
            worst = max(worst, abs(answers["moves_left"][row][0] - case["moves_left"][row]) / PLIES)
    return worst


def check(path, case, form):
    """The largest difference of a file's answers from dc0's."""
    onnx.checker.check_model(str(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected = {"policy", case["value"]} | ({"moves_left"} if case["moves_left"] else set())
    if set(names) != expected:
        raise ValueError(f"{path.name}: expected outputs {expected}, found {names}")
    feed = feed_of(case, form)
    worst = 0.0
    for rows in (len(case["binary"]), 1):
        answers = dict(zip(names, session.run(names, {name: array[:rows] for name, array in feed.items()})))
        worst = max(worst, largest_difference(case, answers, rows))
    return worst


def main(folder):
    files, worst = 0, 0.0
    for description in sorted(Path(folder).glob("*.json")):
        case = json.loads(description.read_text())
        for form in ("planes", "packed"):
            difference = check(description.with_suffix(f".{form}.onnx"), case, form)
            if not difference <= TOLERANCE:
                print(f"{description.stem} {form}: answers differ by {difference:g}: {case['spec']}", file=sys.stderr)
                return 1
            files, worst = files + 1, max(worst, difference)
    print(f"{files} files agree, largest difference {worst:g}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: run_onnx.py FOLDER")
    sys.exit(main(sys.argv[1]))
