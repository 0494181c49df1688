//! Which players a chain of games connects.

use std::collections::BTreeMap;

use super::results::PairResult;

/// The groups of players 0 to `players` that chains of games connect. The anchors are one group, since their ratings are known; it is
/// the first. The others follow from the largest to the smallest; groups of one size, and the players of each, are in the players'
/// order.
pub fn groups(players: usize, results: &[PairResult], anchors: &BTreeMap<usize, f64>) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..players).collect();
    let met = results.iter().filter(|result| result.games() > 0).map(|result| (result.first, result.second));
    let anchored = anchors.keys().zip(anchors.keys().skip(1)).map(|(a, b)| (*a, *b));
    for (a, b) in met.chain(anchored) {
        let (a, b) = (of(&mut leader, a), of(&mut leader, b));
        // The first player of a group leads it.
        leader[a.max(b)] = a.min(b);
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..players).for_each(|player| found.entry(of(&mut leader, player)).or_default().push(player));
    let mut groups: Vec<Vec<usize>> = found.into_values().collect();
    let has_anchor = |group: &[usize]| group.iter().any(|player| anchors.contains_key(player));
    groups.sort_by_key(|group| (!has_anchor(group), std::cmp::Reverse(group.len()), group[0]));
    groups
}

/// The leader of a player's group; the path to it becomes shorter.
fn of(leader: &mut [usize], player: usize) -> usize {
    let mut at = player;
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}
