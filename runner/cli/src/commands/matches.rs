//! `dc0-run match`: a match between two players, as a script that the command writes.

use std::path::{Path, PathBuf};

use clap::Args;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_script::args::{RunArgs, ScriptArgs};

use super::players::{PLAYERS, PlayerOptions, check_named, refused, run_name, text, two_numbers};
use crate::run_script;

/// Who meets, and how.
#[derive(Debug, Args)]
#[command(after_help = PLAYERS)]
pub(super) struct MatchArgs {
    /// The first player; scores are from its side.
    #[arg(value_name = "PLAYER")]
    pub first: String,
    /// The second player.
    #[arg(value_name = "PLAYER")]
    pub second: String,
    /// Games, with `--sprt` at most; even, because every opening is played with both colours.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub games: u32,
    /// A sequential test of two differences in Elo, such as 0:10, which ends the match once it is decided.
    #[arg(long, value_name = "ELO0:ELO1")]
    pub sprt: Option<String>,
    #[command(flatten)]
    players: PlayerOptions,
    #[command(flatten)]
    written: WrittenMatches,
}

/// What the scripts of matches have in common, and how they are run.
#[derive(Debug, Args)]
pub(super) struct WrittenMatches {
    /// A book of openings (.epd, .fen, .pgn) [default: 6 random plies].
    #[arg(long, value_name = "FILE")]
    pub openings: Option<PathBuf>,
    /// The name of the run [default: made of the players' names].
    #[arg(long, value_name = "RUN")]
    pub name: Option<String>,
    /// Print the script instead of running it.
    #[arg(long)]
    pub script: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl WrittenMatches {
    /// The folder that holds runs.
    pub(super) fn runs(&self) -> &Path {
        &self.run.out
    }

    /// The book as a literal of a script.
    pub(super) fn openings(&self) -> Option<String> {
        self.openings.as_ref().map(|file| text(&file.display().to_string()))
    }

    /// Runs the script of these players, or prints it.
    pub(super) fn run<'a>(
        &self,
        script: &str,
        players: impl IntoIterator<Item = &'a str>,
        program: &Program,
    ) -> Result<Exit, Failure> {
        run_written(script, self.script, players, &self.run, program)
    }
}

impl Command for MatchArgs {
    const NAME: &'static str = "match";
    const ABOUT: &'static str =
        "Play a match between nets, UCI engines and other players; the same command resumes it";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        self.written.run(&self.text()?, [self.first.as_str(), self.second.as_str()], program)
    }
}

/// Runs a script that a command has written for some players, or prints it.
pub(super) fn run_written<'a>(
    script: &str,
    is_only_shown: bool,
    players: impl IntoIterator<Item = &'a str>,
    run: &RunArgs,
    program: &Program,
) -> Result<Exit, Failure> {
    if is_only_shown {
        program.console.result(script.trim_end());
        return Ok(Exit::Done);
    }
    check_named(&run.out, players)?;
    let args = ScriptArgs::written("command.rhai", script.to_owned(), run.clone());
    run_script(&ScriptArgs { is_planned_first: true, ..args }, program)
}

impl MatchArgs {
    fn text(&self) -> Result<String, Failure> {
        let runs = self.written.runs();
        self.players.check_used(runs, [self.first.as_str(), self.second.as_str()])?;
        let [first, second] = [&self.first, &self.second].map(|player| self.players.expression(runs, player));
        let own = || format!("match-{}", run_name(&[&self.first, "vs", &self.second]));
        let name = self.written.name.clone().unwrap_or_else(own);
        let mut lines = vec![
            format!("let run = open_run({});", text(&name)),
            format!("let first = {};", first?),
            format!("let second = {};", second?),
            "run.arena(first, second, #{".to_owned(),
            format!("    games: {},", self.games),
        ];
        let search = self.players.search(runs, [self.first.as_str(), self.second.as_str()])?;
        lines.extend(search.map(|search| format!("    {search},")));
        if let Some(sprt) = &self.sprt {
            lines.push(format!("    sprt: {},", sprt_map(sprt)?));
        }
        if let Some(openings) = self.written.openings() {
            lines.push(format!("    openings: {openings},"));
        }
        lines.push("});".to_owned());
        Ok(lines.join("\n") + "\n")
    }
}

fn sprt_map(sprt: &str) -> Result<String, Failure> {
    let wrong = || refused("--sprt: expected two differences in Elo, such as 0:10", sprt);
    let [low, high] = two_numbers(sprt, ':').ok_or_else(wrong)?;
    Ok(format!("#{{ elo0: {low:?}, elo1: {high:?} }}"))
}
