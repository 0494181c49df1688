//! Parameters of programs that play.

use std::collections::BTreeMap;

use dc0_core::arena::{PlayerParams, baseline};
use dc0_core::params;
use dc0_core::params::{Bounds, Param, ParamKind, Problems, Value};

/// Declares the parameters of the programs of a protocol. Protocols differ in their words for limits and in the times that they can express.
macro_rules! program_params {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            options: $options:literal;
            nodes: $nodes:literal;
            depth: $depth:literal;
            move_time: $move_time:literal, $seconds:ty, in $range:expr;
            clock: $clock:literal;
            folder: $folder:literal;
        }
        check $check:expr;
    ) => {
        params! {
            $(#[doc = $about])+
            pub struct $name {
                /// Arguments of its command line.
                args: Vec<String> = Vec::new();
                #[doc = $options]
                options: ProgramOptions = ProgramOptions::default();
                #[doc = $nodes]
                nodes: Option<u64> = None, in 1..=1_000_000_000_000_i64;
                #[doc = $depth]
                depth: Option<u32> = None, in 1..=1000;
                #[doc = $move_time]
                move_time: Option<$seconds> = None, in $range;
                #[doc = $clock]
                clock: Option<ClockParams> = None;
                /// A name of one's own for tables; empty for what the engine says, its options and its limit.
                name: String = String::new();
                #[doc = $folder]
                folder: String = String::new();
                /// Further files that decide how it plays, such as the engine that a script starts: the player is another one when they change.
                /// Files named in `args` and `options` count without being listed here.
                files: Vec<String> = Vec::new();
                /// Seconds in which it must start, and be ready for each game.
                start_timeout: f64 = 30.0, in 0.1..=3600.0;
                /// Seconds for a move by `nodes` or `depth`, after which the game is lost because it does not answer.
                move_timeout: f64 = 60.0, in 0.1..=86_400.0;
                /// Seconds beyond `move_time` or `clock` that are tolerated; 0 as in fastchess and cutechess.
                time_margin: f64 = 0.0, in 0.0..=60.0;
            }
            check |params| {
                let given = [
                    ("nodes", params.nodes.is_some()),
                    ("depth", params.depth.is_some()),
                    ("move_time", params.move_time.is_some()),
                    ("clock", params.clock.is_some()),
                ];
                let texts = [("name", &params.name), ("folder", &params.folder)];
                let check: fn(&Self) -> Vec<(&'static str, String)> = $check;
                let own = baseline(&params.name).map(|baseline| {
                    let message = format!("\"{}\" is a player of dc0's own; give another name", baseline.name());
                    ("name", message)
                });
                let own = own.into_iter().collect();
                [one_limit(&given), plain_texts(&texts, &params.args), own, check(params)].concat()
            };
        }

        impl From<&$name> for Settings {
            fn from(params: &$name) -> Self {
                let $name { args, options, nodes, depth, move_time, clock, name, folder, files, .. } =
                    params.clone();
                let $name { start_timeout, move_timeout, time_margin, .. } = *params;
                let limit = Limit::of(nodes, depth, move_time.map(Into::into), clock.as_ref());
                let options = options.0;
                Self { args, options, limit, name, folder, files, start_timeout, move_timeout, time_margin }
            }
        }
    };
}

program_params! {
    /// How a UCI engine plays. Exactly one of `nodes`, `depth`, `move_time` and `clock` limits its moves.
    pub struct UciParams {
        options: " Its options by the names that it declares, as `uci` lists them; `true` presses a button.";
        nodes: " Nodes for each move (`go nodes`), as the engine counts them.";
        depth: " Depth of each search (`go depth`).";
        move_time: " Seconds for each move (`go movetime`).", f64, in 0.001..=86_400.0;
        clock: " A clock for each game (`go wtime btime …`).";
        folder: " The folder to start it in, for programs that look for their files there; empty for the current one.";
    }
    check |_| Vec::new();
}

program_params! {
    /// How an xboard engine plays, one that speaks the Chess Engine Communication Protocol. Exactly one of `nodes`, `depth`,
    /// `move_time` and `clock` limits its moves.
    pub struct XboardParams {
        options: " Its options by the names that it declares (`feature option`), and `memory` (MiB) and `cores` if it has these features; `true` presses a button.";
        nodes: " Nodes for each move, for the few engines with the feature `nps`: a second at this many nodes per second.";
        depth: " Depth of each search (`sd`).";
        move_time: " Whole seconds for each move (`st`).", u32, in 1..=86_400;
        clock: " A clock for each game (`level`, `time`, `otim`), which begins with whole seconds.";
        folder: " The folder to start it in, for programs that look for their files there, or write some; empty for the current one.";
    }
    check |params| {
        let seconds = params.clock.as_ref().map(|clock| clock.seconds).filter(|seconds| seconds.fract() != 0.0);
        let problem = |seconds| ("clock", format!("xboard engines read whole seconds, got {seconds} at the start"));
        seconds.map(problem).into_iter().collect()
    };
}

params! {
    /// A clock. Its increments come after each move, the first one too.
    pub struct ClockParams {
        /// Seconds at the start.
        seconds: f64 = 10.0, in 0.001..=86_400.0;
        /// Seconds that each move adds.
        increment: f64 = 0.1, in 0.0..=3600.0;
        /// Moves after which `seconds` are added again; () for never.
        moves: Option<u32> = None, in 1..=1000;
    }
}

/// Problems of the limits, of which one must be given.
fn one_limit(limits: &[(&'static str, bool)]) -> Vec<(&'static str, String)> {
    let names: Vec<&str> = limits.iter().map(|(name, _)| *name).collect();
    let given: Vec<&'static str> =
        limits.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect();
    match given.as_slice() {
        [] => vec![(limits[0].0, format!("expected exactly one of {}, got none", names.join(", ")))],
        [_] => Vec::new(),
        [first, others @ ..] => {
            let problem = format!("expected exactly one of {}, got {first}, too", names.join(", "));
            others.iter().map(|other| (*other, problem.clone())).collect()
        }
    }
}

/// Problems of texts that a command line or a table cannot hold.
fn plain_texts(texts: &[(&'static str, &String)], args: &[String]) -> Vec<(&'static str, String)> {
    let args = args.iter().map(|arg| ("args", arg));
    // An argument may be blank.
    let is_blank = |field: &str, text: &str| field != "args" && !text.is_empty() && text.trim().is_empty();
    let all = texts.iter().copied().chain(args);
    let wrong = all.filter(|(field, text)| is_blank(field, text) || !PlayerParams::is_one_line(text));
    wrong.map(|(field, text)| (field, format!("expected text of one line, got {text:?}"))).collect()
}

/// Options of a program: texts, whole numbers and booleans by the names that the program gives them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgramOptions(pub BTreeMap<String, Value>);

impl Param for ProgramOptions {
    fn kind() -> ParamKind {
        ParamKind::OpenGroup("a group of options #{ \"Skill Level\": 0, … }, as the program names them")
    }

    fn read(value: &Value, path: &str, _: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let Value::Group(given) = value else {
            problems.add(path, format!("expected {}, got {value} ({})", Self::kind(), value.kind()));
            return None;
        };
        let before = problems.len();
        for (name, value) in given {
            let at = format!("{path}.{name}");
            match value {
                Value::Text(text) if !PlayerParams::is_one_line(text) => {
                    problems.add(&at, format!("expected text of one line, got {text:?}"));
                }
                Value::Text(_) | Value::Int(_) | Value::Bool(_) => {}
                Value::Float(number) => {
                    let message =
                        format!("options have no fractions; if this one takes text, write \"{number}\"");
                    problems.add(&at, message);
                }
                other => {
                    let message = format!(
                        "expected text, a whole number, true or false, got {other} ({})",
                        other.kind()
                    );
                    problems.add(&at, message);
                }
            }
            if name.trim() != name || name.is_empty() || !PlayerParams::is_one_line(name) {
                problems.add(&at, format!("expected the name of an option, got {name:?}"));
            }
        }
        (problems.len() == before).then(|| Self(given.clone()))
    }

    fn to_value(&self) -> Value {
        Value::Group(self.0.clone())
    }
}

/// What ends a program's thinking.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Limit {
    /// Nodes.
    Nodes(u64),
    /// Depth.
    Depth(u32),
    /// Seconds for each move.
    MoveTime(f64),
    /// A clock.
    Clock(ClockParams),
}

impl Limit {
    /// The one that is given; parameters that were read have exactly one.
    fn of(
        nodes: Option<u64>,
        depth: Option<u32>,
        move_time: Option<f64>,
        clock: Option<&ClockParams>,
    ) -> Option<Self> {
        let nodes = nodes.map(Self::Nodes);
        nodes
            .or_else(|| depth.map(Self::Depth))
            .or_else(|| move_time.map(Self::MoveTime))
            .or_else(|| clock.cloned().map(Self::Clock))
    }

    /// Whether games depend on the speed of the machine.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self, Self::MoveTime(_) | Self::Clock(_))
    }

    /// As in names of players.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Nodes(1) => "1 node".to_owned(),
            Self::Nodes(nodes) => format!("{nodes} nodes"),
            Self::Depth(depth) => format!("depth {depth}"),
            Self::MoveTime(seconds) => format!("{seconds} s/move"),
            Self::Clock(ClockParams { seconds, increment, moves: None }) => {
                format!("{seconds}+{increment} s")
            }
            Self::Clock(ClockParams { seconds, increment, moves: Some(moves) }) => {
                format!("{moves}/{seconds}+{increment} s")
            }
        }
    }

    /// As in identities.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Nodes(nodes) => Value::of([("nodes", nodes.to_value())]),
            Self::Depth(depth) => Value::of([("depth", depth.to_value())]),
            Self::MoveTime(seconds) => Value::of([("move_time", seconds.to_value())]),
            Self::Clock(clock) => Value::of([("clock", clock.to_value())]),
        }
    }
}

