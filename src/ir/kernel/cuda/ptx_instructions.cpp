//! The instructions of PTX that are known, by name: what each computes (PTX ISA, "Instruction Set"). Everything that a
//! handler does not know, a word or an operand, makes the statement be refused.

#include "ptx_step.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>

using namespace llvm;
using namespace kassay::cuda::ptx;

namespace {

// ---- Moving and computing

bool move(Step U) {
  StringRef Name = U.typed();
  if (Name.empty() || U.count() != 2)
    return false;
  Type *Of = U.At.type(Name);
  const Operand &To = U.operand(0), &From = U.operand(1);
  unsigned Bits = Of->getPrimitiveSizeInBits();
  if (From.Is == Operand::Vector) {
    unsigned Part = Bits / From.Parts.size();
    Value *All = ConstantInt::get(U.At.integer(Bits), 0);
    for (auto [Index, One] : enumerate(From.Parts)) {
      Value *Piece = U.At.read(One, U.At.integer(Part));
      if (!Piece)
        return false;
      All = U.B.CreateOr(All, U.B.CreateShl(U.B.CreateZExt(Piece, All->getType()), Index * Part));
    }
    return U.put(All);
  }
  Value *Given = U.read(1, Of);
  if (To.Is != Operand::Vector)
    return U.put(Given);
  unsigned Part = Bits / To.Parts.size();
  Value *All = Given ? U.At.convert(Given, U.At.integer(Bits)) : nullptr;
  return All && all_of(enumerate(To.Parts), [&](auto One) {
    Value *Piece = U.B.CreateTrunc(U.B.CreateLShr(All, One.index() * Part), U.At.integer(Part));
    return One.value().Is == Operand::Nothing || U.At.write(U.I, One.value(), Piece);
  });
}

/// Adds or subtracts, with the carry of the instruction before.
bool carried(Step U, bool Subtracts, bool Takes) {
  bool Leaves = U.I.has("cc");
  StringRef Name = U.typed({"cc"});
  if (Name.empty() || isFloat(Name) || (Takes && !U.At.Carry))
    return false;
  Type *Of = U.At.type(Name);
  unsigned Bits = Of->getPrimitiveSizeInBits();
  Type *Wide = U.At.integer(Bits + 2);
  auto From = U.sources(2, Of);
  if (From.empty())
    return false;
  Value *A = U.B.CreateZExt(From[0], Wide), *C = U.B.CreateZExt(From[1], Wide);
  Value *Sum = Subtracts ? U.B.CreateSub(A, C) : U.B.CreateAdd(A, C);
  if (Takes) {
    Value *Carry = U.B.CreateZExt(U.At.Carry, Wide);
    Sum = Subtracts ? U.B.CreateSub(Sum, Carry) : U.B.CreateAdd(Sum, Carry);
  }
  if (Leaves)
    U.At.Carry = U.B.CreateTrunc(U.B.CreateLShr(Sum, Bits), U.B.getInt1Ty());
  // What would be left depends on the predicate.
  return !(Leaves && !U.I.Predicate.empty()) && U.put(U.B.CreateTrunc(Sum, Of));
}

bool sum(Step U) {
  bool Subtracts = U.name() == "sub";
  if (U.I.has("cc"))
    return carried(U, Subtracts, /*Takes=*/false);
  StringRef Name = U.typed({"rn", "ftz"});
  auto From = Name.empty() ? Values() : U.sources(2, U.At.type(Name));
  if (From.empty())
    return false;
  if (isFloat(Name))
    return U.put(Subtracts ? U.B.CreateFSub(From[0], From[1]) : U.B.CreateFAdd(From[0], From[1]));
  return U.I.Words.size() == 2 && U.put(Subtracts ? U.B.CreateSub(From[0], From[1]) : U.B.CreateAdd(From[0], From[1]));
}

bool sumWithCarry(Step U) { return carried(U, U.name() == "subc", /*Takes=*/true); }

/// The product of the operands 1 and 2, as `mul` and `mad` have it: its lower or upper half, or all of it.
Value *product(Step U, StringRef Name) {
  Type *Of = U.At.type(Name);
  Value *A = U.read(1, Of), *C = U.read(2, Of);
  if (!A || !C)
    return nullptr;
  unsigned Bits = Of->getPrimitiveSizeInBits();
  if (U.I.has("lo"))
    return U.B.CreateMul(A, C);
  Type *Wide = U.At.integer(2 * Bits);
  Value *All = isSigned(Name) ? U.B.CreateMul(U.B.CreateSExt(A, Wide), U.B.CreateSExt(C, Wide))
                              : U.B.CreateMul(U.B.CreateZExt(A, Wide), U.B.CreateZExt(C, Wide));
  if (U.I.has("wide"))
    return Bits <= 32 ? All : nullptr;
  return U.I.has("hi") ? U.B.CreateTrunc(U.B.CreateLShr(All, Bits), Of) : nullptr;
}

bool multiply(Step U) {
  if (StringRef Name = U.typed({"rn", "ftz"}); isFloat(Name)) {
    auto From = U.sources(2, U.At.type(Name));
    return !From.empty() && U.put(U.B.CreateFMul(From[0], From[1]));
  }
  StringRef Name = U.typed({"lo", "hi", "wide"});
  return !Name.empty() && !isFloat(Name) && U.count() == 3 && U.I.Words.size() == 3 && U.put(product(U, Name));
}

bool multiplyAndAdd(Step U) {
  if (StringRef Name = U.typed({"rn", "ftz"}); isFloat(Name) && U.I.has("rn")) {
    Type *Of = U.At.type(Name);
    auto From = U.sources(3, Of);
    StringRef Builtin = Of->isHalfTy() ? "_Z3fmaDhDhDh" : Of->isFloatTy() ? "_Z3fmafff" : "_Z3fmaddd";
    return !From.empty() && U.put(U.At.call(Builtin, Of, {From[0], From[1], From[2]}));
  }
  StringRef Name = U.typed({"lo", "hi", "wide"});
  if (Name.empty() || isFloat(Name) || U.count() != 4 || U.I.Words.size() != 3 || U.name() != "mad")
    return false;
  Value *Product = product(U, Name);
  Value *Added = Product ? U.read(3, Product->getType()) : nullptr;
  return Added && U.put(U.B.CreateAdd(Product, Added));
}

bool logic(Step U) {
  StringRef Name = U.typed();
  auto From = Name.empty() || isFloat(Name) ? Values() : U.sources(2, U.At.type(Name));
  if (From.empty())
    return false;
  return U.put(U.name() == "and"  ? U.B.CreateAnd(From[0], From[1])
               : U.name() == "or" ? U.B.CreateOr(From[0], From[1])
                                  : U.B.CreateXor(From[0], From[1]));
}

bool invert(Step U) {
  StringRef Name = U.typed({"ftz"});
  auto From = Name.empty() ? Values() : U.sources(1, U.At.type(Name));
  if (From.empty())
    return false;
  if (U.name() == "not")
    return !isFloat(Name) && U.put(U.B.CreateNot(From[0]));
  bool IsNegative = U.name() == "neg";
  if (isFloat(Name))
    return U.put(IsNegative ? U.B.CreateFNeg(From[0]) : U.B.CreateUnaryIntrinsic(Intrinsic::fabs, From[0]));
  Value *Opposite = U.B.CreateNeg(From[0]);
  Value *Zero = ConstantInt::get(From[0]->getType(), 0);
  return isSigned(Name) &&
         U.put(IsNegative ? Opposite : U.B.CreateSelect(U.B.CreateICmpSLT(From[0], Zero), Opposite, From[0]));
}

bool extreme(Step U) {
  StringRef Name = U.typed({"ftz"});
  Type *Of = Name.empty() ? nullptr : U.At.type(Name);
  auto From = Of ? U.sources(2, Of) : Values();
  bool IsLeast = U.name() == "min";
  if (From.empty() || Of->isHalfTy() || Name.starts_with("b"))
    return false;
  if (isFloat(Name)) {
    std::string Builtin = std::string(IsLeast ? "_Z4fmin" : "_Z4fmax") + (Of->isFloatTy() ? "ff" : "dd");
    return U.put(U.At.call(Builtin, Of, {From[0], From[1]}));
  }
  CmpInst::Predicate Less = isSigned(Name) ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT;
  Value *IsLess = U.B.CreateICmp(Less, From[0], From[1]);
  return U.put(IsLeast ? U.B.CreateSelect(IsLess, From[0], From[1]) : U.B.CreateSelect(IsLess, From[1], From[0]));
}

} // namespace

