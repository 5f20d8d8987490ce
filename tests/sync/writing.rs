//! Checks that suites which are written read back as the same launches.

use std::sync::{Arc, LazyLock};

use kassay_ir::llvm::Context;
use kassay_model::interface::Interface;
use kassay_model::options::KernelOptions;
use kassay_suite::launch::{ArgValue, BufferAccess, Launch, NdRange, View};
use kassay_suite::resolve::Suite;
use kassay_suite::schedule::{Preemption, Schedule};
use kassay_suite::write::{self, NewSuite, NewTest};
use proptest::prelude::*;

use super::support::TestResult;
use crate::common::kernels::{Opened, OpenedSuite, open_bare, open_suite};
use crate::common::testdata::main_suites;

#[test]
fn every_test_of_the_testdata_reads_back_as_it_was() -> TestResult {
    let mut seen = 0;
    for path in main_suites() {
        let context = Context::create();
        let OpenedSuite { suite, kernel: Opened { under_test, .. }, tests } = open_suite(&context, &path)?;

        let folder = tempfile::tempdir()?;
        let written = NewSuite {
            spec: &[],
            sub_group_size: Some(32),
            kernel: write::relative(folder.path(), &suite.kernel),
            entry: &under_test.entry,
            options: &suite.options,
            name: None,
            description: Some("as it was: \"quoted\""),
            tests: tests
                .iter()
                .map(|t| NewTest {
                    name: t.name.clone(),
                    description: None,
                    launch: &t.launch,
                    faulted: &t.faulted,
                    expectations: &t.expectations,
                })
                .collect(),
        };
        let copy = write::write(folder.path(), &written, &under_test.interface)?;
        let copy = Suite::load(&copy)?;
        assert_eq!(copy.kernel.canonicalize()?, suite.kernel.canonicalize()?);
        let again = copy.resolve(&under_test.interface, 99)?;
        assert_eq!(again.len(), tests.len());
        for (a, b) in tests.iter().zip(&again) {
            assert_eq!(a.name, b.name);
            assert!(a.launch == b.launch, "{}: {}: another launch", path.display(), a.name);
            assert!(a.expectations == b.expectations, "{}: {}: other expectations", path.display(), a.name);
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
    Ok(())
}

#[test]
fn schedules_and_awkward_values_read_back() -> TestResult {
    let folder = tempfile::tempdir()?;
    let kernel = folder.path().join("a b.cl");
    std::fs::write(
        &kernel,
        "struct inner { char c; float3 v; };
         struct outer { ulong big; struct inner in[2]; union { int i; double d; } u; };
         kernel void k(global float *x, struct outer s, double y, local int *t, global half *h, char2 c, global struct inner *p) {}",
    )?;
    let context = Context::create();
    let under_test = open_bare(&context, &kernel, Some("k"), &KernelOptions::default())?.under_test;
    let suite = folder.path().join("suite.toml");
    std::fs::write(
        &suite,
        r#"kernel = "a b.cl"
           [[test]]
           global = [4, 2]
           local = [2, 1]
           offset = [3, 0]
           schedule = { map = [3, 1, 0, 2], item_order = [1, 0], preemptions = [{ group = 1, item = 0, access = 7, to = 1 }] }
           [test.args]
           x = { values = [0.1, -0.0, nan, inf, 3.4e38, 1.0e-45] }
           s = { fields = { big = "0xffffffffffffffff", in = [{ c = -1, v = [1, 2, 0.3] }, { c = 5, v = [0, 0, 0] }], u = { d = 0.1 } } }
           y = 0.1
           t = { local = 64 }
           h = { values = [0.1, 65504, 6.0e-8] }
           c = [-128, 127]
           p = { values = [{ c = 1, v = [1, 2, 3] }, { c = 2, v = [4, 5, 6] }] }
        "#,
    )?;
    let tests = Suite::load(&suite)?.resolve(&under_test.interface, 0)?;
    let expected = Schedule {
        map: vec![3, 1, 0, 2],
        item_order: vec![1, 0],
        preemptions: vec![Preemption { group: 1, item: 0, access: 7, to: Some(1) }],
    };
    assert_eq!(tests[0].launch.schedule, expected);
    let copy = folder.path().join("deep/er");
    std::fs::create_dir_all(&copy)?;
    let written = NewSuite {
        spec: &[],
        kernel: write::relative(&copy, &kernel),
        entry: "k",
        options: &["-DA=\"b c\"".to_owned()],
        tests: vec![NewTest {
            name: tests[0].name.clone(),
            description: None,
            launch: &tests[0].launch,
            faulted: &[],
            expectations: &[],
        }],
        ..NewSuite::default()
    };
    let path = write::write(&copy, &written, &under_test.interface)?;
    let text = std::fs::read_to_string(&path)?;
    assert!(text.contains("kernel = \"../../a b.cl\""), "{text}");
    assert!(text.contains("y = 0.1\n"), "{text}");
    let again = Suite::load(&path)?;
    assert_eq!(again.options, ["-DA=\"b c\""]);
    assert_eq!(again.resolve(&under_test.interface, 0)?[0].launch, tests[0].launch);
    Ok(())
}

/// The interface of a kernel whose arguments may share memory.
static SHARING: LazyLock<Interface> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("k.cl");
    let text = "struct pair { float x; int n; };
                kernel void k(global int *a, global int *b, global float4 *c, struct pair p, double d, uint n) {}";
    std::fs::write(&kernel, text).unwrap();
    let context = Context::create();
    open_bare(&context, &kernel, Some("k"), &KernelOptions::default()).unwrap().under_test.interface
});

