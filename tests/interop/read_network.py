"""Opens a stored net with the safetensors library and prints the shape of every tensor.

    python read_network.py NETWORK.safetensors

Exits with 1 if a value is not finite or the file has no tensors.
"""

import sys

import numpy
from safetensors.numpy import load_file


def main(path):
    tensors = load_file(path)
    for name in sorted(tensors):
        print(f"{name} {list(tensors[name].shape)} {tensors[name].dtype}")
    print(f"{len(tensors)} tensors, {sum(tensor.size for tensor in tensors.values())} parameters")
    broken = [name for name, tensor in tensors.items() if not numpy.isfinite(tensor).all()]
    for name in broken:
        print(f"{name} holds values that are not finite", file=sys.stderr)
    return 1 if broken or not tensors else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read_network.py NETWORK.safetensors")
    sys.exit(main(sys.argv[1]))
