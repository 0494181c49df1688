//! Parameter counts and rejected growth; `torch/tests/growth.rs` tests the outputs of grown nets.

use std::collections::BTreeMap;

use serde_json::json;

use super::graph::Graph;
use super::samples::{all_kinds, king_buckets, trained_weights};
use super::{
    AuxiliaryHeadsSpec, GrowParams, MovesLeftHeadSpec, NetworkSpec, NnueInputs, Tower, grow, hidden_weights,
    parameter_count, preset, presets,
};
use crate::params::{Params, Value, read};
use crate::rng::Seed;

const SEED: Seed = Seed { run: 4, step: 2 };

/// Parameters and multiply-adds of the presets against sums over their layers by hand.
#[test]
fn preset_counts_match_counts_by_hand() {
    // stem 9·P·F + 2F; block 18·F² + 4F, SE 3·F²/r + F/r + 2F; policy F² + 2F + 73·F + 73;
    // value 32·F + 64, 2048·256 + 256, 771.
    let residual = |planes: u64, blocks: u64, filters: u64| {
        let squeeze_width = filters / 4;
        let block = 18 * filters * filters + 4 * filters;
        let squeeze = 3 * filters * squeeze_width + squeeze_width + 2 * filters;
        let policy = filters * filters + 2 * filters + 73 * filters + 73;
        let value = 32 * filters + 64 + 2048 * 256 + 256 + 771;
        let parameters = 9 * planes * filters + 2 * filters + blocks * (block + squeeze) + policy + value;
        let multiply_adds = 64 * (9 * planes * filters + blocks * 18 * filters * filters)
            + blocks * 3 * filters * squeeze_width
            + 64 * (filters * filters + 73 * filters + 32 * filters)
            + 2048 * 256
            + 768;
        (parameters as usize, multiply_adds)
    };
    for (name, blocks, filters) in
        [("dc0-2x32", 2, 32), ("dc0-4x64", 4, 64), ("dc0-6x128", 6, 128), ("dc0-15x256", 15, 256)]
    {
        let spec = preset(name).expect("exists").spec;
        let planes = spec.input().planes().len() as u64;
        let counted = (parameter_count(&spec), Graph::new(&spec).multiply_adds());
        assert_eq!(counted, residual(planes, blocks, filters), "{name}");
    }
    let six = preset("dc0-6x128").expect("exists").spec;
    assert_eq!((parameter_count(&six), Graph::new(&six).multiply_adds()), (2_426_828, 117_228_288));
}

#[test]
fn transformer_counts_match_counts_by_hand() {
    let spec = preset("transformer-4x128").expect("exists").spec;
    let (width, planes) = (128, spec.input().planes().len());
    // Two norms, q, k and v, the position bias of 4 heads, out, expand by 2 and contract.
    let block = 2 * width
        + (3 * width * width + 3 * width)
        + 4 * 64 * 64
        + (width * width + width)
        + (2 * width * width + 2 * width)
        + (2 * width * width + width);
    let heads = (width * width + 2 * width + 73 * width + 73) + (32 * width + 64 + 2048 * 256 + 256 + 771);
    let expected = (planes * width + width) + 64 * width + 4 * block + width + heads;
    assert_eq!(parameter_count(&spec), expected);
    let block = 64 * 8 * width * width + 2 * 64 * 64 * width;
    let heads = 64 * (width * width + 105 * width) + 2048 * 256 + 768;
    assert_eq!(Graph::new(&spec).multiply_adds() as usize, 64 * planes * width + 4 * block + heads);
}

#[test]
fn every_preset_round_trips_through_parameters() {
    for preset in presets() {
        let value = crate::params::Param::to_value(&preset.spec);
        assert_eq!(read::<NetworkSpec>("network", &value), Ok(preset.spec), "{}", preset.name);
    }
    assert!(preset("dc0-7x77").is_none());
}

