//! Every host function once: how it is called, what it gives, and an example. The reference, errors and editors take it from here.

use std::sync::OnceLock;

use dc0_steps::kinds::KINDS;
use dc0_steps::usage::Usage;

const fn usage(
    name: &'static str,
    form: &'static str,
    gives: &'static str,
    meaning: &'static str,
    example: &'static str,
) -> Usage {
    Usage { name, form, gives, meaning, example }
}

/// How each function is called. The examples, one after the other, are a script.
pub fn usages() -> &'static [Usage] {
    static ALL: OnceLock<Vec<Usage>> = OnceLock::new();
    let steps = KINDS.iter().flat_map(|kind| kind.usages());
    ALL.get_or_init(|| BEFORE_STEPS.iter().chain(steps).chain(AFTER_STEPS).copied().collect())
}

/// What a script calls before its first step.
const BEFORE_STEPS: &[Usage] = &[
    usage(
        "params",
        "params(#{…})",
        "the map with the values of `--set` and `--params` in it",
        "Declares what users of the script can change; called once, before everything else.",
        "let p = params(#{ games: whole(4, 1, 1000, \"games of an iteration\"), simulations: 8 });",
    ),
    usage(
        "number",
        "number(default, low, high) or number(default, low, high, text)",
        "a parameter",
        "A number from low to high, for `params`, with a text on what it is for; also a dimension, as `uniform(low, high)`.",
        "let exploration = number(1.25, 0.5, 4.0, \"c_puct of the search\");",
    ),
    usage(
        "whole",
        "whole(default, low, high) or whole(default, low, high, text)",
        "a parameter",
        "A whole number from low to high, for `params`; also a dimension, as `int(low, high)`.",
        "let considered_moves = whole(16, 1, 218);",
    ),
    usage(
        "flag",
        "flag(default) or flag(default, text)",
        "a parameter",
        "True or false, for `params`; also a dimension of both.",
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
        "A net by its name.",
        "let spec = network_preset(\"dc0-2x32\");",
    ),
    usage(
        "open_run",
        "open_run(name) or open_run(name, #{…})",
        "a run",
        "Opens a run, or creates it; a script opens one.",
        "let run = open_run(\"example\");",
    ),
    usage(
        "fork",
        "fork(from, iteration, #{…})",
        "a run",
        "Opens a run that begins with another one up to the end of an iteration, or creates it; instead of `open_run`.",
        "fn of_another_script() { fork(\"az_small\", 5, #{ name: \"az_small_c3\" }) }",
    ),
];

