//! Finds the address spaces of pointers, which CUDA does not name: clang casts every pointer to a generic one at once.

#include "module.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ValueSymbolTable.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

using namespace llvm;
using kassay::cuda::Generic;

namespace {

/// How clang ends the name of a parameter whose type it has changed.
constexpr StringLiteral Coerced = ".coerce";

bool isGeneric(const Value *V) { return V->getType()->isPointerTy() && V->getType()->getPointerAddressSpace() == Generic; }

/// The pointer that a cast turns into a generic one.
Value *underCast(Value *V) {
  auto *Cast = dyn_cast<AddrSpaceCastOperator>(V);
  return Cast ? Cast->getPointerOperand() : V;
}

/// The loads and stores of a variable; nothing if it is used otherwise.
struct Slot {
  std::vector<LoadInst *> Loads;
  std::vector<StoreInst *> Stores;

  static std::optional<Slot> of(AllocaInst *Variable) {
    Slot Found;
    std::vector<Value *> Pointers{Variable};
    while (!Pointers.empty()) {
      Value *Pointer = Pointers.back();
      Pointers.pop_back();
      for (User *U : Pointer->users())
        if (auto *Load = dyn_cast<LoadInst>(U); Load && Load->getType()->isPointerTy())
          Found.Loads.push_back(Load);
        else if (auto *Store = dyn_cast<StoreInst>(U);
                 Store && Store->getValueOperand() != Pointer && Store->getValueOperand()->getType()->isPointerTy())
          Found.Stores.push_back(Store);
        else if (isa<AddrSpaceCastInst>(U))
          Pointers.push_back(U);
        else
          return std::nullopt;
    }
    return Found;
  }
};

std::vector<AllocaInst *> pointerVariables(Function &F) {
  std::vector<AllocaInst *> Found;
  for (Instruction &I : instructions(F))
    if (auto *Variable = dyn_cast<AllocaInst>(&I); Variable && Variable->getAllocatedType()->isPointerTy())
      Found.push_back(Variable);
  return Found;
}

/// A parameter `x.coerce` is stored in a variable only to be loaded with the type of the source: the variable goes.
void passDirectly(Function &F) {
  for (AllocaInst *Variable : pointerVariables(F)) {
    auto Uses = Slot::of(Variable);
    if (!Uses || Uses->Stores.size() != 1 || Uses->Loads.size() != 1)
      continue;
    auto *Given = dyn_cast<Argument>(Uses->Stores[0]->getValueOperand());
    LoadInst *Load = Uses->Loads[0];
    if (!Given || !Given->getName().ends_with(Coerced) || Load->getParent() != &F.getEntryBlock())
      continue;
    IRBuilder<> Builder(Load);
    Load->replaceAllUsesWith(Builder.CreateAddrSpaceCast(Given, Load->getType()));
    Load->eraseFromParent();
    Uses->Stores[0]->eraseFromParent();
    std::string Name = Variable->getName().str();
    for (User *U : make_early_inc_range(Variable->users()))
      cast<Instruction>(U)->eraseFromParent();
    Variable->eraseFromParent();
    Given->setName(Name);
  }
}

/// What is left of such names: of structs that are passed as numbers.
void nameParameters(Function &F) {
  for (Argument &A : F.args())
    if (A.getName().ends_with(Coerced)) {
      std::string Name = A.getName().drop_back(Coerced.size()).str();
      if (Value *Other = F.getValueSymbolTable()->lookup(Name))
        Other->setName(Name + ".slot");
      A.setName(Name);
    }
}

/// The one space of all pointers that are stored in a variable, if there is one.
std::optional<unsigned> commonSpace(const Slot &Uses) {
  std::optional<unsigned> Common;
  for (StoreInst *Store : Uses.Stores) {
    Value *Stored = Store->getValueOperand();
    if (isa<ConstantPointerNull>(Stored) || isa<UndefValue>(Stored))
      continue;
    unsigned Space = underCast(Stored)->getType()->getPointerAddressSpace();
    if (Space == Generic || Common.value_or(Space) != Space)
      return std::nullopt;
    Common = Space;
  }
  return Common;
}

Value *inSpace(Value *Stored, PointerType *Type) {
  if (isa<ConstantPointerNull>(Stored))
    return ConstantPointerNull::get(Type);
  return isa<UndefValue>(Stored) ? UndefValue::get(Type) : underCast(Stored);
}

void narrow(AllocaInst *Variable, const Slot &Uses, unsigned Space) {
  auto *Type = PointerType::get(Variable->getContext(), Space);
  Variable->setAllocatedType(Type);
  for (StoreInst *Store : Uses.Stores) {
    Store->setOperand(0, inSpace(Store->getValueOperand(), Type));
    Store->setMetadata(LLVMContext::MD_tbaa, nullptr);
  }
  for (LoadInst *Load : Uses.Loads) {
    if (Load->getType() == Type)
      continue;
    IRBuilder<> Builder(Load);
    auto *Narrow = Builder.CreateAlignedLoad(Type, Load->getPointerOperand(), Load->getAlign(), Load->isVolatile());
    Narrow->takeName(Load);
    Load->replaceAllUsesWith(Builder.CreateAddrSpaceCast(Narrow, Load->getType()));
    Load->eraseFromParent();
  }
}

/// Returns whether a variable that holds generic pointers holds those of one space from now on.
bool narrowVariables(Function &F) {
  bool Changed = false;
  for (AllocaInst *Variable : pointerVariables(F)) {
    if (Variable->getAllocatedType()->getPointerAddressSpace() != Generic)
      continue;
    auto Uses = Slot::of(Variable);
    auto Space = Uses ? commonSpace(*Uses) : std::nullopt;
    if (!Space)
      continue;
    narrow(Variable, *Uses, *Space);
    Changed = true;
  }
  return Changed;
}

/// Variables have an address space of their own again, and no address to which one is added.
void correctLocations(Function &F) {
  for (Instruction &I : instructions(F))
    for (DbgVariableRecord &Record : filterDbgVars(I.getDbgRecordRange())) {
      auto Parts = Record.getExpression()->getElements();
      if (Parts.size() >= 4 && Parts[0] == dwarf::DW_OP_constu && Parts[2] == dwarf::DW_OP_swap &&
          Parts[3] == dwarf::DW_OP_xderef)
        Record.setExpression(DIExpression::get(F.getContext(), Parts.drop_front(4)));
    }
}

/// Each round finds what the one before has made known; a chain of pointers is seldom longer than two variables.
constexpr int Rounds = 8;

} // namespace

void kassay::cuda::dropUnused(Function &F) {
  // Loads stay, used or not.
  auto IsUnused = [](Instruction &I) {
    bool IsAddress = isa<AddrSpaceCastInst>(I) || (isa<GetElementPtrInst>(I) && isGeneric(&I));
    return IsAddress && I.use_empty();
  };
  for (bool More = true; More;) {
    More = false;
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (IsUnused(I)) {
        I.eraseFromParent();
        More = true;
      }
  }
}

void kassay::cuda::nameSpaces(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    passDirectly(F);
    nameParameters(F);
    for (int Round = 0; Round < Rounds; Round++) {
      FunctionPassManager Infer;
      Infer.addPass(InferAddressSpacesPass(Generic));
      run(M, std::move(Infer), [&](const Function &Other) { return &Other == &F; });
      if (!narrowVariables(F))
        break;
    }
    dropUnused(F);
    correctLocations(F);
  }
}
