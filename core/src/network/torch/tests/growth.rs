//! Grown nets against the nets that they grew from.

use super::{largest_difference, reference};
use crate::network::samples::{all_kinds, batch_of, trained_weights};
use crate::network::{
    Activation, AuxiliaryHeadsSpec, Evaluations, GrowParams, MovesLeftHeadSpec, NetworkSpec, NnueInputs,
    PolicyHeadSpec, Tower, TowerSpec, Weights, check_against, grow, layout,
};
use crate::rng::Seed;

const SEED: Seed = Seed { run: 4, step: 2 };

fn evaluate(spec: &NetworkSpec, weights: &Weights) -> Evaluations {
    reference(spec, weights, &batch_of(0..30))
}

#[test]
fn grown_nets_have_the_same_outputs() {
    for spec in all_kinds() {
        let is_transformer = spec.tower.kind == Tower::Transformer;
        let is_nnue = spec.tower.kind == Tower::Nnue;
        let is_relu = spec.tower.activation == Activation::Relu;
        let weights = trained_weights(&spec);
        let before = evaluate(&spec, &weights);
        let wider = if is_nnue {
            let inputs = Some(NnueInputs::Threats);
            GrowParams { filters: Some(192), inputs, policy_inputs: inputs, ..GrowParams::default() }
        } else {
            GrowParams { filters: Some(40), value_filters: Some(7), ..GrowParams::default() }
        };
        let every_square: Vec<u32> = if spec.tower.mirrored { 0..32 } else { 0..64 }.collect();
        let has = spec.auxiliary_heads.clone().unwrap_or_default();
        let reply = (!has.reply).then(|| AuxiliaryHeadsSpec { reply: true, ..AuxiliaryHeadsSpec::default() });
        let more = [
            GrowParams { value_hidden: Some(24), ..GrowParams::default() },
            GrowParams {
                blocks: (!is_nnue && (is_relu || is_transformer)).then_some(3),
                value_hidden: Some(17),
                ..GrowParams::default()
            },
            if is_transformer { GrowParams { filters: None, ..wider.clone() } } else { wider },
            GrowParams {
                auxiliary_heads: reply,
                moves_left_head: spec.moves_left_head.is_none().then(MovesLeftHeadSpec::default),
                value_hidden: Some(19),
                ..GrowParams::default()
            },
            GrowParams {
                policy_inputs: is_nnue.then_some(NnueInputs::Threats),
                policy_filters: is_nnue.then_some(192),
                value_hidden: Some(18),
                ..GrowParams::default()
            },
            GrowParams {
                king_buckets: is_nnue.then(|| every_square.clone()),
                policy_inputs: is_nnue.then_some(NnueInputs::Threats),
                policy_king_buckets: is_nnue.then_some(every_square),
                value_hidden: Some(20),
                ..GrowParams::default()
            },
        ];
        for params in more.map(|params| GrowParams { noise: 0.0, ..params }) {
            let (grown, weights) = grow(&spec, &weights, &params, SEED).expect("grows");
            let mut after = evaluate(&grown, &weights);
            if spec.moves_left_head.is_none() {
                after.moves_left.clear();
            }
            let difference = largest_difference(&after, &before);
            assert!(difference < 1e-4, "{spec:?} {params:?}: {difference}");
            check_against(&weights, &layout(&grown)).expect("all tensors of the grown net");
            if params.auxiliary_heads.is_some() {
                let heads = grown.auxiliary_heads.expect("it got one");
                assert!(heads.reply && heads.material == has.material, "{heads:?}");
                assert!(grown.moves_left_head.is_some());
            }
        }
    }
}

#[test]
fn an_own_policy_layer_keeps_its_width_unless_it_is_given() {
    let spec = |filters| {
        let tower = TowerSpec { kind: Tower::Nnue, filters: 64, ..TowerSpec::default() };
        let policy_head =
            PolicyHeadSpec { inputs: Some(NnueInputs::Threats), filters, ..PolicyHeadSpec::default() };
        NetworkSpec { tower, policy_head, ..NetworkSpec::default() }
    };
    let grown = |from: &NetworkSpec, params: GrowParams| {
        let params = GrowParams { filters: Some(128), ..params };
        params.target(from).expect("grows").policy_head.filters
    };
    assert_eq!(grown(&spec(None), GrowParams::default()), Some(64));
    assert_eq!(grown(&spec(Some(192)), GrowParams::default()), Some(192));
    assert_eq!(
        grown(&spec(None), GrowParams { policy_filters: Some(128), ..GrowParams::default() }),
        Some(128)
    );
    let shared = NetworkSpec { policy_head: PolicyHeadSpec::default(), ..spec(None) };
    let policy_inputs = Some(NnueInputs::Threats);
    assert_eq!(grown(&shared, GrowParams { policy_inputs, ..GrowParams::default() }), Some(64));
    assert_eq!(grown(&shared, GrowParams::default()), None);
}

#[test]
fn a_net_grows_into_nets_that_can_be_read_only() {
    let tower = TowerSpec { kind: Tower::Nnue, filters: 64, ..TowerSpec::default() };
    let spec = NetworkSpec { tower, ..NetworkSpec::default() };
    let head = |filters| GrowParams {
        moves_left_head: Some(MovesLeftHeadSpec { filters, hidden: 8 }),
        ..GrowParams::default()
    };
    let error = head(4).target(&spec).expect_err("an nnue's heads are dense").to_string();
    assert!(error.contains("moves_left_head.filters: has no effect in the kind nnue"), "{error}");
    assert!(head(MovesLeftHeadSpec::default().filters).target(&spec).is_ok());
}

#[test]
fn noise_separates_copies_and_changes_outputs_little() {
    let spec = all_kinds().remove(0);
    let weights = trained_weights(&spec);
    let params = GrowParams { filters: Some(48), ..GrowParams::default() };
    let (grown, noisy) = grow(&spec, &weights, &params, SEED).expect("grows");
    let stem = &noisy["stem.conv.weight"];
    let row = stem.data.len() / 48;
    assert!(
        (0..24).all(|channel| stem.data[channel * row..][..row] != stem.data[(channel + 24) * row..][..row])
    );
    let difference = largest_difference(&evaluate(&grown, &noisy), &evaluate(&spec, &weights));
    assert!((1e-6..0.1).contains(&difference), "{difference}");
}
