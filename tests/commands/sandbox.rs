//! `--sandbox`: a suite that is not trusted reads nothing outside of its folder, by whatever way it tries. Each way works without
//! the flag, so that the test would notice if it led nowhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::common::TestResult;
use crate::common::program::{at, kassay, run};

const KERNEL: &str = "__kernel void k(__global int *a) { a[get_global_id(0)] += 1; }\n";
const TEST: &str =
    "\n[[test]]\nglobal = [4]\n[test.args]\na = { values = [1, 2, 3, 4], expect = { values = [2, 3, 4, 5] } }\n";

/// A folder `in` with a suite, and a folder `out` beside it with files that are not its own.
struct Bench {
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> TestResult<Bench> {
        let root = tempfile::tempdir()?;
        let bench = Bench { root };
        fs::create_dir_all(bench.at("in/sub"))?;
        fs::create_dir(bench.at("out"))?;
        bench.write("in/k.cl", KERNEL)?;
        bench.write("out/k.cl", KERNEL)?;
        bench.write("in/own.h", "#define OWN 1\n")?;
        bench.write("out/secret.h", "#define SECRET 1\n")?;
        // int32, four elements.
        let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }";
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(format!("{header:<117}\n").as_bytes());
        npy.extend([1i32, 2, 3, 4].iter().flat_map(|value| value.to_le_bytes()));
        fs::write(bench.at("in/x.npy"), &npy)?;
        fs::write(bench.at("out/x.npy"), &npy)?;
        symlink(bench.at("out/x.npy"), bench.at("in/link.npy"))?;
        symlink(bench.at("out/k.cl"), bench.at("in/link.cl"))?;
        symlink(bench.at("out/secret.h"), bench.at("in/link.h"))?;
        symlink(bench.at("out"), bench.at("in/folder"))?;
        Ok(bench)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> TestResult {
        Ok(fs::write(self.at(path), text)?)
    }

    /// Runs a suite with this text, with flags.
    fn run(&self, suite: &str, flags: &[&str]) -> TestResult<(String, i32)> {
        self.write("in/suite.toml", suite)?;
        let path = self.at("in/suite.toml");
        let (_, err, code) = run(&[&["run", at(&path), "--device", "sim", "--no-cache"], flags].concat())?;
        Ok((err, code))
    }

    /// Checks that a suite works, but not in a sandbox.
    fn leads_out(&self, suite: &str) -> TestResult {
        let (err, code) = self.run(suite, &[])?;
        assert_eq!(code, 0, "{suite}\n{err}");
        let (err, code) = self.run(suite, &["--sandbox"])?;
        assert!(code == 2 && err.contains("--sandbox") && err.contains("help:"), "{code} {suite}\n{err}");
        Ok(())
    }
}

#[test]
fn what_lies_in_the_folder_can_be_used() -> TestResult {
    let bench = Bench::new()?;
    bench.write("in/k.cl", &format!("#include \"own.h\"\n#include \"sub/../own.h\"\n{KERNEL}"))?;
    let suite = format!("kernel = \"sub/../k.cl\"\noptions = [\"-DX=1\", \"-Isub\", \"-cl-std=CL2.0\"]{TEST}");
    assert_eq!(bench.run(&suite, &["--sandbox"])?.1, 0);
    let suite = "kernel = \"k.cl\"\n[[test]]\nglobal = [4]\n[test.args]\na = { npy = \"./sub/../x.npy\" }\n";
    assert_eq!(bench.run(suite, &["--sandbox"])?.1, 0);
    Ok(())
}

#[test]
fn kernels_and_data_do_not_come_from_outside() -> TestResult {
    let bench = Bench::new()?;
    let out = bench.at("out").display().to_string();
    for kernel in ["../out/k.cl", &format!("{out}/k.cl"), "link.cl", "folder/k.cl"] {
        bench.leads_out(&format!("kernel = \"{kernel}\"{TEST}"))?;
    }
    for npy in ["../out/x.npy", &format!("{out}/x.npy"), "link.npy", "folder/x.npy"] {
        bench.leads_out(&format!(
            "kernel = \"k.cl\"\n[[test]]\nglobal = [4]\n[test.args]\na = {{ npy = \"{npy}\" }}\n"
        ))?;
        let expect = format!("a = {{ values = [0, 1, 2, 3], expect = {{ npy = \"{npy}\" }} }}");
        bench.leads_out(&format!("kernel = \"k.cl\"\n[[test]]\nglobal = [4]\n[test.args]\n{expect}\n"))?;
    }
    Ok(())
}

