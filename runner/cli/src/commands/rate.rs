//! `dc0-run rate`: ratings of several players, as a script that the command writes.

use clap::Args;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;

use super::matches::WrittenMatches;
use super::players::{PLAYERS, PlayerOptions, run_name, text};

/// Who is rated, and how exactly.
#[derive(Debug, Args)]
#[command(after_help = PLAYERS)]
pub(super) struct RateArgs {
    /// The players; at least two with the anchors.
    #[arg(value_name = "PLAYER", required = true)]
    pub players: Vec<String>,
    /// A player whose rating is given, such as `--anchor random=0`; without any, the mean of all players is 0.
    #[arg(long = "anchor", value_name = "PLAYER=ELO")]
    pub anchors: Vec<String>,
    /// Games of each match; even, because every opening is played with both colours.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub games: u32,
    /// Stop once the widest 95 % interval is at most this wide, in Elo.
    #[arg(long, value_name = "ELO", default_value_t = 100.0)]
    pub width: f64,
    /// Stop before there are more games than these.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub most_games: u32,
    #[command(flatten)]
    options: PlayerOptions,
    #[command(flatten)]
    written: WrittenMatches,
}

impl Command for RateArgs {
    const NAME: &'static str = "rate";
    const ABOUT: &'static str = "Rate nets, UCI engines and other players by the matches that teach most; the same command resumes it";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        self.written.run(&self.text()?, self.named(), program)
    }
}

/// The columns of the table of ratings.
const COLUMNS: &str =
    r#"["player", "elo", "elo_low", "elo_high", "games", "wins", "draws", "losses", "score", "is_anchor"]"#;

impl RateArgs {
    /// All players, the anchors last.
    fn named(&self) -> impl Iterator<Item = &str> + Clone {
        let anchors = self.anchors.iter().filter_map(|anchor| Some(anchor.rsplit_once('=')?.0));
        self.players.iter().map(String::as_str).chain(anchors)
    }

    fn text(&self) -> Result<String, Failure> {
        let words: Vec<&str> =
            self.players.iter().chain(&self.anchors).flat_map(|player| player.split('=').take(1)).collect();
        let name = self.written.name.clone().unwrap_or_else(|| format!("rate-{}", run_name(&words)));
        self.options.check_used(self.written.runs(), self.named())?;
        let openings = self.written.openings().map(|file| format!("openings: {file}"));
        let search = self.options.search(self.written.runs(), self.named())?;
        let arena: Vec<String> = search.into_iter().chain(openings).collect();
        let mut lines = vec![format!("let run = open_run({});", text(&name)), "let players = [".to_owned()];
        for player in &self.players {
            lines.push(format!("    {},", self.options.expression(self.written.runs(), player)?));
        }
        lines.extend(["];".to_owned(), "let anchors = [".to_owned()]);
        for anchor in &self.anchors {
            lines.push(format!("    {},", self.anchor(anchor)?));
        }
        lines.extend(["];".to_owned(), "let ratings = run.rate(#{".to_owned()]);
        lines.extend(["    players: players,".to_owned(), "    anchors: anchors,".to_owned()]);
        lines.push(format!("    games: {},", self.games));
        lines.push(format!("    width: {:?},", self.width));
        lines.push(format!("    most_games: {},", self.most_games));
        lines.push(format!("    arena: #{{ {} }},", arena.join(", ")));
        lines.extend(["});".to_owned(), format!("print(table(ratings.players, {COLUMNS}));")]);
        Ok(lines.join("\n") + "\n")
    }

    /// An anchor as `[player, elo]`. The last `=` ends the player, since an expression may have others.
    fn anchor(&self, anchor: &str) -> Result<String, Failure> {
        let wrong = || {
            let message = format!("--anchor: expected PLAYER=ELO, such as random=0, got \"{anchor}\"");
            Failure::new(Exit::BadInput, message)
        };
        let (player, elo) = anchor.rsplit_once('=').ok_or_else(wrong)?;
        let elo: f64 = elo.trim().parse().ok().filter(|elo: &f64| elo.is_finite()).ok_or_else(wrong)?;
        Ok(format!("[{}, {elo:?}]", self.options.expression(self.written.runs(), player)?))
    }
}
