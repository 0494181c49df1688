"""Hands in a made-up result for the first task at a broker, as a worker that cheats would.

    python forge_result.py URL

The tables of the result are not those that its digests name. Prints the number of the shard; exits with 1 if no task comes.
"""

import asyncio
import json
import struct
import sys

import nats
from nats.js.errors import APIError, NotFoundError


async def main(url):
    connection = await nats.connect(url)
    stream = connection.jetstream()
    for _ in range(300):
        try:
            task = await stream.get_msg("DC0_TASKS", seq=1)
            break
        except (APIError, NotFoundError, nats.errors.Error):
            await asyncio.sleep(0.1)
    else:
        sys.exit("no task")
    index = json.loads(task.data)["task"]["index"]
    tables = [{"name": name, "bytes": 3, "blake3": "00" * 32} for name in ("games", "positions")]
    head = {"format": 1, "worker": "forger", "index": index, "secs": 0.1, "tables": tables, "figures": {}, "object": None}
    head = json.dumps(head).encode()
    channel = task.subject.rsplit(".", 1)[1]
    await stream.publish(f"dc0.result.done.{channel}", struct.pack("<I", len(head)) + head + b"abcabc")
    # Neither may harm the coordinator or a worker.
    await stream.publish(f"dc0.result.done.{channel}", b"\xff\xff\xff\xff")
    await stream.publish(task.subject, b"{}")
    await connection.close()
    print(index)


asyncio.run(main(sys.argv[1]))