#[test]
fn nnue_counts_match_counts_by_hand() {
    for (name, width) in [("nnue-128", 128), ("nnue-256", 256)] {
        let spec = preset(name).expect("exists").spec;
        // Products of halves: half of the width for each side.
        let heads = (width * 1858 + 1858) + (width * 32 + 32) + (32 * 3 + 3);
        assert_eq!(parameter_count(&spec), 768 * width + width + heads);
        // 32 pieces seen from two sides, then the dense layers.
        let multiply_adds = 64 * width + width * 1858 + width * 32 + 32 * 3;
        assert_eq!(Graph::new(&spec).multiply_adds() as usize, multiply_adds);
        let mut threats = spec;
        threats.tower.inputs = NnueInputs::Threats;
        assert_eq!(parameter_count(&threats), 4 * 768 * width + width + heads);
        assert_eq!(Graph::new(&threats).multiply_adds() as usize, multiply_adds);
        let mut by_kings = preset(name).expect("exists").spec;
        by_kings.tower.mirrored = true;
        by_kings.tower.king_buckets = king_buckets(32);
        assert_eq!(parameter_count(&by_kings), 7 * 768 * width + width + heads);
        assert_eq!(Graph::new(&by_kings).multiply_adds() as usize, multiply_adds);
        let mut own_layer = preset(name).expect("exists").spec;
        own_layer.policy_head.inputs = Some(NnueInputs::Threats);
        own_layer.policy_head.filters = Some(64);
        let policy = (64 * 1858 + 1858) + 4 * 768 * 64 + 64;
        let value = 768 * width + width + (width * 32 + 32) + (32 * 3 + 3);
        assert_eq!(parameter_count(&own_layer), value + policy);
        let sums = 64 * (width + 64);
        assert_eq!(Graph::new(&own_layer).multiply_adds() as usize, sums + 64 * 1858 + width * 32 + 32 * 3);
    }
}

#[test]
fn threats_are_inputs_of_an_nnue_alone_and_stay_once_they_are_there() {
    let refused = |spec: &NetworkSpec, inputs| {
        let params = GrowParams { inputs: Some(inputs), ..GrowParams::default() };
        params.target(spec).expect_err("cannot grow so").to_string()
    };
    let mut nnue = preset("nnue-128").expect("exists").spec;
    assert!(refused(&nnue, NnueInputs::Pieces).contains("nothing would grow"));
    nnue.tower.inputs = NnueInputs::Threats;
    assert!(refused(&nnue, NnueInputs::Pieces).contains("shrink from threats to pieces"));
    let tower = NetworkSpec::default();
    assert!(refused(&tower, NnueInputs::Threats).contains("only an nnue has inputs, not a se_resnet"));
    let spec = serde_json::json!({ "tower": { "inputs": "threats" } });
    let error = read::<NetworkSpec>("network", &serde_json::from_value(spec).expect("parameters"))
        .expect_err("no nnue");
    assert!(
        error.to_string().contains("tower.inputs: has no effect in the kind se_resnet, only in nnue"),
        "{error}"
    );
}

