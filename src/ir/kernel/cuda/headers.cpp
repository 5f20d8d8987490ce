//! Inlines functions of headers.

#include "module.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

using namespace llvm;
using kassay::cuda::Generic;

namespace {

/// Where headers of the system lie: no user's kernels.
bool isSystem(StringRef Path) {
  return Path.starts_with("/usr/include/") || Path.starts_with("/usr/lib/") || Path.starts_with("/usr/local/include/");
}

/// Whether the function is one of a header: kassay's have no lines.
bool isOfHeader(const Function &F) {
  if (F.isDeclaration() || kassay::cuda::isKernel(F))
    return false;
  const DISubprogram *Described = F.getSubprogram();
  return Described ? isSystem(Described->getFilename()) : F.hasFnAttribute(Attribute::AlwaysInline);
}

/// Whether the function is an operator such as `+` of a type of numbers.
bool isArithmetic(StringRef Name) {
  size_t At = Name.find("operator");
  return At != StringRef::npos && Name.drop_front(At + strlen("operator")).find_first_of("+-*/%<>=!&|^~") == 0;
}

/// The value by which an instruction decides where to go on or what to take; null if it does not.
Value *decides(const Instruction &I) {
  if (const auto *Branch = dyn_cast<BranchInst>(&I))
    return Branch->isConditional() ? Branch->getCondition() : nullptr;
  if (const auto *Switch = dyn_cast<SwitchInst>(&I))
    return Switch->getCondition();
  const auto *Select = dyn_cast<SelectInst>(&I);
  return Select ? const_cast<Value *>(Select->getCondition()) : nullptr;
}

/// Marks what a header's function computes and decides: the user wrote a call, in which there is nothing to cover or to
/// mutate (`cfg::graph`). Calls of builtins and accesses to memory are what the user means by it, and the operators of
/// the types of numbers are the user's arithmetic; of CUB's collectives and of products of matrices, nothing is the user's
/// but what they are given.
void markLibrary(Function &F) {
  LLVMContext &C = F.getContext();
  auto Mark = [&](Instruction &I) { I.setMetadata("kassay.library", MDNode::get(C, {})); };
  std::string Name = demangle(F.getName());
  if (isArithmetic(Name)) {
    // How it is computed is not: the division of complex numbers scales them first.
    for (Instruction &I : instructions(F))
      if (Value *Decided = decides(I)) {
        Mark(I);
        if (auto *Condition = dyn_cast<Instruction>(Decided))
          Mark(*Condition);
      }
    return;
  }
  StringRef In = F.getName();
  bool IsMember = In.consume_front("_ZNK") || In.consume_front("_ZN");
  bool IsProduct = In.starts_with("6nvcuda4wmma") && In.contains("mma_sync");
  bool IsWhole = IsMember && (In.starts_with("3cub") || In.starts_with("6hipcub") || IsProduct);
  for (Instruction &I : instructions(F))
    if (IsWhole || (!isa<CallBase>(I) && !I.mayReadOrWriteMemory()))
      Mark(I);
}

} // namespace

void kassay::cuda::inlineHeaders(Module &M) {
  for (Function &F : M)
    if (isOfHeader(F)) {
      // What has no line gets that of the call.
      stripDebugInfo(F);
      F.addFnAttr(Attribute::AlwaysInline);
    }
  FunctionPassManager Small;
  Small.addPass(InferAddressSpacesPass(Generic));
  Small.addPass(SROAPass(SROAOptions::ModifyCFG));
  Small.addPass(InstSimplifyPass());
  Small.addPass(SimplifyCFGPass(SimplifyCFGOptions().convertSwitchRangeToICmp(false)));
  Small.addPass(DCEPass());
  run(M, std::move(Small), isOfHeader);
  for (Function &F : M)
    if (isOfHeader(F))
      markLibrary(F);
  // Those that the user wants inlined are functions with sites.
  for (Function &F : M)
    if (F.hasFnAttribute(Attribute::AlwaysInline) && !isOfHeader(F))
      F.removeFnAttr(Attribute::AlwaysInline);
  ModulePassManager Inline;
  Inline.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  Inline.addPass(GlobalDCEPass());
  run(M, std::move(Inline));
}
