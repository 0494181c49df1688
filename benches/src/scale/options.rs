//! The figures that a simulation uses. What was measured is in `docs/performance.md`, "Several machines"; the rest says that it is chosen.
#![allow(clippy::struct_field_names, reason = "a field is named as its option, which needs the subject")]

use clap::{Args, ValueEnum};

/// Simulates a fleet: workers, broker, coordinators, links, and what it costs. Prints a line for each number of workers.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Numbers of workers.
    #[arg(long, value_delimiter = ',', default_value = "10,100,1000,10000,100000", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) workers: Vec<u32>,
    /// Decides all that is drawn.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Generations of games, each with a training.
    #[arg(long, default_value_t = 3)]
    pub(super) generations: u32,
    /// When games are played.
    #[arg(long, value_enum, default_value_t = Mode::Overlap)]
    pub(super) mode: Mode,
    /// Hours after which a simulation that has not ended is given up.
    #[arg(long, default_value_t = 1000.0)]
    pub(super) limit_hours: f64,
    #[command(flatten, next_help_heading = "Shards")]
    pub(super) shards: Shards,
    #[command(flatten, next_help_heading = "Workers")]
    pub(super) worker: Workers,
    #[command(flatten, next_help_heading = "Broker")]
    pub(super) broker: Broker,
    #[command(flatten, next_help_heading = "Coordinators")]
    pub(super) coordinator: Coordinators,
    #[command(flatten, next_help_heading = "Prices")]
    pub(super) prices: Prices,
}

/// When games are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Mode {
    /// A generation's games, then its training.
    Sequence,
    /// The next generation's games while a net trains, as with `run.start_self_play`.
    Overlap,
    /// Games all the time, by the newest net when their task is made, and trainings all the time. dc0 does not do this.
    Stream,
}

/// What is played.
#[derive(Debug, Clone, Args)]
pub(super) struct Shards {
    /// Seconds of a mean lane for a shard. Chosen; `shard_games` sets it.
    #[arg(long, default_value_t = 60.0)]
    pub(super) shard_secs: f64,
    /// Standard deviation of a shard's time, as a share of it. Chosen.
    #[arg(long, default_value_t = 0.15)]
    pub(super) shard_spread: f64,
    /// Shards of a generation for each lane of the fleet. Chosen.
    #[arg(long, default_value_t = 10.0)]
    pub(super) rounds: f64,
    /// Shards of a generation, whatever the number of lanes [default: rounds].
    #[arg(long)]
    pub(super) fixed_shards: Option<u32>,
    /// Positions that a lane plays in a second. Measured: a 2×32 net with 32 simulations on a core.
    #[arg(long, default_value_t = 430.0)]
    pub(super) positions_per_sec: f64,
    /// Bytes of a position in a result. Measured: games of `az_small.rhai`.
    #[arg(long, default_value_t = 56.0)]
    pub(super) position_bytes: f64,
    /// Bytes of a shard's result besides its positions. Measured: shards of 4 positions.
    #[arg(long, default_value_t = 4900.0)]
    pub(super) shard_bytes: f64,
}

/// Who plays.
#[derive(Debug, Clone, Args)]
pub(super) struct Workers {
    /// Lanes of a worker, each a core.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) lanes: u32,
    /// Standard deviation of the workers' speeds. Chosen.
    #[arg(long, default_value_t = 0.1)]
    pub(super) speed_spread: f64,
    /// Share of workers that are slower by a factor. Chosen.
    #[arg(long, default_value_t = 0.02)]
    pub(super) slow_share: f64,
    /// That factor. Chosen.
    #[arg(long, default_value_t = 4.0)]
    pub(super) slow_factor: f64,
    /// Failures of a worker in an hour. Chosen: as virtual machines that may be taken back.
    #[arg(long, default_value_t = 0.05)]
    pub(super) failures: f64,
    /// Minutes until another replaces a failed worker, without its nets. Chosen.
    #[arg(long, default_value_t = 5.0)]
    pub(super) repair_minutes: f64,
    /// Mbit/s of a worker's link, in each direction. Chosen.
    #[arg(long, default_value_t = 1000.0)]
    pub(super) worker_mbit: f64,
    /// Milliseconds from a worker to the broker. Chosen: one data centre.
    #[arg(long, default_value_t = 0.5)]
    pub(super) worker_latency_ms: f64,
    /// Megabytes of a net. Chosen: 3 million parameters in f32, as a tower of 10×128.
    #[arg(long, default_value_t = 12.0)]
    pub(super) net_mb: f64,
}

