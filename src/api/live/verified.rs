//! Whether what a woven kernel has left is what the program's own kernel has left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use kassay_ir::cfg::repeatable;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_model::interface::{Arg, Type};
use kassay_results::result::set::LeftOut;
use kassay_run::host::protocol::{Compare, Different, Left, Woven};
use kassay_run::host::{self, DIFFERS, LaunchedKernel, NotWoven, Spool};
use kassay_suite::{compare, image};
use serde::{Deserialize, Serialize};

/// Kernels that a note names, at most.
const MOST_NAMED: usize = 4;

/// What is known of a kernel for the comparison of a launch with one of its woven kernel.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Comparable {
    /// By position: the argument's name in messages, and the type of what it points to.
    arguments: Vec<(String, Option<Type>)>,
    /// Why a launch cannot be repeated, if it cannot.
    pub unrepeatable: Option<String>,
}

impl Comparable {
    /// Reads it from a kernel before anything is woven into it.
    pub fn new(kernel: &KernelUnderTest<'_>) -> Comparable {
        let obstacle = repeatable::obstacle(&kernel.functions());
        let names = kernel.interface.args.iter().map(Arg::display_name);
        let arguments = names.zip(kernel.memory_types()).collect();
        Comparable { arguments, unrepeatable: obstacle.map(str::to_owned) }
    }

    /// Returns the pieces of memory in which more than the rounding of floats is different, by the rule of captured
    /// tests.
    ///
    /// # Errors
    /// Why that cannot be said.
    pub fn differences(&self, ask: &Compare) -> Result<Vec<Different>, String> {
        let mut all = Vec::new();
        for (memory, left) in ask.memory.iter().enumerate() {
            let (own, woven) = (contents(&ask.spool, &left.own)?, contents(&ask.spool, &left.woven)?);
            all.extend(self.difference(left, &own, &woven).map(|message| Different { memory, message }));
        }
        Ok(all)
    }

    fn difference(&self, left: &Left, own: &[u8], woven: &[u8]) -> Option<String> {
        let texel = left.image.map(|format| {
            let format = host::image_format(format.channel_order, format.channel_type);
            format.and_then(|format| image::texel_type(&format))
        });
        // Where the memory is compared as what an argument points to; the rest as bytes.
        let mut compared = vec![false; own.len()];
        for reaches in &left.arguments {
            let Some((name, element)) = self.arguments.get(reaches.argument) else { continue };
            let ty = texel.as_ref().unwrap_or(element).as_ref();
            let size = ty.map_or(1, Type::size).max(1) as usize;
            let from = reaches.offset.min(own.len());
            let room = reaches.size.unwrap_or(usize::MAX).min(own.len() - from);
            let to = from + room / size * size;
            if let Some(message) = different(own.get(from..to)?, woven.get(from..to)?, ty) {
                return Some(format!("argument {name}: {message}"));
            }
            compared[from..to].fill(true);
        }
        let rest = |bytes: &[u8]| -> Vec<u8> {
            bytes.iter().zip(&compared).filter(|(_, done)| !**done).map(|(byte, _)| *byte).collect()
        };
        different(&rest(own), &rest(woven), None).map(|message| format!("memory of an argument: {message}"))
    }
}

/// Returns the first difference that is no rounding.
fn different(own: &[u8], woven: &[u8], ty: Option<&Type>) -> Option<String> {
    let compared = compare::beyond_rounding(own, woven, ty)?;
    compared.message("the program's own kernel", "the woven one")
}

/// Tells the layer that woven kernels are to compute what the program's own do, and of which that cannot be seen.
pub fn tell(woven: &mut Woven, comparable: &BTreeMap<String, Comparable>) {
    woven.same = true;
    for kernel in &mut woven.kernels {
        kernel.unrepeatable = comparable.get(&kernel.name).and_then(|known| known.unrepeatable.clone());
    }
}

