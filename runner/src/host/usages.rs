//! Every host function once: how it is called, what it gives, and an example. The reference, errors and editors take it from here.

use crate::script::names::Usage;

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
pub const USAGES: &[Usage] = &[
    usage(
        "params",
        "params(#{…})",
        "the map with the values of `--set` and `--params` in it",
        "Declares what users of the script can change; called once, before everything else.",
        "let p = params(#{ games: 4, simulations: 8 });",
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
        "network",
        "run.network(#{…})",
        "a net",
        "A step: makes a net with random weights.",
        "let net = run.network(#{ tower: #{ blocks: 1, filters: 16 } });",
    ),
    usage(
        "grow",
        "run.grow(network, #{…})",
        "a net",
        "A step: makes a larger net that answers as the smaller one.",
        "let larger = run.grow(net, #{ blocks: 2 });",
    ),
    usage(
        "inspect",
        "run.inspect(network, #{…})",
        "a map",
        "What the net's layers and heads put out.",
        "print(run.inspect(net).logit_deviation);",
    ),
    usage(
        "self_play",
        "run.self_play(network, #{…})",
        "games",
        "A step: plays games of a net against itself.",
        "let games = run.self_play(net, #{ games: p.games, search: #{ simulations: p.simulations } });",
    ),
    usage(
        "window",
        "run.window(#{…})",
        "a window",
        "The games of the latest iterations.",
        "let window = run.window(#{ iterations: 2 });",
    ),
    usage(
        "train",
        "run.train(network, window, #{…})",
        "the trained net",
        "A step: trains a net on the games of a window.",
        "let trained = run.train(net, window, #{ updates: 10, learning_rate: |update| 0.002 });",
    ),
    usage(
        "arena",
        "run.arena(network, network or \"random\" or \"greedy\", #{…})",
        "a match",
        "A step: plays a match; scores are the first player's.",
        "let verdict = run.arena(trained, net, #{ games: 4 });",
    ),
    usage(
        "search",
        "run.search(network, [\"startpos moves e2e4\", …] or an analysis, #{…})",
        "an analysis",
        "A step: searches given positions, or goes on with searches that kept whole trees.",
        "let seen = run.search(trained, [\"startpos moves e2e4\"], #{ lines: 3 });",
    ),
    usage(
        "promote",
        "run.promote(network)",
        "the same net",
        "Makes a net the next generation.",
        "let best = run.promote(trained);",
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
        "table([#{…}, …])",
        "text",
        "Maps as aligned columns, one for each name, for `print`.",
        "print(table([#{ net: net.name, score: verdict.score }]));",
    ),
    usage("log", "log(text)", "nothing", "Writes a line to the run's log.", "log(\"half-way\");"),
    usage(
        "choice",
        "choice([value, …])",
        "a dimension",
        "One of some values, for the space of a sweep.",
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
];
