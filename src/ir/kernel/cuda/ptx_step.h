//! An instruction of PTX and where it is built, as the functions of the table get it.

#pragma once

#include "ptx_builder.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSwitch.h>

namespace kassay::cuda::ptx {

using Words = std::initializer_list<llvm::StringRef>;
using Values = llvm::SmallVector<llvm::Value *, 4>;

using Words = std::initializer_list<llvm::StringRef>;

/// An instruction, and where it is built.
struct Step {
  const Command &I;
  Builder &At;
  llvm::IRBuilder<> &B;

  Step(const Command &I, Builder &At) : I(I), At(At), B(At.B) {}

  llvm::LLVMContext &context() const { return At.M.getContext(); }
  llvm::StringRef name() const { return I.Words[0]; }
  size_t count() const { return I.Operands.size(); }
  const Operand &operand(size_t Index) const { return I.Operands[Index]; }

  /// The word with the type: the last one; others must be among those that the handler knows.
  llvm::StringRef typed(Words Known = {}) const {
    llvm::StringRef Last = I.Words.back();
    bool AreKnown = llvm::all_of(llvm::drop_end(llvm::drop_begin(I.Words)), [&](llvm::StringRef Word) { return llvm::is_contained(Known, Word); });
    return I.Words.size() > 1 && AreKnown && At.type(Last) ? Last : "";
  }

  llvm::Value *read(size_t Index, llvm::Type *As) const { return At.read(operand(Index), As); }
  llvm::Value *word(size_t Index) const { return read(Index, B.getInt32Ty()); }
  bool put(llvm::Value *What, bool IsSigned = false) const { return At.write(I, operand(0), What, IsSigned); }

  /// Reads the operands after the first as values of a type. Empty if one is none, or there are not as many.
  Values sources(size_t Wanted, llvm::Type *As) const {
    Values All;
    for (size_t Index = 1; count() == Wanted + 1 && Index <= Wanted; ++Index) {
      llvm::Value *One = read(Index, As);
      if (!One)
        return {};
      All.push_back(One);
    }
    return All;
  }

  /// The least of a count and a limit.
  llvm::Value *atMost(llvm::Value *Count, uint64_t Limit) const {
    llvm::Value *Most = llvm::ConstantInt::get(Count->getType(), Limit);
    return B.CreateSelect(B.CreateICmpULT(Count, Most), Count, Most);
  }
};


inline bool isSigned(llvm::StringRef Type) { return Type.starts_with("s"); }
inline bool isFloat(llvm::StringRef Type) { return Type.starts_with("f"); }

/// The value shifted by a number of bits; shifts by more than the width leave nothing, or the sign.
llvm::Value *shifted(Step U, llvm::Value *What, llvm::Value *By, bool ToLeft, bool IsSigned);

/// An entry of the table of instructions. What a function does not know, a word or an operand, it answers with false, and
/// the statement is refused.
struct Entry {
  llvm::StringLiteral Name;
  bool (*Translate)(Step);
};

/// Those that access memory, and those that synchronise.
llvm::ArrayRef<Entry> memoryInstructions();

/// Those of matrices that a warp shares.
llvm::ArrayRef<Entry> matrixInstructions();

} // namespace kassay::cuda::ptx
