//! The same match by dc0's arena and by [fastchess](https://github.com/Disservin/fastchess), which no registry has: the variable
//! `DC0_FASTCHESS` names its program, and without it there is nothing to compare. `DC0_FASTCHESS_GAMES` makes a longer match, and
//! `DC0_FASTCHESS_ENGINE` takes another engine than Stockfish for Node.js.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::arena::stockfish;
use crate::program::{PROGRAM, root, succeed};
use crate::{interop_command, stdout_of};

/// Nodes for each move: of the engine that was not written here, of alpha-beta, and of the tree search.
const NODES: [u32; 3] = [300, 1500, 50];

/// A UCI engine as fastchess and scripts start it.
struct Engine {
    name: &'static str,
    command: String,
    argument: Option<String>,
    option: Option<(&'static str, &'static str)>,
    nodes: u32,
}

fn engines() -> [Engine; 3] {
    let node = || ("node".to_owned(), Some(stockfish().display().to_string()));
    let (command, argument) = env::var("DC0_FASTCHESS_ENGINE").map_or_else(|_| node(), |own| (own, None));
    let dc0 = |name, mode, nodes| Engine {
        name,
        command: PROGRAM.to_owned(),
        argument: Some("uci".to_owned()),
        option: Some(("SearchMode", mode)),
        nodes,
    };
    let outside = Engine { name: "outside", command, argument, option: None, nodes: NODES[0] };
    [outside, dc0("alphabeta", "alphabeta", NODES[1]), dc0("tree", "dc0", NODES[2])]
}

impl Engine {
    fn in_script(&self) -> String {
        let args = self.argument.iter().map(|argument| format!("args: [{argument:?}], "));
        let options = self.option.iter().map(|(name, value)| format!("options: #{{ {name}: {value:?} }}, "));
        let members: String = args.chain(options).collect();
        format!("uci({:?}, #{{ {members}nodes: {}, name: {:?} }})", self.command, self.nodes, self.name)
    }

    fn for_fastchess(&self) -> Vec<String> {
        let args = self.argument.iter().map(|argument| format!("args={argument}"));
        let options = self.option.iter().map(|(name, value)| format!("option.{name}={value}"));
        let own =
            [format!("cmd={}", self.command), format!("name={}", self.name), format!("nodes={}", self.nodes)];
        ["-engine".to_owned()].into_iter().chain(own).chain(args).chain(options).collect()
    }
}

/// Plays the match of two engines with both programs, and returns what the comparison prints.
fn play(fastchess: &OsString, folder: &Path, pair: [&Engine; 2], games: u32) -> String {
    let name = format!("{}-{}", pair[0].name, pair[1].name);
    let [first, second] = pair.map(Engine::in_script);
    let script = format!(
        "let run = open_run({name:?});\n\
         run.arena({first}, {second}, #{{ games: {games}, openings: \"book.epd\", max_plies: 2000 }});"
    );
    fs::write(folder.join("x.rhai"), script).expect("writes");
    let mut own = Command::new(PROGRAM);
    succeed(own.current_dir(folder).args(["x.rhai", "--device", "cpu", "--lanes", "2"]));
    let pgn = format!("{name}-dc0.pgn");
    let export = ["export", "pgn", &format!("datasets/{name}"), "--number", "0", "--out", &pgn];
    succeed(Command::new(PROGRAM).current_dir(folder).args(export));

    let mut other = Command::new(fastchess);
    other.current_dir(folder).args(pair.iter().flat_map(|engine| engine.for_fastchess()));
    other.args(["-each", "tc=inf", "-games", "2", "-repeat", "-rounds", &(games / 2).to_string()]);
    other.args(["-openings", "file=book.epd", "format=epd", "order=sequential", "-concurrency", "2"]);
    succeed(other.args(["-pgnout", &format!("file={name}-fastchess.pgn")]));

    let compare = [format!("{name}-fastchess.pgn"), pgn].map(|file| folder.join(file));
    format!("{name}: {}", stdout_of(interop_command("fastchess.py").args(compare)).trim())
}

#[test]
#[expect(clippy::print_stdout, reason = "shown with --nocapture: docs/methods/strength.md has the figures")]
fn fastchess_plays_the_same_matches_game_by_game() {
    let Some(fastchess) = env::var_os("DC0_FASTCHESS") else { return };
    let games = env::var("DC0_FASTCHESS_GAMES").map_or(6, |games| games.parse().expect("a number of games"));
    let folder = tempfile::tempdir().expect("temporary folder");
    let book = fs::read_to_string(root().join("datasets/openings/balanced-8ply.epd")).expect("reads");
    let openings: Vec<&str> =
        book.lines().filter(|line| !line.starts_with('#')).take(games as usize / 2).collect();
    fs::write(folder.path().join("book.epd"), openings.join("\n") + "\n").expect("writes");
    let [outside, alphabeta, tree] = &engines();
    for pair in [[outside, alphabeta], [outside, tree], [alphabeta, tree]] {
        let compared = play(&fastchess, folder.path(), pair, games);
        println!("{compared}");
        assert!(compared.contains(&format!(": {games} games ")), "{compared}");
    }
}
