//! Memory that a step takes at least, from the number of its nets' parameters, and whether this machine has it.
//!
//! A net that does not fit would end the process in the middle of the step, without a word on what was too large. The figures are
//! lower limits, so that nothing is refused that could work: trees, batches and activations come on top.

use std::fmt;

use dc0_core::trainer::{OptimizerKind, TrainParams};
use dc0_process::format::amount;
use dc0_process::resources::available_memory;
use thiserror::Error;

use crate::estimate::number;
use crate::handles::Network;

/// Bytes of a weight, of its gradient, and of a number of the optimiser's.
const FLOAT: f64 = 4.0;
/// Bytes of a weight in an inference copy, at least: those of 16-bit floats.
const SMALLEST_FLOAT: f64 = 2.0;

/// Where and with how many threads a step runs.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// Threads that play games or search.
    pub lanes: u32,
    /// Whether nets run in the memory that is counted here, and not in that of another device.
    pub is_on_cpu: bool,
}

/// The memory that a step takes at least: parts with their bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory(Vec<(&'static str, f64)>);

/// A step takes more memory than there is.
#[derive(Debug, Clone, PartialEq, Error)]
#[error(
    "{kind}: this takes at least {}B of memory ({memory}), and {}B are available here; {}, or use a machine with more memory",
    amount(memory.bytes()),
    amount(*available),
    memory.advice()
)]
pub struct TooLittleMemory {
    /// The kind of the step.
    pub kind: &'static str,
    /// What it takes.
    pub memory: Memory,
    /// Bytes that are available.
    pub available: f64,
}

const COPIES: &str = "inference copies of all lanes";
const ROWS: &str = "rows of shards";
const TABLES: &str = "transposition tables of all lanes";

impl Memory {
    /// Of making a net: its weights, and the bytes of its file. `start` is the net that it grows from.
    pub(crate) fn of_new(parameters: f64, start: f64) -> Self {
        Self(vec![
            ("weights", FLOAT * parameters),
            ("their file", FLOAT * parameters),
            ("weights of the first net", FLOAT * start),
        ])
    }

    /// Of evaluating with nets, each with a copy for every lane that has a shard.
    pub(crate) fn of_inference(nets: &[&Network], shards: u32, machine: Machine) -> Self {
        let parameters: f64 = nets.iter().map(|net| parameters(net)).sum();
        let lanes = if machine.is_on_cpu { f64::from(machine.lanes.min(shards)) } else { 0.0 };
        Self(vec![("weights", FLOAT * parameters), (COPIES, SMALLEST_FLOAT * lanes * parameters)])
    }

    /// Of training, whose state is stored now and then: a copy of the weights and of the optimiser's numbers.
    pub(crate) fn of_training(start: &Network, params: &TrainParams, machine: Machine) -> Self {
        let weights = FLOAT * parameters(start);
        let numbers = match params.optimizer.kind {
            OptimizerKind::Sgd => weights,
            // Muon's tensors have one number for each weight, but those left to AdamW have two.
            OptimizerKind::AdamW | OptimizerKind::Muon => 2.0 * weights,
        };
        let average = if params.average.is_some() { weights } else { 0.0 };
        let own = if machine.is_on_cpu { 1.0 } else { 0.0 };
        Self(vec![
            ("weights of the first net", weights),
            ("weights", own * weights),
            ("gradients", own * weights),
            ("optimiser", own * numbers),
            ("average of the weights", own * average),
            ("stored state", weights + numbers + average),
        ])
    }

    /// Of rows of games: those of a shard that is put together, and of one that each lane stores.
    pub(crate) fn of_rows(games: u32, machine: Machine) -> Self {
        const GAME: f64 = 30_000.0;
        Self(vec![(ROWS, GAME * f64::from(games) * f64::from(machine.lanes + 1))])
    }

    /// Of alpha-beta searches, each with a transposition table of so many MiB for every lane that has a shard.
    pub(crate) fn of_tables(hash_mb: impl IntoIterator<Item = u32>, shards: u32, machine: Machine) -> Self {
        let each: f64 = hash_mb.into_iter().map(f64::from).sum();
        Self(vec![(TABLES, each * f64::from(1 << 20) * f64::from(machine.lanes.min(shards)))])
    }

    /// That of two steps at the same time.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// All parts together.
    pub fn bytes(&self) -> f64 {
        self.0.iter().map(|(_, bytes)| bytes).sum()
    }

    /// What makes it less.
    fn advice(&self) -> &'static str {
        let of =
            |part: &str| self.0.iter().filter(|(name, _)| *name == part).map(|(_, bytes)| bytes).sum::<f64>();
        let has = |part: &str| of(part) > 0.0;
        if of(TABLES) > self.bytes() / 2.0 {
            return "use a smaller hash_mb or fewer lanes";
        }
        match (has(COPIES), has(ROWS)) {
            (_, true) => "use a smaller shard_games or fewer lanes",
            (true, _) => "use a smaller net (fewer blocks or filters) or fewer lanes",
            _ => "use a smaller net (fewer blocks or filters)",
        }
    }

    /// An error if this machine does not have it; nothing is known of some systems.
    pub(crate) fn check(self, kind: &'static str, available: Option<u64>) -> Result<(), TooLittleMemory> {
        match available.map(|bytes| bytes as f64) {
            Some(available) if self.bytes() > available => {
                Err(TooLittleMemory { kind, memory: self, available })
            }
            _ => Ok(()),
        }
    }

    /// The same, for the memory that is available now.
    pub(crate) fn check_now(self, kind: &'static str) -> Result<(), TooLittleMemory> {
        self.check(kind, available_memory())
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.iter().filter(|(_, bytes)| *bytes > 0.0);
        let parts: Vec<String> = parts.map(|(name, bytes)| format!("{name} {}B", amount(*bytes))).collect();
        f.write_str(&parts.join(", "))
    }
}

fn parameters(network: &Network) -> f64 {
    number(&network.0.summary, "parameters") as f64
}

#[cfg(test)]
mod tests {
    use super::{Machine, Memory, TooLittleMemory};

    #[test]
    fn tables_count_for_every_lane_that_has_a_shard() {
        let machine = |lanes| Machine { lanes, is_on_cpu: true };
        let of_both = |shards, lanes| Memory::of_tables([16, 1024], shards, machine(lanes)).bytes();
        assert_eq!(of_both(3, 8), 3.0 * 1040.0 * 1_048_576.0);
        assert_eq!(of_both(8, 2), 2.0 * 1040.0 * 1_048_576.0);
        let memory = Memory::of_new(1e3, 0.0).and(Memory::of_tables([1024], 1, machine(1)));
        let refused = memory.check("arena", Some(1 << 20)).expect_err("too large").to_string();
        assert!(refused.contains("use a smaller hash_mb or fewer lanes"), "{refused}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_figures() {
        let memory = Memory::of_new(1e9, 0.0);
        assert_eq!((memory.bytes(), memory.to_string().as_str()), (8e9, "weights 4.00GB, their file 4.00GB"));
        assert_eq!(memory.clone().check("network", None), Ok(()));
        assert_eq!(memory.clone().check("network", Some(8_000_000_000)), Ok(()));
        let refused: TooLittleMemory = memory.check("network", Some(2_000_000_000)).expect_err("too large");
        assert_eq!(
            refused.to_string(),
            "network: this takes at least 8.00GB of memory (weights 4.00GB, their file 4.00GB), and 2.00GB are available here; \
             use a smaller net (fewer blocks or filters), or use a machine with more memory"
        );
    }
}
