//! Lays a launch out in the memory shared with a worker and builds the request for it.

use kassay_base::error::Result;
use kassay_suite::launch::{ArgValue, Launch};

use super::process::Process;
use crate::exec::memory::{Span, SpanAllocator};
use crate::exec::protocol::{Arg, Request, protocol_error};
use crate::exec::{Kept, RunOptions};

/// The spans of a launch's results in the shared memory.
#[derive(Debug)]
pub struct ResultSpans {
    /// Each with the position of its argument.
    pub outputs: Vec<(u32, Span)>,
    pub probe: Option<Span>,
}

/// The inputs of a launch: the spans allocated for them and the bytes to be copied there.
#[derive(Debug, Default)]
pub struct Layout<'a> {
    pub allocator: SpanAllocator,
    contents: Vec<(Span, &'a [u8])>,
}

impl<'a> Layout<'a> {
    /// Allocates a span for `bytes`; [`Layout::write`] copies them there.
    pub fn place(&mut self, bytes: &'a [u8]) -> Span {
        let span = self.allocator.allocate(bytes.len() as u64);
        self.contents.push((span, bytes));
        span
    }

    /// The message form of an argument, with spans for its bytes.
    pub fn arg(&mut self, value: &'a ArgValue) -> Arg {
        match value {
            ArgValue::Value(bytes) => Arg::Value(self.place(bytes)),
            ArgValue::Buffer(bytes) => Arg::Buffer(self.place(bytes)),
            ArgValue::Same(other) => Arg::Same(*other),
            ArgValue::Local(len) => Arg::Local(*len),
            ArgValue::Image { shape, format, texels } => {
                Arg::Image { shape: shape.clone(), format: format.clone(), texels: self.place(texels) }
            }
            ArgValue::Sampler { addressing, filter, normalized } => {
                Arg::Sampler { addressing: *addressing, filter: *filter, normalized: *normalized }
            }
        }
    }

    /// Copies the bytes of all spans into the shared memory.
    pub fn write(self, memory: &mut [u8]) -> Result<()> {
        for (span, bytes) in self.contents {
            span.of_mut(memory).ok_or_else(protocol_error)?.copy_from_slice(bytes);
        }
        Ok(())
    }
}

/// Copies the inputs of `launch` into the memory shared with `process`, and builds the request. `on_host`: the device's
/// buffers lie in the host's memory. `read_only`: by position, which arguments the kernel cannot write and that
/// therefore give no output. `head`: what the probe buffer begins with; `kept`: what follows it.
///
/// # Errors
/// `Environment` if there is not enough memory.
pub fn build(
    process: &mut Process,
    on_host: bool,
    (program, read_only): (u32, &[bool]),
    launch: &Launch,
    options: &RunOptions,
    (head, kept): (&[u32], Option<Kept>),
) -> Result<(Request, ResultSpans)> {
    let mut layout = Layout::default();
    let args: Vec<Arg> = launch.args.iter().map(|value| layout.arg(value)).collect();
    let probe = options.probe_words.map(|words| layout.allocator.allocate(words.saturating_mul(4)));
    let head: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
    let head_span = (!head.is_empty()).then(|| layout.place(&head));
    let size = layout.allocator.len();
    // If a launch is repeated, its pristine inputs are kept beside the working copies.
    let copies = if options.repeats > 1 { 2 } else { 1 };
    process.shared.reserve(size, if on_host { size.saturating_mul(copies) } else { 0 })?;
    layout.write(process.shared.bytes())?;
    let output = |(position, arg): (u32, &Arg)| match arg {
        Arg::Buffer(span) | Arg::Image { texels: span, .. } => {
            let written = !read_only.get(position as usize).copied().unwrap_or(false);
            (options.outputs && written).then_some((position, *span))
        }
        Arg::Value(_) | Arg::Same(_) | Arg::Local(_) | Arg::Sampler { .. } => None,
    };
    let outputs: Vec<(u32, Span)> = (0..).zip(&args).filter_map(output).collect();
    let request = Request::Run {
        program,
        memory: process.shared.len(),
        range: launch.range.clone(),
        outputs: outputs.iter().map(|(position, _)| *position).collect(),
        args,
        margins: launch.margins.clone(),
        views: launch.views.clone(),
        repeats: options.repeats.max(1),
        probe,
        head: head_span,
        kept,
    };
    Ok((request, ResultSpans { outputs, probe }))
}