/// Returns a kernel that ran as it is because its woven code was seen to do something else.
pub fn differs(spool: &Spool, kernel: &LaunchedKernel) -> Option<LeftOut> {
    let all = spool.processes.iter().flat_map(|process| &process.not_woven);
    let mut own = all.filter(|not| (&not.program, &not.kernel) == (&kernel.program, &kernel.name));
    let meaning = own.find(|not| not.reason == DIFFERS)?.meaning.clone();
    let (name, program) = (Some(kernel.name.clone()), Some(kernel.program.clone()));
    Some(LeftOut { kernel: name, program, reason: DIFFERS.to_owned(), meaning, count: kernel.launches })
}

/// Tells of kernels that took the place of the program's own without having been compared with them: a note for each
/// reason.
pub fn not_compared(spool: &Spool) -> Vec<String> {
    let all = spool.processes.iter().flat_map(|process| &process.not_verified);
    let mut kernels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for NotWoven { kernel, meaning, .. } in all {
        kernels.entry(meaning).or_default().insert(kernel);
    }
    let text = |(meaning, kernels): (&str, BTreeSet<&str>)| {
        let mut named: Vec<&str> = kernels.iter().copied().take(MOST_NAMED).collect();
        let others = format!("{} more", kernels.len() - named.len());
        if kernels.len() > named.len() {
            named.push(&others);
        }
        let named = named.join(", ");
        format!("launches could not be compared with those of the woven code, of {named}: {meaning}")
    };
    kernels.into_iter().map(text).collect()
}

fn contents(spool: &Path, name: &str) -> Result<Vec<u8>, String> {
    if !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("{name:?} names no contents"));
    }
    fs::read(spool.join("blobs").join(name)).map_err(|error| format!("contents cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use kassay_model::interface::Scalar;
    use kassay_run::host::protocol::Reaches;

    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn said(arguments: &[(usize, usize, Option<usize>)], own: &[u8], woven: &[u8]) -> Option<String> {
        let float = Some(Type::Scalar(Scalar::F32));
        let int = Some(Type::Scalar(Scalar::I32));
        let kernel =
            Comparable { arguments: vec![("xs".to_owned(), float), ("ns".to_owned(), int)], unrepeatable: None };
        let arguments = arguments.iter().map(|(argument, offset, size)| Reaches {
            argument: *argument,
            offset: *offset,
            size: *size,
        });
        let left = Left { own: String::new(), woven: String::new(), arguments: arguments.collect(), image: None };
        kernel.difference(&left, own, woven)
    }

    #[test]
    fn rounding_is_no_difference_and_everything_else_is() {
        let all = [(0, 0, None)];
        assert_eq!(said(&all, &floats(&[1.0, 2.0]), &floats(&[1.0, 2.000_000_2])), None);
        let message = said(&all, &floats(&[1.0, 2.0]), &floats(&[1.0, 3.0])).unwrap();
        assert_eq!(
            message,
            "argument xs: element 1: the program's own kernel left 2.0, the woven one 3.0; 1 of 2 elements differ"
        );
        // The same bytes as numbers are no rounding.
        assert!(said(&[(1, 0, None)], &floats(&[1.0, 2.0]), &floats(&[1.0, 2.000_000_2])).is_some());
        // A NaN in the place of a number.
        assert!(said(&all, &floats(&[1.0]), &floats(&[f32::NAN])).is_some());
    }

    #[test]
    fn parts_that_no_argument_begins_with_are_compared_as_bytes() {
        let (own, woven) = (floats(&[1.0, 2.0, 3.0]), floats(&[1.0, 2.000_000_2, 3.0]));
        assert_eq!(said(&[(0, 4, Some(8))], &own, &woven), None);
        assert!(said(&[(0, 8, Some(4))], &own, &woven).unwrap().starts_with("memory of an argument"));
        // The last bytes are no whole element.
        assert_eq!(said(&[(0, 4, Some(7))], &own, &woven), None);
    }
}
