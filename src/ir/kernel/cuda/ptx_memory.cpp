//! The instructions of PTX that access memory or synchronise (PTX ISA, "Data Movement and Conversion", "Parallel
//! Synchronization and Communication").

#include "ptx_step.h"
#include "module.h"

#include <llvm/IR/Instructions.h>
#include <llvm/Support/AtomicOrdering.h>

using namespace llvm;
using namespace kassay::cuda::ptx;

namespace {

// ---- Memory

constexpr StringLiteral Spaces[] = {"global", "shared", "shared::cta", "local", "const"};
constexpr StringLiteral CacheWords[] = {"ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc"};

std::optional<StringRef> scopeName(StringRef Word) {
  return StringSwitch<std::optional<StringRef>>(Word)
      .Case("cta", "workgroup")
      .Case("gpu", "device")
      .Case("sys", "")
      .Default(std::nullopt);
}

/// What the words of an access say.
struct AccessWords {
  bool AreKnown = true;
  bool IsVolatile = false;
  AtomicOrdering Order = AtomicOrdering::NotAtomic;
  std::optional<StringRef> Scope;
  unsigned Lanes = 1;
  StringRef Type, Operation;

  explicit AccessWords(Step U) {
    for (StringRef Word : drop_begin(U.I.Words)) {
      if (is_contained(Spaces, Word) || is_contained(CacheWords, Word) || Word.starts_with("L1::") ||
          (Word.starts_with("L2::") && Word != "L2::cache_hint"))
        continue;
      if (Word == "volatile")
        IsVolatile = true;
      else if (Word == "relaxed")
        Order = AtomicOrdering::Monotonic;
      else if (Word == "acquire")
        Order = AtomicOrdering::Acquire;
      else if (Word == "release")
        Order = AtomicOrdering::Release;
      else if (Word == "acq_rel")
        Order = AtomicOrdering::AcquireRelease;
      else if (auto Found = scopeName(Word))
        Scope = Found;
      else if (Word == "v2" || Word == "v4")
        Lanes = Word[1] - '0';
      else if (U.At.type(Word) && Type.empty())
        Type = Word;
      else if (Operation.empty())
        Operation = Word;
      else
        AreKnown = false;
    }
    AreKnown &= !Type.empty();
  }