#[test]
fn a_first_layer_of_the_policys_own_is_an_nnues_alone() {
    let spec = |text: &str| {
        let value = serde_json::from_str(text).expect("parameters");
        read::<NetworkSpec>("network", &value).map_err(|errors| errors.to_string())
    };
    let refused = |text: &str| spec(text).expect_err("refused");
    let own =
        r#"{"tower": {"kind": "nnue", "filters": 128}, "policy_head": {"inputs": "threats", "filters": 64}}"#;
    let own = spec(own).expect("an nnue's policy may have one");
    let error = refused(r#"{"policy_head": {"inputs": "threats"}}"#);
    assert!(error.contains("policy_head: only an nnue's policy has inputs, not a se_resnet's"), "{error}");
    let error = refused(r#"{"tower": {"kind": "nnue"}, "policy_head": {"filters": 64}}"#);
    assert!(error.contains("has no filters of its own, got 64; leave them out"), "{error}");
    let error = refused(r#"{"tower": {"kind": "nnue"}, "policy_head": {"inputs": "pieces", "filters": 96}}"#);
    assert!(error.contains("takes a multiple of 64 as filters, got 96"), "{error}");

    let grown = |spec: &NetworkSpec, policy_inputs, policy_filters| {
        let params = GrowParams { policy_inputs, policy_filters, ..GrowParams::default() };
        params.target(spec).map_err(|error| error.to_string())
    };
    let shrunk = grown(&own, Some(NnueInputs::Pieces), None).expect_err("fewer inputs");
    assert!(shrunk.contains("policy_inputs would shrink from threats to pieces"), "{shrunk}");
    let mut shared = preset("nnue-128").expect("exists").spec;
    let narrow = grown(&shared, Some(NnueInputs::Threats), Some(64)).expect_err("narrower");
    assert!(narrow.contains("policy_filters would shrink from 128 to 64"), "{narrow}");
    assert!(grown(&shared, None, Some(256)).expect_err("shared").contains("no filters of its own"));
    assert!(grown(&shared, Some(NnueInputs::Threats), Some(256)).is_ok());
    shared.tower.inputs = NnueInputs::Threats;
    let shrunk = grown(&shared, Some(NnueInputs::Pieces), None).expect_err("fewer inputs");
    assert!(shrunk.contains("policy_inputs would shrink"), "{shrunk}");
    let tower = grown(&NetworkSpec::default(), Some(NnueInputs::Pieces), Some(64)).expect_err("no nnue");
    assert!(
        tower.contains("only an nnue has inputs")
            && tower.contains("only an nnue can grow by policy_filters")
    );
}

#[test]
fn king_buckets_are_an_nnues_alone_and_their_layouts_are_checked() {
    let spec = |text: &str| {
        let value = serde_json::from_str(text).expect("parameters");
        read::<NetworkSpec>("network", &value).map_err(|errors| errors.to_string())
    };
    let refused = |text: &str| spec(text).expect_err("refused");
    let error = refused(r#"{"tower": {"mirrored": true, "king_buckets": [0]}}"#);
    assert!(
        error.contains("tower.mirrored: only an nnue has mirrored inputs, not a se_resnet; leave it out")
            && error.contains("tower.king_buckets: only an nnue has king buckets"),
        "{error}"
    );
    let error = refused(r#"{"tower": {"kind": "nnue", "king_buckets": [0, 1]}}"#);
    assert!(error.contains("tower.king_buckets: expected 64 numbers"), "{error}");
    let error = refused(r#"{"tower": {"kind": "nnue"}, "policy_head": {"king_buckets": [0, 1]}}"#);
    assert!(error.contains("policy_head.king_buckets: the policy has no first layer of its own"), "{error}");
    let own = |mirrored: bool| {
        let (buckets, tower) = (king_buckets(32), json!({ "kind": "nnue", "mirrored": mirrored }));
        spec(
            &json!({ "tower": tower, "policy_head": { "inputs": "pieces", "king_buckets": buckets } })
                .to_string(),
        )
    };
    assert!(own(false).expect_err("a half").contains("policy_head.king_buckets: expected 64 numbers"));
    assert_eq!(own(true).expect("as many").policy_king_buckets().count(), 7);

    // Other nets keep the parameters, and so the identities of steps, that they have without them.
    let value = crate::params::Param::to_value(&NetworkSpec::default());
    let names = ["tower", "policy_head"].map(|group| value.member(group).expect("a group").clone());
    assert!(names.iter().all(|group| group.member("king_buckets").is_none()));
}

#[test]
fn king_buckets_can_be_divided_and_not_joined() {
    let grown =
        |spec: &NetworkSpec, king_buckets: Option<Vec<u32>>, policy_king_buckets: Option<Vec<u32>>| {
            let params = GrowParams { king_buckets, policy_king_buckets, ..GrowParams::default() };
            params.target(spec).map_err(|error| error.to_string())
        };
    let ranks: Vec<u32> = (0..64).map(|square| square / 8).collect();
    let mut nnue = preset("nnue-128").expect("exists").spec;
    assert!(grown(&nnue, Some(Vec::new()), None).expect_err("the same").contains("nothing would grow"));
    assert!(grown(&nnue, Some(vec![0, 1]), None).expect_err("two").contains("king_buckets: expected 64"));
    assert!(
        grown(&nnue, None, Some(ranks.clone())).expect_err("shared").contains("no first layer of its own")
    );
    nnue = grown(&nnue, Some(ranks.clone()), None).expect("from one to eight");
    assert_eq!(nnue.king_buckets().count(), 8);
    let joined = grown(&nnue, Some(Vec::new()), None).expect_err("fewer");
    assert!(joined.contains("king_buckets would join the buckets of a1 and a2"), "{joined}");

    // A layer of the policy's own starts with the buckets of the layer that it shared.
    let params = GrowParams { policy_inputs: Some(NnueInputs::Threats), ..GrowParams::default() };
    let own = params.target(&nnue).expect("grows");
    assert_eq!(own.policy_head.king_buckets, ranks);
    let finer: Vec<u32> = (0..64).collect();
    let divided = grown(&own, None, Some(finer.clone())).expect("from 8 to 64");
    assert_eq!((divided.tower.king_buckets, divided.policy_head.king_buckets), (ranks, finer.clone()));
    assert!(
        grown(&own, None, Some(Vec::new())).expect_err("fewer").contains("policy_king_buckets would join")
    );

    let tower = grown(&NetworkSpec::default(), Some(finer.clone()), Some(finer)).expect_err("no nnue");
    assert!(
        tower.contains("only an nnue has king_buckets, not a se_resnet")
            && tower.contains("only an nnue has policy_king_buckets"),
        "{tower}"
    );
}

#[test]
fn an_nnue_cannot_grow_what_it_has_not() {
    let spec = preset("nnue-128").expect("exists").spec;
    let params =
        GrowParams { blocks: Some(8), filters: Some(200), value_filters: Some(64), ..GrowParams::default() };
    let error = params.target(&spec).expect_err("has no blocks").to_string();
    assert!(error.contains("neither blocks nor value_filters") && error.contains("got 200"), "{error}");
}

#[test]
fn only_heads_that_a_net_has_not_are_added() {
    let [reply, both] = [false, true].map(|material| AuxiliaryHeadsSpec {
        reply: true,
        material,
        ..AuxiliaryHeadsSpec::default()
    });
    let with =
        |heads| GrowParams { auxiliary_heads: Some(heads), value_hidden: Some(512), ..GrowParams::default() };
    let spec = with(reply).target(&NetworkSpec::default()).expect("gets the head");
    let error = with(both.clone()).new_target(&spec).expect_err("has one of them").to_string();
    assert!(error.contains("the net has auxiliary_heads.reply already; leave it out"), "{error}");
    assert!(!error.contains("material"), "{error}");
    let material = AuxiliaryHeadsSpec { material: true, ..AuxiliaryHeadsSpec::default() };
    assert!(with(material).new_target(&spec).is_ok());
    let error = grow(&spec, &trained_weights(&spec), &with(both), SEED).expect_err("has one of them");
    assert!(error.to_string().contains("auxiliary_heads.reply already"), "{error}");
}

#[test]
fn a_finished_growth_keeps_the_heads_that_its_net_had() {
    let reply = AuxiliaryHeadsSpec { reply: true, ..AuxiliaryHeadsSpec::default() };
    let params = GrowParams {
        auxiliary_heads: Some(AuxiliaryHeadsSpec { material: true, ..reply.clone() }),
        moves_left_head: Some(MovesLeftHeadSpec::default()),
        ..GrowParams::default()
    };
    let from = NetworkSpec {
        auxiliary_heads: Some(reply),
        moves_left_head: Some(MovesLeftHeadSpec::default()),
        ..NetworkSpec::default()
    };
    let to = params.target(&from).expect("is larger");
    assert_eq!((&to.auxiliary_heads, &to.moves_left_head), (&params.auxiliary_heads, &from.moves_left_head));
    let refused = params.new_target(&from).expect_err("has two of them").to_string();
    assert_eq!(
        refused,
        "the net cannot grow this way: the net has a moves_left_head already; leave it out; \
         the net has auxiliary_heads.reply already; leave it out"
    );
}

#[test]
fn impossible_growth_reports_all_problems() {
    let spec = all_kinds().pop().expect("some nets");
    assert_eq!(spec.tower.kind, Tower::Transformer);
    let params = GrowParams { blocks: Some(1), filters: Some(48), ..GrowParams::default() };
    let error = grow(&spec, &trained_weights(&spec), &params, SEED).expect_err("shrinks");
    let text = error.to_string();
    assert!(
        text.contains("blocks would shrink from 2 to 1") && text.contains("cannot grow by filters"),
        "{text}"
    );
    let nothing = grow(&spec, &trained_weights(&spec), &GrowParams::default(), SEED);
    assert!(nothing.is_err_and(|error| error.to_string().contains("nothing would grow")));
    let head = GrowParams { moves_left_head: Some(MovesLeftHeadSpec::default()), ..GrowParams::default() };
    let with_head = head.target(&preset("nnue-128").expect("exists").spec).expect("gets the head");
    let other = GrowParams { moves_left_head: Some(MovesLeftHeadSpec { filters: 8, hidden: 16 }), ..head };
    let twice = other.new_target(&with_head).expect_err("has one").to_string();
    assert!(twice.contains("the net has a moves_left_head already"), "{twice}");
    let same =
        GrowParams { moves_left_head: with_head.moves_left_head.clone(), value_hidden: Some(64), ..other };
    let same = same.new_target(&with_head).expect_err("has it").to_string();
    assert!(same.contains("the net has a moves_left_head already"), "{same}");
    assert!(GrowParams::names().contains(&"noise"));
    assert!(read::<GrowParams>("grow", &Value::group()).is_ok());
}

/// Every other weight reads the input, is an embedding, or belongs to the last layer of a head.
#[test]
fn hidden_weights_are_those_between_the_first_layers_and_the_heads_last() {
    let hidden = |network: serde_json::Value| {
        let all = json!({
            "moves_left_head": {}, "auxiliary_heads": { "soft_policy": true, "reply": true, "material": true },
        });
        let mut members = all.as_object().expect("an object").clone();
        members.extend(network.as_object().expect("an object").clone());
        let given = serde_json::from_value(members.into()).expect("parameters");
        let spec = read::<NetworkSpec>("network", &given).expect("a net");
        let named = |(name, matrices): (String, usize)| (name.replace(".weight", ""), matrices);
        hidden_weights(&spec).into_iter().map(named).collect::<BTreeMap<String, usize>>()
    };
    let expected = |heads: &[&str], tower: &[&str], attended: &[&str]| {
        let single = heads.iter().chain(tower).map(|name| ((*name).to_owned(), 1));
        single.chain(attended.iter().map(|name| ((*name).to_owned(), 3))).collect::<BTreeMap<_, _>>()
    };
    let heads = ["moves_left.conv1", "moves_left.dense1", "policy.conv1", "value.conv1", "value.dense1"];
    let residual = ["tower.0.conv1", "tower.0.conv2", "tower.0.se.squeeze", "tower.0.se.excite"];
    let network = json!({ "tower": { "kind": "se_resnet", "blocks": 1, "filters": 8 } });
    assert_eq!(hidden(network), expected(&heads, &residual, &[]));
    let transformer = ["tower.0.out", "tower.0.expand", "tower.0.contract"];
    let tower = json!({ "kind": "transformer", "blocks": 1, "filters": 16, "heads": 2 });
    let network = json!({ "tower": tower, "policy_head": { "kind": "dense" } });
    assert_eq!(hidden(network), expected(&heads, &transformer, &["tower.0.qkv"]));
    let tower = json!({ "kind": "nnue", "filters": 64, "inputs": "threats", "mirrored": true });
    let own = json!({ "tower": tower, "policy_head": { "inputs": "threats", "filters": 64 } });
    for network in [json!({ "tower": tower }), own] {
        assert_eq!(hidden(network), expected(&["moves_left.dense1", "value.dense1"], &[], &[]));
    }
}
