//! The instructions of PTX with which a warp loads and multiplies small matrices (PTX ISA, "Warp-Level Matrix
//! Instructions"): each lane has the elements that the manual's figures give it, and gets those of others by shuffles.
//! Products are exact, and summed in the order of their index, of 16 bits too as `float`.

#include "module.h"
#include "ptx_step.h"

#include <llvm/IR/Instructions.h>

using namespace llvm;
using namespace kassay::cuda::ptx;

namespace {

/// What another lane has. The user wrote no shuffle.
Value *fromLane(Step U, Value *What, Value *Lane) {
  Value *Found = U.At.call("_Z19kassay_warp_shufflejjj", U.B.getInt32Ty(), {U.B.getInt32(~0u), What, Lane}, /*Waits=*/true);
  cast<Instruction>(Found)->setMetadata("kassay.library", MDNode::get(U.context(), {}));
  return Found;
}

/// The place of a lane in the figures: eight groups of four.
struct Lane {
  Value *Group, *Member;

  explicit Lane(Step U) {
    Value *Own = U.At.lane();
    Group = U.B.CreateLShr(Own, 2);
    Member = U.B.CreateAnd(Own, 3);
  }
};

/// The address of the row that a lane names, in shared memory.
Value *rowOf(Step U, Value *Number, Value *Lane, Value *Offset) {
  auto *Pointer = PointerType::get(U.context(), kassay::cuda::Generic);
  Value *Row = U.At.call(kassay::cuda::SharedAddress, Pointer, {fromLane(U, Number, Lane)});
  return U.B.CreateGEP(U.B.getInt8Ty(), Row, U.B.CreateZExt(Offset, U.B.getInt64Ty()));
}

/// `ldmatrix`: eight lanes name the rows of each matrix, of 16 bytes, which are given to all.
bool loadMatrices(Step U) {
  unsigned Count = U.I.has("x1") ? 1 : U.I.has("x2") ? 2 : U.I.has("x4") ? 4 : 0;
  bool Transposes = U.I.has("trans");
  bool AreKnown = all_of(drop_begin(U.I.Words), [](StringRef Word) {
    return is_contained({"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta", "b16"}, Word);
  });
  bool IsWhole = U.I.has("sync") && U.I.has("m8n8") && U.I.has("b16") && (U.I.has("shared") || U.I.has("shared::cta"));
  if (!AreKnown || !IsWhole || !Count || U.count() != 2 || !U.I.Predicate.empty() || U.operand(1).Is != Operand::Address)
    return false;
  const Operand &Given = U.operand(0), &From = U.operand(1);
  ArrayRef<Operand> To = Given.Is == Operand::Vector ? ArrayRef(Given.Parts) : ArrayRef(Given);
  Value *Base = U.At.read(From.Parts[0], U.B.getInt32Ty());
  if (To.size() != Count || !Base)
    return false;
  IRBuilder<> &B = U.B;
  Value *Number = B.CreateAdd(Base, B.getInt32(static_cast<uint32_t>(From.Offset)));
  Lane Own(U);
  for (auto [Index, One] : enumerate(To)) {
    Value *First = B.getInt32(8 * Index), *Got;
    if (Transposes) {
      Value *Offset = B.CreateShl(Own.Group, 1), *Halves[2];
      for (unsigned Half : {0u, 1u}) {
        Value *Row = B.CreateAdd(B.CreateAdd(B.CreateShl(Own.Member, 1), First), B.getInt32(Half));
        Value *Read = B.CreateAlignedLoad(B.getInt16Ty(), rowOf(U, Number, Row, Offset), Align(2));
        Halves[Half] = B.CreateZExt(Read, B.getInt32Ty());
      }
      Got = B.CreateOr(Halves[0], B.CreateShl(Halves[1], 16));
    } else {
      Value *Row = rowOf(U, Number, B.CreateAdd(Own.Group, First), B.CreateShl(Own.Member, 2));
      Got = B.CreateAlignedLoad(B.getInt32Ty(), Row, Align(4));
    }
    if (One.Is != Operand::Nothing && !U.At.write(U.I, One, Got))
      return false;
  }
  return true;
}

/// A part of a register as `float`.
Value *element(Step U, Value *Register, StringRef Type, unsigned Part) {
  IRBuilder<> &B = U.B;
  Value *Bits = Part ? B.CreateLShr(Register, 16) : Register;
  if (Type == "tf32")
    Bits = B.CreateAnd(Register, 0xffffe000u);
  else if (Type == "bf16")
    Bits = B.CreateShl(Bits, 16);
  else
    return B.CreateFPExt(B.CreateBitCast(B.CreateTrunc(Bits, B.getInt16Ty()), B.getHalfTy()), B.getFloatTy());
  return B.CreateBitCast(Bits, B.getFloatTy());
}

/// The parts of a vector as values; empty if they are not as many.
Values parts(Step U, size_t Index, size_t Count, Type *As) {
  Values All;
  const Operand &Given = U.operand(Index);
  ArrayRef<Operand> Each = Given.Is == Operand::Vector ? ArrayRef(Given.Parts) : ArrayRef(Given);
  for (const Operand &One : Each)
    if (Value *Read = U.At.read(One, As))
      All.push_back(Read);
  return All.size() == Count && Each.size() == Count ? All : Values();
}

/// `mma` of 16 rows, 8 columns: a lane has two rows, eight apart, and two columns of the result.
bool multiplyMatrices(Step U) {
  const auto &Words = U.I.Words;
  if (Words.size() != 10 || Words[1] != "sync" || Words[2] != "aligned" || Words[4] != "row" || Words[5] != "col" ||
      Words[7] != Words[8] || Words[6] != Words[9] || U.count() != 4 || !U.I.Predicate.empty())
    return false;
  StringRef Of = Words[7], Result = Words[6];
  bool IsWide = Of == "tf32";
  unsigned Blocks = StringSwitch<unsigned>(Words[3])
                        .Case("m16n8k16", IsWide ? 0 : 2)
                        .Case("m16n8k8", IsWide ? 2 : 1)
                        .Case("m16n8k4", IsWide ? 1 : 0)
                        .Default(0);
  bool InHalves = Result == "f16" && Of == "f16";
  if (!Blocks || !is_contained({"f16", "bf16", "tf32"}, Of) || (Result != "f32" && !InHalves))
    return false;
  IRBuilder<> &B = U.B;
  Type *Register = B.getInt32Ty();
  Values Left = parts(U, 1, 2 * Blocks, Register), Right = parts(U, 2, Blocks, Register);
  Values Given = parts(U, 3, InHalves ? 2 : 4, InHalves ? Register : B.getFloatTy());
  if (Left.empty() || Right.empty() || Given.empty())
    return false;
  // By row, then by column.
  Value *Sums[2][2];
  for (unsigned Row : {0u, 1u})
    for (unsigned Column : {0u, 1u})
      Sums[Row][Column] = InHalves ? element(U, Given[Row], "f16", Column) : Given[2 * Row + Column];
  Lane Own(U);
  for (unsigned Block = 0; Block < Blocks; ++Block)
    for (unsigned Member = 0; Member < 4; ++Member) {
      Value *Rows[2], *Columns[2];
      for (unsigned Which : {0u, 1u}) {
        Value *OfRow = B.CreateAdd(B.CreateShl(Own.Group, 2), B.getInt32(Member));
        Rows[Which] = fromLane(U, Left[2 * Block + Which], OfRow);
        Value *Column = B.CreateAdd(B.CreateShl(Own.Member, 1), B.getInt32(Which));
        Columns[Which] = fromLane(U, Right[Block], B.CreateAdd(B.CreateShl(Column, 2), B.getInt32(Member)));
      }
      for (unsigned Part = 0; Part < (IsWide ? 1 : 2); ++Part)
        for (unsigned Row : {0u, 1u})
          for (unsigned Column : {0u, 1u}) {
            Value *Product = B.CreateFMul(element(U, Rows[Row], Of, Part), element(U, Columns[Column], Of, Part));
            Sums[Row][Column] = B.CreateFAdd(Sums[Row][Column], Product);
          }
    }
  const Operand &To = U.operand(0);
  if (To.Is != Operand::Vector || To.Parts.size() != Given.size())
    return false;
  for (unsigned Row : {0u, 1u}) {
    if (InHalves) {
      Value *Both = B.getInt32(0);
      for (unsigned Column : {0u, 1u}) {
        Value *Bits = B.CreateBitCast(B.CreateFPTrunc(Sums[Row][Column], B.getHalfTy()), B.getInt16Ty());
        Both = B.CreateOr(Both, B.CreateShl(B.CreateZExt(Bits, Register), 16 * Column));
      }
      if (!U.At.write(U.I, To.Parts[Row], Both))
        return false;
    }
    for (unsigned Column = 0; !InHalves && Column < 2; ++Column)
      if (!U.At.write(U.I, To.Parts[2 * Row + Column], Sums[Row][Column]))
        return false;
  }
  return true;
}

constexpr Entry MatrixTable[] = {
    {"ldmatrix", loadMatrices},
    {"mma", multiplyMatrices},
};

} // namespace

ArrayRef<Entry> kassay::cuda::ptx::matrixInstructions() { return MatrixTable; }
