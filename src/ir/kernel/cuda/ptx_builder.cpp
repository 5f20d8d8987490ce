//! Registers, types and calls of instructions of PTX.

#include "ptx_builder.h"
#include "module.h"

#include <llvm/IR/Operator.h>

using namespace llvm;
using kassay::cuda::ptx::Builder;
using kassay::cuda::ptx::Command;
using kassay::cuda::ptx::Operand;

Builder::Builder(CallInst &Statement) : B(&Statement), M(*Statement.getModule()) {}

bool Builder::declare(StringRef Name, StringRef Word) {
  Type *Of = type(Word);
  if (Of)
    declare(Name, Of, Constant::getNullValue(Of));
  return Of != nullptr;
}

void Builder::declare(StringRef Name, Type *Of, Value *Given) { Registers[Name] = {Of, Given}; }

Value *Builder::last(StringRef Name) const { return Registers.lookup(Name).Now; }

Type *Builder::integer(unsigned Bits) const { return Type::getIntNTy(M.getContext(), Bits); }

Type *Builder::type(StringRef Word) const {
  LLVMContext &C = M.getContext();
  if (Word == "pred")
    return Type::getInt1Ty(C);
  unsigned Bits = 0;
  if (Word.size() < 2 || Word.drop_front().getAsInteger(10, Bits))
    return nullptr;
  if (Word[0] == 'f')
    return Bits == 16 ? Type::getHalfTy(C) : Bits == 32 ? Type::getFloatTy(C) : Bits == 64 ? Type::getDoubleTy(C) : nullptr;
  bool IsWidth = Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64;
  return StringRef("usb").contains(Word[0]) && IsWidth ? integer(Bits) : nullptr;
}

Value *Builder::convert(Value *From, Type *As, bool IsSigned) {
  Type *Is = From->getType();
  if (Is == As)
    return From;
  if (Is->isPointerTy() && As->isPointerTy())
    return B.CreateAddrSpaceCast(From, As);
  if (As->isPointerTy())
    return B.CreateIntToPtr(convert(From, integer(64)), As);
  if (Is->isPointerTy())
    return convert(B.CreatePtrToInt(From, integer(64)), As);
  unsigned Width = Is->getPrimitiveSizeInBits(), Wanted = As->getPrimitiveSizeInBits();
  Value *Bits = B.CreateBitCast(From, integer(Width));
  Bits = IsSigned ? B.CreateSExtOrTrunc(Bits, integer(Wanted)) : B.CreateZExtOrTrunc(Bits, integer(Wanted));
  return B.CreateBitCast(Bits, As);
}

Value *Builder::read(const Operand &From, Type *As) {
  if (From.Is == Operand::Number)
    return convert(B.getInt64(From.Bits), As);
  if (From.Is != Operand::Register)
    return nullptr;
  auto Known = Registers.find(From.Name);
  Value *Found = Known != Registers.end() ? Known->second.Now : special(From.Name);
  if (!Found || (From.IsNegated && !As->isIntegerTy(1)))
    return nullptr;
  Value *Converted = convert(Found, As);
  return From.IsNegated ? B.CreateNot(Converted) : Converted;
}

bool Builder::write(const Command &I, const Operand &To, Value *What, bool IsSigned) {
  auto Known = Registers.find(To.Name);
  if (!What || To.Is != Operand::Register || To.IsNegated || Known == Registers.end())
    return false;
  Value *New = convert(What, Known->second.Type, IsSigned);
  if (!I.Predicate.empty()) {
    Value *IsExecuted = condition(I);
    if (!IsExecuted)
      return false;
    New = B.CreateSelect(IsExecuted, New, Known->second.Now);
  }
  Known->second.Now = New;
  return true;
}

Value *Builder::condition(const Command &I) {
  auto Asked = Registers.find(I.Predicate);
  if (Asked == Registers.end() || !Asked->second.Type->isIntegerTy(1))
    return nullptr;
  return I.IsNegated ? B.CreateNot(Asked->second.Now) : Asked->second.Now;
}