/// What is between them.
#[derive(Debug, Clone, Args)]
pub(super) struct Broker {
    /// Milliseconds until a message of a stream is on disk, one after the other. Measured, with `sync_interval: always`.
    #[arg(long, default_value_t = 3.2)]
    pub(super) broker_flush_ms: f64,
    /// Milliseconds of a stream to hand out a message and take its end. Measured.
    #[arg(long, default_value_t = 1.0)]
    pub(super) broker_deliver_ms: f64,
    /// Processor time in ms of a message that is stored, handed out and ended. Measured.
    #[arg(long, default_value_t = 0.47)]
    pub(super) broker_message_ms: f64,
    /// Processor time in ms of a message that is only passed on, such as a sign of life. Measured.
    #[arg(long, default_value_t = 0.0024)]
    pub(super) broker_pass_ms: f64,
    /// The same for an idle worker's request. Measured.
    #[arg(long, default_value_t = 0.15)]
    pub(super) broker_request_ms: f64,
    /// Requests of an idle worker in a second. Measured.
    #[arg(long, default_value_t = 2.5)]
    pub(super) idle_requests: f64,
    /// Processor time in ms of a megabyte of an object. Measured.
    #[arg(long, default_value_t = 1.9)]
    pub(super) broker_object_ms: f64,
    /// Cores of the broker's machine. Chosen.
    #[arg(long, default_value_t = 4.0)]
    pub(super) broker_cores: f64,
    /// Gbit/s of the broker's link, in each direction. Chosen.
    #[arg(long, default_value_t = 10.0)]
    pub(super) broker_gbit: f64,
    /// Nets come from a bucket of this many Gbit/s, not from the broker, as with `--artefacts`.
    #[arg(long)]
    pub(super) bucket_gbit: Option<f64>,
}

/// What hands out shards, takes results and trains.
#[derive(Debug, Clone, Args)]
pub(super) struct Coordinators {
    /// Coordinators on the one broker, each with a run of its own, a device to train on, and its share of the shards.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) learners: u32,
    /// Processor time in ms to check and store a shard, besides its positions. Measured.
    #[arg(long, default_value_t = 3.0)]
    pub(super) check_shard_ms: f64,
    /// Processor time in µs to check a position: rules, figures, digests. Measured.
    #[arg(long, default_value_t = 5.3)]
    pub(super) check_position_us: f64,
    /// Milliseconds until a shard's tables are on disk; 16 threads do this at the same time. Measured.
    #[arg(long, default_value_t = 12.0)]
    pub(super) store_ms: f64,
    /// Processor time in µs to read a worker's sign of life. Measured.
    #[arg(long, default_value_t = 5.0)]
    pub(super) heartbeat_us: f64,
    /// Processor time in µs for each worker that is there, every 2 s, while nothing else is done. Measured.
    #[arg(long, default_value_t = 9.0)]
    pub(super) look_us: f64,
    /// Cores of a coordinator. Chosen.
    #[arg(long, default_value_t = 16.0)]
    pub(super) coordinator_cores: f64,
    /// Gbit/s of a coordinator's link. Chosen.
    #[arg(long, default_value_t = 10.0)]
    pub(super) coordinator_gbit: f64,
    /// Milliseconds from a coordinator to the broker. Chosen.
    #[arg(long, default_value_t = 0.2)]
    pub(super) coordinator_latency_ms: f64,
    /// Share of the shards that a coordinator does again, as `--recheck`.
    #[arg(long, default_value_t = 0.01)]
    pub(super) recheck: f64,
    /// Seconds of a training. Chosen.
    #[arg(long, default_value_t = 300.0)]
    pub(super) train_secs: f64,
    /// Updates of a training, the default of `az_small.rhai`.
    #[arg(long, default_value_t = 400)]
    pub(super) updates: u32,
}

/// What it costs, in one currency. All are chosen; put yours.
#[derive(Debug, Clone, Args)]
pub(super) struct Prices {
    /// A worker's or coordinator's core for an hour.
    #[arg(long, default_value_t = 0.02)]
    pub(super) core_hour: f64,
    /// A learner's GPU for an hour.
    #[arg(long, default_value_t = 3.0)]
    pub(super) gpu_hour: f64,
    /// A gigabyte that leaves the broker or the bucket.
    #[arg(long, default_value_t = 0.01)]
    pub(super) egress_gb: f64,
}
