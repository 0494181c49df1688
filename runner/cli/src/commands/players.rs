//! Players named on a command line, as expressions of a script.

use std::path::Path;

use clap::Args;
use dc0_core::arena::{BASELINES, baseline};
use dc0_core::params::{Value, intended};
use dc0_opponents::installed;
use dc0_process::command::Failure;
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_runs::net::{is_net, named_with};

/// How players that are named plainly play.
#[derive(Debug, Args)]
pub(super) struct PlayerOptions {
    /// Simulations for each move of a net [default: 100].
    #[arg(long, visible_alias = "sims", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub simulations: Option<u32>,
    /// Nodes for each move of a UCI engine [default: 10000, if nothing else limits it].
    #[arg(long, value_name = "N", group = "limit")]
    pub nodes: Option<u64>,
    /// Depth of each search of a UCI engine.
    #[arg(long, value_name = "N", group = "limit")]
    pub depth: Option<u32>,
    /// Seconds for each move of a UCI engine.
    #[arg(long, value_name = "S", group = "limit")]
    pub move_time: Option<f64>,
    /// A clock for each game of a UCI engine: seconds, and what each move adds, such as 10+0.1.
    #[arg(long, value_name = "S+INC", group = "limit")]
    pub clock: Option<String>,
    /// An option of a UCI engine, such as `--option 'Skill Level=0'`.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    pub options: Vec<String>,
    /// Seconds beyond `move_time` that are tolerated, if the command says so.
    #[arg(skip)]
    pub time_margin: Option<f64>,
}

/// What players may be, for help.
pub(super) const PLAYERS: &str = "A player is a net (NET.safetensors, RUN, RUN:GENERATION, `shipped` for az_nnue, the shipped net, or `shipped:az_small` for the small residual net), a player without one \
(random, greedy, alphabeta-1 to alphabeta-4, or 'alphabeta(#{ nodes: 10000 })' for dc0's alpha-beta search), a UCI engine by its name or path, or an expression of a script, such as \
'uci(\"stockfish\", #{ depth: 8, options: #{ Hash: 64 } })' or \
'player(run.load_network(\"az_small\"), #{ search: #{ simulations: 400 } })'.";

impl PlayerOptions {
    /// A player as an expression of a script, where `runs` is the folder that holds runs.
    pub(super) fn expression(&self, runs: &Path, player: &str) -> Result<String, Failure> {
        Ok(match Named::of(runs, player) {
            Named::Expression => player.to_owned(),
            Named::Baseline => text(player),
            Named::Network => format!("run.load_network({})", text(player)),
            Named::Engine => format!("uci({}, {})", text(player), self.engine()?),
        })
    }

    /// The search of matches between players, as a member of a script's map; none if each of them has a search of its own.
    pub(super) fn search<'a>(
        &self,
        runs: &Path,
        players: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Result<Option<String>, Failure> {
        if self.simulations.is_some()
            && !players.clone().into_iter().any(|player| may_need_search(runs, player))
        {
            let message = "--simulations: every player has a search of its own, or needs none; leave it out, or put it into a player's \
                           expression";
            return Err(Failure::new(Exit::BadInput, message));
        }
        if players.into_iter().all(has_own_search) {
            return Ok(None);
        }
        Ok(Some(format!("search: #{{ simulations: {} }}", self.simulations.unwrap_or(100))))
    }

    /// An error if options of engines are given, and none of the players is an engine that they apply to.
    pub(super) fn check_used<'a>(
        &self,
        runs: &Path,
        players: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Failure> {
        let given = [
            ("--nodes", self.nodes.is_some()),
            ("--depth", self.depth.is_some()),
            ("--move-time", self.move_time.is_some()),
            ("--clock", self.clock.is_some()),
            ("--option", !self.options.is_empty()),
        ];
        let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        if players.into_iter().any(|player| matches!(Named::of(runs, player), Named::Engine)) {
            return Ok(());
        }
        let message = format!(
            "{option} is for UCI engines that are named plainly, and none of the players is one; leave it out, or put it into the \
             player's own expression"
        );
        Err(Failure::new(Exit::BadInput, message))
    }

    /// The limit and options of an engine as a map of a script.
    fn engine(&self) -> Result<String, Failure> {
        let limit = match (self.depth, self.move_time, &self.clock) {
            (Some(depth), ..) => format!("depth: {depth}"),
            (_, Some(seconds), _) => match self.time_margin {
                Some(margin) => format!("move_time: {seconds}, time_margin: {margin:?}"),
                None => format!("move_time: {seconds}"),
            },
            (_, _, Some(clock)) => format!("clock: {}", clock_map(clock)?),
            _ => format!("nodes: {}", self.nodes.unwrap_or(10_000)),
        };
        with_options(&limit, &self.options)
    }
}