Value *kassay::cuda::ptx::shifted(Step U, Value *What, Value *By, bool ToLeft, bool IsSigned) {
  unsigned Bits = What->getType()->getPrimitiveSizeInBits();
  if (!ToLeft && IsSigned)
    return U.B.CreateAShr(What, U.At.convert(U.atMost(By, Bits - 1), What->getType()));
  Type *Wide = U.At.integer(2 * Bits);
  Value *Amount = U.At.convert(U.atMost(By, Bits), Wide), *Whole = U.B.CreateZExt(What, Wide);
  return U.B.CreateTrunc(ToLeft ? U.B.CreateShl(Whole, Amount) : U.B.CreateLShr(Whole, Amount), What->getType());
}

namespace {

bool shift(Step U) {
  StringRef Name = U.typed();
  Value *What = Name.empty() || isFloat(Name) || U.count() != 3 ? nullptr : U.read(1, U.At.type(Name));
  Value *By = What ? U.word(2) : nullptr;
  return By && U.put(shifted(U, What, By, U.name() == "shl", isSigned(Name)));
}

bool funnelShift(Step U) {
  bool ToLeft = U.I.has("l");
  StringRef Name = U.typed({"l", "r", "wrap", "clamp"});
  if (Name != "b32" || U.count() != 4 || U.I.Words.size() != 4)
    return false;
  auto From = U.sources(3, U.B.getInt32Ty());
  if (From.empty())
    return false;
  Type *Wide = U.B.getInt64Ty();
  Value *Both = U.B.CreateOr(U.B.CreateZExt(From[0], Wide), U.B.CreateShl(U.B.CreateZExt(From[1], Wide), 32));
  Value *By = U.B.CreateZExt(U.I.has("clamp") ? U.atMost(From[2], 32) : U.B.CreateAnd(From[2], 31), Wide);
  Value *Moved = ToLeft ? U.B.CreateLShr(U.B.CreateShl(Both, By), 32) : U.B.CreateLShr(Both, By);
  return U.put(U.B.CreateTrunc(Moved, U.B.getInt32Ty()));
}

// ---- Bits

bool lookup(Step U) {
  auto From = U.typed() == "b32" ? U.sources(4, U.B.getInt32Ty()) : Values();
  auto *Given = From.empty() ? nullptr : dyn_cast<ConstantInt>(From[3]);
  if (!Given || Given->getZExtValue() > 255)
    return false;
  uint64_t Table = Given->getZExtValue();
  Value *All = U.B.getInt32(0);
  for (unsigned Row = 0; Row < 8; ++Row) {
    if (!(Table >> Row & 1))
      continue;
    Value *Term = nullptr;
    for (unsigned Bit = 0; Bit < 3; ++Bit) {
      Value *One = Row >> (2 - Bit) & 1 ? From[Bit] : U.B.CreateNot(From[Bit]);
      Term = Term ? U.B.CreateAnd(Term, One) : One;
    }
    All = U.B.CreateOr(All, Term);
  }
  return U.put(All);
}

/// `bfe`: the position and the length are the lowest bytes of words.
bool extractField(Step U) {
  StringRef Name = U.typed();
  if ((Name != "u32" && Name != "s32") || U.count() != 4)
    return false;
  auto From = U.sources(3, U.B.getInt32Ty());
  if (From.empty())
    return false;
  Type *Wide = U.B.getInt64Ty();
  Value *What = isSigned(Name) ? U.B.CreateSExt(From[0], Wide) : U.B.CreateZExt(From[0], Wide);
  Value *By = U.B.CreateZExt(U.atMost(U.B.CreateAnd(From[1], 255), 63), Wide);
  Value *Length = U.B.CreateZExt(U.atMost(U.B.CreateAnd(From[2], 255), 32), Wide);
  Value *Moved = isSigned(Name) ? U.B.CreateAShr(What, By) : U.B.CreateLShr(What, By);
  // The upper 32 bits are taken away first, so that no shift is by 64.
  Value *Up = U.B.CreateSub(U.B.getInt64(32), Length);
  Value *High = U.B.CreateShl(U.B.CreateShl(Moved, 32), Up);
  Value *Low = isSigned(Name) ? U.B.CreateAShr(U.B.CreateAShr(High, Up), 32) : U.B.CreateLShr(U.B.CreateLShr(High, Up), 32);
  Value *IsNone = U.B.CreateICmpEQ(Length, U.B.getInt64(0));
  return U.put(U.B.CreateSelect(IsNone, U.B.getInt32(0), U.B.CreateTrunc(Low, U.B.getInt32Ty())));
}

bool insertField(Step U) {
  if (U.typed() != "b32" || U.count() != 5)
    return false;
  auto From = U.sources(4, U.B.getInt32Ty());
  if (From.empty())
    return false;
  Type *Wide = U.B.getInt64Ty();
  Value *By = U.B.CreateZExt(U.atMost(U.B.CreateAnd(From[2], 255), 32), Wide);
  Value *Length = U.B.CreateZExt(U.atMost(U.B.CreateAnd(From[3], 255), 32), Wide);
  Value *Ones = U.B.CreateSub(U.B.CreateShl(U.B.getInt64(1), Length), U.B.getInt64(1));
  Value *Mask = U.B.CreateTrunc(U.B.CreateShl(Ones, By), U.B.getInt32Ty());
  Value *Moved = U.B.CreateTrunc(U.B.CreateShl(U.B.CreateZExt(From[0], Wide), By), U.B.getInt32Ty());
  return U.put(U.B.CreateOr(U.B.CreateAnd(From[1], U.B.CreateNot(Mask)), U.B.CreateAnd(Moved, Mask)));
}

bool permute(Step U) {
  if (U.typed() != "b32" || U.count() != 4)
    return false;
  auto From = U.sources(3, U.B.getInt32Ty());
  if (From.empty())
    return false;
  Type *Wide = U.B.getInt64Ty();
  Value *Both = U.B.CreateOr(U.B.CreateZExt(From[0], Wide), U.B.CreateShl(U.B.CreateZExt(From[1], Wide), 32));
  Value *All = U.B.getInt32(0);
  for (unsigned Byte = 0; Byte < 4; ++Byte) {
    Value *Selector = U.B.CreateLShr(From[2], 4 * Byte);
    Value *By = U.B.CreateMul(U.B.CreateAnd(Selector, 7), U.B.getInt32(8));
    Value *Found = U.B.CreateTrunc(U.B.CreateLShr(Both, U.B.CreateZExt(By, Wide)), U.B.getInt8Ty());
    // The fourth bit: its sign in all bits.
    Value *Signs = U.B.CreateAShr(Found, 7);
    Value *IsSign = U.B.CreateICmpNE(U.B.CreateAnd(Selector, 8), U.B.getInt32(0));
    Value *Chosen = U.B.CreateSelect(IsSign, Signs, Found);
    All = U.B.CreateOr(All, U.B.CreateShl(U.B.CreateZExt(Chosen, U.B.getInt32Ty()), 8 * Byte));
  }
  return U.put(All);
}

Value *leadingZeros(Step U, Value *Of) { return U.B.CreateBinaryIntrinsic(Intrinsic::ctlz, Of, U.B.getFalse()); }

bool countBits(Step U) {
  StringRef Name = U.typed();
  auto From = Name == "b32" || Name == "b64" ? U.sources(1, U.At.type(Name)) : Values();
  if (From.empty())
    return false;
  if (U.name() == "brev")
    return U.put(U.B.CreateUnaryIntrinsic(Intrinsic::bitreverse, From[0]));
  Value *Count = U.name() == "popc" ? U.B.CreateUnaryIntrinsic(Intrinsic::ctpop, From[0]) : leadingZeros(U, From[0]);
  return U.put(U.At.convert(Count, U.B.getInt32Ty()));
}

/// The highest bit that is not the sign; all ones if there is none.
bool highestBit(Step U) {
  StringRef Name = U.typed();
  if (Name.empty() || isFloat(Name) || Name.starts_with("b"))
    return false;
  Type *Of = U.At.type(Name);
  auto From = U.sources(1, Of);
  unsigned Bits = Of->getPrimitiveSizeInBits();
  if (From.empty() || Bits < 32)
    return false;
  Value *What = isSigned(Name) ? U.B.CreateXor(From[0], U.B.CreateAShr(From[0], Bits - 1)) : From[0];
  return U.put(U.B.CreateSub(U.B.getInt32(Bits - 1), U.At.convert(leadingZeros(U, What), U.B.getInt32Ty())));
}

/// The bytes of a word, widened.
Value *byte(Step U, Value *Word, unsigned Index, bool IsSigned) {
  Value *Byte = U.B.CreateTrunc(U.B.CreateLShr(Word, 8 * Index), U.B.getInt8Ty());
  return IsSigned ? U.B.CreateSExt(Byte, U.B.getInt32Ty()) : U.B.CreateZExt(Byte, U.B.getInt32Ty());
}

bool dotProduct(Step U) {
  auto Is = [](StringRef Word) { return Word == "u32" || Word == "s32"; };
  if (U.I.Words.size() != 3 || !Is(U.I.Words[1]) || !Is(U.I.Words[2]))
    return false;
  auto From = U.sources(3, U.B.getInt32Ty());
  if (From.empty())
    return false;
  Value *Sum = From[2];
  for (unsigned Index = 0; Index < 4; ++Index)
    Sum = U.B.CreateAdd(Sum, U.B.CreateMul(byte(U, From[0], Index, U.I.Words[1] == "s32"),
                                           byte(U, From[1], Index, U.I.Words[2] == "s32")));
  return U.put(Sum);
}

/// The sum of the differences of bytes.
bool byteDifferences(Step U) {
  auto From = U.I.name() == "vabsdiff4.u32.u32.u32.add" ? U.sources(3, U.B.getInt32Ty()) : Values();
  if (From.empty())
    return false;
  Value *Sum = From[2];
  for (unsigned Index = 0; Index < 4; ++Index) {
    Value *A = byte(U, From[0], Index, false), *C = byte(U, From[1], Index, false);
    Sum = U.B.CreateAdd(Sum, U.B.CreateSelect(U.B.CreateICmpULT(A, C), U.B.CreateSub(C, A), U.B.CreateSub(A, C)));
  }
  return U.put(Sum);
}

bool shiftAndAdd(Step U) {
  auto From = U.I.name() == "vshr.u32.u32.u32.clamp.add" ? U.sources(3, U.B.getInt32Ty()) : Values();
  return !From.empty() && U.put(U.B.CreateAdd(shifted(U, From[0], From[1], /*ToLeft=*/false, false), From[2]));
}

// ---- Comparing and choosing

std::optional<CmpInst::Predicate> comparison(StringRef Word, StringRef Type) {
  bool IsFloat = isFloat(Type), IsLess = !isSigned(Type);
  return StringSwitch<std::optional<CmpInst::Predicate>>(Word)
      .Case("eq", IsFloat ? CmpInst::FCMP_OEQ : CmpInst::ICMP_EQ)
      .Case("ne", IsFloat ? CmpInst::FCMP_ONE : CmpInst::ICMP_NE)
      .Case("lt", IsFloat ? CmpInst::FCMP_OLT : IsLess ? CmpInst::ICMP_ULT : CmpInst::ICMP_SLT)
      .Case("le", IsFloat ? CmpInst::FCMP_OLE : IsLess ? CmpInst::ICMP_ULE : CmpInst::ICMP_SLE)
      .Case("gt", IsFloat ? CmpInst::FCMP_OGT : IsLess ? CmpInst::ICMP_UGT : CmpInst::ICMP_SGT)
      .Case("ge", IsFloat ? CmpInst::FCMP_OGE : IsLess ? CmpInst::ICMP_UGE : CmpInst::ICMP_SGE)
      .Default(std::nullopt);
}

bool compare(Step U) {
  if (U.I.Words.size() != 3 || U.count() != 3 || !U.At.type(U.I.Words[2]))
    return false;
  auto How = comparison(U.I.Words[1], U.I.Words[2]);
  auto From = U.sources(2, U.At.type(U.I.Words[2]));
  return How && !From.empty() && U.put(U.B.CreateCmp(*How, From[0], From[1]));
}

bool choose(Step U) {
  StringRef Name = U.typed();
  Type *Of = Name.empty() ? nullptr : U.At.type(Name);
  if (!Of || U.count() != 4)
    return false;
  Value *A = U.read(1, Of), *C = U.read(2, Of), *P = U.read(3, U.B.getInt1Ty());
  return A && C && P && U.put(U.B.CreateSelect(P, A, C));
}

/// The builtin that converts to an integer as PTX does: towards zero or to the nearest, within the type's limits.
std::string conversion(StringRef To, StringRef From, bool ToNearest) {
  std::string Name = std::string("convert_") + (isSigned(To) ? "" : "u") + (To.ends_with("64") ? "long" : "int") + "_sat_" +
                     (ToNearest ? "rte" : "rtz");
  return "_Z" + std::to_string(Name.size()) + Name + (From == "f32" ? "f" : "d");
}

bool convertTypes(Step U) {
  SmallVector<StringRef, 4> Types, Others;
  for (StringRef Word : drop_begin(U.I.Words))
    (U.At.type(Word) ? Types : Others).push_back(Word);
  if (Types.size() != 2 || U.count() != 2 || Types[0].starts_with("b") || Types[1].starts_with("b"))
    return false;
  StringRef To = Types[0], From = Types[1];
  Type *As = U.At.type(To);
  Value *Given = U.read(1, U.At.type(From));
  auto areOnly = [&](Words Known) { return all_of(Others, [&](StringRef Word) { return is_contained(Known, Word); }); };
  if (!Given)
    return false;
  if (!isFloat(To) && !isFloat(From))
    return Others.empty() && U.put(U.At.convert(Given, As, isSigned(From)), isSigned(To));
  if (isFloat(To) && !isFloat(From))
    return areOnly({"rn"}) && !Others.empty() &&
           U.put(isSigned(From) ? U.B.CreateSIToFP(Given, As) : U.B.CreateUIToFP(Given, As));
  if (isFloat(To)) {
    bool IsWider = As->getPrimitiveSizeInBits() > Given->getType()->getPrimitiveSizeInBits();
    return To != From && areOnly(IsWider ? Words{"ftz"} : Words{"rn", "ftz"}) && U.put(U.B.CreateFPCast(Given, As));
  }
  bool ToNearest = is_contained(Others, "rni");
  // Only floats of 32 bits to integers of 32: a NaN becomes 0 there, as in OpenCL.
  return From == "f32" && (To == "s32" || To == "u32") && areOnly({"rni", "rzi", "ftz"}) && !Others.empty() &&
         U.put(U.At.call(conversion(To, From, ToNearest), As, {Given}));
}

/// Functions that one builtin computes.
bool function(Step U) {
  StringRef Name = U.typed({"approx", "ftz", "rn", "full"});
  Type *Of = Name.empty() ? nullptr : U.At.type(Name);
  auto From = Of && isFloat(Name) ? U.sources(1, Of) : Values();
  if (From.empty())
    return false;
  if (U.name() == "rcp")
    return !Of->isHalfTy() && U.put(U.B.CreateFDiv(ConstantFP::get(Of, 1), From[0]));
  StringRef Builtin = StringSwitch<StringRef>(U.name())
                          .Case("ex2", "4exp2")
                          .Case("lg2", "4log2")
                          .Case("rsqrt", "5rsqrt")
                          .Case("sqrt", "4sqrt")
                          .Case("sin", "3sin")
                          .Case("cos", "3cos")
                          .Default("4tanh");
  StringRef Letter = Of->isHalfTy() ? "Dh" : Of->isFloatTy() ? "f" : "d";
  return U.put(U.At.call(("_Z" + Builtin + Letter).str(), Of, {From[0]}));
}

bool divide(Step U) {
  StringRef Name = U.typed({"approx", "ftz", "rn", "full"});
  auto From = isFloat(Name) ? U.sources(2, U.At.type(Name)) : Values();
  return !From.empty() && U.put(U.B.CreateFDiv(From[0], From[1]));
}

// ---- The table

constexpr Entry Table[] = {
    {"mov", move},
    {"add", sum},
    {"sub", sum},
    {"addc", sumWithCarry},
    {"subc", sumWithCarry},
    {"mul", multiply},
    {"mad", multiplyAndAdd},
    {"fma", multiplyAndAdd},
    {"and", logic},
    {"or", logic},
    {"xor", logic},
    {"not", invert},
    {"neg", invert},
    {"abs", invert},
    {"min", extreme},
    {"max", extreme},
    {"shl", shift},
    {"shr", shift},
    {"shf", funnelShift},
    {"lop3", lookup},
    {"bfe", extractField},
    {"bfi", insertField},
    {"prmt", permute},
    {"popc", countBits},
    {"clz", countBits},
    {"brev", countBits},
    {"bfind", highestBit},
    {"dp4a", dotProduct},
    {"vabsdiff4", byteDifferences},
    {"vshr", shiftAndAdd},
    {"setp", compare},
    {"selp", choose},
    {"cvt", convertTypes},
    {"ex2", function},
    {"lg2", function},
    {"rcp", function},
    {"rsqrt", function},
    {"sqrt", function},
    {"sin", function},
    {"cos", function},
    {"tanh", function},
    {"div", divide},
};

bool instruction(const Command &I, Builder &At) {
  for (ArrayRef<Entry> Entries : {ArrayRef(Table), memoryInstructions(), matrixInstructions()})
    for (const Entry &One : Entries)
      if (One.Name == I.Words[0])
        return One.Translate(Step(I, At));
  return false;
}

/// Marks what a statement computes as a library's: the user wrote an instruction, which has no site and no mutants. Accesses
/// to memory and calls of builtins are the user's.
void markLibrary(llvm::Instruction *First, const CallInst &End) {
  MDNode *Mark = MDNode::get(End.getContext(), {});
  for (llvm::Instruction *I = First; I && I != &End; I = I->getNextNode())
    if (!isa<CallBase>(I) && !I->mayReadOrWriteMemory())
      I->setMetadata("kassay.library", Mark);
}

/// Puts the values in the place of what the statement yields.
void replaceResults(CallInst &Statement, ArrayRef<Value *> Results, IRBuilder<> &B) {
  if (!Statement.getType()->isStructTy()) {
    if (!Results.empty())
      Statement.replaceAllUsesWith(Results[0]);
    return;
  }
  for (User *One : make_early_inc_range(Statement.users()))
    if (auto *Part = dyn_cast<ExtractValueInst>(One); Part && Part->getNumIndices() == 1) {
      Part->replaceAllUsesWith(Results[Part->getIndices()[0]]);
      Part->eraseFromParent();
    }
  Value *All = PoisonValue::get(Statement.getType());
  for (auto [Index, One] : enumerate(Results))
    All = Statement.use_empty() ? All : B.CreateInsertValue(All, One, Index);
  Statement.replaceAllUsesWith(All);
}

} // namespace