#[test]
fn kernels_include_nothing_from_outside() -> TestResult {
    let bench = Bench::new()?;
    let out = bench.at("out").display().to_string();
    for way in [
        "#include \"../out/secret.h\"",
        &format!("#include \"{out}/secret.h\""),
        &format!("#include <{out}/secret.h>"),
        "#include \"link.h\"",
        "#include \"folder/secret.h\"",
        "#if __has_include(\"../out/secret.h\")\n#endif",
        // With line directives, kassay reads the files before clang does.
        "#line 1 \"other\"\n#include \"../out/secret.h\"",
    ] {
        bench.write("in/k.cl", &format!("{way}\n{KERNEL}"))?;
        bench.leads_out(&format!("kernel = \"k.cl\"{TEST}"))?;
    }
    // The user may name a folder.
    let (err, code) = bench.run(&format!("kernel = \"k.cl\"{TEST}"), &["--sandbox", "-I", &out])?;
    assert_eq!(code, 0, "{err}");
    Ok(())
}

#[test]
fn suites_give_clang_no_files_and_no_folders_outside() -> TestResult {
    let bench = Bench::new()?;
    let (out, made) = (bench.at("out").display().to_string(), bench.at("out/made").display().to_string());
    for options in [
        "\"-I../out\"".to_owned(),
        format!("\"-I{out}\""),
        format!("\"-I\", \"{out}\""),
        format!("\"-include\", \"{out}/secret.h\""),
        format!("\"-MD\", \"-MF\", \"{made}\""),
        format!("\"-isystem\", \"{out}\""),
    ] {
        bench.leads_out(&format!("kernel = \"k.cl\"\noptions = [{options}]{TEST}"))?;
    }
    fs::remove_file(&made).ok();
    bench.run(&format!("kernel = \"k.cl\"\noptions = [\"-MD\", \"-MF\", \"{made}\"]{TEST}"), &["--sandbox"])?;
    assert!(!Path::new(&made).exists());
    Ok(())
}

#[test]
fn a_compilation_without_the_sandbox_is_no_way_around_it() -> TestResult {
    let bench = Bench::new()?;
    bench.write("in/k.cl", &format!("#include \"../out/secret.h\"\n{KERNEL}"))?;
    bench.write("in/suite.toml", &format!("kernel = \"k.cl\"{TEST}"))?;
    let (suite, cache) = (bench.at("in/suite.toml"), bench.at("cache"));
    let args = ["run", at(&suite), "--device", "sim", "--cache", at(&cache)];
    // Files that have just been written are not cached.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(run(&args)?.2, 0);
    assert_eq!(run(&args)?.2, 0);
    assert_eq!(run(&[&args[..], &["--sandbox"]].concat())?.2, 2);
    Ok(())
}

#[test]
fn sources_that_debug_information_names_are_not_shown() -> TestResult {
    let bench = Bench::new()?;
    let secret = bench.at("out/secret.h").display().to_string();
    // A digraph, which kassay does not take for a directive.
    bench.write("in/k.cl", &format!("%:line 1 \"{secret}\"\n{KERNEL}"))?;
    bench.write("in/suite.toml", &format!("kernel = \"k.cl\"{TEST}"))?;
    let suite = bench.at("in/suite.toml");
    let args = ["cover", at(&suite), "--device", "sim"];
    let (out, err, _) = run(&args)?;
    assert!(out.contains("#define SECRET"), "{out}{err}");
    let (out, err, code) = run(&[&args[..], &["--sandbox"]].concat())?;
    assert!(code == 0 && !out.contains("#define SECRET"), "{code} {out}{err}");
    Ok(())
}

#[test]
fn assembly_of_a_module_reads_no_files() -> TestResult {
    let bench = Bench::new()?;
    // An assembler that gets this far complains.
    bench.write(
        "in/k.ll",
        "target triple = \"spirv64-unknown-unknown\"\nmodule asm \"x: .incbin \\22/nonexistent/file\\22\"\n\
         define spir_kernel void @k(ptr addrspace(1) %a) {\n  ret void\n}\n",
    )?;
    let suite = "kernel = \"k.ll\"\n[[arg]]\nname = \"a\"\ntype = \"int*\"\n[[test]]\nglobal = [4]\n[test.args]\na = { values = [1] }\n";
    let (err, code) = bench.run(suite, &["--sandbox"])?;
    assert_eq!(code, 0, "{err}");
    Ok(())
}

