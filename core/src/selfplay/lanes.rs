//! Shards of games, and the lanes that play them.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A fixed list of games: the unit of work, storage and resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number within the step.
    pub index: u32,
    /// The number of its first game within the step.
    pub first_game: u32,
    /// How many games it has.
    pub games: u32,
}

impl Shard {
    /// The numbers of its games within the step.
    pub fn game_numbers(self) -> std::ops::Range<u32> {
        self.first_game..self.first_game + self.games
    }
}

/// Splits games into shards of `shard_games`; only the last may be smaller.
pub fn shards_of(games: u32, shard_games: u32) -> Vec<Shard> {
    let starts = (0..games).step_by(shard_games as usize);
    let shard = |(index, first_game)| Shard { index, first_game, games: shard_games.min(games - first_game) };
    (0..).zip(starts).map(shard).collect()
}

/// Plays shards on `lanes` threads: each creates its own worker, and takes the next shard until none is left.
///
/// `keep` is called with every finished shard, in any order, and says whether to go on. The first error, or the first break, stops
/// all lanes at their next shard; shards finished by then were kept.
pub fn run<W, R, E: Send>(
    shards: &[Shard],
    lanes: u32,
    make_worker: &(dyn Fn() -> Result<W, E> + Sync),
    play: &(dyn Fn(&mut W, Shard) -> Result<R, E> + Sync),
    keep: &(dyn Fn(Shard, R) -> Result<ControlFlow<()>, E> + Sync),
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    let lane = || -> Result<(), E> {
        let mut worker = make_worker()?;
        while !stopped.load(Ordering::Relaxed) {
            let Some(shard) = shards.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            if keep(*shard, play(&mut worker, *shard)?)?.is_break() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        for _ in 0..lanes.clamp(1, shards.len().max(1) as u32) {
            scope.spawn(|| {
                if let Err(error) = lane() {
                    stopped.store(true, Ordering::Relaxed);
                    first_error.lock().expect("no lane panics while it reports").get_or_insert(error);
                }
            });
        }
    });
    first_error.into_inner().expect("no lane panics while it reports").map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::{ControlFlow, Mutex, Shard, run, shards_of};

    #[test]
    fn shards_cover_every_game_once() {
        let shards = shards_of(10, 4);
        assert_eq!(shards.len(), 3);
        assert_eq!(shards[2], Shard { index: 2, first_game: 8, games: 2 });
        let games: Vec<u32> = shards.iter().flat_map(|shard| shard.game_numbers()).collect();
        assert_eq!(games, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn every_shard_is_kept_once_whatever_the_number_of_lanes() {
        for lanes in [1, 2, 5, 100] {
            let kept = Mutex::new(Vec::new());
            let keep = |shard: Shard, games: u32| {
                kept.lock().unwrap().push((shard.index, games));
                Ok::<_, String>(ControlFlow::Continue(()))
            };
            run(&shards_of(10, 3), lanes, &|| Ok(()), &|(), shard| Ok(shard.games), &keep).unwrap();
            let mut kept = kept.into_inner().unwrap();
            kept.sort_unstable();
            assert_eq!(kept, [(0, 3), (1, 3), (2, 3), (3, 1)]);
        }
    }

    #[test]
    fn the_first_error_stops_the_lanes() {
        let kept = Mutex::new(0);
        let play = |(): &mut (), shard: Shard| if shard.index == 2 { Err("broken") } else { Ok(()) };
        let keep = |_, ()| {
            *kept.lock().unwrap() += 1;
            Ok(ControlFlow::Continue(()))
        };
        assert_eq!(run(&shards_of(100, 1), 1, &|| Ok(()), &play, &keep), Err("broken"));
        assert_eq!(*kept.lock().unwrap(), 2);
    }

    #[test]
    fn a_break_stops_the_lanes_without_an_error() {
        let kept = Mutex::new(0);
        let keep = |shard: Shard, ()| {
            *kept.lock().unwrap() += 1;
            let flow = if shard.index == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Ok::<_, String>(flow)
        };
        assert_eq!(run(&shards_of(100, 1), 1, &|| Ok(()), &|(), _| Ok(()), &keep), Ok(()));
        assert_eq!(*kept.lock().unwrap(), 5);
    }
}
