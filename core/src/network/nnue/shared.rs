//! Nets in integers that several evaluators share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use super::net::{NnueError, NnueNet};
use crate::network::{NetworkSpec, Weights};
use crate::poison::IgnorePoison as _;

/// Those in use, by the digest of the net that they were made of.
static IN_USE: Mutex<BTreeMap<[u8; 32], Weak<NnueNet>>> = Mutex::new(BTreeMap::new());

impl NnueNet {
    /// As [`new`](Self::new), but of equal nets in use at the same time there is one: lanes then compete for less of the processor's
    /// caches, and many games with one net need little memory.
    pub fn shared(spec: &NetworkSpec, weights: &Weights) -> Result<Arc<Self>, NnueError> {
        let digest = digest(spec, weights);
        // Held while the net is made, so that lanes that start together make it once.
        let mut in_use = IN_USE.lock().ignore_poison();
        if let Some(net) = in_use.get(&digest).and_then(Weak::upgrade) {
            return Ok(net);
        }
        let net = Arc::new(Self::new(spec, weights)?);
        in_use.retain(|_, known| known.strong_count() > 0);
        in_use.insert(digest, Arc::downgrade(&net));
        Ok(net)
    }
}

fn digest(spec: &NetworkSpec, weights: &Weights) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{spec:?}").as_bytes());
    let mut bytes = Vec::new();
    for (name, tensor) in weights {
        hasher.update(format!("{name} {:?}", tensor.shape).as_bytes());
        bytes.clear();
        bytes.extend(tensor.data.iter().flat_map(|value| value.to_le_bytes()));
        hasher.update(&bytes);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::NnueNet;
    use crate::network::{NetworkSpec, Tower, TowerSpec, initial_weights};
    use crate::rng::Seed;

    #[test]
    fn equal_nets_in_use_are_one_and_others_are_not() {
        let tower = TowerSpec { kind: Tower::Nnue, filters: 64, ..TowerSpec::default() };
        let spec = NetworkSpec { tower, ..NetworkSpec::default() };
        let of = |run| {
            let weights = initial_weights(&spec, Seed { run, step: 0 });
            NnueNet::shared(&spec, &weights).expect("in range")
        };
        let (net, again, other) = (of(1), of(1), of(2));
        assert!(Arc::ptr_eq(&net, &again) && !Arc::ptr_eq(&net, &other));
        let weak = Arc::downgrade(&net);
        drop((net, again));
        assert!(weak.upgrade().is_none(), "a net that nobody uses is freed");
    }
}
