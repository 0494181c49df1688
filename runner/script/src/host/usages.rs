//! Every host function: how it is called, what it returns, and an example. The reference, messages and editors use this list.

use std::sync::OnceLock;

use dc0_steps::kinds::KINDS;
use dc0_steps::usage::Usage;

const fn usage(
    name: &'static str,
    form: &'static str,
    returns: &'static str,
    meaning: &'static str,
    example: &'static str,
) -> Usage {
    Usage { name, form, returns, meaning, example }
}

/// How each function is called. The examples, in order, form a script.
pub fn usages() -> &'static [Usage] {
    static ALL: OnceLock<Vec<Usage>> = OnceLock::new();
    let steps = KINDS.iter().flat_map(|kind| kind.usages());
    ALL.get_or_init(|| BEFORE_STEPS.iter().chain(steps).chain(AFTER_STEPS).copied().collect())
}

/// Functions that a script calls before its first step.
const BEFORE_STEPS: &[Usage] = &[
    usage(
        "params",
        "params(#{…})",
        "the map, with the values of `--set` and `--params`",
        "Declares the parameters that users of the script can change. Called once, before everything else.",
        "let p = params(#{ games: whole(4, 1, 1000, \"games of an iteration\"), simulations: 8 });",
    ),
    usage(
        "number",
        "number(default, low, high) or number(default, low, high, text)",
        "a parameter",
        "A number from low to high, for `params`, with a text that says what it is for. Also a dimension, as `uniform(low, high)`.",
        "let exploration = number(1.25, 0.5, 4.0, \"c_puct of the search\");",
    ),
    usage(
        "whole",
        "whole(default, low, high) or whole(default, low, high, text)",
        "a parameter",
        "A whole number from low to high, for `params`. Also a dimension, as `int(low, high)`.",
        "let considered_moves = whole(16, 1, 218);",
    ),
    usage(
        "flag",
        "flag(default) or flag(default, text)",
        "a parameter",
        "True or false, for `params`. Also a dimension with both values.",
        "let solver = flag(true, \"whether the tree proves results\");",
    ),
    usage(
        "text",
        "text(default) or text(default, text)",
        "a parameter",
        "Any text, for `params`.",
        "let opponent = text(\"greedy\", \"who is played at the end\");",
    ),
    usage(
        "network_preset",
        "network_preset(name)",
        "a map for `run.network`",
        "The spec of a named net, to be changed or given to `run.network` as it is.",
        "let spec = network_preset(\"dc0-2x32\");",
    ),
    usage(
        "open_run",
        "open_run(name) or open_run(name, #{…})",
        "a run",
        "Opens a run, or creates it. A script may open several, each with a name and a folder of its own.",
        "let run = open_run(\"example\");",
    ),
    usage(
        "load_dataset",
        "load_dataset(name) or load_dataset(name, #{…})",
        "a window",
        "The games of a dataset, or of another run, by its folder or its name: for `run.train`, alone or added to a window of the run. \
            With the parameters of `window` only some of them, though without `iterations` all that fit.",
        "fn on_games_of_others(run, net) { run.train(net, load_dataset(\"lichess\") + run.window(), #{ updates: 100 }) }",
    ),
    usage(
        "fork",
        "fork(from, iteration, #{…})",
        "a run",
        "Opens or creates a run that begins with the steps of another run, up to the end of an iteration. Called instead of `open_run`.",
        "fn in_another_script() { fork(\"az_small\", 5, #{ name: \"az_small_c3\" }) }",
    ),
];

