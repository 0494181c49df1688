//! Cycles in a graph of imports.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One node that imports another, and where it does.
pub(super) struct Edge<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) location: &'a str,
}

/// The successors of each node, each with the location of one edge.
type Graph<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>;

/// One text for each strongly connected component of more than one node: a shortest cycle with the location of one edge for each step,
/// and the names of all nodes.
pub(super) fn cycles(edges: &[Edge<'_>]) -> Vec<String> {
    let mut graph = Graph::new();
    for edge in edges.iter().filter(|edge| edge.from != edge.to) {
        graph.entry(edge.from).or_default().entry(edge.to).or_insert(edge.location);
    }
    let reachable: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|node| (*node, predecessors(&graph, node).into_keys().collect())).collect();
    let mut reported = BTreeSet::new();
    let mut texts = Vec::new();
    for start in graph.keys().filter(|node| reachable[*node].contains(*node)) {
        if reported.contains(start) {
            continue;
        }
        let leads_back = |node: &&str| reachable.get(node).is_some_and(|nodes| nodes.contains(start));
        let component: BTreeSet<&str> = reachable[start].iter().copied().filter(leads_back).collect();
        let shortest = component.iter().map(|node| cycle_through(&graph, node)).min_by_key(Vec::len);
        let shortest = shortest.expect("a component has nodes");
        let step = |step: &[&str]| format!("  {} → {}: {}\n", step[0], step[1], graph[step[0]][step[1]]);
        let text: String = shortest.windows(2).map(step).collect();
        let names: Vec<&str> = component.iter().copied().collect();
        texts.push(format!("{text}  all {}: {}", names.len(), names.join(", ")));
        reported.extend(component);
    }
    texts
}

/// Every node that can be reached from `start` in one or more steps, with its predecessor on a shortest path.
fn predecessors<'a>(graph: &Graph<'a>, start: &'a str) -> BTreeMap<&'a str, &'a str> {
    let mut predecessors = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for next in graph.get(node).into_iter().flat_map(BTreeMap::keys) {
            if !predecessors.contains_key(next) {
                predecessors.insert(*next, node);
                queue.push_back(next);
            }
        }
    }
    predecessors
}

/// A shortest cycle, `start` at both ends.
fn cycle_through<'a>(graph: &Graph<'a>, start: &'a str) -> Vec<&'a str> {
    let predecessors = predecessors(graph, start);
    let mut cycle = vec![start];
    loop {
        let node = predecessors[cycle[cycle.len() - 1]];
        cycle.push(node);
        if node == start {
            cycle.reverse();
            return cycle;
        }
    }
}
