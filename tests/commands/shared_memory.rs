//! Checks suites whose arguments share memory, are null or uninitialised, or are given as bytes, through the program
//! itself: on the simulator and on a device.

use std::process::Output;

use crate::common::TestResult;
use crate::common::program::kassay;
use crate::common::testdata::{entries, name, testdata};

fn run(folder: &std::path::Path, args: &[&str]) -> TestResult<(Option<i32>, String)> {
    let Output { status, stdout, stderr } = kassay().args(args).current_dir(folder).output()?;
    let text = format!("{}{}", String::from_utf8(stdout)?, String::from_utf8(stderr)?);
    assert!(!text.contains("panicked"), "{text}");
    Ok((status.code(), text))
}

/// Runs kassay in `testdata/aliases` and expects an exit code.
fn ends(code: i32, args: &[&str]) -> TestResult<String> {
    let (status, text) = run(&testdata("aliases"), args)?;
    assert_eq!(status, Some(code), "{args:?}: {text}");
    Ok(text)
}

#[test]
fn aliases_sub_buffers_and_null_pointers_give_the_same_on_device_and_simulator() -> TestResult {
    let mut suites = 0;
    for suite in entries(&testdata("aliases")).iter().map(|path| name(path)).filter(|name| name.starts_with("suite")) {
        for device in ["sim", "opencl"] {
            let text = ends(0, &["run", &suite, "--device", device])?;
            assert!(!text.contains("unchecked"), "{suite} on {device}: {text}");
        }
        let text = ends(0, &["check", &suite])?;
        assert!(text.contains("verdict: clean"), "{suite}: {text}");
        suites += 1;
    }
    assert!(suites > 5, "{suites}");
    Ok(())
}

#[test]
fn coverage_and_mutants_of_arguments_that_share_memory_agree_between_device_and_simulator() -> TestResult {
    for (suite, survivors) in [("suite.toml", 0), ("suite-shift.toml", 0)] {
        let mut seen = Vec::new();
        for device in ["sim", "opencl"] {
            ends(0, &["cover", suite, "--device", device])?;
            let text =
                ends(0, &["mutate", suite, "--operators", "AOR,ROR,SDL", "--device", device, "--format", "json"])?;
            let json: serde_json::Value =
                serde_json::from_str(text.get(..=text.rfind('}').unwrap_or(0)).unwrap_or(""))?;
            let status = |mutant: &serde_json::Value| (mutant["id"].to_string(), mutant["status"].to_string());
            seen.push(json["mutants"].as_array().into_iter().flatten().map(status).collect::<Vec<_>>());
            assert!(json["summary"]["killed"].as_u64().unwrap_or(0) > survivors, "{text}");
        }
        assert_eq!(seen[0], seen[1], "{suite}");
    }
    Ok(())
}

#[test]
fn a_race_between_sub_buffers_is_found_and_names_both() -> TestResult {
    let text = ends(1, &["check", "racy.toml", "--format", "json"])?;
    let json: serde_json::Value = serde_json::from_str(&text)?;
    assert_eq!(json["verdict"], "racy");
    let finding = &json["findings"][0];
    assert_eq!(finding["kind"], "data-race");
    // Elements 32 to 63 of the memory are read as `from` and written as `to`.
    assert_eq!(finding["count"], 32, "{finding}");
    let mut elements: Vec<&str> =
        finding["accesses"].as_array().into_iter().flatten().filter_map(|a| a["element"].as_str()).collect();
    elements.sort_unstable();
    let [from, to] = elements[..] else { panic!("{finding}") };
    let index = |text: &str| text.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>();
    assert!(from.starts_with("from[") && to.starts_with("to["), "{finding}");
    assert_eq!(index(from)?, index(to)? + 32, "{finding}");
    let message = finding["message"].as_str().unwrap_or_default();
    assert!(message.contains(&format!("`{from}`")) && message.contains(&format!("`{to}`")), "{message}");
    Ok(())
}

/// Runs the kernel `entry` of `testdata/aliases` on a test.
fn with_suite(entry: &str, text: &str, args: &[&str]) -> TestResult<(Option<i32>, String)> {
    let folder = tempfile::tempdir()?;
    let kernel = testdata("aliases").join("aliases.cl");
    let head = format!("kernel = {:?}\nentry = \"{entry}\"\n[[test]]\n", kernel.display().to_string());
    std::fs::write(folder.path().join("suite.toml"), head + text)?;
    run(folder.path(), args)
}

#[test]
fn an_argument_may_access_its_own_part_only() -> TestResult {
    let test = "global = [33]\nlocal = [1]\n[test.args]\nfrom = { fill = 0, len = 96, size = 128 }\n\
                to = { same_as = \"from\", offset = 256 }\n";
    let (code, text) = with_suite("shift", test, &["check", "suite.toml"])?;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("`from[32]`, but it has 32 elements"), "{text}");
    assert!(text.contains("`to[32]`, but it has 32 elements"), "{text}");
    // An SVM pointer reaches its whole allocation.
    let test = test.replace("len = 96, size = 128", "len = 96, svm = true").replace("offset = 256", "offset = 252");
    let (code, text) = with_suite("shift", &test, &["run", "suite.toml", "--device", "sim"])?;
    assert_eq!(code, Some(0), "{text}");
    Ok(())
}

