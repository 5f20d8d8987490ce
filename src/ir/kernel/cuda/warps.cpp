//! Functions of warps: they are those of sub-groups of 32, of which all work-items have to take part.

#include "module.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

namespace {

constexpr unsigned WarpSize = 32;
/// The header's word for "this mask names all lanes" (`warps.h`).
constexpr StringLiteral AllLanes = "cuda.all_lanes";

/// Whether a value is known to have all bits set: a constant, or a variable or parameter that only gets such.
class Masks {
  SmallPtrSet<const Value *, 16> Open;

public:
  bool areAll(const Value *V) {
    if (auto *Number = dyn_cast<ConstantInt>(V))
      return Number->isMinusOne();
    // A value that depends on itself adds nothing.
    if (!Open.insert(V).second)
      return true;
    if (auto *Load = dyn_cast<LoadInst>(V))
      return getsAll(Load->getPointerOperand());
    if (auto *Parameter = dyn_cast<Argument>(V))
      return isGivenAll(*Parameter);
    // What `__activemask` yields where it may be called at all.
    if (auto *Extracted = dyn_cast<ExtractElementInst>(V))
      return isActiveMask(Extracted->getVectorOperand());
    return false;
  }

private:
  bool getsAll(const Value *Pointer) {
    const Value *Variable = Pointer->stripPointerCasts();
    if (auto *Constant = dyn_cast<GlobalVariable>(Variable))
      return Constant->isConstant() && Constant->hasDefinitiveInitializer() && areAll(Constant->getInitializer());
    return isa<AllocaInst>(Variable) && onlyStoresAll(Variable);
  }

  bool onlyStoresAll(const Value *Pointer) {
    return all_of(Pointer->users(), [&](const User *U) {
      if (auto *Store = dyn_cast<StoreInst>(U))
        return Store->getPointerOperand() == Pointer && areAll(Store->getValueOperand());
      return isa<LoadInst>(U) || (isa<AddrSpaceCastInst>(U) && onlyStoresAll(U));
    });
  }

  bool isGivenAll(const Argument &Parameter) {
    const Function *F = Parameter.getParent();
    return !kassay::cuda::isKernel(*F) && all_of(F->users(), [&](const User *U) {
      auto *Call = dyn_cast<CallInst>(U);
      return Call && Call->getCalledFunction() == F && areAll(Call->getArgOperand(Parameter.getArgNo()));
    });
  }

  static bool isActiveMask(const Value *Ballot) {
    auto *Call = dyn_cast<CallInst>(Ballot);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Callee->getName() != "_Z16sub_group_balloti")
      return false;
    auto *Asked = dyn_cast<ConstantInt>(Call->getArgOperand(0));
    return Asked && Asked->isOne();
  }
};

/// Drops the header's word where it is true.
void settleMasks(Module &M) {
  Function *Word = M.getFunction(AllLanes);
  if (!Word)
    return;
  for (User *U : make_early_inc_range(Word->users()))
    if (auto *Call = dyn_cast<CallInst>(U); Call && Masks().areAll(Call->getArgOperand(0)))
      Call->eraseFromParent();
}

bool isOfSubGroups(const Function &F) { return F.isDeclaration() && F.getName().contains("sub_group_"); }

/// Whether a function calls one of sub-groups, itself or through others.
bool usesWarps(const Function &F, SmallPtrSetImpl<const Function *> &Seen) {
  if (!Seen.insert(&F).second)
    return false;
  return isOfSubGroups(F) || any_of(instructions(F), [&](const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && usesWarps(*Callee, Seen);
  });
}

void requireSize(Function &Kernel) {
  LLVMContext &C = Kernel.getContext();
  auto *Size = ConstantInt::get(Type::getInt32Ty(C), WarpSize);
  Kernel.setMetadata("intel_reqd_sub_group_size", MDNode::get(C, ConstantAsMetadata::get(Size)));
}

} // namespace

void kassay::cuda::fitWarps(Module &M) {
  settleMasks(M);
  for (Function &F : M) {
    SmallPtrSet<const Function *, 16> Seen;
    if (isKernel(F) && usesWarps(F, Seen))
      requireSize(F);
  }
}