/// What both protocols' parameters have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) args: Vec<String>,
    pub(crate) options: BTreeMap<String, Value>,
    pub(crate) limit: Option<Limit>,
    pub(crate) name: String,
    pub(crate) folder: String,
    pub(crate) files: Vec<String>,
    pub(crate) start_timeout: f64,
    pub(crate) move_timeout: f64,
    pub(crate) time_margin: f64,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dc0_core::params::{Params, Value, read};

    use super::{ClockParams, Settings, UciParams, XboardParams};

    fn group<const N: usize>(members: [(&str, Value); N]) -> Value {
        Value::of(members)
    }

    fn error<T: Params>(value: &Value) -> String {
        read::<T>("uci", value).err().expect("has problems").to_string()
    }

    #[test]
    fn exactly_one_limit_is_needed() {
        let none = "uci: 1 problem in its parameters\n  nodes: expected exactly one of nodes, depth, move_time, clock, got none";
        assert_eq!(error::<UciParams>(&Value::group()), none);
        assert_eq!(error::<XboardParams>(&Value::group()), none);
        let three = group([("depth", Value::Int(3)), ("clock", Value::group()), ("nodes", Value::Int(9))]);
        assert_eq!(
            error::<UciParams>(&three),
            "uci: 2 problems in its parameters\n  \
             depth: expected exactly one of nodes, depth, move_time, clock, got nodes, too\n  \
             clock: expected exactly one of nodes, depth, move_time, clock, got nodes, too"
        );
        assert!(read::<UciParams>("uci", &group([("nodes", Value::Int(9))])).is_ok());
    }

    #[test]
    fn options_are_texts_whole_numbers_and_booleans() {
        let options = [
            ("a", Value::Float(0.5)),
            ("b", Value::List(Vec::new())),
            ("c", Value::Text("two\nlines".to_owned())),
            ("d", Value::Bool(true)),
            (" e", Value::Int(1)),
        ];
        let text = error::<UciParams>(&group([("options", group(options)), ("nodes", Value::Int(1))]));
        assert!(text.starts_with("uci: 4 problems"), "{text}");
        assert!(text.contains("options.a: options have no fractions; if this one takes text, write \"0.5\""));
        assert!(text.contains("options.b: expected text, a whole number, true or false, got [] (list)"));
        assert!(text.contains("options.c: expected text of one line, got \"two\\nlines\""));
        let number = group([("options", Value::Int(1))]);
        assert!(error::<UciParams>(&number).contains("options: expected a group of options"));
    }

    #[test]
    fn names_and_arguments_are_one_line_and_no_name_is_blank() {
        let text = |text: &str| Value::Text(text.to_owned());
        let given = group([
            ("name", text("  ")),
            ("folder", text("a\u{2028}b")),
            ("args", Value::List(vec![text(" "), text("two\nlines")])),
            ("nodes", Value::Int(1)),
        ]);
        let text = error::<UciParams>(&given);
        assert!(text.starts_with("uci: 3 problems"), "{text}");
        for wrong in ["name: expected text of one line, got \"  \"", "folder: expected", "args: expected"] {
            assert!(text.contains(wrong), "{text}");
        }
    }

    #[test]
    fn xboard_clocks_begin_with_whole_seconds() {
        let clock = |seconds| group([("clock", group([("seconds", Value::Float(seconds))]))]);
        assert!(error::<XboardParams>(&clock(1.5)).contains("whole seconds, got 1.5"));
        assert!(read::<XboardParams>("xboard", &clock(60.0)).is_ok());
        assert!(read::<UciParams>("uci", &clock(1.5)).is_ok());
    }

    #[test]
    fn limits_are_shown_briefly() {
        let shown = |params: UciParams| Settings::from(&params).limit.expect("is given").shown();
        assert_eq!(shown(UciParams { nodes: Some(1), ..UciParams::default() }), "1 node");
        assert_eq!(shown(UciParams { depth: Some(4), ..UciParams::default() }), "depth 4");
        assert_eq!(shown(UciParams { move_time: Some(0.1), ..UciParams::default() }), "0.1 s/move");
        let clock = ClockParams { seconds: 60.0, increment: 0.5, moves: Some(40) };
        assert_eq!(shown(UciParams { clock: Some(clock), ..UciParams::default() }), "40/60+0.5 s");
        assert_eq!(
            shown(UciParams { clock: Some(ClockParams::default()), ..UciParams::default() }),
            "10+0.1 s"
        );
        assert_eq!(Settings::from(&UciParams::default()).options, BTreeMap::new());
    }
}
