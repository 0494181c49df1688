"""Damages files of runs by chance, and asks every command that reads them.

    python damage.py PROGRAM [--damages 60] [--seed 1] [--worlds NAME,…] [--keep FOLDER]

A world is a folder with finished or half-finished runs, sweeps or imported datasets. Each damage changes one copy of a world: flipped bits, a file that is
cut, longer, zeroed in part, removed, swapped with another one, or there twice. A command notices it if it fails or warns; otherwise its output, and
the files of a run that is gone on with, must be those of the undamaged world. `verify` must find every damage but those that a kill can leave behind.
Exits with 1 if a command is silent and wrong, crashes or hangs.
"""

import argparse
import hashlib
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

NET = """let best = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let search = #{ simulations: 4 };
"""
FINISHED = (
    """import "lib" as lib;
let p = params(#{ updates: 8 });
let run = open_run("small");
"""
    + NET
    + """for iteration in 0..2 {
    run.self_play(best, #{ games: 6, shard_games: 2, search: search, max_plies: 30, temperature: |ply| if ply < 10 { 1 } else { 0.5 } });
    let candidate = run.train(best, run.window(#{ iterations: 2 }), #{ updates: p.updates, batch: 16, checkpoint_every: 2, log_every: 2, keep_state: true });
    run.arena(candidate, best, #{ games: 4, shard_games: 2, search: search, max_plies: 30 });
    best = run.promote(candidate);
}
run.reanalyze(best, run.window(#{ iterations: 1 }), #{ search: search });
run.import_pgn("games.pgn", #{ shard_games: 4 });
run.search(best, ["startpos", "startpos moves e2e4"], #{ search: #{ simulations: 8 }, tree: true });
run.puzzles(best, "mates.epd", #{ simulations: [1, 8], shard_puzzles: 1 });
run.puzzles("greedy", "mates.epd", #{ shard_puzzles: 1 });
print(lib::done());
"""
)
MATES = """7k/8/8/8/8/8/R7/1R4K1 w - - dm 2;
6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;
6k1/8/5K2/8/8/8/8/Q7 w - - dm 2;
"""
GAMES = "".join(
    f'[Event "e"]\n[White "w{number}"]\n[Black "b"]\n[Result "{result}"]\n\n1. {moves} {result}\n\n'
    for number in range(30)
    for result, moves in [("1-0", "e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#"), ("1/2-1/2", "d4 d5 2. c4 e6 3. Nc3 { [%eval 0.3] } Nf6"), ("0-1", "f3 e5 2. g4 Qh4#")]
) + '[Event "broken"]\n\n1. e4 e4 1-0\n\n'
# Scripts of steps that a kill interrupts, each with the beginning of the name of a file that there is then.
INTERRUPTED = {
    "playing": ("run.self_play(best, #{ games: 40, shard_games: 2, search: #{ simulations: 60 }, max_plies: 60 });", "shard-00003"),
    "training": (
        "run.self_play(best, #{ games: 4, search: search, max_plies: 20 });\n"
        "run.train(best, run.window(), #{ updates: 3000, batch: 16, checkpoint_every: 20 });",
        "training.state",
    ),
    "matching": ("run.arena(best, \"random\", #{ games: 40, shard_games: 2, search: #{ simulations: 60 }, max_plies: 80 });", "shard-00003"),
    "solving": ("run.puzzles(best, lines(), #{ simulations: [1, 400], shard_puzzles: 1 });", "shard-00003"),
}
LINES = 'fn lines() { let all = []; for n in 0..16 { all.push("7k/8/8/8/8/8/R7/1R4K1 w - - dm 2;"); all.push("6k1/8/5K2/8/8/8/8/Q7 w - - dm 2;"); } all }\n'
SWEEP = """sweep(#{ name: "small", space: #{ filters: choice([4, 8, 12]) }, sampler: "grid", pruner: #{ kind: "none" }, trials: 3, objective: "score" }, |trial| {
    let net = trial.run.network(#{ tower: #{ blocks: 1, filters: trial.filters }, value_head: #{ filters: 2, hidden: 8 } });
    trial.run.self_play(net, #{ games: 4, shard_games: 2, search: #{ simulations: 4 }, max_plies: 20 });
    trial.filters * 1.0
});
"""
TABLES = ["games", "positions", "training", "validation", "matches", "searches", "trees", "puzzles", "answers", "predictions", "headers", "rejects", "costs", "steps", "runs", "ratings", "staleness"]
HASHES = " union all ".join(f"select '{table}' as t, count(*) as n, bit_xor(hash(x))::varchar as h from {table} as x" for table in TABLES)
# Files whose content no result depends on; people may write more into a README.
FREE = re.compile(r"(^|/)(README\.md|run\.log|run\.lock|progress\.json|sweep\.lock|[^/]*\.tmp)$")
# What commands write.
WRITTEN = {"resume": "small", "fork": "forked", "load": "loaded"}
# Files that differ between two runs of the same script.
TIMED = re.compile(r"(^|/)(journal\.jsonl|trials\.jsonl|costs\.parquet|trials\.parquet|run\.log|run\.lock|sweep\.lock|progress\.json)$")
PATIENCE = 180
# What the live view shows of a run. It checks what it shows within this time, in seconds.
SHOWN = [f"/api/{topic}/small" for topic in ["status", "nets", "games", "game-steps", "pgn"]]
CHECKED = 3


