//! The words in which kassay speaks about a kernel: those of OpenCL, in which all messages are written, or of CUDA.

use std::borrow::Cow;
use std::path::Path;

use crate::kernel_files::KernelFile;

/// A vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// `work-item`, `work-group`, `local memory`.
    OpenCl,
    /// `thread`, `block`, `shared memory`.
    Cuda,
}

/// CUDA's words (Programming Guide, "Programming Model") for OpenCL's; longer phrases first. Private memory is CUDA's
/// "local memory", a word that would be mistaken here, and keeps its name.
const OF_CUDA: [(&str, &str); 16] = [
    ("work-items", "threads"),
    ("work-item", "thread"),
    ("work-groups", "blocks"),
    ("work-group", "block"),
    ("sub-groups", "warps"),
    ("sub-group", "warp"),
    ("local memory", "shared memory"),
    ("local size", "block size"),
    ("items", "threads"),
    ("item", "thread"),
    ("groups", "blocks"),
    ("group", "block"),
    ("on local", "on shared"),
    ("in local", "in shared"),
    ("of local", "of shared"),
    ("`barrier`", "barrier"),
];

/// What stands for quoted names of OpenCL's builtins, by their beginnings: the source calls something else.
const FOR_BUILTINS: [(&str, &str); 4] = [
    ("`kassay_grid_barrier`", "barrier of the grid"),
    ("`sub_group_barrier`", "barrier of the warp"),
    ("`sub_group_", "function of the warp"),
    ("`work_group_", "function of the block"),
];

impl Words {
    /// Returns the words for a kernel by the path of its file.
    pub fn of(source: impl AsRef<Path>) -> Words {
        match KernelFile::of(source.as_ref()) {
            Some(KernelFile::Cuda) => Words::Cuda,
            _ => Words::OpenCl,
        }
    }

    /// Returns a text of kassay in these words. What stands in backquotes or double quotes, such as names of the
    /// source, stays.
    pub fn say(self, text: &str) -> Cow<'_, str> {
        if self == Words::OpenCl {
            return Cow::Borrowed(text);
        }
        let mut said = String::with_capacity(text.len());
        let (mut rest, mut before) = (text, ' ');
        while let Some(next) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let phrase = OF_CUDA.iter().find_map(|(opencl, cuda)| {
                let after = strip_prefix(rest, opencl)?;
                // `group[3]` is an element of a variable.
                let is_whole = !is_word(before) && !after.chars().next().is_some_and(|c| is_word(c) || c == '[');
                is_whole.then_some((opencl.len(), *cuda))
            });
            let (length, shown) = match (phrase, next) {
                (Some((length, cuda)), _) if next.is_uppercase() => {
                    let mut letters = cuda.chars();
                    (length, letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect())
                }
                (Some((length, cuda)), _) => (length, cuda.to_owned()),
                (None, '`' | '"') => {
                    let length = rest[1..].find(next).map_or(rest.len(), |end| end + 2);
                    let builtin = FOR_BUILTINS.iter().find(|(start, _)| rest[..length].starts_with(start));
                    (length, builtin.map_or(&rest[..length], |(_, words)| words).to_owned())
                }
                (None, _) => (next.len_utf8(), next.to_string()),
            };
            before = rest[..length].chars().next_back().unwrap_or(' ');
            rest = &rest[length..];
            said += &shown;
        }
        Cow::Owned(said)
    }

    /// Replaces a text by one in these words.
    pub fn put(self, text: &mut String) {
        if let Cow::Owned(said) = self.say(text) {
            *text = said;
        }
    }
}

/// As [`str::strip_prefix`], where the first letter may be a capital.
fn strip_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (start, after) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_cuda_speak_of_threads_and_blocks() {
        let cuda = Words::of("dir/k.cu");
        let text = "work-item 1 writes `part[group]` on local `item`, which 2 work-items of another group read; Groups \
                    of \"a group\" wait at the `barrier` in subgroup 3 of multi-group items, of item[2]";
        assert_eq!(
            cuda.say(text),
            "thread 1 writes `part[group]` on shared `item`, which 2 threads of another block read; Blocks \
             of \"a group\" wait at the barrier in subgroup 3 of multi-group threads, of item[2]"
        );
        assert_eq!(cuda.say("éwork-item ` work-item"), "éwork-item ` work-item");
        let text =
            "7 work-items wait at the `sub_group_shuffle` in line 3, 1 work-item waits at the `sub_group_barrier`";
        let said = "7 threads wait at the function of the warp in line 3, 1 thread waits at the barrier of the warp";
        assert_eq!(cuda.say(text), said);
        assert_eq!(Words::of("k.cl").say(text), text);
    }
}
