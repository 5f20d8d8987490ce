//! Compares what devices and the simulator record of random decisions with their evaluation here: of few kernels, or of
//! as many as the environment variable `KASSAY_SOAK` says.

use std::collections::BTreeSet;
use std::fmt::Write;

use kassay::result::cover::CoverResult;
use kassay::result::mcdc::{Criterion, McdcDecision};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::trees::{Tree, Vector, letters};
use crate::common::TestResult;
use crate::common::program::{at, json};

/// Where a decision stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    If,
    Ternary,
    Value,
    While,
    For,
    Do,
    /// A function that is called twice.
    Helper,
}

const FORMS: [Form; 7] = [Form::If, Form::Ternary, Form::Value, Form::While, Form::For, Form::Do, Form::Helper];

struct Decision {
    tree: Tree,
    form: Form,
    /// The bits of its conditions are those of the item's value, rotated by this.
    rotated: u32,
    line: u32,
}

impl Decision {
    fn expression(&self, bits: &str, random: &mut ChaCha8Rng) -> String {
        let styles: Vec<u32> = (0..self.tree.conditions()).map(|_| random.random_range(0..3)).collect();
        self.tree.text(&|c| match styles[c] {
            0 => format!("({bits} >> {c} & 1u)"),
            1 => format!("({bits} & {}u) != 0u", 1u32 << c),
            _ => format!("({bits} >> {c}) % 2u == 1u"),
        })
    }

    /// Returns the vectors that an item with this value executes.
    fn vectors(&self, value: u32) -> Vec<Vector> {
        let of = |bits: u32| self.tree.evaluate(&|c| bits >> c & 1 == 1);
        let mut bits = value.rotate_left(self.rotated);
        match self.form {
            Form::If | Form::Ternary | Form::Value => vec![of(bits)],
            Form::Helper => vec![of(bits), of(!bits)],
            Form::While | Form::For | Form::Do => {
                let mut all = Vec::new();
                let mut rounds = 0;
                loop {
                    if self.form != Form::Do || rounds > 0 {
                        all.push(of(bits));
                        if all.last().is_some_and(|(_, result)| !result) {
                            return all;
                        }
                    }
                    bits = bits.wrapping_mul(5).wrapping_add(1);
                    rounds += 1;
                    if rounds > 3 {
                        return all;
                    }
                }
            }
        }
    }
}

/// Returns a kernel and its decisions.
fn kernel(random: &mut ChaCha8Rng) -> (String, Vec<Decision>) {
    let mut decisions: Vec<Decision> = Vec::new();
    for i in 0..14 {
        let conditions = random.random_range(2..=6);
        let tree = Tree::random(random, 0, conditions);
        decisions.push(Decision { tree, form: FORMS[i % FORMS.len()], rotated: random.random_range(0..32), line: 0 });
    }
    // 63 vectors, which take two words, and 127, which are too many.
    for pairs in [5, 6] {
        decisions.push(Decision { tree: Tree::pairs(pairs), form: Form::If, rotated: 7, line: 0 });
    }
    let mut text = String::new();
    for (i, decision) in decisions.iter_mut().enumerate().filter(|(_, d)| d.form == Form::Helper) {
        let expression = decision.expression("s", random);
        let _ = writeln!(text, "static int h{i}(const uint s) {{ return {expression} ? 7 : 9; }}");
        decision.line = text.lines().count() as u32;
    }
    text.push_str("__kernel void k(__global const uint *in, __global int *out) {\n");
    text.push_str("    const uint v = in[get_global_id(0)];\n    int sum = 0;\n");
    for (i, decision) in decisions.iter_mut().enumerate() {
        let _ = writeln!(text, "    uint s{i} = rotate(v, {}u);\n    int n{i} = 0;", decision.rotated);
        let e = decision.expression(&format!("s{i}"), random);
        let step = format!("s{i} = s{i} * 5u + 1u; if (++n{i} > 3) break;");
        let statement = match decision.form {
            Form::If => format!("if ({e}) sum += {i};"),
            Form::Ternary => format!("sum += {e} ? sum / 3 : sum + {i};"),
            Form::Value => format!("const int x{i} = {e}; sum += x{i} * {i};"),
            Form::While => format!("while ({e}) {{ {step} }}"),
            Form::For => format!("for (int m = 0; {e}; ++m) {{ sum += m; {step} }}"),
            Form::Do => format!("do {{ {step} }} while ({e});"),
            Form::Helper => format!("sum += h{i}(s{i}) + h{i}(~s{i});"),
        };
        let _ = writeln!(text, "    {statement}\n    sum += n{i};");
        if decision.form != Form::Helper {
            decision.line = text.lines().count() as u32 - 1;
        }
    }
    text.push_str("    out[get_global_id(0)] = sum;\n}\n");
    (text, decisions)
}

