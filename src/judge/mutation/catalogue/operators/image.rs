//! Image coordinates: `ICR`, PENG's image access mutation (4.2.2).

use kassay_ir::instrument::mutants::edit::{Binary, Edit, Expr, Float, Slot};
use kassay_ir::kernel::builtins::{self, Builtin};

use super::super::level::{self, Concept};
use super::super::subject::{Operator, OperatorOutput, Preset, Subject};
use super::calls::{self, Call};

/// Adds 1 to or subtracts 1 from a coordinate, or exchanges two.
pub const ICR: Operator = Operator {
    id: "ICR",
    name: "image coordinate",
    class: "image",
    description: "a coordinate of `read_image*` or `write_image*` plus and minus 1; two of them exchanged",
    origin: "PENG",
    peng: true,
    liu: false,
    concept: Concept::SourceAlone,
    levels: level::SOURCE,
    enumerate: icr,
};

/// The coordinates of an image access.
struct Coordinates {
    /// Position among the arguments.
    argument: usize,
    /// Number of coordinates in use: including the layer of an array; three lanes of a 3D image.
    count: u32,
    /// Whether they are lanes of a vector.
    is_vector: bool,
    is_float: bool,
}

fn icr(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let calls = calls::find(subject, |name| Builtin::of(name).and_then(Builtin::texel).is_some());
    for call in calls {
        if subject.preset == Preset::Peng && call.is_in_macro {
            call.exclude(ICR.id, "it stands in a macro, which the preset leaves alone", found);
            continue;
        }
        let Some(at) = coordinates(&call) else {
            call.exclude(
                ICR.id,
                "which of its arguments are the coordinates is not known for this kind of image",
                found,
            );
            continue;
        };
        if subject.preset == Preset::Peng && at.count < 2 {
            call.exclude(ICR.id, "PENG changes coordinates of two and three dimensions", found);
            continue;
        }
        mutate(&call, &at, found);
    }
}

/// Parses the mangled parameters: `14ocl_image2d_ro11ocl_samplerDv2_i`, without a sampler `14ocl_image2d_roDv2_i`.
fn coordinates(call: &Call) -> Option<Coordinates> {
    let (image, mut rest) = builtins::identifier(&call.params)?;
    let image = image.strip_prefix("ocl_image")?;
    let mut argument = 1;
    if let Some(after) = rest.strip_prefix("11ocl_sampler") {
        (rest, argument) = (after, 2);
    }
    let count = match image.rsplit_once('_')?.0 {
        "1d" | "1d_buffer" => 1,
        "1d_array" | "2d" | "2d_msaa" | "2d_depth" | "2d_msaa_depth" => 2,
        "2d_array" | "2d_array_msaa" | "2d_array_depth" | "2d_array_msaa_depth" | "3d" => 3,
        _ => return None,
    };
    let (is_vector, scalar) = match rest.strip_prefix("Dv") {
        Some(vector) => (true, vector.split_once('_')?.1),
        None => (false, rest),
    };
    let is_float = match scalar.as_bytes().first()? {
        b'i' => false,
        b'f' => true,
        _ => return None,
    };
    (is_vector == (count > 1)).then_some(Coordinates { argument, count, is_vector, is_float })
}

fn mutate(call: &Call, at: &Coordinates, found: &mut OperatorOutput) {
    let slots: Vec<Slot> = call.places.iter().map(|place| Slot::Operand(*place, at.argument as u32)).collect();
    let mut add = |coordinate: String, by: Expr| {
        let mut args = call.all_args();
        args[at.argument] = coordinate;
        let edit = Edit::Value { at: slots.clone(), by };
        found.mutants.push(call.mutant(ICR.id, call.call_text(&call.name, &args), edit, false));
    };
    let text = call.arg(at.argument);
    let one = || if at.is_float { Expr::Float(Float(1.0)) } else { Expr::Integer(1) };
    let (plus, minus) = if at.is_float { (Binary::FAdd, Binary::FSub) } else { (Binary::Add, Binary::Sub) };
    let names = ["x", "y", "z"];
    for lane in 0..at.count {
        for (binary, sign) in [(plus, '+'), (minus, '-')] {
            let old = if at.is_vector { lane_of(lane) } else { Expr::Original };
            let new = Expr::Binary(binary, Box::new(old), Box::new(one()));
            if at.is_vector {
                let new = Expr::WithLane(Box::new(Expr::Original), lane, Box::new(new));
                add(format!("{text} with .{} {sign} 1", names[lane as usize]), new);
            } else {
                add(format!("{text} {sign} 1"), new);
            }
        }
    }
    for first in 0..at.count {
        for second in first + 1..at.count {
            let half = Expr::WithLane(Box::new(Expr::Original), first, Box::new(lane_of(second)));
            let whole = Expr::WithLane(Box::new(half), second, Box::new(lane_of(first)));
            add(format!("{text} with .{} and .{} exchanged", names[first as usize], names[second as usize]), whole);
        }
    }
}

fn lane_of(lane: u32) -> Expr {
    Expr::Lane(Box::new(Expr::Original), lane)
}
