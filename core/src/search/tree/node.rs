//! Nodes and visited edges of a tree.

use crate::search::proof::Proof;

/// Index of a node in [`Tree::nodes`].
pub(in crate::search) type NodeId = u32;

pub(in crate::search) const ROOT: NodeId = 0;

/// The state of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::search) enum State {
    /// Its evaluation is under way.
    Evaluating,
    /// It has its edges.
    Expanded,
    /// Its result was proven when it was reached, so it needs no edges.
    Proven,
    /// It repeats a position of the tree, which counts as a draw but proves nothing.
    Repeated,
}

/// A node of the tree. Values are for its side to move.
#[derive(Debug, Clone)]
pub(in crate::search) struct Node {
    pub(in crate::search) value_sum: f64,
    pub(in crate::search) draw_sum: f64,
    pub(in crate::search) visits: u32,
    pub(in crate::search) first_edge: u32,
    pub(in crate::search) first_visited: u32,
    pub(in crate::search) edge_count: u8,
    pub(in crate::search) visited_count: u8,
    pub(in crate::search) state: State,
    /// Its result, once proven.
    pub(in crate::search) proof: Option<Proof>,
}

impl Node {
    /// The mean value; only for visited nodes.
    pub(in crate::search) fn value(&self) -> f64 {
        self.value_sum / f64::from(self.visits)
    }

    /// The proven value, else the mean, with a draw at `draw_value`.
    pub(in crate::search) fn proven_or_mean(&self, draw_value: f64) -> f64 {
        self.proof.map_or_else(|| self.value(), |proof| proof.value(draw_value))
    }

    /// P(draw): proven, else the mean.
    pub(in crate::search) fn draw_share(&self) -> f64 {
        let mean = || self.draw_sum / f64::from(self.visits.max(1));
        self.proof.map_or_else(mean, |proof| f64::from(proof.wdl().draw))
    }
}

/// A visited edge. Values are for the side that makes its move.
#[derive(Debug, Clone)]
pub(in crate::search) struct VisitedEdge {
    pub(in crate::search) value_sum: f64,
    /// The sum of the squared deviations of its values from their mean.
    pub(in crate::search) deviation_sum: f32,
    pub(in crate::search) visits: u32,
    pub(in crate::search) child: NodeId,
    pub(in crate::search) in_flight: u16,
    /// Its result, once proven.
    pub(in crate::search) proof: Option<Proof>,
}

impl VisitedEdge {
    pub(in crate::search) const EMPTY: Self =
        Self { value_sum: 0.0, deviation_sum: 0.0, visits: 0, child: ROOT, in_flight: 0, proof: None };

    /// Visits and descents in flight.
    pub(in crate::search) fn started(&self) -> u32 {
        self.visits + u32::from(self.in_flight)
    }

    /// Adds the visit of a descent that was in flight, but not to the sums.
    pub(in crate::search) fn count_visit(&mut self) {
        self.visits += 1;
        self.in_flight -= 1;
    }

    /// Adds the visit of a descent that was in flight.
    pub(in crate::search) fn visit(&mut self, value: f64) {
        // Welford 1962, "Note on a method for calculating corrected sums of squares and products".
        let before = self.mean().unwrap_or(value);
        self.count_visit();
        self.value_sum += value;
        let after = self.value_sum / f64::from(self.visits);
        self.deviation_sum += ((value - before) * (value - after)) as f32;
    }

    /// Removes visits that had this sum, all with the same value. Others remain.
    pub(in crate::search) fn remove_visits(&mut self, visits: u32, value_sum: f64) {
        let squares = |sum: f64, count: u32| sum * sum / f64::from(count);
        let square_sum = squares(self.value_sum, self.visits) + f64::from(self.deviation_sum);
        self.visits -= visits;
        self.value_sum -= value_sum;
        let left = square_sum - squares(value_sum, visits) - squares(self.value_sum, self.visits);
        self.deviation_sum = left.max(0.0) as f32;
    }

    /// The standard error of the mean, with a prior observation that matters for few visits only: its weight is 1/n², and its
    /// variance that of values at both ends of [−1, 1] (KataGo, `getSelfUtilityLCBAndRadius`). One visit has one half; no visit 0.
    pub(in crate::search) fn standard_error(&self) -> f64 {
        if self.visits == 0 {
            return 0.0;
        }
        let visits = f64::from(self.visits);
        let prior = 1.0 / (visits * visits);
        let variance = f64::from(self.deviation_sum.max(0.0)) / visits + prior / (visits + prior);
        let effective_visits = (visits + prior).powi(2) / (visits + prior * prior);
        (variance / effective_visits).sqrt()
    }

    /// The sum of the squares of its values.
    pub(in crate::search) fn square_sum(&self) -> f32 {
        let squares_of_mean = self.value_sum * self.value_sum / f64::from(self.visits.max(1));
        (squares_of_mean + f64::from(self.deviation_sum)) as f32
    }

    /// The proven value, with a draw at `draw_value`, else the mean, if there are visits.
    pub(in crate::search) fn proven_or_mean(&self, draw_value: f64) -> Option<f64> {
        self.proof.map(|proof| proof.value(draw_value)).or_else(|| self.mean())
    }

    /// The mean value of the visits, if there are any.
    pub(in crate::search) fn mean(&self) -> Option<f64> {
        (self.visits > 0).then(|| self.value_sum / f64::from(self.visits))
    }
}
