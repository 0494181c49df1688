//! `dc0-run puzzles`: solves the puzzles of a suite with a player, as a script that the command writes.

use std::path::PathBuf;

use clap::Args;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_script::args::RunArgs;

use super::matches::run_written;
use super::players::{Named, PLAYERS, PlayerOptions, run_name, text, timed_net};

/// Seconds by which an answer may be late: nobody waits for it, and the time that it took is in the table.
const TIME_MARGIN: f64 = 1.0;

/// Who solves which puzzles.
#[derive(Debug, Args)]
#[command(after_help = PLAYERS)]
pub(super) struct PuzzlesArgs {
    /// The player.
    #[arg(value_name = "PLAYER")]
    pub player: String,
    /// The puzzles: EPD with bm, am or dm.
    #[arg(value_name = "FILE.epd")]
    pub file: PathBuf,
    /// The numbers of simulations with which a net searches each puzzle, ascending [default: 1,16,64,256].
    #[arg(long, visible_alias = "sims", value_name = "N,…", value_delimiter = ',', group = "limit")]
    pub simulations: Vec<u32>,
    /// Nodes for each puzzle of a UCI engine [default: 10000, if nothing else limits it].
    #[arg(long, value_name = "N,…", value_delimiter = ',', group = "limit")]
    pub nodes: Vec<u64>,
    /// Depths of the search of a UCI engine.
    #[arg(long, value_name = "N,…", value_delimiter = ',', group = "limit")]
    pub depth: Vec<u32>,
    /// Seconds for each puzzle of a UCI engine, or of a net, which then plays in the UCI engine of this program. Use `--lanes 1`.
    #[arg(long, value_name = "S,…", value_delimiter = ',', group = "limit")]
    pub move_time: Vec<f64>,
    /// An option of the UCI engine, such as `--option Hash=64`.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    pub options: Vec<String>,
    /// The name of the run [default: made of the player's name and the file's].
    #[arg(long, value_name = "RUN")]
    pub name: Option<String>,
    /// Print the script instead of running it.
    #[arg(long)]
    pub script: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl Command for PuzzlesArgs {
    const NAME: &'static str = "puzzles";
    const ABOUT: &'static str = "Solve the puzzles of an EPD file with a net, a UCI engine or another player; the same command resumes it";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        run_written(&self.text()?, self.script, [self.player.as_str()], &self.run, program)
    }
}

impl PuzzlesArgs {
    fn text(&self) -> Result<String, Failure> {
        let suite = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let own = || format!("puzzles-{}", run_name(&[&suite, &self.player]));
        let name = self.name.clone().unwrap_or_else(own);
        let mut lines = vec![format!("let run = open_run({});", text(&name))];
        let file = text(&self.file.display().to_string());
        let is_net = matches!(Named::of(&self.run.out, &self.player), Named::Network);
        if is_net && self.move_time.is_empty() {
            self.refuse(
                &[
                    ("--nodes", !self.nodes.is_empty()),
                    ("--depth", !self.depth.is_empty()),
                    ("--option", !self.options.is_empty()),
                ],
                "is not for nets; give --simulations or --move-time",
            )?;
            let budgets = if self.simulations.is_empty() { &[1, 16, 64, 256][..] } else { &self.simulations };
            let budgets: Vec<String> = budgets.iter().map(ToString::to_string).collect();
            let net = self.limited(None, None, None).expression(&self.run.out, &self.player)?;
            lines.push(format!("let net = {net};"));
            lines.push(format!("run.puzzles(net, {file}, #{{"));
            lines.push(format!("    simulations: [{}],", budgets.join(", ")));
            lines.push("});".to_owned());
        } else {
            self.refuse(
                &[("--simulations", !self.simulations.is_empty())],
                "is for nets that are named plainly, and the player is none; leave it out, or put it into the player's own expression",
            )?;
            for player in self.players(is_net)? {
                lines.push(format!("run.puzzles({player}, {file});"));
            }
        }
        Ok(lines.join("\n") + "\n")
    }

    /// The player with each of its limits, as expressions of a script.
    fn players(&self, is_net: bool) -> Result<Vec<String>, Failure> {
        if is_net {
            let device = self.run.device.as_deref();
            let timed = |seconds: &f64| {
                timed_net(&self.run.out, &self.player, *seconds, TIME_MARGIN, device, &self.options)
            };
            return self.move_time.iter().map(timed).collect();
        }
        let nodes = self.nodes.iter().map(|nodes| self.limited(Some(*nodes), None, None));
        let depths = self.depth.iter().map(|depth| self.limited(None, Some(*depth), None));
        let times = self.move_time.iter().map(|seconds| self.limited(None, None, Some(*seconds)));
        let mut limits: Vec<PlayerOptions> = nodes.chain(depths).chain(times).collect();
        if limits.is_empty() {
            limits.push(self.limited(None, None, None));
        }
        let expression = |limit: &PlayerOptions| {
            limit.check_used(&self.run.out, [self.player.as_str()])?;
            limit.expression(&self.run.out, &self.player)
        };
        limits.iter().map(expression).collect()
    }

    /// How an engine plays with a limit.
    fn limited(&self, nodes: Option<u64>, depth: Option<u32>, move_time: Option<f64>) -> PlayerOptions {
        PlayerOptions {
            simulations: None,
            nodes,
            depth,
            move_time,
            clock: None,
            options: self.options.clone(),
            time_margin: Some(TIME_MARGIN),
        }
    }

    /// An error if one of some options is given.
    fn refuse(&self, options: &[(&str, bool)], why: &str) -> Result<(), Failure> {
        let given = options.iter().find(|(_, is_given)| *is_given);
        given.map_or(Ok(()), |(option, _)| {
            Err(Failure::new(Exit::BadInput, format!("{option} {why} (the player is {})", self.player)))
        })
    }
}
