//! The order of the steps, and what they share.

#include "module.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

using namespace llvm;

namespace {

/// LLVM's analyses with the costs and address spaces of SPIR-V.
struct Analyses {
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;

  Analyses() {
    PassBuilder Builder(machine());
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Components);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
  }

private:
  static TargetMachine *machine() {
    // Never freed: the process ends soon.
    static TargetMachine *Machine = [] {
      std::string Error;
      Triple Of("spirv64-unknown-unknown");
      const Target *Found = TargetRegistry::lookupTarget(Of, Error);
      return Found ? Found->createTargetMachine(Of, "", "", TargetOptions(), std::nullopt) : nullptr;
    }();
    return Machine;
  }
};

/// Lists of what the compiler must keep: each variable of the device would count as used by each kernel.
void forgetLists(Module &M) {
  for (StringRef Name : {"llvm.compiler.used", "llvm.used"})
    if (GlobalVariable *List = M.getNamedGlobal(Name))
      List->eraseFromParent();
}

/// A whole program is one module here: only kernels are called from outside.
void makeInternal(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    F.setComdat(nullptr);
    F.removeFnAttr(Attribute::OptimizeNone);
    F.removeFnAttr(Attribute::NoInline);
    F.setLinkage(kassay::cuda::isKernel(F) ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage);
  }
}

/// What the library's headers import into `std` fills most of a module, and says nothing of kernels.
void forgetImports(Module &M) {
  for (DICompileUnit *Unit : M.debug_compile_units())
    Unit->replaceImportedEntities(MDTuple::get(M.getContext(), {}));
}

/// By this, kassay knows that a module was CUDA (`cpp_names`): that which is empty cannot be seen.
void mark(Module &M) { M.getOrInsertNamedMetadata("kassay.cuda")->addOperand(MDNode::get(M.getContext(), {})); }

} // namespace

bool kassay::cuda::isKernel(const Function &F) {
  return !F.isDeclaration() && F.getCallingConv() == CallingConv::SPIR_KERNEL;
}

void kassay::cuda::run(Module &M, ModulePassManager Passes) {
  Analyses All;
  Passes.run(M, All.Modules);
}

void kassay::cuda::run(Module &M, FunctionPassManager Passes, const std::function<bool(const Function &)> &Which) {
  Analyses All;
  for (Function &F : M)
    if (!F.isDeclaration() && Which(F))
      Passes.run(F, All.Functions);
}

void kassay::cuda::canonicalise(Module &M) {
  forgetLists(M);
  forgetImports(M);
  makeInternal(M);
  fitAssembly(M);
  fitCalls(M);
  inlineHeaders(M);
  joinWaits(M);
  fitSharedAddresses(M);
  nameSpaces(M);
  fitTextures(M);
  fitBuiltins(M);
  fitWarps(M);
  ModulePassManager Unused;
  Unused.addPass(GlobalDCEPass());
  run(M, std::move(Unused));
  nameKernels(M);
  mark(M);
}
