//! Small cases by arithmetic, what must hold in every simulation, and one table as it is.

use clap::Parser;
use dc0_fleet::pacing::DELIVERIES;

use super::events::Issue;
use super::learner::Group;
use super::options::Options;
use super::outcome::Outcome;
use super::server::Server;
use super::simulation::{Ending, Simulation};
use super::table;

/// The options as a command of their own.
#[derive(Parser)]
struct Alone {
    #[command(flatten)]
    options: Options,
}

/// Nothing takes time but shards of a second and trainings, and nothing is random.
const IDEAL: &str = "--shard-secs 1 --shard-bytes 0 --position-bytes 0 --shard-spread 0 --speed-spread 0 --slow-share 0 --failures 0 --worker-mbit 1e15 \
    --worker-latency-ms 0 --net-mb 0 --broker-flush-ms 0 --broker-deliver-ms 0 --broker-message-ms 0 --broker-pass-ms 0 \
    --broker-request-ms 0 --broker-object-ms 0 --broker-gbit 1e15 --check-shard-ms 0 --check-position-us 0 --store-ms 0 \
    --heartbeat-us 0 --look-us 0 --coordinator-gbit 1e15 --coordinator-latency-ms 0 --recheck 0 --train-secs 10 --updates 100";

/// Options, some of them given.
fn options(given: &str) -> Options {
    Alone::parse_from(std::iter::once("scale").chain(given.split_whitespace())).options
}

fn simulate(given: &str, workers: u32) -> Outcome {
    Outcome::of(Simulation::new(&options(given), workers).run())
}

/// An ideal fleet, with other options; those given last count.
fn ideal(given: &str, workers: u32) -> Outcome {
    let mut all: Vec<String> = IDEAL.split_whitespace().map(str::to_owned).collect();
    for pair in given.split_whitespace().collect::<Vec<_>>().chunks(2) {
        match all.iter().position(|known| known == pair[0]) {
            Some(index) => pair[1].clone_into(&mut all[index + 1]),
            None => all.extend(pair.iter().map(|part| (*part).to_owned())),
        }
    }
    simulate(&all.join(" "), workers)
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found}, expected {expected}");
}

#[test]
fn a_server_does_one_thing_after_the_other() {
    let mut server = Server::default();
    assert_near(server.serve(1.0, 2.0), 3.0);
    assert_near(server.serve(2.0, 2.0), 5.0);
    assert_near(server.serve(9.0, 1.0), 10.0);
    assert_near(server.load(10.0), 0.5);
}

/// 25 shards on 10 lanes are three rounds of a second.
#[test]
fn without_links_and_failures_the_time_is_that_of_rounds_and_trainings() {
    let sequence = ideal("--mode sequence --fixed-shards 25 --generations 2", 10);
    assert_near(sequence.secs, 2.0 * (3.0 + 10.0));
    assert_eq!((sequence.shards, sequence.ending), (50, Ending::Done));
    assert_near(sequence.busy, 50.0 / (10.0 * 26.0));
    let lanes = ideal("--mode sequence --fixed-shards 25 --generations 2 --lanes 5", 2);
    assert_near(lanes.secs, 26.0);
}

/// The first games, then the longer of training and games, then the last training.
#[test]
fn overlapped_games_cost_the_run_no_time_while_trainings_are_longer() {
    let hidden = ideal("--mode overlap --fixed-shards 25 --generations 4", 10);
    assert_near(hidden.secs, 3.0 + 4.0 * 10.0);
    let longer = ideal("--mode overlap --fixed-shards 250 --generations 4 --train-secs 5", 10);
    assert_near(longer.secs, 25.0 + 3.0 * 25.0 + 5.0);
}

/// Half a training behind its middle, and a training more if games are played beside it.
#[test]
fn staleness_follows_from_the_order_of_games_and_trainings() {
    assert_near(ideal("--mode sequence --fixed-shards 20 --generations 3", 10).behind, 50.0);
    // The first generation has no training beside it.
    assert_near(
        ideal("--mode overlap --fixed-shards 20 --generations 5", 10).behind,
        (50.0 + 4.0 * 150.0) / 5.0,
    );
}

/// 4 megabytes at 8 Mbit/s are 4 s, before the first shard of each generation.
#[test]
fn a_net_takes_the_time_of_the_slower_link() {
    let worker = ideal("--mode sequence --fixed-shards 10 --generations 2 --net-mb 4 --worker-mbit 8", 10);
    assert_near(worker.secs, 2.0 * (4.0 + 1.0 + 10.0));
    assert_near(worker.net_gb, 2.0 * 10.0 * 0.004);
    // All ten share the bucket's 80 Mbit/s, after the coordinator has stored the net there.
    let bucket = ideal("--mode sequence --fixed-shards 10 --generations 2 --net-mb 4 --bucket-gbit 0.08", 10);
    assert_near(bucket.secs, 2.0 * (0.4 + 4.0 + 1.0 + 10.0));
}

/// A stream that stores a message in 100 ms takes ten tasks a second, however many workers there are.
#[test]
fn a_slow_broker_limits_every_fleet() {
    let outcome = ideal("--mode sequence --fixed-shards 400 --generations 1 --broker-flush-ms 100", 500);
    // The last task is at the broker after 40 s, done a second later, and its result stored.
    assert_near(outcome.secs, 40.0 + 1.0 + 0.1 + 10.0);
    assert_near(outcome.load("broker's stream of tasks"), 40.0 / outcome.secs);
}

