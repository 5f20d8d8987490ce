//! Variables of the module that stand for parameters until the kernel, and all helpers that use them, have these.

use std::collections::{HashMap, HashSet};

use kassay_base::error::{Error, Result};
use kassay_model::interface::AddressSpace;

use crate::kernel::{constant_uses, parameters};
use crate::llvm::{Function, Global, Inst, Value, View};

/// A parameter in the place of a variable.
#[derive(Clone, Copy)]
pub(super) struct Parameter<'a> {
    pub(super) label: &'a str,
    pub(super) type_name: &'a str,
    pub(super) space: AddressSpace,
    /// Its position, if the kernel has it already.
    pub(super) own: Option<u32>,
}

/// Turns a variable into a parameter of the kernel and of every helper that uses it or calls one that does.
pub(super) fn add_parameter<'m>(
    view: View<'m>,
    kernel: &str,
    variable: Global<'m>,
    parameter: Parameter<'_>,
) -> Result<()> {
    let Parameter { label, type_name, space, own } = parameter;
    let only_variable = HashMap::from([(variable.value(), variable.value())]);
    let uses = |f: &Function<'m>| {
        let mut all = f.instructions().into_iter().flat_map(Inst::operands);
        all.any(|operand| constant_uses::depends_on(operand, &only_variable))
    };
    let functions: Vec<Function<'m>> = view.functions().into_iter().filter(|f| f.has_body()).collect();
    let mut needs: HashSet<String> = functions.iter().filter(|f| uses(f)).map(|f| f.name()).collect();
    needs.insert(kernel.to_owned());
    let callees = |f: &Function<'m>| -> Vec<String> { f.instructions().into_iter().filter_map(Inst::callee).collect() };
    let calls: Vec<(String, Vec<String>)> = functions.iter().map(|f| (f.name(), callees(f))).collect();
    while let Some(more) = calls.iter().find(|(f, all)| !needs.contains(f) && all.iter().any(|c| needs.contains(c))) {
        needs.insert(more.0.clone());
    }
    let affected: Vec<Function<'m>> = functions.into_iter().filter(|f| needs.contains(&f.name())).collect();
    if let Some(f) = affected.iter().find(|f| f.name() != kernel && !parameters::only_called(**f)) {
        return Err(Error::caller(format!(
            "the kernel takes the address of the function `{}`, which uses the program-scope variable `{label}`",
            f.name()
        ))
        .help("OpenCL C has no pointers to functions; call the function itself"));
    }
    let ty = view.pointer_type(space);
    let mut extended = Vec::new();
    let own = own.and_then(|position| view.function(kernel)?.param(position));
    for old in affected {
        if let Some(own) = own.filter(|_| old.name() == kernel) {
            constant_uses::replace(old, &HashMap::from([(variable.value(), own)]))?;
            continue;
        }
        let new = parameters::append(old, ty, label);
        if new.function.name() == kernel {
            parameters::describe(new.function, label, type_name, space);
        }
        constant_uses::replace(new.function, &HashMap::from([(variable.value(), new.parameter)]))?;
        extended.push(new);
    }
    for new in extended {
        // SAFETY: handles of old functions and of calls end with the loops above; a caller of a function that needs
        // the variable needs it too, and has it as the last parameter.
        unsafe { new.replace_old(|caller| own.filter(|_| caller.name() == kernel).or_else(|| caller.last_param())) };
    }
    let users = variable.users();
    if users.into_iter().all(is_dead) {
        // SAFETY: what is left of its uses are constants that nothing uses, and no handle of one is kept.
        unsafe {
            variable.value().replace_constant(variable.ty().poison());
            variable.delete();
        }
    }
    Ok(())
}

/// Returns whether a value is a constant that nothing uses but others such.
fn is_dead(value: Value<'_>) -> bool {
    value.as_instruction().is_none() && !value.is_global() && value.users().into_iter().all(is_dead)
}