  SyncScope::ID scope(LLVMContext &C) const { return C.getOrInsertSyncScopeID(Scope.value_or("device")); }
};

/// The parts of a value that a load or store of several has, or the value alone; empty if they are not as many.
ArrayRef<Operand> lanes(const Operand &Given, unsigned Count) {
  if (Count == 1)
    return ArrayRef(Given);
  return Given.Is == Operand::Vector && Given.Parts.size() == Count ? ArrayRef(Given.Parts) : ArrayRef<Operand>();
}

bool isShared(Step U) { return U.I.has("shared") || U.I.has("shared::cta"); }

/// Only loads, stores and copies may have predicates.
bool isPlain(Step U) { return U.I.Predicate.empty(); }

/// The lanes of an access under a predicate: all or none of them. A single one has a second beside it, which is never
/// accessed, since SPIR-V has no vectors of one.
struct Lanes {
  FixedVectorType *Type;
  Value *Mask;
};

std::optional<Lanes> lanesUnderPredicate(Step U, Type *Of, unsigned Count) {
  Value *IsExecuted = U.At.condition(U.I);
  if (!IsExecuted)
    return std::nullopt;
  Value *Mask = U.B.CreateVectorSplat(std::max(Count, 2u), IsExecuted);
  if (Count == 1)
    Mask = U.B.CreateInsertElement(Mask, U.B.getFalse(), uint64_t(1));
  return Lanes{FixedVectorType::get(Of, std::max(Count, 2u)), Mask};
}

/// Reads a number, or a vector of several, under the instruction's predicate if it has one; null if that is none.
Value *readMemory(Step U, Type *Of, unsigned Count, Value *From, Align At, bool IsVolatile) {
  Type *All = Count == 1 ? Of : FixedVectorType::get(Of, Count);
  if (isPlain(U))
    return U.B.CreateAlignedLoad(All, From, At, IsVolatile);
  auto Under = lanesUnderPredicate(U, Of, Count);
  if (!Under)
    return nullptr;
  Value *Read = U.B.CreateMaskedLoad(Under->Type, From, At, Under->Mask, Constant::getNullValue(Under->Type));
  return Count == 1 ? U.B.CreateExtractElement(Read, uint64_t(0)) : Read;
}

/// Writes a number, or a vector of several, likewise. Returns whether it could.
bool writeMemory(Step U, Value *What, unsigned Count, Value *To, Align At, bool IsVolatile) {
  if (isPlain(U)) {
    U.B.CreateAlignedStore(What, To, At, IsVolatile);
    return true;
  }
  auto Under = lanesUnderPredicate(U, What->getType()->getScalarType(), Count);
  if (!Under)
    return false;
  Value *All = Count == 1 ? U.B.CreateInsertElement(Constant::getNullValue(Under->Type), What, uint64_t(0)) : What;
  U.B.CreateMaskedStore(All, To, At, Under->Mask);
  return true;
}

bool load(Step U) {
  AccessWords Says(U);
  bool IsAtomic = Says.Order != AtomicOrdering::NotAtomic;
  if (!Says.AreKnown || !Says.Operation.empty() || U.count() != 2 || (IsAtomic && (Says.Lanes > 1 || !isPlain(U))))
    return false;
  auto To = lanes(U.operand(0), Says.Lanes);
  Type *Of = U.At.type(Says.Type);
  Value *From = To.empty() ? nullptr : U.At.address(U.operand(1), isShared(U));
  if (!From)
    return false;
  Align At(Of->getPrimitiveSizeInBits() / 8 * Says.Lanes);
  Value *Read = readMemory(U, Of, Says.Lanes, From, At, Says.IsVolatile);
  if (!Read)
    return false;
  if (IsAtomic)
    cast<LoadInst>(Read)->setAtomic(Says.Order, Says.scope(U.context()));
  return all_of(enumerate(To), [&](auto One) {
    Value *Lane = Says.Lanes == 1 ? Read : U.B.CreateExtractElement(Read, One.index());
    return One.value().Is == Operand::Nothing || U.At.write(U.I, One.value(), Lane, isSigned(Says.Type));
  });
}

bool store(Step U) {
  AccessWords Says(U);
  bool IsAtomic = Says.Order != AtomicOrdering::NotAtomic;
  if (!Says.AreKnown || !Says.Operation.empty() || U.count() != 2 || (IsAtomic && (Says.Lanes > 1 || !isPlain(U))))
    return false;
  auto From = lanes(U.operand(1), Says.Lanes);
  Type *Of = U.At.type(Says.Type);
  Value *To = From.empty() ? nullptr : U.At.address(U.operand(0), isShared(U));
  if (!To)
    return false;
  Value *What = nullptr;
  for (auto [Index, One] : enumerate(From)) {
    Value *Lane = U.At.read(One, Of);
    if (!Lane)
      return false;
    if (Says.Lanes == 1)
      What = Lane;
    else
      What = U.B.CreateInsertElement(What ? What : PoisonValue::get(FixedVectorType::get(Of, Says.Lanes)), Lane, Index);
  }
  Align At(Of->getPrimitiveSizeInBits() / 8 * Says.Lanes);
  if (!IsAtomic)
    return writeMemory(U, What, Says.Lanes, To, At, Says.IsVolatile);
  U.B.CreateAlignedStore(What, To, At, Says.IsVolatile)->setAtomic(Says.Order, Says.scope(U.context()));
  return true;
}

/// `atom` and, without a result, `red`.
bool atomic(Step U) {
  AccessWords Says(U);
  bool HasResult = U.name() == "atom", Exchanges = Says.Operation == "cas";
  size_t First = HasResult;
  if (!Says.AreKnown || Says.IsVolatile || Says.Lanes != 1 || !isPlain(U) || U.count() != First + 2 + Exchanges)
    return false;
  Type *Of = U.At.type(Says.Type);
  Value *At = U.At.address(U.operand(First), isShared(U)), *With = U.read(First + 1, Of);
  AtomicOrdering Order = Says.Order == AtomicOrdering::NotAtomic ? AtomicOrdering::Monotonic : Says.Order;
  if (!At || !With || Of->isHalfTy() || Of->getPrimitiveSizeInBits() < 32)
    return false;
  MaybeAlign Aligned(Of->getPrimitiveSizeInBits() / 8);
  Value *Old;
  if (Exchanges) {
    Value *New = U.read(First + 2, Of);
    if (!New || isFloat(Says.Type))
      return false;
    AtomicOrdering Failed = AtomicCmpXchgInst::getStrongestFailureOrdering(Order);
    Old = U.B.CreateExtractValue(U.B.CreateAtomicCmpXchg(At, With, New, Aligned, Order, Failed, Says.scope(U.context())), 0);
  } else {
    bool Floats = isFloat(Says.Type), Signs = isSigned(Says.Type);
    auto How = StringSwitch<AtomicRMWInst::BinOp>(Says.Operation)
                   .Case("add", Floats ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
                   .Case("exch", AtomicRMWInst::Xchg)
                   .Case("and", AtomicRMWInst::And)
                   .Case("or", AtomicRMWInst::Or)
                   .Case("xor", AtomicRMWInst::Xor)
                   .Case("min", Signs ? AtomicRMWInst::Min : AtomicRMWInst::UMin)
                   .Case("max", Signs ? AtomicRMWInst::Max : AtomicRMWInst::UMax)
                   .Default(AtomicRMWInst::BAD_BINOP);
    bool Fits = How == AtomicRMWInst::FAdd || How == AtomicRMWInst::Xchg || !Floats;
    if (How == AtomicRMWInst::BAD_BINOP || !Fits)
      return false;
    Old = U.B.CreateAtomicRMW(How, At, With, Aligned, Order, Says.scope(U.context()));
  }
  return !HasResult || U.put(Old);
}

bool nothing(Step) { return true; }

/// Copies the first bytes of a piece of memory, and writes zeros for the others.
bool copyPadded(Step U, Value *To, Value *From, unsigned Size, Value *Given) {
  Value *IsExecuted = U.I.Predicate.empty() ? U.B.getTrue() : U.At.condition(U.I);
  if (!Given || !IsExecuted)
    return false;
  SmallVector<Constant *, 16> Numbers;
  for (unsigned Byte = 0; Byte < Size; ++Byte)
    Numbers.push_back(U.B.getInt32(Byte));
  Value *All = U.B.CreateVectorSplat(Size, IsExecuted);
  Value *IsGiven = U.B.CreateICmpULT(ConstantVector::get(Numbers), U.B.CreateVectorSplat(Size, Given));
  auto *Bytes = FixedVectorType::get(U.B.getInt8Ty(), Size);
  Value *Read = U.B.CreateMaskedLoad(Bytes, From, Align(Size), U.B.CreateAnd(All, IsGiven), Constant::getNullValue(Bytes));
  U.B.CreateMaskedStore(Read, To, Align(Size), All);
  return true;
}

/// `cp.async`, which copies where it stands, so that a wait that is missing is not found; what waits does nothing.
bool copy(Step U) {
  if (!U.I.has("async"))
    return false;
  if (U.I.has("commit_group") || U.I.has("wait_group") || U.I.has("wait_all"))
    return U.I.Words.size() == 3;
  bool AreKnown = all_of(drop_begin(U.I.Words), [](StringRef Word) {
    return Word == "async" || Word == "ca" || Word == "cg" || is_contained(Spaces, Word) ||
           (Word.starts_with("L2::") && Word != "L2::cache_hint");
  });
  if (!AreKnown || !isShared(U) || !U.I.has("global") || U.count() < 3 || U.count() > 4)
    return false;
  Value *To = U.At.address(U.operand(0), true), *From = U.At.address(U.operand(1), false);
  auto *Size = dyn_cast_or_null<ConstantInt>(U.word(2));
  if (!To || !From || !Size || !is_contained({4u, 8u, 16u}, Size->getZExtValue()))
    return false;
  Align At(Size->getZExtValue());
  if (U.count() == 4)
    return copyPadded(U, To, From, static_cast<unsigned>(At.value()), U.word(3));
  auto Words = static_cast<unsigned>(At.value() / 4);
  Value *Read = readMemory(U, U.B.getInt32Ty(), Words, From, At, false);
  return Read && writeMemory(U, Read, Words, To, At, false);
}

/// Addresses are those of the generic space.
bool convertAddress(Step U) {
  StringRef Name = U.I.Words.back();
  if (Name != "u64" || U.count() != 2 || U.operand(1).Is != Operand::Register)
    return false;
  return U.put(U.At.read(U.operand(1), PointerType::get(U.context(), 4)));
}

// ---- Synchronisation

bool isNumber(const Operand &Given, uint64_t Number) { return Given.Is == Operand::Number && Given.Bits == Number; }

/// The barrier of all threads of a block.
bool barrier(Step U) {
  std::string Name = U.I.name();
  bool IsKnown = Name == "bar.sync" || Name == "barrier.sync" || Name == "barrier.sync.aligned" ||
                 Name == "bar.cta.sync" || Name == "barrier.cta.sync";
  if (IsKnown && isPlain(U) && U.count() == 1 && isNumber(U.operand(0), 0)) {
    U.At.call("_Z7barrierj", U.B.getVoidTy(), {U.B.getInt32(3)}, /*Waits=*/true);
    return true;
  }
  Value *Mask = Name == "bar.warp.sync" && isPlain(U) && U.count() == 1 ? U.word(0) : nullptr;
  if (!Mask)
    return false;
  U.At.call("_Z19kassay_warp_barrierjj", U.B.getVoidTy(), {Mask, U.B.getInt32(3)}, /*Waits=*/true);
  return true;
}

bool fence(Step U) {
  StringRef Scope = U.I.Words.back();
  int Number = Scope == "cta" ? 1 : Scope == "gl" || Scope == "gpu" ? 2 : Scope == "sys" ? 3 : 0;
  bool Acquires = U.I.has("acq_rel");
  bool IsKnown = U.name() == "membar" ? U.I.Words.size() == 2 : U.I.Words.size() == 3 && (Acquires || U.I.has("sc"));
  if (!IsKnown || !Number || U.count() != 0 || !isPlain(U))
    return false;
  auto Order = static_cast<uint32_t>(Acquires ? AtomicOrderingCABI::acq_rel : AtomicOrderingCABI::seq_cst);
  U.At.call("_Z22atomic_work_item_fencej12memory_order12memory_scope", U.B.getVoidTy(),
            {U.B.getInt32(3), U.B.getInt32(Order), U.B.getInt32(Number)});
  return true;
}

bool vote(Step U) {
  if (U.I.Words.size() != 4 || U.I.Words[1] != "sync" || U.count() != 3 || !isPlain(U))
    return false;
  Value *Condition = U.read(1, U.B.getInt1Ty()), *Mask = U.word(2);
  StringRef How = U.I.Words[2];
  if (!Condition || !Mask || (How != "ballot" && How != "any" && How != "all"))
    return false;
  Value *Asked = U.B.CreateZExt(Condition, U.B.getInt32Ty());
  if (How == "ballot") {
    Type *Lanes = FixedVectorType::get(U.B.getInt32Ty(), 4);
    Value *All = U.At.call("_Z18kassay_warp_ballotji", Lanes, {Mask, Asked}, /*Waits=*/true);
    return U.put(U.B.CreateExtractElement(All, uint64_t(0)));
  }
  StringRef Builtin = How == "any" ? "_Z15kassay_warp_anyji" : "_Z15kassay_warp_allji";
  Value *Found = U.At.call(Builtin, U.B.getInt32Ty(), {Mask, Asked}, /*Waits=*/true);
  return U.put(U.B.CreateICmpNE(Found, U.B.getInt32(0)));
}

bool activeMask(Step U) {
  return U.count() == 1 && isPlain(U) &&
         U.put(U.At.call("_Z18kassay_warp_activev", U.B.getInt32Ty(), {}, /*Waits=*/true));
}

bool shuffle(Step U) {
  bool HasMask = U.I.has("sync");
  if (U.I.Words.size() != 3u + HasMask || U.I.Words.back() != "b32" || U.count() != 4u + HasMask || !isPlain(U))
    return false;
  StringRef How = U.I.Words[1 + HasMask];
  Value *What = U.word(1), *By = U.word(2), *Limits = U.word(3);
  Value *Mask = HasMask ? U.word(4) : U.B.getInt32(~0u);
  if (!What || !By || !Limits || !Mask)
    return false;
  IRBuilder<> &B = U.B;
  Value *Lane = U.At.lane();
  By = B.CreateAnd(By, 31);
  Value *Segment = B.CreateAnd(B.CreateLShr(Limits, 8), 31), *Clamp = B.CreateAnd(Limits, 31);
  Value *Within = B.CreateNot(Segment), *First = B.CreateAnd(Lane, Segment);
  Value *Last = B.CreateOr(First, B.CreateAnd(Clamp, Within));
  Value *Other = How == "up"     ? B.CreateSub(Lane, By)
                 : How == "down" ? B.CreateAdd(Lane, By)
                 : How == "bfly" ? B.CreateXor(Lane, By)
                 : How == "idx"  ? B.CreateOr(First, B.CreateAnd(By, Within))
                                 : nullptr;
  if (!Other)
    return false;
  Value *IsThere = How == "up" ? B.CreateICmpSGE(Other, Last) : B.CreateICmpSLE(Other, Last);
  Value *From = B.CreateSelect(IsThere, Other, Lane);
  StringRef Builtin = How == "up"     ? "_Z22kassay_warp_shuffle_upjjj"
                      : How == "down" ? "_Z24kassay_warp_shuffle_downjjj"
                      : How == "bfly" ? "_Z23kassay_warp_shuffle_xorjjj"
                                      : "_Z19kassay_warp_shufflejjj";
  Value *Found = U.At.call(Builtin, B.getInt32Ty(), {Mask, What, From}, /*Waits=*/true);
  const Operand &To = U.operand(0);
  if (To.Is != Operand::Pair)
    return U.put(Found);
  return U.At.write(U.I, To.Parts[0], Found) && U.At.write(U.I, To.Parts[1], IsThere);
}

bool trap(Step U) {
  if (U.I.Words.size() != 1 || U.count() != 0 || !isPlain(U))
    return false;
  U.At.call("__kassay_trap", U.B.getVoidTy(), {Constant::getNullValue(PointerType::get(U.context(), 4))});
  return true;
}

constexpr Entry MemoryTable[] = {
    {"ld", load},
    {"ldu", load},
    {"st", store},
    {"atom", atomic},
    {"red", atomic},
    {"prefetch", nothing},
    {"prefetchu", nothing},
    {"nanosleep", nothing},
    {"cp", copy},
    {"cvta", convertAddress},
    {"bar", barrier},
    {"barrier", barrier},
    {"membar", fence},
    {"fence", fence},
    {"vote", vote},
    {"activemask", activeMask},
    {"shfl", shuffle},
    {"trap", trap},
};

} // namespace

ArrayRef<Entry> kassay::cuda::ptx::memoryInstructions() { return MemoryTable; }
