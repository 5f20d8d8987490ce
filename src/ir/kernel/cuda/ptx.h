//! Inline assembly: what its template says, as data.

#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kassay::cuda::ptx {

/// An operand of an instruction.
struct Operand {
  enum Kind {
    /// A register that the template declares, an operand of the statement (`$0`), or a special register (`%laneid`).
    Register,
    /// Its bits; of floats, those of the type that the text names.
    Number,
    /// `[base + offset]`.
    Address,
    /// `{a, b}`.
    Vector,
    /// `d|p`: a result, and a second one.
    Pair,
    /// `_`.
    Nothing,
  };
  Kind Is = Nothing;
  std::string Name;
  uint64_t Bits = 0;
  /// `!p`.
  bool IsNegated = false;
  /// Of an address.
  int64_t Offset = 0;
  std::vector<Operand> Parts;
};

/// `@p add.u32 d, a, b`.
struct Command {
  std::string Predicate;
  bool IsNegated = false;
  /// The name, and what follows it after dots.
  std::vector<std::string> Words;
  std::vector<Operand> Operands;

  /// The name in full.
  std::string name() const;
  bool has(llvm::StringRef Word) const;
};

/// What a template holds.
struct Template {
  /// The registers that it declares, with the names of their types.
  std::vector<std::pair<std::string, std::string>> Registers;
  std::vector<Command> Instructions;
  /// What is not understood; empty if all is.
  std::string Wrong;
};

/// Reads a template as LLVM has it: operands of the statement are `$0`, `$1` and so on.
Template parse(llvm::StringRef Text);

/// Puts the instructions of a template into the place of an `asm` statement. Returns the name of the first one that is not
/// known; nothing if all are.
std::string translate(llvm::CallInst &Statement);

} // namespace kassay::cuda::ptx
