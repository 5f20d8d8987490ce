//! Checks what is read of a SPIR-V module's debug information: lines, also without scopes, and the source that they
//! name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::program::kassay;
use crate::common::testdata::testdata;

const DEBUG: &str = "OpExtInst %void %2 Debug";

fn peaks() -> String {
    fs::read_to_string(testdata("spirv/lines/peaks.spvasm")).unwrap()
}

/// The text of a module without its debug information: what had a line and a scope has a line (`OpLine`).
fn with_bare_lines(text: &str) -> String {
    let (mut line, mut in_scope, mut written) = (None, false, None);
    let mut bare = String::new();
    for at in text.lines() {
        if at.contains(&format!("{DEBUG}NoScope")) {
            in_scope = false;
        } else if at.contains(&format!("{DEBUG}Scope")) {
            in_scope = true;
        } else if at.contains(" OpLine ") {
            line = Some(at);
        } else if !at.contains(DEBUG) && !at.contains("\"OpenCL.DebugInfo.100\"") {
            let wanted = line.filter(|_| in_scope);
            if wanted != written {
                bare += &format!("{}\n", wanted.unwrap_or("OpNoLine"));
                written = wanted;
            }
            bare += &format!("{at}\n");
            // Lines and scopes end with their block.
            if at.contains(" OpLabel") {
                (line, in_scope, written) = (None, false, None);
            }
        }
    }
    assert!(!bare.contains(DEBUG) && bare.contains(" OpLine "));
    bare
}

/// A folder with the fixture's sources and this text of a module beside them.
fn beside_sources(module: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for file in ["peaks.cl", "clip.h"] {
        fs::copy(testdata(format!("spirv/lines/{file}")), folder.path().join(file)).unwrap();
    }
    let path = folder.path().join("peaks.spvasm");
    fs::write(&path, module).unwrap();
    (folder, path)
}

/// What `kassay inspect` finds in the only kernel of a file, by a translator or by any.
fn inspected(path: &Path, translator: Option<&str>) -> Value {
    let mut command = kassay();
    command.args(["inspect", "--quiet", "--format", "json"]).arg(path);
    command.envs(translator.map(|translator| ("KASSAY_LLVM_SPIRV", translator)));
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut result: Value = serde_json::from_slice(&done.stdout).unwrap();
    result["kernels"][0].take()
}

#[test]
fn lines_without_scopes_give_the_sites_of_debug_information() {
    let (_folder, with_scopes) = beside_sources(&peaks());
    let (_other, bare) = beside_sources(&with_bare_lines(&peaks()));
    for translator in [None, Some("/usr/bin/llvm-spirv-15")] {
        let counted = |module: &Path| {
            let mut kernel = inspected(module, translator);
            // Only what is declared is a variable where there are declarations; bare lines have none.
            let counts = kernel["counts"].as_object_mut().unwrap();
            counts.retain(|key, _| !key.starts_with("def_use"));
            kernel
        };
        let (expected, found) = (counted(&with_scopes), counted(&bare));
        for key in ["counts", "mutants_by_operator", "sites"] {
            assert_eq!(found[key], expected[key], "{translator:?}: {key}");
        }
        let sites = found["sites"].as_array().unwrap();
        let at = |file: &str, line: u64| {
            sites.iter().any(|site| site["line"] == line && site["file"].as_str().unwrap().ends_with(file))
        };
        assert!(at("peaks.cl", 20) && at("clip.h", 6) && at("clip.h", 8), "{sites:?}");
        // The operators of the source are read where the lines point.
        assert!(found["mutants_by_operator"]["ARS"].as_u64() > Some(0));
    }
}

/// What `kassay cover` prints for a test of the fixture.
fn covered(folder: &Path) -> String {
    let suite = folder.join("suite.toml");
    let args = "0 = { values = [0, 5, 1, 200, 3] }\n1 = { fill = 0, len = 1 }\n2 = { fill = 0, len = 1 }\n3 = 5";
    let test = format!("[[test]]\nname = \"one row\"\nglobal = [1]\n[test.args]\n{args}\n");
    fs::write(&suite, format!("kernel = \"peaks.spvasm\"\n\n{test}")).unwrap();
    let done = kassay().args(["cover", "--device", "sim"]).arg(&suite).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn reports_show_the_source_that_lines_without_scopes_name() {
    let (folder, _path) = beside_sources(&with_bare_lines(&peaks()));
    let text = covered(folder.path());
    let listed = |file: &str, line: &str| {
        let rest = text.split_once(&format!("{file} (")).map(|(_, rest)| rest).unwrap_or_default();
        rest.lines().take_while(|text| !text.is_empty()).any(|text| text.trim_end().ends_with(line))
    };
    assert!(listed("peaks.cl", "25      1   |     counts[row] = count;"), "{text}");
    assert!(listed("clip.h", "7      1   |         return LIMIT;"), "{text}");
    // Without the sources, what is not covered is listed by its place.
    fs::remove_file(folder.path().join("clip.h")).unwrap();
    let text = covered(folder.path());
    assert!(text.contains("  8:12: branch: `true` not covered\n  (its text is not at hand)"), "{text}");
}

#[test]
fn text_of_a_module_is_not_listed_as_its_source() {
    let bare = with_bare_lines(&peaks());
    let without_lines = bare.lines().filter(|line| !line.contains("Op") || !line.contains("Line"));
    let (folder, _path) = beside_sources(&without_lines.map(|line| format!("{line}\n")).collect::<String>());
    let text = covered(folder.path());
    assert!(text.contains("no debug information") && text.contains("`true` not covered"), "{text}");
    assert!(!text.contains("Op") && !text.contains("of 0 lines") && !text.contains("at hand"), "{text}");
}

#[test]
fn values_of_variables_without_a_scope_do_no_harm() {
    // As spirv-opt leaves them: the places of instructions are known, those of values are not.
    let mut text = peaks();
    let (first, _) = text.split_once(&format!("{DEBUG}Declare")).unwrap();
    let at = first.rfind('\n').unwrap() + 1;
    text.insert_str(at, "%9001 = OpExtInst %void %2 DebugNoScope\n");
    let (_folder, path) = beside_sources(&text);
    let (_other, whole) = beside_sources(&peaks());
    for translator in [None, Some("/usr/bin/llvm-spirv-15")] {
        let (found, expected) = (inspected(&path, translator), inspected(&whole, translator));
        assert_eq!(found["args"], expected["args"]);
        assert_eq!(found["sites"], expected["sites"]);
        assert_eq!(found["args"][0]["name"], "heights");
    }
}

#[test]
fn helpers_of_cpp_kernels_have_the_names_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["window", "network", "policy", "span", "reduce", "opcodes"] {
        let source = testdata(format!("clcpp_{name}/clcpp_{name}.clcpp"));
        let module = folder.path().join(format!("{name}.spv"));
        let arguments = ["-x", "clcpp", "-cl-std=clc++2021", "-target", "spirv64v1.2-unknown-unknown", "-O0", "-c"];
        let made = Command::new("clang-22").args(arguments).arg(&source).arg("-o").arg(&module).status().unwrap();
        assert!(made.success(), "{name}");
        let functions = |path: &Path| {
            let functions = inspected(path, None)["functions"].take();
            let mut names: Vec<String> = serde_json::from_value(functions).unwrap();
            names.sort_unstable();
            names
        };
        let expected = functions(&source);
        assert!(expected.iter().any(|name| name.contains(['<', ':', '('])), "{expected:?}");
        assert_eq!(functions(&module), expected);
    }
}
