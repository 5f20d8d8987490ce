//! Answers the layer's requests over a socket: one connection and one line each way for a request, each in a thread of
//! its own.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_base::files::private::{self, PrivateFolder};

use super::protocol::{Answer, Ask, Compare, Compared, Different, Request, Woven};

/// Who knows what to answer. Several requests come at a time, also for the same program.
pub trait Answers: Send + Sync {
    /// Returns the woven kernels of a program, or why there are none.
    ///
    /// # Errors
    /// The reason, for people: the program's kernels then run as they are.
    fn weave(&self, ask: &Ask) -> std::result::Result<Woven, String>;

    /// Returns in which pieces of memory a woven kernel has left something else than the program's own.
    ///
    /// # Errors
    /// Why that cannot be said, for people.
    fn compare(&self, ask: &Compare) -> std::result::Result<Vec<Different>, String>;
}

/// Bytes of a request, at most.
const MOST: u64 = 64 << 10;
/// How long a program may take to send a request or to take an answer: it does so at once.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a socket's path, at most, with the zero at its end.
const PATH_BYTES: usize = 108;

/// A server. When dropped, it ends after the requests that it has begun to answer.
pub struct Server {
    path: PathBuf,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Holds the socket where the path of the folder is too long for one.
    _elsewhere: Option<PrivateFolder>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Server {
    /// Listens on a socket in `folder`, which is its owner's only, or in another such folder.
    ///
    /// # Errors
    /// `Environment` if no socket can be made.
    pub fn start(folder: &Path, answers: Arc<dyn Answers>) -> Result<Server> {
        let broken = |error: std::io::Error| {
            Error::environment(format!("cannot make a socket: {error}"))
                .help("set TMPDIR to a folder on a file system that has sockets")
        };
        // A path may be too long for a socket, and a file system may have none.
        let (bound, elsewhere) = match Self::bind(folder) {
            Ok(bound) => (bound, None),
            Err(_) => {
                let (bound, other) = Self::elsewhere(&std::env::temp_dir())
                    .or_else(|_| Self::elsewhere(Path::new("/tmp")))
                    .map_err(broken)?;
                (bound, Some(other))
            }
        };
        let (listener, path) = bound;
        let ends = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ends);
        let listen = move || listen(&listener, &answers, &seen);
        let thread = thread::Builder::new().name("kassay-server".to_owned()).spawn(listen).map_err(broken)?;
        Ok(Server { path, ends, thread: Some(thread), _elsewhere: elsewhere })
    }

    /// Makes the socket in a folder.
    fn bind(folder: &Path) -> std::io::Result<(UnixListener, PathBuf)> {
        let path = folder.join("socket");
        if path.as_os_str().as_bytes().len() >= PATH_BYTES {
            return Err(std::io::ErrorKind::InvalidFilename.into());
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok((listener, path))
    }

    /// Makes the socket in a new private folder.
    fn elsewhere(parent: &Path) -> std::io::Result<((UnixListener, PathBuf), PrivateFolder)> {
        let folder = PrivateFolder::new(parent, private::SOCKET)?;
        Ok((Self::bind(folder.path())?, folder))
    }

    /// The path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        // A connection ends the wait for one.
        let woken = UnixStream::connect(&self.path).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _ = thread.join();
        }
    }
}

fn listen(listener: &UnixListener, answers: &Arc<dyn Answers>, ends: &AtomicBool) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for stream in listener.incoming() {
        if ends.load(Ordering::SeqCst) {
            break;
        }
        threads.retain(|thread| !thread.is_finished());
        let Ok(stream) = stream else {
            // Too many open files: some will be closed.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        let answers = Arc::clone(answers);
        let answer = move || answer(stream, answers.as_ref());
        // Without a thread the connection is closed, and the program's kernels run as they are.
        threads.extend(thread::Builder::new().name("kassay-answer".to_owned()).spawn(answer));
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// Reads a request, and answers it. A client that hangs up gets none.
fn answer(stream: UnixStream, answers: &dyn Answers) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let mut line = Vec::new();
    if BufReader::new((&stream).take(MOST)).read_until(b'\n', &mut line).is_err() || line.last() != Some(&b'\n') {
        return;
    }
    let line = match Request::parse(&line) {
        Ok(Request::Weave(ask)) => serde_json::to_vec(&Answer::from(guarded(|| answers.weave(&ask)))),
        Ok(Request::Compare(ask)) => serde_json::to_vec(&Compared::from(guarded(|| answers.compare(&ask)))),
        Err(error) => serde_json::to_vec(&Answer::from(Err(error))),
    };
    if let Ok(mut line) = line {
        line.push(b'\n');
        let _ = (&stream).write_all(&line);
    }
}

/// Makes an error of a panic.
fn guarded<T>(work: impl FnOnce() -> std::result::Result<T, String>) -> std::result::Result<T, String> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err("kassay failed: please report this".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::protocol::Plain;

    struct Echo;

    impl Answers for Echo {
        fn weave(&self, ask: &Ask) -> std::result::Result<Woven, String> {
            match ask.program.as_str() {
                "panic" => panic!("deliberately"),
                "error" => Err("no".to_owned()),
                name => {
                    let plain = vec![Plain { kernel: name.to_owned(), reason: ask.process.clone() }];
                    Ok(Woven { plain, ..Woven::default() })
                }
            }
        }

        fn compare(&self, ask: &Compare) -> std::result::Result<Vec<Different>, String> {
            match ask.program.as_str() {
                "panic" => panic!("deliberately"),
                name => Ok(vec![Different { memory: ask.memory.len(), message: name.to_owned() }]),
            }
        }
    }

    fn ask(server: &Server, line: &[u8]) -> String {
        let mut stream = UnixStream::connect(server.path()).unwrap();
        stream.write_all(line).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        answer
    }

    fn weave(server: &Server, program: &str) -> serde_json::Value {
        let line =
            format!("{{\"schema\":\"kassay.ask/1\",\"ask\":\"weave\",\"program\":\"{program}\",\"process\":\"p\"}}\n");
        serde_json::from_str(&ask(server, line.as_bytes())).unwrap()
    }

    #[test]
    fn every_request_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), Arc::new(Echo)).unwrap();
        assert_eq!(fs::metadata(server.path()).unwrap().permissions().mode() & 0o777, 0o600);
        thread::scope(|scope| {
            for number in 0..8 {
                let server = &server;
                scope.spawn(move || {
                    let name = format!("k{number}");
                    assert_eq!(weave(server, &name)["plain"][0]["kernel"], name.as_str());
                });
            }
        });
        assert_eq!(weave(&server, "error")["error"], "no");
        assert!(weave(&server, "panic")["error"].as_str().unwrap().contains("failed"));
        assert!(ask(&server, b"nonsense\n").contains("this is no request"));
        // One that hangs up, and one that never says anything, keep no other from an answer.
        drop(UnixStream::connect(server.path()).unwrap());
        let silent = UnixStream::connect(server.path()).unwrap();
        assert_eq!(weave(&server, "k")["plain"][0]["reason"], "p");
        drop(silent);
        let path = server.path().to_owned();
        drop(server);
        assert!(UnixStream::connect(path).is_err(), "it listens no more");
    }

    #[test]
    fn a_long_path_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("x".repeat(120));
        fs::create_dir(&long).unwrap();
        let server = Server::start(&long, Arc::new(Echo)).unwrap();
        assert!(!server.path().starts_with(&long));
        assert_eq!(weave(&server, "error")["error"], "no");
        let folder = server.path().parent().unwrap().to_owned();
        drop(server);
        assert!(!folder.exists());
    }
}
