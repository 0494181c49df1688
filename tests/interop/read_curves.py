"""Reads the event files of a folder with TensorBoard's reader and prints the curves as JSON: tag to [time, step, value].

    python read_curves.py FOLDER
"""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator


def main(folder):
    # 0: keep every point, where TensorBoard itself would thin the curves out.
    events = EventAccumulator(folder, size_guidance={SCALARS: 0})
    events.Reload()
    curves = {
        tag: [[point.wall_time, point.step, point.value] for point in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }
    print(json.dumps({"version": events.file_version, "curves": curves}))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read_curves.py FOLDER")
    main(sys.argv[1])
