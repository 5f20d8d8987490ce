//! Numbers of 32 bits that stand for addresses of shared memory, as `__cvta_generic_to_shared` gives them to inline assembly:
//! the lower half of a pointer. The pointer is again that to a variable in shared memory which the kernel uses, moved by
//! the distance of the two numbers; all of a block's shared memory lies closer together than 2 GiB.

#include "module.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

namespace {

constexpr unsigned Shared = 3;

using Functions = SetVector<Function *>;
using Variables = SetVector<GlobalVariable *>;

/// The functions in whose bodies a value stands, also within constants.
void findUsers(Value &V, Functions &Found) {
  for (User *One : V.users())
    if (auto *I = dyn_cast<Instruction>(One))
      Found.insert(I->getFunction());
    else if (isa<Constant>(One))
      findUsers(*One, Found);
}

/// A function, and all that may come to it by calls or by its address.
Functions callers(Function &Of) {
  Functions All;
  All.insert(&Of);
  for (size_t At = 0; At < All.size(); ++At)
    findUsers(*All[At], All);
  return All;
}

/// The variables in shared memory that each kernel uses.
std::map<Function *, Variables> variablesOfKernels(Module &M) {
  std::map<Function *, Variables> All;
  for (GlobalVariable &Variable : M.globals()) {
    if (Variable.getAddressSpace() != Shared)
      continue;
    Functions Users;
    findUsers(Variable, Users);
    for (Function *User : Users)
      for (Function *Caller : callers(*User))
        if (kassay::cuda::isKernel(*Caller))
          All[Caller].insert(&Variable);
  }
  return All;
}

/// A variable that all kernels use which come to a function, and whether it is the only one of each; null if there is none.
std::pair<GlobalVariable *, bool> variableFor(Function &F, std::map<Function *, Variables> &OfKernels) {
  std::optional<Variables> Common;
  bool IsOnly = true;
  for (Function *Kernel : callers(F)) {
    if (!kassay::cuda::isKernel(*Kernel))
      continue;
    Variables &Own = OfKernels[Kernel];
    IsOnly &= Own.size() == 1;
    if (Common)
      Common->remove_if([&](GlobalVariable *One) { return !Own.contains(One); });
    else
      Common = Own;
  }
  return Common && !Common->empty() ? std::pair(Common->front(), IsOnly) : std::pair<GlobalVariable *, bool>();
}

/// The pointer that a number stands for.
Value *pointerOf(CallInst &Asked, GlobalVariable &Variable, bool IsOnly) {
  IRBuilder<> B(&Asked);
  auto *Pointer = PointerType::get(Asked.getContext(), kassay::cuda::Generic);
  Value *Begin = B.CreateAddrSpaceCast(&Variable, Pointer);
  Value *Number = B.CreatePtrToInt(Begin, B.getInt64Ty());
  Value *Distance = B.CreateSub(Asked.getArgOperand(0), B.CreateTrunc(Number, B.getInt32Ty()));
  Value *Moved = B.CreateSExt(Distance, B.getInt64Ty());
  // Which variable it leads to is not known where there are several.
  return IsOnly ? B.CreateGEP(B.getInt8Ty(), Begin, Moved) : B.CreateIntToPtr(B.CreateAdd(Number, Moved), Pointer);
}

} // namespace

void kassay::cuda::fitSharedAddresses(Module &M) {
  Function *Address = M.getFunction(SharedAddress);
  if (!Address)
    return;
  auto OfKernels = variablesOfKernels(M);
  for (User *One : make_early_inc_range(Address->users())) {
    auto &Asked = *cast<CallInst>(One);
    auto [Variable, IsOnly] = variableFor(*Asked.getFunction(), OfKernels);
    // It is refused where a kernel comes to it.
    if (!Variable)
      continue;
    Instruction *Before = Asked.getPrevNode();
    Value *Pointer = pointerOf(Asked, *Variable, IsOnly);
    MDNode *Mark = MDNode::get(M.getContext(), {});
    for (Instruction *I = Before ? Before->getNextNode() : &Asked.getParent()->front(); I != &Asked; I = I->getNextNode())
      I->setMetadata("kassay.library", Mark);
    Asked.replaceAllUsesWith(Pointer);
    Asked.eraseFromParent();
  }
  if (Address->use_empty())
    Address->eraseFromParent();
}