/// Functions that take the results of steps, and functions that need no run.
const AFTER_STEPS: &[Usage] = &[
    usage(
        "start_self_play",
        "run.start_self_play(network, #{…}) or run.start_self_play(network, window, #{…})",
        "coming games",
        "As `run.self_play`, but the script goes on at once, with a training for example, while the games are played. They become the \
         run's next iteration where the script waits for them, so it makes no other games before.",
        "let coming = run.start_self_play(trained, #{ games: p.games, search: #{ simulations: p.simulations } });",
    ),
    usage(
        "wait",
        "coming.wait()",
        "games",
        "Waits for the games of `run.start_self_play`, and returns what `run.self_play` returns, with the same bytes. Games that the \
         script does not wait for are waited for at its end.",
        "let played_beside = coming.wait();",
    ),
    usage(
        "player",
        "player(network, #{…})",
        "a player",
        "A net with a search of its own, for matches. In tables it is another player than the net.",
        "let deeper = player(net, #{ search: #{ simulations: 64 } });",
    ),
    usage(
        "alphabeta",
        "alphabeta(#{…}) or alphabeta(network, #{…})",
        "a player",
        "dc0's alpha-beta search with material and piece squares, or with the values of a net of the kind `nnue`, which plays by `nodes` or `depth`. The same parameters play the same games.",
        "let classic_search = alphabeta(#{ nodes: 2000 });",
    ),
    usage(
        "uci",
        "uci(command, #{…})",
        "a player",
        "A UCI engine, which plays by `nodes`, `depth`, `move_time` or `clock`. It is started once, to learn its name and options.",
        "let engine = if installed(\"stockfish\") == () { deeper } else { uci(\"stockfish\", #{ depth: 1 }) };",
    ),
    usage(
        "xboard",
        "xboard(command, #{…})",
        "a player",
        "As `uci`, for engines that speak the protocol of xboard (CECP 2).",
        "let classic = if installed(\"phalanx\") == () { deeper } else { xboard(\"phalanx\", #{ depth: 1 }) };",
    ),
    usage(
        "installed",
        "installed(command)",
        "a path, or ()",
        "Where a program is, by its name or path; () if it is not there.",
        "let place = installed(\"stockfish\");",
    ),
    usage(
        "promote",
        "run.promote(network)",
        "the same net",
        "Makes a net the next generation.",
        "let best = run.promote(trained);",
    ),
    usage(
        "best",
        "run.best()",
        "a net",
        "The net that was promoted last, or else the run's first net.",
        "let strongest = run.best();",
    ),
    usage(
        "network_at",
        "run.network_at(number)",
        "a net",
        "A net of the run by its number. Negative numbers count from the last net made, which is -1.",
        "let last = run.network_at(-1);",
    ),
    usage(
        "games_at",
        "run.games_at(number)",
        "games",
        "The games of an iteration by its number. Negative numbers count from the last iteration, which is -1.",
        "let first = run.games_at(0);",
    ),
    usage(
        "league",
        "run.league() or run.league(#{…})",
        "a list of nets",
        "Draws opponents from the generations before the current one, at random by age or rating; the seed of the run decides.",
        "let rivals = run.league(#{ opponents: 2 });",
    ),
    usage(
        "rate",
        "run.rate(#{…})",
        "a map",
        "Rates players by matches of the pairs that teach most, until every interval is narrow enough. `players` and `anchors`, whose \
         ratings are given as `[player, elo]`, are lists.",
        "let ratings = run.rate(#{ players: [net, \"random\"], games: 2, most_games: 4 });",
    ),
    usage("summary", "run.summary()", "nothing", "Prints the table of iterations.", "run.summary();"),
    usage(
        "note",
        "run.note(text)",
        "nothing",
        "Writes a remark to the run's journal.",
        "run.note(\"the first net\");",
    ),
    usage(
        "assert",
        "assert(condition, message)",
        "nothing",
        "Ends the script with exit code 1 if the condition is false.",
        "assert(verdict.games == 4, \"expected a match of four games\");",
    ),
    usage(
        "table",
        "table([#{…}, …]), table([#{…}, …], [name, …]) or run.table(name)",
        "text, or for a run a frame",
        "Formats maps as a table for `print`, with a column for each name, or the named ones in their order. For a run: one of its tables, such as `games`, with the \
         rows that the script's calls have stored so far.",
        "print(table([#{ net: net.name, score: verdict.score }], [\"score\", \"net\"])); let played = run.table(\"games\");",
    ),
    usage(
        "sql",
        "run.sql(statement)",
        "a frame",
        "Queries the run's tables with a SELECT statement. They hold the rows that the script's calls have stored so far.",
        "let ends = run.sql(\"select reason, count(*) as games from games group by reason\");",
    ),
    usage(
        "filter",
        "frame.filter(condition)",
        "a frame",
        "Keeps the rows for which an SQL expression is true.",
        "let drawn = played.filter(\"result = 0\");",
    ),
    usage(
        "select",
        "frame.select([expression, …])",
        "a frame",
        "Selects columns by name, or computes them with SQL expressions such as `len(moves) as plies`.",
        "let lengths = played.select([\"game\", \"len(moves) as plies\"]);",
    ),
    usage(
        "group_by",
        "frame.group_by([column, …])",
        "groups",
        "Groups the rows that have equal values in these columns.",
        "let groups = played.group_by([\"reason\"]);",
    ),
    usage(
        "agg",
        "groups.agg(#{ name: expression, … })",
        "a frame",
        "Computes SQL aggregates of each group. One row per group, sorted by the group's columns: these columns first, then the \
         aggregates in alphabetical order.",
        "let counted = groups.agg(#{ n: \"count(*)\", plies: \"avg(len(moves))\" });",
    ),
    usage(
        "sort",
        "frame.sort(order)",
        "a frame",
        "Sorts the rows; `order` is written as after SQL's ORDER BY.",
        "let sorted = counted.sort(\"n desc, reason\");",
    ),
    usage("head", "frame.head(rows)", "a frame", "The first rows.", "let first = sorted.head(3);"),
    usage(
        "join",
        "frame.join(frame, [column, …])",
        "a frame",
        "Every pair of rows from the two frames that have equal values in these columns.",
        "let both = lengths.join(played.select([\"game\", \"reason\"]), [\"game\"]);",
    ),
    usage(
        "rows",
        "frame.rows()",
        "a list of maps",
        "All rows, each as a map from column names to values.",
        "let rows = first.rows(); for row in rows { print(`${row.reason}: ${row.n}`); }",
    ),
    usage(
        "column",
        "frame.column(name)",
        "a list",
        "The values of a column, in the order of the rows.",
        "let plies = both.column(\"plies\");",
    ),
    usage("log", "log(text)", "nothing", "Writes a line to the run's log.", "log(\"half-way\");"),
    usage(
        "choice",
        "choice([value, …]) or choice(default, [value, …]) or choice(default, [value, …], text)",
        "a dimension; with a default a parameter",
        "One of several values: for the space of a sweep, or with a default for `params`.",
        "let rules = choice([\"puct\", \"gumbel\"]);",
    ),
    usage(
        "int",
        "int(low, high) or int(low, high, step)",
        "a dimension",
        "Whole numbers from low to high.",
        "let blocks = int(2, 8, 2);",
    ),
    usage(
        "uniform",
        "uniform(low, high)",
        "a dimension",
        "Numbers from low to high, uniformly distributed.",
        "let c_puct = uniform(1, 3);",
    ),
    usage(
        "log_uniform",
        "log_uniform(low, high)",
        "a dimension",
        "Numbers from low to high, uniformly distributed on a logarithmic scale.",
        "let rate = log_uniform(0.0001, 0.01);",
    ),
    usage(
        "points",
        "dimension.points(count)",
        "the dimension",
        "Sets how many values of an interval a grid tries.",
        "let few = uniform(1, 3).points(5);",
    ),
    usage(
        "when",
        "dimension.when(#{ name: value })",
        "the dimension",
        "Makes a dimension conditional: it exists only where another one has this value, or one of a list of values.",
        "let considered = int(4, 16).when(#{ rule: \"gumbel\" });",
    ),
    usage(
        "sweep",
        "sweep(#{…}, |trial| …)",
        "a sweep",
        "Calls a function for many points of a space, each with runs of its own. The function returns the objective: a number, a \
         match, or `#{ value, low, high }`.",
        "let swept = sweep(#{ name: \"example_sweep\", space: #{ c_puct: c_puct }, trials: 2 }, |trial| trial.c_puct);",
    ),
    usage(
        "report",
        "trial.report(at, value) or trial.report(at, value, low, high)",
        "nothing",
        "Reports an intermediate value of a trial, for example at an iteration; `at` is a whole number up to 4,294,967,295. \
            The pruner may end the trial here.",
        "sweep(#{ name: \"reports\", space: #{ x: c_puct }, trials: 2 }, |trial| { trial.report(1, 0.5); 0.5 });",
    ),
    usage(
        "load_network",
        "load_network(name) or load_network()",
        "a stored net",
        "Loads a net from a file or a run's generation, such as `\"datasets/az_small:10\"`; without a name, `az_nnue`, the \
         shipped net. For the functions below, which need no run and store nothing.",
        "let stored = load_network();",
    ),
    usage(
        "explain",
        "explain(net, \"startpos moves e2e4\", #{…})",
        "a map",
        "Explains a position: a stored net's evaluation, the result of a search, its tree, and its first simulations step by step. \
         docs/guides/explain.md lists the fields.",
        "let explained = explain(stored, \"startpos moves e2e4\", #{ search: #{ simulations: 20 }, steps: 3 }); print(explained.search.value);",
    ),
    usage(
        "forward_pass",
        "forward_pass(net, \"startpos moves e2e4\")",
        "a map",
        "Evaluates one position with a stored net: the input planes, statistics of every layer's output, and the heads.",
        "let passed = forward_pass(stored, \"startpos\"); print(passed.value.win);",
    ),
    usage(
        "play_game",
        "play_game(net, seed, #{…})",
        "a map",
        "Plays one self-play game of a stored net, as `run.self_play` does. The map has everything that is recorded and trained on.",
        "let game = play_game(stored, 1, #{ search: #{ simulations: 4 }, max_plies: 20 }); print(game.result);",
    ),
    usage(
        "board",
        "board(\"startpos moves e2e4\")",
        "text",
        "Draws a position in nine lines, with the last move in `[ ]` and a king in check in `! !`.",
        "let shown = board(\"startpos moves e2e4\"); print(shown);",
    ),
    usage(
        "to_ascii",
        "to_ascii(text)",
        "text",
        "Converts text to ASCII: letters for pieces, plain characters for lines and bars. Text printed to a terminal without Unicode \
         is converted automatically.",
        "let plain = to_ascii(\"♞ ███\"); print(plain);",
    ),
];
