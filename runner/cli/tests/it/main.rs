//! Tests of the program from outside and of its scripts, in one test binary, because linking takes longer than testing.

mod alphabeta_games;
mod analysis;
mod bench;
mod beside;
mod command_line;
mod compare;
mod damage;
mod error_messages;
mod evalfile;
mod experiment;
mod explain;
mod fork;
mod imports;
mod lc0;
mod lsp;
mod match_commands;
mod matches;
mod modules;
mod networks;
mod no_arguments;
mod play;
mod puzzles;
mod resume;
mod script_fuzz;
mod serve;
mod several_runs;
mod sql;
mod steered;
#[cfg(unix)]
mod sweep_arrays;
mod sweeps;
mod uci;
mod uci_fuzz;
mod verify;
