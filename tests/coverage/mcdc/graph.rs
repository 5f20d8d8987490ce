//! Checks `ConditionGraph` on random trees.

use std::collections::BTreeSet;

use kassay::result::mcdc::Criterion;
use kassay_ir::cfg::condition_graph::{ConditionGraph, Next, TestVector};
use kassay_judge::coverage::mcdc::best_pair;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::trees::{Tree, Vector};

fn graph(tree: &Tree) -> ConditionGraph {
    let ends = [Next::Result(false), Next::Result(true)];
    let mut table = vec![ends; tree.conditions()];
    tree.next(ends, &mut table);
    let (graph, numbers) = ConditionGraph::new(&table).unwrap();
    assert!(numbers.iter().copied().eq(0..tree.conditions()), "left to right: {tree:?}");
    graph
}

fn plain(vector: &TestVector) -> Vector {
    (vector.values.clone(), vector.result)
}

#[test]
fn ways_are_the_test_vectors_and_decide_as_the_operators_do() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..300 {
        let conditions = random.random_range(2..=7);
        let tree = Tree::random(&mut random, 0, conditions);
        let graph = graph(&tree);
        let vectors = graph.vectors();
        assert_eq!(vectors.len() as u64, graph.paths(), "{tree:?}");
        let all: BTreeSet<Vector> = vectors.iter().map(plain).collect();
        assert_eq!(all.len(), vectors.len(), "each once: {tree:?}");
        assert_eq!(all, tree.vectors(), "{tree:?}");
        for vector in &vectors {
            assert_eq!(TestVector::parse(&vector.text(), vector.result).as_ref(), Some(vector));
        }
        for bits in 0..1u32 << conditions {
            let expected = tree.evaluate(&|c| bits >> c & 1 == 1);
            // The graph takes the values of conditions, which `!` may have negated.
            let (way, result) = graph.evaluate(|c| expected.0[c].unwrap_or(false));
            assert_eq!((plain(&vectors[way as usize]), result), (expected.clone(), expected.1), "{tree:?}");
        }
        for (vector, c) in vectors.iter().flat_map(|v| (0..conditions).map(move |c| (v, c))) {
            let unmasked = vector.values[c].is_some() && tree.is_unmasked(c, &vector.values);
            assert_eq!(vector.is_decided_by(c, &vectors), unmasked, "condition {c} in {} of {tree:?}", vector.text());
        }
    }
}

#[test]
fn pairs_are_those_of_the_criteria() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..200 {
        let conditions = random.random_range(2..=6);
        let tree = Tree::random(&mut random, 0, conditions);
        let graph = graph(&tree);
        let vectors = graph.vectors();
        let executed: Vec<bool> = vectors.iter().map(|_| random.random()).collect();
        let seen: BTreeSet<Vector> =
            vectors.iter().zip(&executed).filter(|(_, executed)| **executed).map(|(v, _)| plain(v)).collect();
        for c in 0..conditions {
            let [masking, unique] = [Criterion::Masking, Criterion::Unique].map(|criterion| {
                let [a, b] = best_pair(c, &vectors, &executed, criterion).unwrap();
                assert_eq!((vectors[a].values[c], vectors[b].values[c]), (Some(true), Some(false)), "{tree:?}");
                let is_covered = executed[a] && executed[b];
                assert_eq!(is_covered, tree.covers(c, &seen, criterion), "condition {c} by {criterion:?} in {tree:?}");
                is_covered
            });
            assert!(masking || !unique, "unique cause implies masking");
        }
    }
}

#[test]
fn a_condition_that_changes_nothing_has_no_pair() {
    // (0 && false) || 1, as constants leave it.
    let table = [[Next::Condition(1); 2], [Next::Result(false), Next::Result(true)]];
    let (graph, _) = ConditionGraph::new(&table).unwrap();
    let (vectors, all) = (graph.vectors(), [true; 4]);
    assert_eq!(best_pair(0, &vectors, &all, Criterion::Masking), None);
    assert_eq!(best_pair(0, &vectors, &all, Criterion::Unique), None);
    assert!(best_pair(1, &vectors, &all, Criterion::Masking).is_some());
}

#[test]
fn conditions_without_one_order_make_no_graph() {
    let ends = [Next::Result(false), Next::Result(true)];
    assert!(ConditionGraph::new(&[ends, ends]).is_none(), "two first ones");
    let cycle = [[Next::Result(false), Next::Condition(1)], [Next::Condition(0), Next::Result(true)]];
    assert!(ConditionGraph::new(&cycle).is_none(), "a cycle");
}