/// Returns whether the vectors are the expected ones. Under a negation of operators, a condition may be that of the
/// negated form (`!a` for `a`): then the letters of some conditions are exchanged everywhere. So is the result of a
/// value that is negated as a whole.
fn are_equal(tree: &Tree, expected: &BTreeSet<Vector>, found: &BTreeSet<(String, bool)>) -> bool {
    let flips = if tree.negates_operators() { 1u32 << (tree.conditions() + 1) } else { 1 };
    (0..flips).any(|flip| {
        let flipped = |(values, result): &Vector| {
            let values: Vec<Option<bool>> =
                values.iter().enumerate().map(|(c, value)| value.map(|v| v != (flip >> c & 1 == 1))).collect();
            (letters(&values), *result != (flip >> values.len() & 1 == 1))
        };
        expected.iter().map(flipped).collect::<BTreeSet<_>>() == *found
    })
}

fn check(decision: &Decision, found: &McdcDecision, values: &[u32], criterion: Criterion, what: &str) {
    let tree = &decision.tree;
    let what = format!("{what}, line {}: {tree:?}", decision.line);
    assert_eq!(found.conditions.len(), tree.conditions(), "{what}");
    if tree.conditions() > 10 {
        let reason = found.reason.as_deref();
        assert_eq!(reason, Some("it has 127 test vectors; up to 64 are recorded"), "{what}");
        return;
    }
    assert_eq!(found.reason, None, "{what}");
    let executed: BTreeSet<Vector> = values.iter().flat_map(|value| decision.vectors(*value)).collect();
    let of = |executed: bool| -> BTreeSet<(String, bool)> {
        let all = found.vectors.iter().filter(|v| v.executed || !executed);
        all.map(|v| (v.values.clone(), v.result)).collect()
    };
    assert!(are_equal(tree, &tree.vectors(), &of(false)), "{what}: {:?}", of(false));
    assert!(are_equal(tree, &executed, &of(true)), "{what}: expected {executed:?}, found {:?}", of(true));
    for (c, condition) in found.conditions.iter().enumerate() {
        assert_eq!(condition.covered, tree.covers(c, &executed, criterion), "{what}: condition {c}");
    }
}

#[test]
fn devices_and_the_simulator_record_what_is_evaluated() -> TestResult {
    let soak = std::env::var("KASSAY_SOAK").ok().and_then(|count| count.parse().ok());
    for seed in 0..soak.unwrap_or(3) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (text, decisions) = kernel(&mut random);
        let values: Vec<u32> = (0..24).map(|_| random.random()).collect();
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("k.cl"), &text)?;
        let suite = folder.path().join("suite.toml");
        std::fs::write(
            &suite,
            format!(
                "kernel = \"k.cl\"\n[[test]]\nname = \"t\"\nglobal = [24]\nlocal = [8]\n\
                 args = {{ in = {{ values = {values:?} }}, out = {{ fill = 0, len = 24 }} }}\n"
            ),
        )?;
        for (device, criterion, more) in [
            ("sim", Criterion::Masking, None),
            ("sim", Criterion::Unique, Some("--counts")),
            ("opencl", Criterion::Masking, None),
            ("opencl", Criterion::Unique, Some("--counts")),
        ] {
            let mut args = vec!["cover", at(&suite), "--device", device, "--mcdc", criterion.name(), "--quiet"];
            args.extend(["--repeats", "1"].iter().chain(&more));
            let result: CoverResult = serde_json::from_value(json(&args, 0)?)?;
            let mcdc = result.mcdc.ok_or("no MC/DC")?;
            let what = format!("seed {seed}, {device}\n{text}");
            assert_eq!(mcdc.decisions.len(), decisions.len(), "{what}");
            for decision in &decisions {
                let found = mcdc.decisions.iter().find(|d| d.location.line == decision.line);
                let found = found.ok_or_else(|| format!("{what}: no decision in line {}", decision.line))?;
                check(decision, found, &values, criterion, &what);
                if more.is_some() {
                    let counted: u64 = found.vectors.iter().map(|v| v.hits_by_test["t"]).sum();
                    // By item, each vector once.
                    let sets = values.iter().map(|value| decision.vectors(*value).into_iter().collect::<BTreeSet<_>>());
                    let expected: usize = sets.map(|set| set.len()).sum();
                    assert!(found.reason.is_some() || counted == expected as u64, "{what}: line {}", decision.line);
                }
            }
        }
    }
    Ok(())
}