std::string kassay::cuda::ptx::translate(CallInst &Statement) {
  auto *Asm = cast<InlineAsm>(Statement.getCalledOperand());
  Template Read = parse(Asm->getAsmString());
  if (!Read.Wrong.empty())
    return Read.Wrong;
  Builder At(Statement);
  llvm::Instruction *Before = Statement.getPrevNode();
  auto *Several = dyn_cast<StructType>(Statement.getType());
  std::vector<std::string> Outputs;
  unsigned Number = 0, Argument = 0;
  for (const InlineAsm::ConstraintInfo &Info : Asm->ParseConstraints()) {
    if (Info.Type == InlineAsm::isClobber)
      continue;
    if (Info.isIndirect || Info.Type == InlineAsm::isLabel)
      return "an operand in memory";
    std::string Name = "$" + std::to_string(Number++);
    if (Info.Type == InlineAsm::isOutput) {
      Type *Of = Several ? Several->getElementType(Outputs.size()) : Statement.getType();
      At.declare(Name, Of, Constant::getNullValue(Of));
      Outputs.push_back(Name);
      continue;
    }
    Value *Given = Statement.getArgOperand(Argument++);
    At.declare(Name, Given->getType(), Given);
    // An operand that is read and written.
    if (unsigned Tied; !Info.Codes.empty() && !StringRef(Info.Codes[0]).getAsInteger(10, Tied) && Tied < Outputs.size()) {
      Type *Of = At.last(Outputs[Tied])->getType();
      At.declare(Outputs[Tied], Of, At.convert(Given, Of));
    }
  }
  for (const auto &[Name, Word] : Read.Registers)
    if (!At.declare(Name, Word))
      return ".reg ." + Word;
  for (const Command &One : Read.Instructions)
    if (!instruction(One, At))
      return One.name();
  std::vector<Value *> Results;
  for (const std::string &Name : Outputs)
    Results.push_back(At.last(Name));
  replaceResults(Statement, Results, At.B);
  markLibrary(Before ? Before->getNextNode() : &*Statement.getParent()->begin(), Statement);
  Statement.eraseFromParent();
  return "";
}
