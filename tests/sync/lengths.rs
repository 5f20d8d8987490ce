//! Checks the lengths of buffers that are proved: of small kernels by hand, and of the kernels of `testdata` by runs with
//! buffers that are no longer.

use std::sync::Arc;

use kassay::result::check::FindingKind;
use kassay::{CheckOptions, OpenOptions, Proving, check};
use kassay_ir::llvm::Context;
use kassay_model::condition::{IndexBuffer, KnownLaunch, ScalarArgument};
use kassay_model::interface::{ArgKind, Interface, Type};
use kassay_prove::program::{promoted, reader};
use kassay_prove::symbolic::race_freedom::{self, Length};
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::write::{self, NewSuite, NewTest};

use crate::common::TestResult;
use crate::common::kernels::{Opened, OpenedSuite, open_suite};
use crate::common::testdata::main_suites;

/// Kernels, and what is said of their buffers.
const KERNELS: [(&str, &[&str]); 13] = [
    (
        "kernel void k(global const float *a, global const float *b, global float *c, int ni, int nj, int nk) { int j = \
         get_global_id(0), i = get_global_id(1); if (i < ni && j < nj) { float s = 0; for (int k = 0; k < nk; k++) s += \
         a[i * nk + k] * b[k * nj + j]; c[i * nj + j] = s; } }",
        &["`a` needs `ni * nk` elements", "`b` needs `nk * nj` elements", "`c` needs `ni * nj` elements"],
    ),
    (
        "kernel void k(global const float *in, global float *out, local float *tile) { int i = get_global_id(0), l = \
         get_local_id(0); tile[l + 1] = in[i]; if (l == 0) tile[0] = tile[get_local_size(0) + 1] = 0; \
         barrier(CLK_LOCAL_MEM_FENCE); out[i] = tile[l] + tile[l + 2]; }",
        &[
            "`in` needs `get_global_size(0)` elements",
            "`out` needs `get_global_size(0)` elements",
            "`tile` needs `get_local_size(0) + 2` elements",
        ],
    ),
    (
        "kernel void k(global uint *p, uint w, uint h, uint pitch) { uint x = get_global_id(0), y = get_global_id(1); if (x \
         >= w || y >= h) return; p[y * pitch + x] = x; }",
        &["`p` needs `h * pitch - pitch + w` elements if `pitch <= 2147483647`"],
    ),
    // Strides of the launch.
    (
        "kernel void k(global int *p, int n) { for (int i = get_global_id(0); i < n; i += get_global_size(0)) p[i] += i; }",
        &["`p` needs `n` elements"],
    ),
    // What may be below 0 has no length, nor has what comes from memory.
    (
        "kernel void k(global int *p, global const int *at, int n) { int i = get_global_id(0); p[n - 1 - i] = at[i]; }",
        &["`at` needs `get_global_size(0)` elements"],
    ),
    (
        "kernel void k(global int *p, global const int *at) { int i = get_global_id(0); p[at[i]] = i; }",
        &["`at` needs `get_global_size(0)` elements"],
    ),
    // Unless it is compared with something.
    (
        "kernel void k(global int *p, global const int *at, int n) { int i = get_global_id(0), j = at[i]; if (j >= 0 && j \
         < n) atomic_inc(&p[j]); }",
        &["`p` needs `n` elements", "`at` needs `get_global_size(0)` elements"],
    ),
    (
        "kernel void k(global int *h, global const uint *in) { atomic_inc(&h[in[get_global_id(0)] & 255]); }",
        &["`h` needs 256 elements", "`in` needs `get_global_size(0)` elements"],
    ),
    (
        "kernel void k(global const int *p, global int *out, int n, int m) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; \
         for (int i = 0; i < m; i++) s -= p[i]; out[get_global_id(0)] = s; }",
        &["`p` needs `max(m, n)` elements", "`out` needs `get_global_size(0)` elements"],
    ),
    // Wider accesses than elements, and ones that are no number of elements.
    (
        "kernel void k(global float *p, global char *q) { int i = get_global_id(0); vstore4((float4)(1), i, p); *(global \
         short *)(q + 2 * i + 1) = 1; }",
        &["`p` needs `4 * get_global_size(0)` elements", "`q` needs `2 * get_global_size(0) + 1` elements"],
    ),
    (
        "kernel void k(global float4 *p, int off) { global float *q = (global float *)p; q[get_global_id(0) + off] = 0; }",
        &["`p` needs `4 * get_global_size(0) + 4 * off` bytes if `off >= 0`"],
    ),
    ("kernel void k(global int *p, int n) { p[get_global_id(0) % n] = 0; }", &["`p` needs `n` elements if `n >= 1`"]),
    (
        "kernel void k(global int *p, global int *q, int n) { int i = get_global_id(0); global int *r = n > 0 ? p : q + 1; \
         r[min(i, 9)] = 0; }",
        &["`p` needs 10 elements", "`q` needs 11 elements"],
    ),
];

#[test]
fn lengths_are_what_a_person_would_say() -> TestResult {
    let folder = tempfile::tempdir()?;
    for (text, expected) in KERNELS {
        let file = folder.path().join("k.cl");
        std::fs::write(&file, text)?;
        let opened = OpenOptions::new().open_kernel(&file)?;
        let result = check(&opened, &CheckOptions::new().amplify(false).redundant(false).prove(Proving::Long))?;
        let said: Vec<String> = result.lengths.iter().map(kassay::result::proofs::Length::text).collect();
        assert_eq!(said, expected, "{text}");
    }
    Ok(())
}

