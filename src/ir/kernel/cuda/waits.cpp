//! Barriers at which threads arrive and wait by two calls: where a thread does nothing in between that others could notice,
//! both are one barrier. What it does there otherwise is in order with nothing, so that such calls stay, and are refused
//! where a kernel comes to them.

#include "module.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

namespace {

/// The two functions of the headers, and the builtin that both are.
struct Pair {
  StringLiteral Arrive, Wait, Barrier;
};

constexpr Pair Pairs[] = {
    {"cuda.apart cuda::barrier::arrive", "cuda.apart cuda::barrier::wait", "_Z7barrierj"},
    {"cuda.apart thread_block::barrier_arrive", "cuda.apart thread_block::barrier_wait", "_Z7barrierj"},
    {"cuda.apart grid_group::barrier_arrive", "cuda.apart grid_group::barrier_wait", "_Z19kassay_grid_barrierj"},
};

/// Local and global memory, as OpenCL's flags have them.
constexpr unsigned AllMemory = 3;
/// How far behind an arrival its wait is sought.
constexpr unsigned MostInstructions = 200;

bool calls(const Instruction &I, StringRef Name) {
  const auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && Callee->getName() == Name;
}

/// Whether other threads cannot notice an instruction.
bool isPrivate(const Instruction &I) {
  if (const Value *Pointer = getLoadStorePointerOperand(&I))
    return isa<AllocaInst>(getUnderlyingObject(Pointer)) && !I.isAtomic() && !I.isVolatile();
  return I.isDebugOrPseudoInst() || I.isLifetimeStartOrEnd() || (!I.isTerminator() && !I.mayReadOrWriteMemory());
}

/// The wait right behind an arrival, on whose way there is no branch.
Instruction *behind(Instruction &Arrival, StringRef Wait) {
  Instruction *I = Arrival.getNextNode();
  for (unsigned Count = 0; I && Count < MostInstructions; Count++) {
    if (calls(*I, Wait))
      return I;
    if (auto *Branch = dyn_cast<BranchInst>(I)) {
      BasicBlock *Next = Branch->getSuccessor(0);
      I = Branch->isUnconditional() && Next->getSinglePredecessor() ? &Next->front() : nullptr;
      continue;
    }
    I = isPrivate(*I) ? I->getNextNode() : nullptr;
  }
  return nullptr;
}

void join(Instruction &Arrival, Instruction &Wait, StringRef Name) {
  Module &M = *Wait.getModule();
  IRBuilder<> Builder(&Wait);
  auto *Type = FunctionType::get(Builder.getVoidTy(), {Builder.getInt32Ty()}, false);
  auto *Barrier = cast<Function>(M.getOrInsertFunction(Name, Type).getCallee());
  Barrier->setCallingConv(CallingConv::SPIR_FUNC);
  Barrier->addFnAttr(Attribute::Convergent);
  Barrier->addFnAttr(Attribute::NoUnwind);
  CallInst *Call = Builder.CreateCall(Barrier, {Builder.getInt32(AllMemory)});
  Call->setCallingConv(CallingConv::SPIR_FUNC);
  Call->addFnAttr(Attribute::Convergent);
  Call->addFnAttr(Attribute::NoUnwind);
  Arrival.eraseFromParent();
  Wait.eraseFromParent();
}

} // namespace

void kassay::cuda::joinWaits(Module &M) {
  for (const Pair &Of : Pairs) {
    std::vector<Instruction *> Arrivals;
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        if (calls(I, Of.Arrive))
          Arrivals.push_back(&I);
    for (Instruction *Arrival : Arrivals)
      if (Instruction *Wait = behind(*Arrival, Of.Wait))
        join(*Arrival, *Wait, Of.Barrier);
  }
}
