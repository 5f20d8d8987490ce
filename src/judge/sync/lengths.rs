//! How many elements buffers need in launches that are not run, in the words of results.

use std::time::Instant;

use kassay_base::error::Result;
use kassay_model::extent::Extent;
use kassay_model::words::Words;
use kassay_prove::program::{promoted, reader};
use kassay_prove::symbolic::race_freedom;
use kassay_results::result::proofs::{Length, STANDING};

use super::proofs::fitting;
use crate::coverage::build::KernelUnderTest;

/// Finds the lengths that are proved to be enough until `deadline`. `source` is the kernel's file, by the name that
/// locations have.
///
/// # Errors
/// `Internal` if a pass fails; [`kassay_base::error::Error::late`] at the deadline.
pub fn lengths(under_test: &KernelUnderTest<'_>, source: &str, deadline: Option<Instant>) -> Result<Vec<Length>> {
    let module = promoted::with_simple_loops(&under_test.module, &under_test.entry, &under_test.machine, deadline)?;
    let program = reader::read(&module, &under_test.entry)?;
    let words = Words::of(source);
    let has_offset = race_freedom::reads_offset(&program);
    let said = |found: race_freedom::Length| {
        let buffer = under_test.interface.args.get(found.position as usize)?.display_name();
        let all: Vec<String> = found.elements.iter().map(|extent: &Extent| extent.text(words)).collect();
        let number = match &all[..] {
            [only] => only.clone(),
            several => format!("max({})", several.join(", ")),
        };
        let (elements, bytes) = if found.in_bytes { (None, Some(number)) } else { (Some(number), None) };
        let condition = found.condition.map(|condition| condition.text(words));
        let mut preconditions: Vec<String> = condition.iter().cloned().collect();
        preconditions.extend(STANDING.iter().map(|clause| words.say(clause).into_owned()));
        preconditions.extend(has_offset.then(|| "launches have no global offset".to_owned()));
        preconditions.extend(fitting(&found.wrapping, source));
        Some(Length { buffer, elements, bytes, condition, preconditions })
    };
    Ok(race_freedom::lengths(&program, &under_test.interface, deadline).into_iter().filter_map(said).collect())
}