#[test]
fn saved_outputs_stay_in_their_folder() -> TestResult {
    let bench = Bench::new()?;
    let saved = bench.at("in/saved");
    for name in ["..", "../../up", "."] {
        let suite = format!("kernel = \"k.cl\"{}", TEST.replace("global", &format!("name = \"{name}\"\nglobal")));
        let (err, code) = bench.run(&suite, &["--save-outputs", at(&saved)])?;
        assert_eq!(code, 0, "{err}");
    }
    assert!(!bench.at("in/a.npy").exists() && !saved.join("a.npy").exists() && !bench.at("up").exists());
    assert_eq!(fs::read_dir(&saved)?.count(), 3);
    Ok(())
}

#[test]
fn a_projects_suites_and_flags_stay_in_its_folder() -> TestResult {
    let bench = Bench::new()?;
    bench.write("in/suite.toml", &format!("kernel = \"k.cl\"{TEST}"))?;
    bench.write("out/suite.toml", &format!("kernel = \"k.cl\"{TEST}"))?;
    let ci = |project: &str, flags: &[&str]| -> TestResult<(String, Option<i32>)> {
        bench.write("in/kassay.toml", project)?;
        let output = kassay().arg("ci").args(flags).current_dir(bench.at("in")).output()?;
        Ok((String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code()))
    };
    let good = "suites = \"suite.toml\"\n[options]\ndevice = \"sim\"\nI = \"sub\"\n[run]\n";
    assert_eq!(ci(good, &["--sandbox"])?.1, Some(0));
    for bad in [
        "suites = \"../out/suite.toml\"\n[options]\ndevice = \"sim\"\n[run]\n",
        "suites = \"suite.toml\"\n[options]\ndevice = \"sim\"\nI = \"../out\"\n[run]\n",
        "suites = \"suite.toml\"\n[options]\ndevice = \"sim\"\nclang-arg = \"-H\"\n[run]\n",
    ] {
        let (err, code) = ci(bad, &[])?;
        assert_eq!(code, Some(0), "{bad}{err}");
        let (err, code) = ci(bad, &["--sandbox"])?;
        assert!(code == Some(2) && err.contains("--sandbox"), "{code:?} {bad}{err}");
    }
    // The project itself can say that its suites are not trusted.
    bench.write("in/k.cl", &format!("#include \"../out/secret.h\"\n{KERNEL}"))?;
    assert_eq!(ci(good, &[])?.1, Some(0));
    let (err, code) = ci(&format!("sandbox = true\n{good}"), &[])?;
    assert_eq!(code, Some(2), "{err}");
    Ok(())
}

#[test]
fn values_of_an_interface_file_stay_in_its_folder() -> TestResult {
    let bench = Bench::new()?;
    let (kernel, folder) = (bench.at("in/k.cl"), bench.at("in/made"));
    let args = ["generate", at(&kernel), "-o", at(&folder), "--max-execs", "10"];
    assert_eq!(run(&args)?.2, 0);
    let file = folder.join("interface.toml");
    let text = fs::read_to_string(&file)?;
    let wider = text.replacen("[[arg]]", "[[arg]]\nvalue = { npy = \"../../out/x.npy\" }", 1);
    assert_ne!(text, wider);
    fs::write(&file, wider)?;
    let (_, err, code) = run(&args)?;
    assert_eq!(code, 0, "{err}");
    let (_, err, code) = run(&[&args[..], &["--sandbox"]].concat())?;
    assert!(code == 2 && err.contains("--sandbox"), "{code} {err}");
    Ok(())
}

#[test]
fn it_is_refused_where_it_would_promise_too_much() -> TestResult {
    for args in
        [&["capture", "-o", "x", "--", "true"][..], &["cover", "--", "true"], &["report", "r.json", "-o", "r.html"]]
    {
        let (_, err, code) = run(&[args[..1].as_ref(), &["--sandbox"], &args[1..]].concat())?;
        assert!(code == 2 && err.contains("does not confine"), "{args:?}: {err}");
    }
    Ok(())
}