/// A part, aligned to `align` bytes, of a memory of `len` bytes.
fn view(len: u64, align: u64, owns: bool) -> impl Strategy<Value = View> {
    let offset = (0..len.div_ceil(align).max(1)).prop_map(move |n| n * align);
    let made = any::<(Option<prop::sample::Index>, bool, bool, u8)>();
    (offset, made).prop_map(move |(offset, (size, svm, fresh, purpose))| {
        let rest = usize::try_from(len - offset).unwrap_or(0);
        let size = size.filter(|_| rest > 0 && !svm).map(|size| 1 + size.index(rest) as u64);
        let access = match purpose % 3 {
            1 if len > 0 => BufferAccess::ReadOnly,
            2 if len > 0 => BufferAccess::WriteOnly,
            _ => BufferAccess::ReadWrite,
        };
        View { offset, size, svm, uninitialised: owns && fresh && len > 0, access }
    })
}

fn sharing_launch() -> impl Strategy<Value = Launch> {
    let contents = || prop::collection::vec(any::<u8>(), 0..80);
    let parts = (contents(), contents()).prop_flat_map(|(a, c)| {
        let (a_len, c_len) = (a.len() as u64, c.len() as u64);
        (Just(a), view(a_len, 4, true), view(a_len, 4, false), Just(c), view(c_len, 16, true))
    });
    let values = (any::<[u8; 8]>(), any::<[u8; 8]>(), any::<[u8; 4]>());
    (parts, values).prop_map(|((a, of_a, of_b, c, of_c), (p, d, n))| {
        let buffer = |bytes| ArgValue::Buffer(Arc::new(bytes));
        let value = |bytes: &[u8]| ArgValue::Value(bytes.to_vec());
        let args = vec![buffer(a), ArgValue::Same(0), buffer(c), value(&p), value(&d), value(&n)];
        let range = NdRange { dims: 1, global: [4, 1, 1], local: None, offset: [0; 3] };
        let mut views = vec![of_a, of_b, of_c];
        while views.last() == Some(&View::default()) {
            views.pop();
        }
        Launch { views, ..Launch::new(range, args) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn launches_that_share_memory_read_back(launch in sharing_launch()) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.cl"), "").unwrap();
        let test = NewTest { name: "t".into(), description: None, launch: &launch, faulted: &[], expectations: &[] };
        let written = NewSuite { kernel: "k.cl".into(), entry: "k", tests: vec![test], ..NewSuite::default() };
        let path = write::write(folder.path(), &written, &SHARING).unwrap();
        let again = Suite::load(&path).unwrap().resolve(&SHARING, 0).unwrap();
        prop_assert_eq!(&again[0].launch, &launch, "{}", std::fs::read_to_string(&path).unwrap());
    }
}
