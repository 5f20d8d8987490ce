//! Where a module that has no syntax tree comes from: which tool made its SPIR-V, what the tool did to the code, and
//! what that means for sites.

use inkwell::module::Module;

use super::dominance::Dominance;
use super::graph::{BlockInfo, Cfg, InstKind, Kinds};
use super::indices::BlockIndex;
use super::rotated_loops;
use crate::llvm::Function;

/// The tool that made the SPIR-V from which a module was translated: its number in Khronos' registry (`spir-v.xml` of
/// SPIRV-Headers), the upper half of the third word of SPIR-V.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generator(u64);

impl Generator {
    /// Khronos' translator from LLVM IR, llvm-spirv.
    const TRANSLATOR: Generator = Generator(6);

    /// Reads the generator that the translator to LLVM IR noted; `None` for modules that were not SPIR-V.
    pub fn of(module: &Module<'_>) -> Option<Generator> {
        let generator = module.get_global_metadata("spirv.Generator");
        let number = generator.first().and_then(|node| node.get_node_values()?.first().copied());
        let number = number.filter(|n| n.is_int_value())?.into_int_value().get_zero_extended_constant();
        number.map(Generator)
    }

    /// The registered name, of those that make modules for OpenCL.
    fn name(self) -> Option<&'static str> {
        match self.0 {
            6 => Some("Khronos' translator from LLVM IR"),
            7 => Some("Khronos' assembler"),
            17 => Some("Khronos' linker"),
            21 => Some("clspv"),
            22 => Some("MLIR"),
            43 => Some("LLVM's SPIR-V back end"),
            _ => None,
        }
    }

    /// Returns whether blocks stand in the order in which clang made them. SPIR-V has its own rules of order, and other
    /// tools sort blocks anew.
    fn keeps_order(self) -> bool {
        self == Generator::TRANSLATOR
    }
}

/// Reads the graph of a function.
pub fn read_graph(function: Function<'_>, kinds: Kinds, generator: Option<Generator>) -> (Cfg, Dominance) {
    let mut cfg = Cfg::read(function, kinds);
    let dominance = Dominance::of(&cfg);
    if let Some(generator) = generator {
        cfg.is_in_source_order = generator.keeps_order();
        // Optimisers of SPIR-V merge blocks and keep their names.
        if cfg.has_merged_labels() {
            cfg.clear_labels();
        }
        cfg.guards = rotated_loops::find(&cfg, &dominance, function);
    }
    (cfg, dominance)
}

/// States, for SPIR-V, what the sites of these functions are read from, and what cannot be recovered.
pub fn describe<'a>(generator: Option<Generator>, functions: impl Iterator<Item = &'a Cfg> + Clone) -> Vec<String> {
    let Some(generator) = generator else { return Vec::new() };
    let maker = generator.name().map_or_else(|| format!("generator {}", generator.0), str::to_owned);
    let mut notes = vec![format!(
        "SPIR-V, made by {maker}: branches, conditions and loops are read from its blocks; what was folded before is \
         not seen"
    )];
    if functions.clone().any(is_optimised) {
        notes.push(
            "the SPIR-V is optimised code: its sites are those that the optimiser left, with copies of what it inlined \
             or unrolled"
                .to_owned(),
        );
    }
    if functions.clone().any(|cfg| cfg.len() > 1) && !functions.clone().any(Cfg::has_labels) {
        notes.push(
            "its blocks have no names of constructs: `if` and `?:`, `for` and `while` look alike, a loop that never \
             repeats is a branch, and one made by `goto` is a loop"
                .to_owned(),
        );
    }
    notes
}

/// Returns whether an optimiser has been at work: a loop carries values in registers, or there are no variables.
fn is_optimised(cfg: &Cfg) -> bool {
    let carries = |block: &BlockInfo| block.instructions.iter().any(|i| i.kind == InstKind::Phi);
    let is_header = |b: BlockIndex| cfg.incoming(b).iter().any(|edge| edge.block >= b);
    let has_variables = || cfg.blocks.iter().flat_map(|b| &b.instructions).any(|i| i.kind == InstKind::Alloca);
    cfg.indices().any(|b| is_header(b) && carries(&cfg.blocks[b])) || (cfg.len() > 1 && !has_variables())
}
