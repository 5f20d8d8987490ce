//! Builds IR for instructions of PTX: registers, types, and calls of builtins.

#pragma once

#include "ptx.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/IRBuilder.h>

namespace kassay::cuda::ptx {

/// Builds at the place of a statement.
class Builder {
public:
  explicit Builder(llvm::CallInst &Statement);

  llvm::IRBuilder<> B;
  llvm::Module &M;
  /// What an instruction with `.cc` leaves to the next one, as 0 or 1; null before the first.
  llvm::Value *Carry = nullptr;

  /// Declares a register. Returns whether its type is known.
  bool declare(llvm::StringRef Name, llvm::StringRef Type);
  void declare(llvm::StringRef Name, llvm::Type *Type, llvm::Value *Given);
  /// What the register holds in the end.
  llvm::Value *last(llvm::StringRef Name) const;

  /// The type that a word such as `u32` names; null if it names none.
  llvm::Type *type(llvm::StringRef Word) const;
  llvm::Type *integer(unsigned Bits) const;

  /// The operand as a value of the type; null if it is none. Narrower integers are extended without a sign.
  llvm::Value *read(const Operand &From, llvm::Type *As);
  /// Puts a value into a register, under the instruction's predicate. Returns whether it is one.
  bool write(const Command &I, const Operand &To, llvm::Value *What, bool IsSigned = false);
  /// The pointer that an address is; null if it is none. In shared memory, numbers of 32 bits are addresses, too.
  llvm::Value *address(const Operand &At, bool IsShared);

  /// Whether the instruction is executed, as its predicate says; null if that is none.
  llvm::Value *condition(const Command &I);

  llvm::Value *convert(llvm::Value *From, llvm::Type *As, bool IsSigned = false);
  /// Calls one of OpenCL's builtins.
  llvm::Value *call(llvm::StringRef Mangled, llvm::Type *Result, llvm::ArrayRef<llvm::Value *> Arguments,
                    bool Waits = false);
  llvm::Value *lane();

  /// The values of special registers; null for one that is not known.
  llvm::Value *special(llvm::StringRef Name);

private:
  struct Register {
    llvm::Type *Type;
    llvm::Value *Now;
  };
  llvm::StringMap<Register> Registers;

  llvm::Value *index(llvm::StringRef Query, unsigned Dimension);
};

} // namespace kassay::cuda::ptx
