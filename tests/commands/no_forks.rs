//! Nothing forks beside threads: a library in front of the C library's `fork` writes down who does.

use std::fs;
use std::process::Command;

use crate::common::TestResult;
use crate::common::program::{at, kassay};
use crate::common::testdata::suite;

/// Writes a line for each fork: how many threads the process has, and its first argument.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pid_t fork(void) {
    pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    int threads = -2;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && readdir(tasks)) threads++;
    if (tasks) closedir(tasks);
    char arguments[4096] = "";
    int of = open("/proc/self/cmdline", O_RDONLY);
    if (of >= 0) { if (read(of, arguments, sizeof arguments - 1) < 0) arguments[0] = 0; close(of); }
    char line[4200];
    int length = snprintf(line, sizeof line, "%d %s\n", threads, arguments + strlen(arguments) + 1);
    int to = open(getenv("FORKS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (to >= 0) { if (write(to, line, length) < 0) abort(); close(to); }
    return real();
}
"#;

#[test]
fn only_processes_without_threads_fork() -> TestResult {
    let folder = tempfile::tempdir()?;
    let (source, library) = (folder.path().join("fork.c"), folder.path().join("fork.so"));
    fs::write(&source, LIBRARY)?;
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl").status()?;
    assert!(made.success());
    let (a, b) = (suite("vector_add"), suite("saxpy_tail"));
    for args in [
        &["cover", at(&a), at(&b), "--device", "sim", "-j2", "--no-cache"][..],
        &["check", at(&a), "--budget", "2", "--no-cache"],
        &["mutate", at(&a), "--device", "sim", "-j2", "--sample", "5", "--no-cache"],
        // What is there: also by workers.
        &["run", at(&a), at(&b), "-j2", "--no-cache"],
        &["run", at(&a), "-j2", "--no-cache"],
    ] {
        let forks = folder.path().join("forks");
        let output = kassay().args(args).arg("--quiet").env("LD_PRELOAD", &library).env("FORKS", &forks).output()?;
        assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(&forks)?;
        // What drivers do in workers is not kassay's.
        let own: Vec<&str> = text.lines().filter(|line| !line.ends_with(" worker")).collect();
        // The server at least, and a child that it compiled in.
        assert!(own.len() >= 2, "{args:?}: {text}");
        assert!(own.iter().all(|line| line.starts_with("1 ")), "{args:?}: {text}");
        fs::remove_file(&forks)?;
    }
    Ok(())
}