/// How a word of the command line names a player.
pub(super) enum Named {
    Expression,
    Baseline,
    Network,
    Engine,
}

impl Named {
    /// What `player` is, where `runs` is the folder that holds runs.
    pub(super) fn of(runs: &Path, player: &str) -> Self {
        if player.contains('(') {
            Self::Expression
        } else if baseline(player).is_some() {
            Self::Baseline
        } else if is_net(runs, player) {
            // What is wrong with a run is said when it is loaded.
            Self::Network
        } else {
            Self::Engine
        }
    }
}

/// Whether a word that is taken for an engine names none that is installed.
fn is_unknown(engine: &str) -> bool {
    !engine.contains('/') && installed(engine).is_none()
}

/// An error if a word names neither a net nor a player nor an engine that is installed: it may be a slip in any of them.
pub(super) fn check_named<'a>(
    runs: &Path,
    players: impl IntoIterator<Item = &'a str>,
) -> Result<(), Failure> {
    let is_wrong = |player: &&str| matches!(Named::of(runs, player), Named::Engine) && is_unknown(player);
    let Some(player) = players.into_iter().find(is_wrong) else { return Ok(()) };
    let names = || BASELINES.iter().map(|baseline| baseline.name()).chain(["shipped"]);
    let hint = intended(player, names()).map_or_else(String::new, |name| format!("; did you mean {name}?"));
    let message = format!(
        "\"{player}\" is no player ({}), no run in {} or folder of one, no file ending in .safetensors, and no engine that is \
         installed{hint}",
        names().collect::<Vec<_>>().join(", "),
        runs.display()
    );
    Err(Failure::new(Exit::BadInput, message))
}

/// Whether a player is an expression that gives a net a search of its own.
fn has_own_search(player: &str) -> bool {
    let player = code(player);
    let alphabeta = player.strip_prefix("alphabeta(").is_some_and(|first| !first.starts_with('#'));
    let is_member = |name: &str| player.contains(name);
    alphabeta || player.starts_with("player(") && (is_member("search:") || is_member("alphabeta:"))
}

/// Whether a player may be a net that plays with the search of a match.
fn may_need_search(runs: &Path, player: &str) -> bool {
    match Named::of(runs, player) {
        Named::Network => true,
        Named::Expression => {
            let is_other =
                ["alphabeta(", "uci(", "xboard("].iter().any(|call| code(player).starts_with(call));
            !is_other && !has_own_search(player)
        }
        Named::Baseline => false,
        Named::Engine => is_unknown(player),
    }
}

/// An expression without spaces, and without what its strings hold, but for names of members.
fn code(expression: &str) -> String {
    let expression = expression.replace("\\\"", "");
    let parts: Vec<&str> = expression.split('"').collect();
    let is_name = |index: usize| parts.get(index + 1).is_some_and(|next| next.trim_start().starts_with(':'));
    let kept = parts.iter().enumerate().filter(|(index, _)| index % 2 == 0 || is_name(*index));
    kept.flat_map(|(_, part)| part.split_whitespace()).collect()
}

/// A net that plays by time, in the UCI engine of this program, as an expression of a script; `runs` is the folder that holds runs.
/// `margin` is how late it may be, in seconds, `device` is where it runs, and `options` are those of the engine.
pub(super) fn timed_net(
    runs: &Path,
    net: &str,
    seconds: f64,
    margin: f64,
    device: Option<&str>,
    options: &[String],
) -> Result<String, Failure> {
    let missing =
        |cause: std::io::Error| Failure::new(Exit::Failed, format!("cannot find this program: {cause}"));
    let program = std::env::current_exe().map_err(missing)?;
    // The file of a run's net, so that a later net of the run is another player.
    // The log begins with the script that is made of this.
    let warn = |warning| Console::new().note(&format!("warn: {warning}"));
    let file = named_with(runs, net, &warn)?.file;
    let file = if file.is_file() { file.display().to_string() } else { net.to_owned() };
    let mut args = ["uci", "--net", &file].map(str::to_owned).to_vec();
    args.extend(device.into_iter().flat_map(|device| ["--device".to_owned(), device.to_owned()]));
    let args: Vec<String> = args.iter().map(|arg| text(arg)).collect();
    let limit = format!("args: [{}], move_time: {seconds:?}, time_margin: {margin:?}", args.join(", "));
    Ok(format!("uci({}, {})", text(&program.display().to_string()), with_options(&limit, options)?))
}

/// A map of a script with a limit and the options of an engine.
fn with_options(limit: &str, options: &[String]) -> Result<String, Failure> {
    let options = options.iter().map(|option| option_member(option)).collect::<Result<Vec<_>, _>>()?;
    Ok(match options.as_slice() {
        [] => format!("#{{ {limit} }}"),
        options => format!("#{{ {limit}, options: #{{ {} }} }}", options.join(", ")),
    })
}

