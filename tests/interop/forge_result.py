"""Does at a broker what only a program that means harm would do.

    python forge_result.py URL channel              prints the channel of the first task that comes
    python forge_result.py URL send CHANNEL FILE…   hands in the files' contents as results
    python forge_result.py URL disturb CHANNEL      sends malformed messages to coordinators and workers
    python forge_result.py URL damage               replaces every file of the jobs in the object store
    python forge_result.py URL exhaust              takes every task that is there until the broker delivers it no more
"""

import asyncio
import json
import struct
import sys

import nats
from nats.js.errors import APIError, NotFoundError, ObjectNotFoundError


async def first_task(stream):
    for _ in range(600):
        try:
            return await stream.get_msg("DC0_TASKS", seq=1)
        except (APIError, NotFoundError, nats.errors.Error):
            await asyncio.sleep(0.1)
    sys.exit("no task")


def result(head, content=b""):
    head = json.dumps(head).encode()
    return struct.pack("<I", len(head)) + head + content


def shard(index, **changes):
    tables = [{"name": name, "bytes": 3, "blake3": "00" * 32} for name in ("games", "positions")]
    return {"index": index, "spent": {"secs": 0.1, "nets": {}}, "tables": tables, "figures": {}, "object": None} | changes


async def disturb(stream, connection, channel):
    done = f"dc0.result.done.{channel}"
    head = {"format": 3, "worker": "liar", "shards": [shard(5)]}
    for message in [
        b"\xff\xff\xff\xff",
        b"",
        result({"format": 1, "worker": "elder", "index": 0, "tables": []}),
        result(head | {"worker": "chatty", "shards": [shard(index) for index in range(70)]}),
        result(head | {"worker": "giant", "shards": [shard(4, tables=[{"name": "games", "bytes": 2**60, "blake3": ""}])]}),
        result(head | {"worker": "stranger", "shards": [shard(4_000_000_000)]}, b"abcabc"),
        result(head, b"abcabc"),
        struct.pack("<I", 100_000) + b"[" * 100_000,
    ]:
        await stream.publish(done, message)
    await stream.publish(f"dc0.result.dead.{channel}", b"{")
    task = await first_task(stream)
    await stream.publish(task.subject, b"{}")
    older = json.loads(task.data) | {"format": 1}
    await stream.publish(task.subject, json.dumps(older).encode())
    unknown = json.loads(task.data) | {"job": "../../etc/passwd", "tasks": json.loads(task.data)["tasks"] * 65}
    await stream.publish(task.subject, json.dumps(unknown).encode())
    for subject in ["dc0.worker.x", "dc0.end.x", "dc0.aside.x"]:
        await connection.publish(subject, b"\x00{")
    await connection.flush()


async def damage(stream):
    for _ in range(600):
        try:
            store = await stream.object_store("dc0")
            names = [entry.name for entry in await store.list()]
            break
        except (APIError, NotFoundError, ObjectNotFoundError, nats.errors.Error):
            await asyncio.sleep(0.1)
    else:
        sys.exit("no files")
    for name in names:
        old = await store.get(name)
        await store.put(name, b"\x00" * len(old.data))
    print(len(names))


async def exhaust(stream):
    await first_task(stream)
    [consumer] = await stream.consumers_info("DC0_TASKS")
    tasks = await stream.pull_subscribe_bind(consumer.name, stream="DC0_TASKS")
    for _ in range(1000):
        try:
            for task in await tasks.fetch(16, timeout=2):
                await task.nak()
        except asyncio.TimeoutError:
            return
    sys.exit("the broker delivers its tasks for ever")


async def main(url, action, *more):
    connection = await nats.connect(url)
    stream = connection.jetstream()
    if action == "channel":
        task = await first_task(stream)
        print(task.subject.rsplit(".", 1)[1])
    elif action == "send":
        for path in more[1:]:
            with open(path, "rb") as file:
                await stream.publish(f"dc0.result.done.{more[0]}", file.read())
    elif action == "disturb":
        await disturb(stream, connection, *more)
    elif action == "damage":
        await damage(stream)
    elif action == "exhaust":
        await exhaust(stream)
    await connection.close()


asyncio.run(main(*sys.argv[1:]))
