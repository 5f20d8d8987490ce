//! Functions of warps: where their masks are known to name all lanes, they are those of sub-groups of 32.

#include "module.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

namespace {

constexpr unsigned WarpSize = 32;
/// How names of the functions begin that take masks (`warps.h`), and those of the same ones without.
constexpr StringLiteral OfWarps = "kassay_warp_", OfSubGroups = "sub_group_";

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
};

/// The mangled name of the function of sub-groups that does the same; empty where the function takes no mask.
std::string withoutMask(StringRef Name) {
  size_t Length = 0;
  StringRef Rest = Name;
  if (!Rest.consume_front("_Z") || Rest.consumeInteger(10, Length) || Length > Rest.size())
    return "";
  StringRef Plain = Rest.take_front(Length), Parameters = Rest.drop_front(Length);
  if (!Plain.consume_front(OfWarps) || !Parameters.consume_front("j"))
    return "";
  // The kinds of shuffles only differ in whom they meet.
  std::string Same = (OfSubGroups + (Plain.starts_with("shuffle") ? "shuffle" : Plain)).str();
  return "_Z" + std::to_string(Same.size()) + Same + Parameters.str();
}

AttributeList withoutFirst(LLVMContext &C, AttributeList Of, unsigned Parameters) {
  SmallVector<AttributeSet, 4> Left;
  for (unsigned I = 1; I < Parameters; I++)
    Left.push_back(Of.getParamAttrs(I));
  return AttributeList::get(C, Of.getFnAttrs(), Of.getRetAttrs(), Left);
}

/// Calls the function without a mask instead.
void dropMask(Module &M, CallInst *Call, StringRef Name) {
  LLVMContext &C = M.getContext();
  const Function *Old = Call->getCalledFunction();
  SmallVector<Value *, 4> Arguments(drop_begin(Call->args()));
  auto *Type = FunctionType::get(Call->getType(), Old->getFunctionType()->params().drop_front(), false);
  FunctionCallee New = M.getOrInsertFunction(Name, Type, withoutFirst(C, Old->getAttributes(), Call->arg_size()));
  if (auto *F = dyn_cast<Function>(New.getCallee()))
    F->setCallingConv(Old->getCallingConv());
  CallInst *Without = CallInst::Create(New, Arguments, "", Call->getIterator());
  Without->setCallingConv(Call->getCallingConv());
  Without->setAttributes(withoutFirst(C, Call->getAttributes(), Call->arg_size()));
  Without->setDebugLoc(Call->getDebugLoc());
  Without->takeName(Call);
  Call->replaceAllUsesWith(Without);
  Call->eraseFromParent();
}

/// Makes functions of sub-groups of those that take all lanes.
void settleMasks(Module &M) {
  std::vector<std::pair<CallInst *, std::string>> Known;
  for (Function &F : M)
    if (std::string Name = withoutMask(F.getName()); !Name.empty() && F.isDeclaration())
      for (User *U : F.users())
        if (auto *Call = dyn_cast<CallInst>(U);
            Call && Call->getCalledFunction() == &F && Masks().areAll(Call->getArgOperand(0)))
          Known.emplace_back(Call, Name);
  for (auto &[Call, Name] : Known)
    dropMask(M, Call, Name);
}

bool isOfSubGroups(const Function &F) {
  return F.isDeclaration() && (F.getName().contains(OfSubGroups) || F.getName().contains(OfWarps));
}

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