/// A text as a literal of a script.
pub(super) fn text(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\\' => "\\\\".to_owned(),
        '"' => "\\\"".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        control if control.is_control() => format!("\\x{:02x}", u32::from(control)),
        other => other.to_string(),
    };
    format!("\"{}\"", text.chars().map(letter).collect::<String>())
}

/// Why an option is refused.
pub(super) fn refused(what: &str, found: &str) -> Failure {
    Failure::new(Exit::BadInput, format!("{what}, got \"{found}\""))
}

/// The numbers on both sides of a separator.
pub(super) fn two_numbers(text: &str, separator: char) -> Option<[f64; 2]> {
    let (first, second) = text.split_once(separator)?;
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    Some([number(first)?, number(second)?])
}

fn clock_map(clock: &str) -> Result<String, Failure> {
    let wrong = || refused("--clock: expected seconds and an increment, such as 10+0.1", clock);
    let [seconds, increment] = two_numbers(clock, '+').ok_or_else(wrong)?;
    Ok(format!("#{{ seconds: {seconds:?}, increment: {increment:?} }}"))
}

/// An option of an engine, and its value: a whole number, true or false, or a text, which quotes make of anything.
pub(super) fn engine_option(option: &str) -> Result<(String, Value), Failure> {
    let wrong = || refused("--option: expected NAME=VALUE", option);
    let (name, value) =
        option.split_once('=').filter(|(name, _)| !name.trim().is_empty()).ok_or_else(wrong)?;
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let value = match (quoted, value.parse::<i64>(), value.parse::<bool>()) {
        (Some(value), ..) => Value::Text(value.to_owned()),
        (_, Ok(number), _) => Value::Int(number),
        (.., Ok(is_set)) => Value::Bool(is_set),
        _ => Value::Text(value.to_owned()),
    };
    Ok((name.trim().to_owned(), value))
}

/// An option as a member of a script's map.
fn option_member(option: &str) -> Result<String, Failure> {
    let (name, value) = engine_option(option)?;
    let value = match value {
        Value::Text(value) => text(&value),
        other => other.to_string(),
    };
    Ok(format!("{}: {value}", text(&name)))
}

/// The name of a run for these words: letters, digits and hyphens.
pub(super) fn run_name(words: &[&str]) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    let joined: String = words.join("-").chars().map(plain).collect();
    let parts: Vec<&str> = joined.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-").chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{PlayerOptions, has_own_search, text};

    #[test]
    fn a_text_is_a_literal_of_a_script() {
        assert_eq!(text("a\\b \"c\"\n\r\t"), r#""a\\b \"c\"\n\r\t""#);
        assert_eq!(text("\u{1b}\u{7f}\u{85}"), r#""\x1b\x7f\x85""#);
        // Names of files with combining letters, as macOS writes them, and with emoji stay as they are.
        assert_eq!(text("Cafe\u{301} \u{1f600}\u{200d}"), "\"Cafe\u{301} \u{1f600}\u{200d}\"");
    }

    #[test]
    fn what_strings_hold_is_no_search_of_a_player() {
        assert!(has_own_search("player(run.load_network(\"x\"), #{ search: #{ simulations: 4 } })"));
        assert!(has_own_search("player(net, #{ \"search\" : #{} })"));
        assert!(has_own_search("player(net, #{ alphabeta: #{ nodes: 4 } })"));
        assert!(has_own_search("alphabeta( net, #{})"));
        assert!(!has_own_search("alphabeta( #{})"));
        assert!(!has_own_search("player(run.load_network(\"research:1\"), #{ \"temperature\": 1.0 })"));
    }

    #[test]
    fn simulations_need_a_player_that_searches_with_them() {
        let search = |players: &[&str]| {
            let options = PlayerOptions {
                simulations: Some(50),
                nodes: None,
                depth: None,
                move_time: None,
                clock: None,
                options: Vec::new(),
                time_margin: None,
            };
            options.search(Path::new("nowhere"), players.iter().copied()).ok().flatten()
        };
        let own = "player(run.load_network(\"x\"), #{ search: #{ simulations: 4 } })";
        for unused in
            [["random", "greedy"], [own, "random"], [own, own], ["uci(\"sf\", #{})", "alphabeta(#{})"]]
        {
            assert_eq!(search(&unused), None, "{unused:?}");
        }
        for used in [["x.safetensors", "random"], ["run.load_network(\"x\")", own]] {
            assert_eq!(search(&used).as_deref(), Some("search: #{ simulations: 50 }"), "{used:?}");
        }
    }
}
