"""Evaluations per second of exported nets on ONNX Runtime from Python, for comparison with `dc0-run`.

    dc0-run export onnx RUN --out net.onnx
    python benches/ort_python.py net.onnx … [--batch 1,16,64,256] [--threads 2] [--seconds 1]

The columns are batch sizes; the last is the best. Inputs are random planes; their values do not affect the time.
"""

import argparse
import time

import numpy
import onnxruntime


def session_of(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def random_input(session, rows, generator):
    feed = {}
    for tensor in session.get_inputs():
        shape = [rows, *tensor.shape[1:]]
        if tensor.type == "tensor(uint64)":
            feed[tensor.name] = generator.integers(0, 2**63, shape, dtype=numpy.uint64)
        else:
            feed[tensor.name] = generator.integers(0, 2, shape).astype(numpy.float32)
    return feed


def rate(session, rows, seconds, generator):
    """Evaluations per second with one batch size."""
    feed = random_input(session, rows, generator)
    for _ in range(3):
        session.run(None, feed)
    start, evaluations = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        session.run(None, feed)
        evaluations += rows
    return evaluations / (time.perf_counter() - start)


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nets", nargs="+", metavar="NET.onnx")
    parser.add_argument("--batch", type=numbers, default=[1, 16, 64, 256], metavar="N,…")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads of one evaluation")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="seconds per cell")
    options = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, {options.threads} threads, float32; evaluations/s")
    heads = "".join(f"{f'b{rows}':>10}" for rows in options.batch)
    print(f"{'net':>24}{heads}{'best':>10}")
    generator = numpy.random.default_rng(1)
    for path in options.nets:
        session = session_of(path, options.threads)
        rates = [rate(session, rows, options.seconds, generator) for rows in options.batch]
        cells = "".join(f"{value:>10.0f}" for value in [*rates, max(rates)])
        print(f"{path[-24:]:>24}{cells}", flush=True)


if __name__ == "__main__":
    main()