/// Tasks of a lane in sequence, each with six latencies between.
#[test]
fn distant_workers_pay_for_every_task() {
    let near = ideal("--mode sequence --fixed-shards 8 --generations 1", 1);
    let far = ideal("--mode sequence --fixed-shards 8 --generations 1 --worker-latency-ms 50", 1);
    let first = 0.05 + 2.0 * 0.05;
    assert_near(far.secs - near.secs, first + 8.0 * 2.0 * 0.05 + 7.0 * 4.0 * 0.05);
}

#[test]
fn every_shard_counts_once_whatever_fails_or_is_late() {
    let hostile = "--fixed-shards 700 --generations 3 --shard-secs 20 --failures 10 --repair-minutes 1 --slow-share 0.2 --train-secs 30";
    for mode in ["sequence", "overlap"] {
        for workers in [7, 40] {
            for seed in 1..=5 {
                let outcome = simulate(&format!("{hostile} --mode {mode} --seed {seed}"), workers);
                assert_eq!(
                    (outcome.ending, outcome.shards),
                    (Ending::Done, 3 * 700),
                    "{mode}, {workers} workers, seed {seed}"
                );
                assert!(outcome.busy <= 1.0 && outcome.wasted > 0.0, "{outcome:?}");
            }
        }
    }
}

#[test]
fn learners_share_the_shards_and_each_does_all_its_generations() {
    let outcome = simulate("--learners 4 --rounds 8 --generations 2", 100);
    assert_eq!((outcome.ending, outcome.shards), (Ending::Done, 4 * 2 * 200));
}

#[test]
fn tiny_shards_travel_together() {
    let given = "--mode sequence --fixed-shards 20000 --generations 1 --shard-secs 0.001";
    let (tiny, long) = (ideal(given, 3), ideal("--mode sequence --fixed-shards 20000 --generations 1", 3));
    let per_shard = |outcome: &Outcome| outcome.messages * outcome.secs / outcome.shards as f64;
    assert!(
        per_shard(&tiny) < 1.0 && per_shard(&long) > 10.0,
        "{} and {}",
        per_shard(&tiny),
        per_shard(&long)
    );
}

/// Nobody does a shard of 50 minutes if every worker fails each minute.
#[test]
fn a_run_whose_tasks_are_lost_four_times_ends() {
    let outcome = simulate("--shard-secs 3000 --failures 60 --generations 1", 5);
    assert_eq!((outcome.ending, outcome.shards), (Ending::Exhausted, 0));
    assert!(outcome.row()[12].starts_with("the run ends"), "{:?}", outcome.row());
}

#[test]
fn a_task_that_is_lost_four_times_ends_no_run_if_another_copy_has_counted() {
    let options = options("");
    for (is_counted, ending) in [(false, Some(Ending::Exhausted)), (true, None)] {
        let mut simulation = Simulation::new(&options, 1);
        let learner = &mut simulation.learners[0];
        learner.begin_step(Some(2));
        let step = learner.step;
        let copies = 2;
        learner.groups.push(Group {
            size: 1,
            version: 0,
            begun: None,
            copies,
            is_stored: is_counted,
            is_counted,
        });
        simulation.deliver_again(Issue { learner: 0, step, group: 0, deliveries: DELIVERIES - 1 });
        assert_eq!(simulation.ending, ending);
    }
}

#[test]
fn a_run_beyond_the_limit_says_so() {
    let outcome = ideal("--fixed-shards 10000 --limit-hours 1", 1);
    assert_eq!(outcome.ending, Ending::TooLong);
    assert!(outcome.row()[12].starts_with("the run does not end"), "{:?}", outcome.row());
}

/// 10 lanes and 16 + 4 cores for 26 s, a GPU, and nothing that leaves the broker but messages.
#[test]
fn the_price_is_that_of_cores_gpus_and_bytes() {
    let given =
        "--mode sequence --fixed-shards 25 --generations 2 --core-hour 0.1 --gpu-hour 2 --egress-gb 0";
    let outcome = ideal(given, 10);
    let cores = 10.0 + 16.0 + 4.0;
    assert_near(outcome.price, (cores * 0.1 + 2.0) * 26.0 / 3600.0 / (50.0 * 430.0) * 1e6);
    let bytes = ideal(&given.replace("--egress-gb 0", "--egress-gb 1e9"), 10);
    assert!(bytes.price > outcome.price);
}

#[test]
fn equal_seeds_give_equal_tables() {
    let given = options("--workers 3,20 --generations 2 --failures 5");
    assert_eq!(table(&given), table(&given));
    assert_ne!(table(&given), table(&options("--workers 3,20 --generations 2 --failures 5 --seed 2")));
}

/// `dc0-benches scale` with these options; a change of the simulation or of its defaults changes it.
#[test]
fn a_small_table_is_as_it_was() {
    let expected = "\
workers  hours  shards/s  lanes busy  wasted  done again  messages/s  MB/s  nets GB  coordinator  updates behind  price/M  fullest
      4   0.35      0.04        53 %   4.0 %     12.50 %        15.0  0.19     0.07          1 %             400    0.982  workers 53 %
     30   0.45      0.22        42 %   5.6 %      5.83 %         102  1.06     0.62          4 %             400    0.197  workers 42 %";
    let found = table(&options("--workers 4,30 --generations 2 --failures 5 --rounds 6"));
    assert_eq!(found.join("\n"), expected);
}