#[test]
fn reads_of_buffers_to_which_nothing_was_written_are_findings() -> TestResult {
    let test = "global = [4]\nlocal = [4]\n[test.args]\ntotal = { uninitialised = true, len = 4 }\n";
    let (code, text) = with_suite("count", test, &["check", "suite.toml", "--format", "json"])?;
    assert_eq!(code, Some(0), "{text}");
    let json: serde_json::Value = serde_json::from_str(&text)?;
    let finding = &json["findings"][0];
    assert_eq!((&finding["kind"], &finding["count"]), (&"uninitialised".into(), &4.into()), "{text}");
    assert_eq!((&finding["variable"], &finding["memory"]), (&"total".into(), &"global".into()), "{text}");
    assert!(finding["message"].as_str().is_some_and(|m| m.contains("which nothing has written")), "{finding}");
    let (_, text) = with_suite("count", &test.replace("uninitialised = true", "fill = 0"), &["check", "suite.toml"])?;
    assert!(!text.contains("uninitialised"), "{text}");
    Ok(())
}

#[test]
fn devices_refuse_sub_buffers_that_are_not_aligned() -> TestResult {
    let test = "global = [4]\nlocal = [4]\n[test.args]\nfrom = { fill = 0, len = 16 }\n\
                to = { same_as = \"from\", offset = 4 }\n";
    let (code, text) = with_suite("shift", test, &["run", "suite.toml", "--device", "opencl"])?;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("CL_MISALIGNED_SUB_BUFFER_OFFSET") && text.contains("argument 1"), "{text}");
    Ok(())
}

#[test]
fn what_no_test_can_mean_is_refused_where_it_stands() -> TestResult {
    let shift = |from: &str, to: &str| format!("global = [4]\nlocal = [4]\n[test.args]\nfrom = {from}\nto = {to}\n");
    let buffer = "{ fill = 0, len = 64 }";
    for (from, to, parts) in [
        (buffer, "{ same_as = \"form\" }", &[":8:18", "no other buffer `form`", "from"][..]),
        (buffer, "{ same_as = \"to\" }", &[":8:18", "no other buffer `to`"]),
        ("{ same_as = \"to\" }", "{ same_as = \"from\" }", &["has no buffer of its own"]),
        (buffer, "{ same_as = \"from\", offset = 128, size = 132 }", &[":8:35", "132 bytes from byte 128 on", "256"]),
        (buffer, "{ same_as = \"from\", offset = 256 }", &[":8:35", "byte 256 does not lie in the 256 bytes"]),
        (buffer, "{ same_as = \"from\", size = 0 }", &[":8:33", "a whole number of 1 or more"]),
        (buffer, "{ same_as = \"from\", offset = 2 }", &[":8:35", "aligned to 4 bytes"]),
        (buffer, "{ same_as = \"from\", svm = true, size = 8 }", &["has no size of its own"]),
        (buffer, "{ same_as = \"from\", expect = [1] }", &[":8:26", "unknown key `expect`"]),
        ("{ null = true }", "{ same_as = \"from\", offset = 4 }", &[":8:35", "`to` is a null pointer"]),
        ("{ null = true, len = 4 }", buffer, &[":7:17", "a null pointer has no contents"]),
        ("{ null = 1 }", buffer, &[":7:17", "a boolean"]),
        ("{ uninitialised = true }", buffer, &[":7:", "how many elements"]),
        ("{ bytes = \"00\" }", buffer, &["a buffer", "raw bytes"]),
    ] {
        let (code, text) = with_suite("shift", &shift(from, to), &["run", "suite.toml", "--device", "sim"])?;
        let missing = parts.iter().find(|part| !text.contains(**part));
        assert_eq!((code, missing), (Some(2), None), "{from}, {to}: {text}");
    }
    let points = |a: &str| {
        format!(
            "global = [1]\n[test.args]\na = {a}\nv = [0, 0, 0, 0]\nout = [0]\nl = {{ fields = {{}}, partial = true }}\n"
        )
    };
    for (a, part) in [
        ("{ bytes = \"0000\" }", "these are 2 bytes, but `a` (`float`) has 4"),
        ("{ bytes = \"0000000\" }", "one digit only"),
        ("{ bytes = \"0000 00xy\" }", "`x` is no hexadecimal digit"),
    ] {
        let (code, text) = with_suite("points", &points(a), &["run", "suite.toml", "--device", "sim"])?;
        assert!(code == Some(2) && text.contains(part) && text.contains(":6:15"), "{a}: {text}");
    }
    let pointers = "struct node { int v; global struct node *next; };
kernel void k(global struct node *all, global int *out) { out[0] = all[0].v; }
";
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("k.cl"), pointers)?;
    let suite = "kernel = \"k.cl\"\noptions = [\"-cl-std=CL2.0\"]\n[[test]]\nglobal = [1]\n[test.args]\nout = [0]\n\
                 all = { npy = \"all.npy\", svm = true }\n";
    std::fs::write(folder.path().join("suite.toml"), suite)?;
    let file = b"\x93NUMPY\x01\x00\x3e\x00{'descr': '|V1', 'fortran_order': False, 'shape': (16,), }   \n";
    std::fs::write(folder.path().join("all.npy"), [&file[..], &[0; 16]].concat())?;
    let (code, text) = run(folder.path(), &["run", "suite.toml", "--device", "sim"])?;
    assert!(code == Some(2) && text.contains(":7:32") && text.contains("holds pointers"), "{text}");
    Ok(())
}