/// What a script calls with what steps gave it, and what needs no run.
const AFTER_STEPS: &[Usage] = &[
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
        "The net that was promoted last, or the run's first one.",
        "let strongest = run.best();",
    ),
    usage(
        "network_at",
        "run.network_at(number)",
        "a net",
        "A net of the run by its number; -1 is the last one made.",
        "let last = run.network_at(-1);",
    ),
    usage("summary", "run.summary()", "nothing", "Prints the table of iterations.", "run.summary();"),
    usage(
        "note",
        "run.note(text)",
        "nothing",
        "Keeps a remark in the run's journal.",
        "run.note(\"the first net\");",
    ),
    usage(
        "assert",
        "assert(condition, message)",
        "nothing",
        "Ends the script with exit code 1 where the condition is false.",
        "assert(verdict.games == 4, \"expected a match of four games\");",
    ),
    usage(
        "table",
        "table([#{…}, …]) or run.table(name)",
        "text; of a run, a frame",
        "Maps as aligned columns, one for each name, for `print`. Of a run: one of its tables, such as `games`, with what the script's \
         calls so far have stored.",
        "print(table([#{ net: net.name, score: verdict.score }])); let played = run.table(\"games\");",
    ),
    usage(
        "sql",
        "run.sql(statement)",
        "a frame",
        "Asks the run's tables with a SELECT statement; they hold what the script's calls so far have stored.",
        "let ends = run.sql(\"select reason, count(*) as games from games group by reason\");",
    ),
    usage(
        "filter",
        "frame.filter(condition)",
        "a frame",
        "The rows for which an SQL expression is true.",
        "let drawn = played.filter(\"result = 0\");",
    ),
    usage(
        "select",
        "frame.select([expression, …])",
        "a frame",
        "Other columns: names, or SQL expressions with names.",
        "let lengths = played.select([\"game\", \"array_length(moves) as plies\"]);",
    ),
    usage(
        "group_by",
        "frame.group_by([column, …])",
        "groups",
        "Rows in groups that are equal in some columns.",
        "let groups = played.group_by([\"reason\"]);",
    ),
    usage(
        "agg",
        "groups.agg(#{ name: expression, … })",
        "a frame",
        "One row a group, sorted by the group's columns: these, then SQL aggregates by their names, in the order of the alphabet.",
        "let counted = groups.agg(#{ n: \"count(*)\", plies: \"avg(array_length(moves))\" });",
    ),
    usage(
        "sort",
        "frame.sort(order)",
        "a frame",
        "The rows in another order.",
        "let sorted = counted.sort(\"n desc, reason\");",
    ),
    usage("head", "frame.head(rows)", "a frame", "The first rows.", "let first = sorted.head(3);"),
    usage(
        "join",
        "frame.join(frame, [column, …])",
        "a frame",
        "Every pair of rows that are equal in some columns.",
        "let both = lengths.join(played.select([\"game\", \"reason\"]), [\"game\"]);",
    ),
    usage(
        "rows",
        "frame.rows()",
        "a list of maps",
        "All rows, each as a map of its columns.",
        "let rows = first.rows(); for row in rows { print(`${row.reason}: ${row.n}`); }",
    ),
    usage(
        "column",
        "frame.column(name)",
        "a list",
        "A column's values from the first row to the last.",
        "let plies = both.column(\"plies\");",
    ),
    usage("log", "log(text)", "nothing", "Writes a line to the run's log.", "log(\"half-way\");"),
    usage(
        "choice",
        "choice([value, …]) or choice(default, [value, …]) or choice(default, [value, …], text)",
        "a dimension; with a default a parameter",
        "One of some values, for the space of a sweep, or with a default for `params`.",
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
        "Numbers from low to high, evenly.",
        "let c_puct = uniform(1, 3);",
    ),
    usage(
        "log_uniform",
        "log_uniform(low, high)",
        "a dimension",
        "Numbers from low to high, evenly on a logarithmic scale.",
        "let rate = log_uniform(0.0001, 0.01);",
    ),
    usage(
        "points",
        "dimension.points(count)",
        "the dimension",
        "How many values of an interval a grid walks through.",
        "let few = uniform(1, 3).points(5);",
    ),
    usage(
        "when",
        "dimension.when(#{ name: value })",
        "the dimension",
        "The dimension is there only where another one has a value, or one of a list of values.",
        "let considered = int(4, 16).when(#{ rule: \"gumbel\" });",
    ),
    usage(
        "sweep",
        "sweep(#{…}, |trial| …)",
        "a sweep",
        "Calls a function for many points of a space, each with runs of its own. The function gives the value: a number, a \
         match, or `#{ value, low, high }`.",
        "let swept = sweep(#{ name: \"example_sweep\", space: #{ c_puct: c_puct }, trials: 2 }, |trial| trial.c_puct);",
    ),
    usage(
        "report",
        "trial.report(at, value) or trial.report(at, value, low, high)",
        "nothing",
        "Tells how a trial stands at a place such as an iteration; the pruner may end the trial here.",
        "sweep(#{ name: \"reports\", space: #{ x: c_puct }, trials: 2 }, |trial| { trial.report(1, 0.5); 0.5 });",
    ),
    usage(
        "load_network",
        "load_network(name) or load_network()",
        "a stored net",
        "A net of a file or of a run's generation, such as `\"datasets/az_small:10\"`, or the small one in the program; for the functions \
         below, which need no run and store nothing.",
        "let stored = load_network();",
    ),
    usage(
        "explain",
        "explain(net, \"startpos moves e2e4\", #{…})",
        "a map",
        "What a stored net says of a position, what a search makes of it, its tree, and its first simulations step by step; \
         docs/guides/explain.md lists the names.",
        "let told = explain(stored, \"startpos moves e2e4\", #{ search: #{ simulations: 20 }, steps: 3 }); print(told.search.value);",
    ),
    usage(
        "forward_pass",
        "forward_pass(net, \"startpos moves e2e4\")",
        "a map",
        "One position through a stored net: input planes, what every layer makes of them, and the heads.",
        "let passed = forward_pass(stored, \"startpos\"); print(passed.value.win);",
    ),
    usage(
        "play_game",
        "play_game(net, seed, #{…})",
        "a map",
        "One game of self-play of a stored net, as `run.self_play` plays it, with everything that is recorded and trained on.",
        "let game = play_game(stored, 1, #{ search: #{ simulations: 4 }, max_plies: 20 }); print(game.result);",
    ),
    usage(
        "board",
        "board(\"startpos moves e2e4\")",
        "text",
        "The board of a position in nine lines, the last move in `[ ]` and a king in check in `! !`.",
        "let shown = board(\"startpos moves e2e4\"); print(shown);",
    ),
    usage(
        "to_ascii",
        "to_ascii(text)",
        "text",
        "The same with letters for pieces and plain signs for lines and bars, for terminals that know no more. What is printed to such a \
         terminal is turned by itself.",
        "let plain = to_ascii(\"♞ ███\"); print(plain);",
    ),
];
