//! IGP: moves addresses by an element.

use kassay_ir::instrument::mutants::{Binary, Expr};
use kassay_ir::kernel::builtins::{demangle, pointed};
use kassay_ir::llvm::{DataLayout, Inst, Opcode, Value};

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::site::{is_number, shown, shown_with, sites};

/// Changes indices of addresses.
pub const IGP: Operator = Operator {
    id: "IGP",
    name: "address index",
    class: "index",
    description: "an index of a `getelementptr` plus 1, minus 1, but not the number of a field; an offset in bytes by what is \
                  accessed there",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::IrAlone,
    levels: level::IR,
    enumerate,
};

/// Most values of which the uses are looked at, to find what is accessed at an address.
const MOST_VALUES: usize = 64;

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let layout = subject.module.layout();
    for site in sites(subject, |inst| inst.is(Opcode::LLVMGetElementPtr)) {
        let accessed = Accessed::through(site.inst, layout);
        if accessed.is_pointer {
            site.exclude(IGP.id, "a pointer is there, and what is beside it would lead anywhere", found);
            continue;
        }
        // Optimisers count bytes, whatever is accessed; half of an element is nowhere that the kernel may access.
        let is_byte = site.inst.value().gep_source().is_some_and(|ty| ty.int_width() == Some(8));
        let step = accessed.bytes.filter(|_| is_byte).map_or(1, |bytes| bytes as i64);
        for i in indices(site.inst) {
            let index = site.inst.operand(i);
            for by in [step, -step] {
                let sign = if by > 0 { '+' } else { '-' };
                let moved = match index.as_i64() {
                    Some(n) => n.wrapping_add(by).to_string(),
                    None => format!("{} {sign} {step}", shown(index)),
                };
                let by = Expr::Binary(Binary::Add, Box::new(Expr::Original), Box::new(Expr::Integer(by.into())));
                let text = shown_with(site.inst, &|at| (at == i).then(|| moved.clone()));
                site.replace(IGP.id, site.operand(i), by, text, found);
            }
        }
    }
}

/// What is accessed through an address, or through what is computed of it, as far as that is seen.
#[derive(Default)]
struct Accessed {
    /// The size of the largest number or vector.
    bytes: Option<u64>,
    /// Whether pointers are accessed.
    is_pointer: bool,
}

impl Accessed {
    fn through<'a>(address: Inst<'a>, layout: DataLayout<'a>) -> Accessed {
        let mut all = Accessed::default();
        let mut known: Vec<Value<'a>> = vec![address.value()];
        let mut at = 0;
        while at < known.len().min(MOST_VALUES) {
            for user in known[at].uses().into_iter().filter_map(Value::as_instruction) {
                let more = match user.opcode() {
                    Opcode::LLVMGetElementPtr if user.operand(0) == known[at] => vec![user.value()],
                    Opcode::LLVMPHI | Opcode::LLVMSelect | Opcode::LLVMAddrSpaceCast => vec![user.value()],
                    Opcode::LLVMCall => {
                        let (more, bytes) = passed(user, known[at]);
                        all.bytes = all.bytes.max(bytes);
                        more
                    }
                    _ => Vec::new(),
                };
                all.add(user, known[at], layout);
                for value in more {
                    if !known.contains(&value) {
                        known.push(value);
                    }
                }
            }
            at += 1;
        }
        all
    }

    /// Adds what an instruction accesses through an address.
    fn add<'a>(&mut self, user: Inst<'a>, address: Value<'a>, layout: DataLayout<'a>) {
        let ty = match user.opcode() {
            Opcode::LLVMLoad => user.ty(),
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => user.operand(1).ty(),
            Opcode::LLVMStore if user.operand(1) == address => user.operand(0).ty(),
            _ => return,
        };
        match ty.scalar().is_pointer() {
            true => self.is_pointer = true,
            false if is_number(ty) => self.bytes = self.bytes.max(Some(layout.abi_size(ty))),
            false => {}
        }
    }
}

/// Returns the parameters that an address is passed as; or the size of what a builtin accesses there.
fn passed<'a>(call: Inst<'a>, address: Value<'a>) -> (Vec<Value<'a>>, Option<u64>) {
    let Some(callee) = call.called_function() else { return (Vec::new(), None) };
    if callee.has_body() {
        let pairs = callee.params().into_iter().zip(call.args());
        return (pairs.filter(|(_, arg)| *arg == address).map(|(param, _)| param).collect(), None);
    }
    let name = callee.name();
    let bytes = demangle(&name).and_then(|(_, params)| pointed(params)).map(|(_, bytes)| bytes);
    (Vec::new(), bytes)
}

/// Returns the operands of a `getelementptr` that count elements.
fn indices(gep: Inst<'_>) -> Vec<u32> {
    let mut inner = gep.value().gep_source();
    let mut all = Vec::new();
    for i in 1..gep.operand_count() {
        let index = gep.operand(i);
        // The first index steps over whole elements of the source type.
        if i > 1 {
            let Some(ty) = inner else { return all };
            if ty.is_struct() {
                inner = index.as_u64().and_then(|field| ty.fields().get(field as usize).copied());
                continue;
            }
            inner = ty.elements().map(|(element, _)| element);
        }
        if index.ty().is_integer() {
            all.push(i);
        }
    }
    all
}
