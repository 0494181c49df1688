//! Epochs over all samples.

use super::SEED;
use crate::trainer::{Drawn, Mirroring, Sampler};

const ALL: [Mirroring; 3] = [Mirroring::None, Mirroring::Random, Mirroring::Both];

/// The samples of some updates: batches of four out of ten samples.
fn drawn(mirroring: Mirroring, updates: std::ops::Range<u32>) -> Vec<Drawn> {
    let mut sampler = Sampler::new(SEED, 10, 4, mirroring);
    updates.flat_map(|update| sampler.batch(update)).collect()
}

fn indices(drawn: &[Drawn]) -> Vec<usize> {
    drawn.iter().map(|drawn| drawn.index).collect()
}

#[test]
fn every_epoch_sees_every_sample_once_in_another_order() {
    // Five batches of four are two epochs of ten samples.
    let drawn = indices(&drawn(Mirroring::None, 0..5));
    for epoch in drawn.chunks(10) {
        let mut sorted = epoch.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
    }
    assert_ne!(drawn[..10], drawn[10..]);
}

#[test]
fn a_batch_depends_only_on_its_update() {
    for mirroring in ALL {
        assert_eq!(drawn(mirroring, 0..9)[5 * 4..], drawn(mirroring, 5..9), "{mirroring:?}");
    }
}

#[test]
fn a_batch_larger_than_the_samples_sees_them_several_times() {
    for mirroring in ALL {
        let mut counts = [0; 3];
        let batch = Sampler::new(SEED, 3, 12, mirroring).batch(7);
        for drawn in batch {
            counts[drawn.index] += 1;
        }
        assert_eq!(counts, [4; 3], "{mirroring:?}");
    }
}

#[test]
fn another_seed_gives_another_order() {
    let other = crate::rng::Seed { run: 8, ..SEED };
    for mirroring in ALL {
        let batch = |seed| Sampler::new(seed, 100, 50, mirroring).batch(0);
        assert_ne!(batch(SEED), batch(other), "{mirroring:?}");
    }
}

#[test]
fn mirroring_is_off_by_default_and_random_mirroring_keeps_the_order() {
    let (none, random) = (drawn(Mirroring::None, 0..20), drawn(Mirroring::Random, 0..20));
    assert!(none.iter().all(|drawn| !drawn.is_mirrored));
    assert_eq!(indices(&random), indices(&none));
    assert_eq!(crate::trainer::TrainParams::default().mirror, Mirroring::Random);
}

#[test]
fn random_mirroring_draws_half_of_the_samples_and_others_in_the_next_epoch() {
    let mut sampler = Sampler::new(SEED, 4000, 1000, Mirroring::Random);
    let epoch = |sampler: &mut Sampler, number: u32| {
        let mut mirrored = vec![false; 4000];
        let drawn = (4 * number..4 * number + 4).flat_map(|update| sampler.batch(update));
        drawn.for_each(|drawn| mirrored[drawn.index] = drawn.is_mirrored);
        mirrored
    };
    let epochs = [0, 1, 2].map(|number| epoch(&mut sampler, number));
    // The standard deviation of a binomial count is 32 of 4,000.
    let about_half = |count: usize| (1872..=2128).contains(&count);
    for mirrored in &epochs {
        assert!(about_half(mirrored.iter().filter(|is_mirrored| **is_mirrored).count()));
    }
    let both = epochs[0].iter().zip(&epochs[1]).filter(|(one, other)| one == other).count();
    assert!(about_half(both), "epochs are independent: {both}");
}

#[test]
fn an_epoch_with_both_has_every_sample_and_every_image_once() {
    let drawn = drawn(Mirroring::Both, 0..10);
    for epoch in drawn.chunks(20) {
        let mut pairs: Vec<(usize, bool)> =
            epoch.iter().map(|drawn| (drawn.index, drawn.is_mirrored)).collect();
        pairs.sort_unstable();
        let expected = (0..10).flat_map(|index| [(index, false), (index, true)]);
        assert!(pairs.into_iter().eq(expected));
    }
    assert_ne!(drawn[..20], drawn[20..]);
}
