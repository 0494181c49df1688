//! Epochs over all samples.

use super::SEED;
use crate::trainer::sampling::Sampler;

fn drawn(updates: std::ops::Range<u32>) -> Vec<usize> {
    let mut sampler = Sampler::new(SEED, 10, 4);
    updates.flat_map(|update| sampler.batch(update)).collect()
}

#[test]
fn every_epoch_sees_every_sample_once_in_another_order() {
    // Five batches of four are two epochs of ten samples.
    let drawn = drawn(0..5);
    for epoch in drawn.chunks(10) {
        let mut sorted = epoch.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
    }
    assert_ne!(drawn[..10], drawn[10..]);
}

#[test]
fn a_batch_depends_only_on_its_update() {
    assert_eq!(drawn(0..9)[5 * 4..], drawn(5..9));
}

#[test]
fn a_batch_larger_than_the_samples_sees_them_several_times() {
    let mut counts = [0; 3];
    Sampler::new(SEED, 3, 12).batch(7).into_iter().for_each(|index| counts[index] += 1);
    assert_eq!(counts, [4; 3]);
}

#[test]
fn another_seed_gives_another_order() {
    let other = crate::rng::Seed { run: 8, ..SEED };
    assert_ne!(Sampler::new(SEED, 100, 50).batch(0), Sampler::new(other, 100, 50).batch(0));
}