Value *Builder::address(const Operand &At, bool IsShared) {
  if (At.Is != Operand::Address || At.Parts[0].Is != Operand::Register)
    return nullptr;
  auto Known = Registers.find(At.Parts[0].Name);
  if (Known == Registers.end())
    return nullptr;
  Value *Base = Known->second.Now;
  auto *Pointer = PointerType::get(M.getContext(), kassay::cuda::Generic);
  if (IsShared && Base->getType()->isIntegerTy(32))
    Base = call(kassay::cuda::SharedAddress, Pointer, {Base});
  if (!Base->getType()->isPointerTy() && !Base->getType()->isIntegerTy(64))
    return nullptr;
  if (auto *Cast = dyn_cast<PtrToIntOperator>(Base))
    Base = Cast->getPointerOperand();
  Base = convert(Base, Pointer);
  return At.Offset == 0 ? Base : B.CreateGEP(B.getInt8Ty(), Base, B.getInt64(static_cast<uint64_t>(At.Offset)));
}

Value *Builder::call(StringRef Mangled, Type *Result, ArrayRef<Value *> Arguments, bool Waits) {
  std::vector<Type *> Types;
  for (Value *One : Arguments)
    Types.push_back(One->getType());
  FunctionCallee Callee = M.getOrInsertFunction(Mangled, FunctionType::get(Result, Types, false));
  auto *F = dyn_cast<Function>(Callee.getCallee());
  CallInst *Call = B.CreateCall(Callee, Arguments);
  if (F && F->hasOneUse()) {
    F->setCallingConv(CallingConv::SPIR_FUNC);
    F->addFnAttr(Attribute::NoUnwind);
    if (Waits)
      F->addFnAttr(Attribute::Convergent);
  }
  if (F)
    Call->setCallingConv(F->getCallingConv());
  Call->addFnAttr(Attribute::NoUnwind);
  if (Waits)
    Call->addFnAttr(Attribute::Convergent);
  return Call;
}

Value *Builder::lane() { return call("_Z22get_sub_group_local_idv", integer(32), {}); }

Value *Builder::index(StringRef Query, unsigned Dimension) {
  return B.CreateTrunc(call(Query, integer(64), {B.getInt32(Dimension)}), integer(32));
}

Value *Builder::special(StringRef Name) {
  constexpr std::pair<StringLiteral, StringLiteral> Queries[] = {
      {"%tid", "_Z12get_local_idj"},
      {"%ntid", "_Z14get_local_sizej"},
      {"%ctaid", "_Z12get_group_idj"},
      {"%nctaid", "_Z14get_num_groupsj"},
  };
  auto [Stem, Dimension] = Name.rsplit('.');
  for (auto [Known, Query] : Queries)
    if (Stem == Known && Dimension.size() == 1 && Dimension[0] >= 'x' && Dimension[0] <= 'z')
      return index(Query, Dimension[0] - 'x');
  if (Name == "WARP_SZ")
    return B.getInt32(32);
  // Clocks stand still (memory.h).
  if (Name == "%clock" || Name == "%clock_hi" || Name == "%globaltimer_lo" || Name == "%globaltimer_hi")
    return B.getInt32(0);
  if (Name == "%clock64" || Name == "%globaltimer")
    return B.getInt64(0);
  if (Name == "%laneid")
    return lane();
  if (Name == "%warpid")
    return call("_Z16get_sub_group_idv", integer(32), {});
  if (Name == "%lanemask_eq")
    return B.CreateShl(B.getInt32(1), lane());
  if (Name == "%lanemask_lt")
    return B.CreateNot(B.CreateShl(B.getInt32(~0u), lane()));
  if (Name == "%lanemask_ge")
    return B.CreateShl(B.getInt32(~0u), lane());
  if (Name == "%lanemask_le")
    return B.CreateNot(B.CreateShl(B.getInt32(~0u << 1), lane()));
  if (Name == "%lanemask_gt")
    return B.CreateShl(B.getInt32(~0u << 1), lane());
  return nullptr;
}