class Ended:
    def __init__(self, code, out, err, files):
        self.code, self.out, self.err, self.files = code, out, err, files
        # The files of a run that the command has written.
        self.written = set()


def digests(folder, leave_out):
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not leave_out.search(name):
            found[name] = hashlib.blake2b(path.read_bytes()).hexdigest()
    return found


class World:
    """A folder with runs, and the commands that read them."""

    def __init__(self, program, name, root):
        self.program, self.name, self.root = program, name, root
        self.is_interrupted = False
        root.mkdir(parents=True)

    def fixed(self, script="x.rhai"):
        return [script, "--device", "cpu", "--backend", "torch", "--threads", "1", "--lanes", "1"]

    def run(self, root, args, made=()):
        """What a command says, and the digests of what it makes, which are removed."""
        try:
            done = subprocess.run([self.program, *args], cwd=root, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, out, err = "hangs", "", ""
        files = {}
        for name in made:
            path = root / name
            if path.exists():
                files[name] = hashlib.blake2b(path.read_bytes()).hexdigest()
                path.unlink()
        return Ended(code, out, err, files)

    def interrupt(self, args, begin):
        """Starts a command, and kills it once a working file with such a name is there."""
        self.is_interrupted = True
        child = subprocess.Popen([self.program, *args], cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        start = time.monotonic()
        while not any(name.name.startswith(begin) and name.suffix != ".tmp" for name in self.root.glob("datasets/**/steps/work/*/*")):
            if child.poll() is not None or time.monotonic() - start > PATIENCE:
                sys.exit(f"{self.name}: ended before it could be killed")
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        child.wait()

    def succeed(self, args):
        ended = self.run(self.root, args)
        if ended.code != 0:
            sys.exit(f"{self.name}: {args}: {ended.code}\n{ended.out}{ended.err}")


def command(args, made=()):
    """A command that ends by itself, and the files that it makes beside the run."""
    return lambda world, root: world.run(root, args, made)


def uci(args):
    """An engine that searches one position, and quits."""

    def search(world, root):
        child = subprocess.Popen([world.program, *args], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = []
        try:
            child.stdin.write("setoption name BatchSize value 1\nposition startpos\ngo nodes 30\n")
            child.stdin.flush()
            for line in child.stdout:
                said.append(re.sub(r"(time|nps) \d+", "", line))
                if line.startswith("bestmove"):
                    break
            _, err = child.communicate("quit\n", timeout=PATIENCE)
        except BrokenPipeError:
            _, err = child.communicate(timeout=PATIENCE)
        # When lines are reported before the last one depends on the time.
        return Ended(child.returncode, "".join(said[-2:]), err, {})

    return search


def serve(world, root):
    """The live view: what it shows of the run, and what it says is damaged."""
    child = subprocess.Popen([world.program, "serve", "--port", "0"], cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = next((match for match in (re.match(r"open (http://\S+)/\?token=(\S+)", line) for line in child.stdout) if match), None)
    if address is None:
        _, err = child.communicate(timeout=PATIENCE)
        return Ended(child.returncode, "", err, {})
    site, token = address.groups()

    def get(page):
        request = urllib.request.Request(f"{site}{page}", headers={"Cookie": f"dc0-{site.rsplit(':', 1)[1]}={token}"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            return f"{refused.code} {refused.read().decode()}"

    def damages():
        return [f"{run['path']} is damaged: {run['damage']}\n" for run in json.loads(get("/api/runs")) if run["damage"]]

    start, damaged = time.monotonic(), []
    while not damaged and time.monotonic() - start < CHECKED:
        time.sleep(0.05)
        damaged = damages()
    shown = [get(page) for page in SHOWN]
    status = json.loads(shown[0])
    # A busy machine may check later, and a sweep's page has errors of its own.
    damaged += [f"damaged: {status[name]}\n" for name in ["damage", "error"] if status.get(name)]
    child.terminate()
    _, err = child.communicate(timeout=PATIENCE)
    return Ended(child.returncode, "\n".join(shown), err + "".join(damaged), {})


def reading(query):
    """What reads any run, sweep or dataset."""
    return [
        ("sql", command(["sql", "small", query, "--format", "csv"])),
        ("report", command(["report", "small"], ("datasets/small/report.html",))),
        ("verify", command(["verify", "small"])),
        ("serve", serve),
    ]


def finished(program, root):
    world = World(program, "finished", root)
    (root / "lib.rhai").write_text("fn done() { `done` }\n")
    (root / "games.pgn").write_text(GAMES)
    (root / "mates.epd").write_text(MATES)
    (root / "x.rhai").write_text(FINISHED)
    world.succeed([*world.fixed(), "--set", "updates=6"])
    # Another script, with superseded steps.
    (root / "x.rhai").write_text(FINISHED + 'print("changed");\n')
    world.succeed(world.fixed())
    shutil.copytree(root / "datasets/small", root / "datasets/other")
    (root / "fork.rhai").write_text('let run = fork("small", 1, #{ name: "forked" });\nrun.self_play(run.best(), #{ games: 2, search: #{ simulations: 2 }, max_plies: 8 });\n')
    (root / "load.rhai").write_text(
        'let run = open_run("loaded");\n' + NET + 'run.train(best, load_dataset("datasets/small"), #{ updates: 2, batch: 8 });\n'
    )
    world.commands = [
        *reading(HASHES),
        ("diff", command(["diff", "small", "other"])),
        ("replay", command(["replay", "small", "1:3"])),
        ("recompute", command(["replay", "small", "0:0", "--recompute"])),
        ("pgn", command(["export", "pgn", "small", "--out", "out.pgn"], ("out.pgn",))),
        ("tensors", command(["export", "tensors", "small", "--encoding", "dc0-20", "--out", "out.safetensors"], ("out.safetensors",))),
        ("onnx", command(["export", "onnx", "datasets/small", "--out", "out.onnx"], ("out.onnx",))),
        ("inspect", command(["inspect", "datasets/small/networks/0001.safetensors"])),
        ("inspect run", command(["inspect", "datasets/small"])),
        ("explain", command(["explain", "startpos", "--net", "datasets/small", "--sims", "8"])),
        ("uci", uci(["uci", "--net", "datasets/small", "--backend", "torch"])),
        ("check", command(["--check", *world.fixed()])),
        ("fork", command(world.fixed("fork.rhai"))),
        ("load", command(world.fixed("load.rhai"))),
        ("resume", command(world.fixed())),
    ]
    world.damaged = ["datasets/small"]
    return world


def interrupted(name):
    def build(program, root):
        world = World(program, name, root)
        body, begin = INTERRUPTED[name]
        (root / "x.rhai").write_text(LINES + 'let run = open_run("small");\n' + NET + body + "\n")
        world.interrupt(world.fixed(), begin)
        world.commands = [
            *reading(HASHES),
            ("resume", command(world.fixed())),
        ]
        world.damaged = ["datasets/small"]
        return world

    return build


def swept(is_whole):
    def build(program, root):
        world = World(program, "swept" if is_whole else "sweeping", root)
        (root / "x.rhai").write_text(SWEEP if is_whole else SWEEP.replace("games: 4", "games: 40").replace("simulations: 4", "simulations: 60"))
        if is_whole:
            world.succeed(world.fixed())
        else:
            world.interrupt(world.fixed(), "shard-00003")
        world.commands = [
            *reading(HASHES + " union all select 'trials', count(*), bit_xor(hash(x))::varchar from trials as x"),
            ("optuna", command(["export", "optuna", "datasets/small", "--out", "out.journal"], ("out.journal",))),
            ("check", command(["--check", *world.fixed()])),
            ("resume", command(world.fixed())),
        ]
        world.damaged = ["datasets/small"]
        return world

    return build


def imported(is_whole):
    def build(program, root):
        world = World(program, "imported" if is_whole else "importing", root)
        (root / "games.pgn").write_text(GAMES if is_whole else GAMES * 400)
        args = ["import", "pgn", "games.pgn", "--out", "datasets/small", "--shard-games", "20" if is_whole else "500"]
        if is_whole:
            world.succeed(args)
        else:
            world.interrupt(args, "shard-00003")
        (root / "load.rhai").write_text(
            'let run = open_run("loaded");\n' + NET + 'run.train(best, load_dataset("datasets/small"), #{ updates: 2, batch: 8 });\n'
        )
        world.commands = [
            *reading(HASHES),
            *([("pgn", command(["export", "pgn", "small", "--out", "out.pgn"], ("out.pgn",)))] if is_whole else []),
            *([("load", command(world.fixed("load.rhai")))] if is_whole else []),
            ("resume", command(args)),
        ]
        world.damaged = ["datasets/small"]
        return world

    return build


WORLDS = {
    "finished": finished,
    **{name: interrupted(name) for name in INTERRUPTED},
    "swept": swept(True),
    "sweeping": swept(False),
    "imported": imported(True),
    "importing": imported(False),
}
# Finished runs have the most kinds of files and commands.
WEIGHTS = {"finished": 4}


def kind_of(name):
    """A file's kind: its folders without numbers, the beginning of its name, and its ending."""
    *folders, last = name.split("/")
    stem = re.match(r"[a-z_]*", last).group()
    folders = [re.sub(r"[0-9].*", "#", part) for part in folders if not re.fullmatch(r"[0-9a-f]{8}", part)]
    return "/".join([*folders, stem + Path(last).suffix])


def damage(chance, root, files):
    """Changes a file; returns what was done."""
    kinds = {}
    for name in files:
        kinds.setdefault(kind_of(name), []).append(name)
    # Of superseded steps there are as many kinds as of others.
    kept = [kind for kind in sorted(kinds) if "/superseded/" not in kind]
    kind = chance.choice(sorted(kinds) if chance.random() < 0.2 else kept)
    name = chance.choice(kinds[kind])
    path = root / name
    content = path.read_bytes()
    others = [other for other in kinds[kind] if other != name and (root / other).read_bytes() != content]
    ways = ["flip", "flip", "flip", "cut", "grow", "zero", "remove", "remove", "copy", *(["swap", "repeat"] if others else [])]
    way = chance.choice(ways)
    what = f"{way} {name}"
    if way == "flip" and content:
        bit = chance.randrange(8 * len(content))
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(changed)
        what += f" bit {bit}"
    elif way == "cut" and content:
        length = chance.randrange(len(content))
        path.write_bytes(content[:length])
        what += f" to {length} of {len(content)}"
    elif way == "grow":
        path.write_bytes(content + content[-chance.randint(1, 100) :])
    elif way == "zero" and content:
        first = chance.randrange(len(content))
        last = min(len(content), first + chance.randint(1, 4096))
        path.write_bytes(content[:first] + bytes(last - first) + content[last:])
        if path.read_bytes() == content:
            return None
        what += f" {first} to {last}"
    elif way == "remove":
        path.unlink()
    elif way == "copy":
        # The same file once more, under a name of the same form.
        digits = [match for match in re.finditer(r"[0-9]+", path.name)]
        if not digits:
            return None
        match = chance.choice(digits)
        number = str(int(match.group()) + chance.randint(1, 7)).zfill(len(match.group()))
        other = path.with_name(path.name[: match.start()] + number + path.name[match.end() :])
        if other.exists():
            return None
        shutil.copyfile(path, other)
        what += f" as {other.name}"
    elif way == "swap":
        other = chance.choice(others)
        path.write_bytes((root / other).read_bytes())
        (root / other).write_bytes(content)
        what += f" with {other}"
    elif way == "repeat":
        other = chance.choice(others)
        path.write_bytes((root / other).read_bytes())
        what += f" by {other}"
    else:
        return None
    return kind, what


SPEAKS = re.compile(r"warn|error|damaged|missing|gone|again|written", re.IGNORECASE)


def lines_of(text, root):
    plain = re.sub(r"\d+(\.\d+)?[kM]?( ?(ms|s|h|min|MB|KiB|MiB|evaluations/s|positions/s|samples/s|games/s))\b", "#", text.replace(str(root), "."))
    return set(plain.splitlines())


def shown(ended, root):
    """What a command says without how long things took."""
    return ended.code, frozenset(lines_of(ended.out, root)), tuple(sorted(ended.files.items()))


class Trial:
    def __init__(self, world, folder):
        self.world, self.folder = world, folder
        self.whole = {}

    def copy(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.world.root, self.folder)
        return self.folder

    def ask(self, name, ask):
        before = digests(self.folder / "datasets" / WRITTEN[name], TIMED) if name in WRITTEN else {}
        ended = ask(self.world, self.folder)
        results = {}
        if name in WRITTEN:
            results = digests(self.folder / "datasets" / WRITTEN[name], TIMED)
            # What is kept aside is none of the results, and what the command has left alone is read by others.
            ignored = {path for path, digest in results.items() if path.startswith("superseded/") or before.get(path) == digest}
            ended.written = set(results) - ignored
        return ended, results

    def baseline(self):
        for name, ask in self.world.commands:
            self.copy()
            ended, results = self.ask(name, ask)
            if ended.code != 0:
                sys.exit(f"{self.world.name}: {name} of the whole world: {ended.code}\n{ended.out}{ended.err}")
            self.whole[name] = (ended, results)


# A kill can leave each of these: work that is done again, and tables that are written again.
LEFT_BY_KILLS = re.compile(r"^remove .*/work/[^/]*/(shard-\d+\.json|training\.state)$")
# With one finished step, the same holds for the first table of costs.
FIRST_COSTS = re.compile(r"^remove .*/costs\.parquet$")
# A part of an unfinished step that is removed, or there once more with another number.
PART = re.compile(r"^(?:remove|copy) (?P<file>\S*/(?P<owner>\S*-)\d+\.parquet)(?: as (?P<copy>(?P=owner)\d+\.parquet))?$")
JOURNAL = re.compile(r"^(?:cut|zero) (\S*journal\.jsonl) ")


def is_left_by_kills(world, root, what):
    """Whether a kill can leave what a damage has made."""
    if LEFT_BY_KILLS.search(what) or (FIRST_COSTS.search(what) and world.name != "finished"):
        return True
    if part := PART.match(what):
        # A shard has its tables before its note.
        number = (part["copy"] or part["file"]).rpartition("-")[2].removesuffix(".parquet")
        return world.is_interrupted and not any(root.glob(f"datasets/**/steps/work/*/shard-{number}.json"))
    if journal := JOURNAL.match(what):
        # A step has its manifest before its entry; half an entry is dropped.
        whole, left = ((folder / journal[1]).read_bytes() for folder in [world.root, root])
        left = left.rstrip(b"\0")
        left = left[: left.rfind(b"\n") + 1]
        return whole.startswith(left) and whole[len(left) :].count(b'"event":"finished"') <= 1
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--damages", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--keep")
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    base = Path(options.keep or tempfile.mkdtemp())
    chance = random.Random(options.seed)
    trials = []
    for name in options.worlds.split(","):
        shutil.rmtree(base / name, ignore_errors=True)
        trial = Trial(WORLDS[name](program, base / name), base / f"{name}-copy")
        trial.baseline()
        trials += [trial] * WEIGHTS.get(name, 1)
        print(f"world {name}: {len(digests(base / name / 'datasets', FREE))} files", flush=True)
    counts, wrong = Counter(), []
    done = 0
    while done < options.damages:
        trial = chance.choice(trials)
        root = trial.copy()
        files = [path.relative_to(root).as_posix() for part in trial.world.damaged for path in sorted((root / part).rglob("*")) if path.is_file()]
        found = damage(chance, root, [name for name in files if not FREE.search(name)])
        if found is None:
            continue
        done += 1
        kind, what = found
        counts[f"{trial.world.name} {what.split()[0]}"] += 1
        judged = []
        is_left = is_left_by_kills(trial.world, root, what)
        for name, ask in trial.world.commands:
            whole, results = trial.whole[name]
            ended, now = trial.ask(name, ask)
            new = lines_of(ended.err, root) - lines_of(whole.err, trial.folder)
            is_noticed = ended.code != 0 or any(SPEAKS.search(line) for line in new)
            differing = sorted(path for path in ended.written | whole.written if now.get(path) != results.get(path))
            is_same = shown(ended, root) == shown(whole, trial.folder) and not differing
            if ended.code == "hangs" or (isinstance(ended.code, int) and (ended.code < 0 or ended.code > 100 and ended.code != 130)) or "panicked" in ended.err:
                wrong.append(f"{trial.world.name}: {what}: {name} crashes: {ended.code}: {ended.err[-600:]}")
            # A plan that does a step again has noticed what is missing, and tables lack a part as they do after a kill.
            elif not is_noticed and not is_same and name != "check" and not (is_left and name != "resume"):
                said = sorted(lines_of(ended.out, root) ^ lines_of(whole.out, root))[:6]
                wrong.append(f"{trial.world.name}: {what}: {name} is silent: {differing[:6]} {said}")
            elif is_noticed and ended.code == 0 and name == "resume" and not is_same:
                judged.append(f"resume speaks and differs: {differing[:6]}")
            if name == "verify" and ended.code == 0 and not is_left:
                wrong.append(f"{trial.world.name}: {what}: verify finds nothing")
            judged.append(f"{name}:{ended.code}{'' if is_same else '*'}")
        print(f"{done} {trial.world.name} [{kind}] {what}: {' '.join(judged)}", flush=True)
        for line in wrong[len(wrong) - sum(what in entry for entry in wrong[-12:]) :] if wrong and what in wrong[-1] else []:
            print("   WRONG", line, flush=True)
    print(dict(sorted(counts.items())))
    print(f"{done} damages, {len(wrong)} wrong")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