struct Known<'a> {
    launch: &'a Launch,
    interface: &'a Interface,
}

impl KnownLaunch for Known<'_> {
    fn global_size(&self, dimension: u8) -> Option<u64> {
        self.launch.range.global.get(usize::from(dimension)).copied()
    }

    fn local_size(&self, dimension: u8) -> Option<u64> {
        self.launch.range.decided().local.get(usize::from(dimension)).copied()
    }

    fn scalar(&self, scalar: &ScalarArgument) -> Option<i128> {
        let ArgKind::Value(Type::Scalar(ty)) = &self.interface.args.get(scalar.position as usize)?.kind else {
            return None;
        };
        let Some(ArgValue::Value(bytes)) = self.launch.args.get(scalar.position as usize) else { return None };
        let bits = bytes.iter().rev().fold(0i128, |all, byte| all << 8 | i128::from(*byte));
        let is_negative = ty.is_signed() && bytes.last().is_some_and(|byte| *byte >= 128);
        Some(if is_negative { bits - (1 << (8 * bytes.len())) } else { bits })
    }

    fn elements(&self, _: &IndexBuffer) -> Option<Vec<i128>> {
        None
    }
}

/// The bytes that a length is in a launch; `None` if it is not one for it.
fn bytes(length: &Length, launch: &Launch, interface: &Interface) -> Option<u64> {
    let known = Known { launch, interface };
    let keeps = length.condition.as_ref().is_none_or(|condition| condition.holds(&known) == Some(true));
    // It is said of launches without an offset.
    if !keeps || launch.range.offset != [0; 3] {
        return None;
    }
    let all: Option<Vec<i128>> = length.elements.iter().map(|extent| extent.value(&known)).collect();
    let most = u64::try_from(all?.into_iter().max()?.max(0)).ok()?;
    let element = match &interface.args.get(length.position as usize)?.kind {
        _ if length.in_bytes => 1,
        ArgKind::Buffer { element, .. } | ArgKind::Local { element } => element.as_ref()?.size(),
        _ => return None,
    };
    most.checked_mul(element)
}

/// Makes buffers no longer than needed; returns how many are shorter now.
fn shorten(launch: &mut Launch, lengths: &[Length], interface: &Interface) -> usize {
    let mut shorter = 0;
    for length in lengths {
        let Some(needed) = bytes(length, launch, interface) else { continue };
        match launch.args.get_mut(length.position as usize) {
            Some(ArgValue::Buffer(contents)) if needed > 0 && (contents.len() as u64) > needed => {
                Arc::make_mut(contents).truncate(needed as usize);
                shorter += 1;
            }
            Some(ArgValue::Local(size)) if needed > 0 && *size > needed => {
                *size = needed;
                shorter += 1;
            }
            _ => {}
        }
    }
    shorter
}

/// In no launch of the suites of `testdata` more is accessed than what is proved to be enough.
#[test]
fn buffers_of_proved_lengths_are_not_overrun() -> TestResult {
    let (mut proved, mut shortened) = (0, 0);
    for path in main_suites() {
        let context = Context::create();
        let OpenedSuite { suite, kernel: Opened { under_test, .. }, mut tests } = open_suite(&context, &path)?;
        let interface = &under_test.interface;
        let shares = tests.iter().any(|test| test.launch.sharing().next().is_some() || !test.launch.views.is_empty());
        if shares || suite.kernel.extension().is_none_or(|extension| extension != "cl") {
            continue;
        }
        let module = promoted::with_simple_loops(&under_test.module, &under_test.entry, &under_test.machine, None)?;
        let program = reader::read(&module, &under_test.entry)?;
        let lengths = race_freedom::lengths(&program, interface, None);
        proved += lengths.len();
        let of_suite: usize = tests.iter_mut().map(|test| shorten(&mut test.launch, &lengths, interface)).sum();
        if of_suite == 0 {
            continue;
        }
        shortened += of_suite;
        let folder = tempfile::tempdir()?;
        let written = NewSuite {
            kernel: write::relative(folder.path(), &suite.kernel),
            entry: &under_test.entry,
            options: &suite.options,
            sub_group_size: interface.sub_groups.simulated(),
            tests: tests
                .iter()
                .map(|test| NewTest {
                    name: test.name.clone(),
                    description: None,
                    launch: &test.launch,
                    faulted: &test.faulted,
                    expectations: &[],
                })
                .collect(),
            ..NewSuite::default()
        };
        let copy = write::write(folder.path(), &written, interface)?;
        let options = CheckOptions::new().amplify(false).redundant(false).prove(Proving::Never);
        let (before, after) =
            (check(&OpenOptions::new().open(&path)?, &options)?, check(&OpenOptions::new().open(&copy)?, &options)?);
        let overruns = |result: &kassay::result::check::CheckResult| {
            result.findings.iter().filter(|f| f.kind == FindingKind::OutOfBounds).count()
        };
        assert!(overruns(&after) <= overruns(&before), "{}: {lengths:?}\n{:?}", path.display(), after.findings);
    }
    println!("{proved} lengths proved, {shortened} buffers shortened");
    assert!(proved > 100 && shortened > 10, "{proved} lengths, {shortened} shortened");
    Ok(())
}
