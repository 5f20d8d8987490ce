//! Marks where kernels return: who has returned is not waited for at barriers, which CUDA allows; who goes past a barrier
//! is missed there, as in OpenCL.

#include "returns.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DynamicRecursiveASTVisitor.h>
#include <clang/AST/Mangle.h>
#include <clang/Basic/SourceManager.h>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>

using namespace clang;

namespace {

/// Only in the bodies of kernels: elsewhere, other code may have the line and the column of a `return`.
class Finder : public DynamicRecursiveASTVisitor {
  const SourceManager &Sources;
  bool IsInKernel = false;
  const Stmt *Last = nullptr;
  kassay::cuda::Positions &Returns;

public:
  Finder(const SourceManager &Sources, kassay::cuda::Positions &Returns) : Sources(Sources), Returns(Returns) {
    ShouldVisitTemplateInstantiations = true;
  }

  bool TraverseFunctionDecl(FunctionDecl *Function) override {
    IsInKernel = Function->hasAttr<CUDAGlobalAttr>();
    // Who comes to the end of the body returns no earlier than others.
    auto *Body = IsInKernel ? dyn_cast_or_null<CompoundStmt>(Function->getBody()) : nullptr;
    Last = Body && !Body->body_empty() ? Body->body_back() : nullptr;
    bool Done = DynamicRecursiveASTVisitor::TraverseFunctionDecl(Function);
    IsInKernel = false;
    return Done;
  }

  /// What a lambda returns from is not the kernel.
  bool TraverseLambdaExpr(LambdaExpr *) override { return true; }

  bool VisitReturnStmt(ReturnStmt *Return) override {
    if (!IsInKernel || Return == Last)
      return true;
    // The position that the code's debug location has.
    PresumedLoc At = Sources.getPresumedLoc(Sources.getExpansionLoc(Return->getBeginLoc()));
    if (At.isValid())
      Returns.emplace(At.getLine(), At.getColumn());
    return true;
  }
};

class Consumer : public ASTConsumer {
  kassay::cuda::Positions &Returns;

public:
  explicit Consumer(kassay::cuda::Positions &Returns) : Returns(Returns) {}

  void HandleTranslationUnit(ASTContext &Context) override {
    Finder(Context.getSourceManager(), Returns).TraverseDecl(Context.getTranslationUnitDecl());
  }
};

} // namespace

std::unique_ptr<ASTConsumer> kassay::cuda::returnsConsumer(Positions &Returns) {
  return std::make_unique<Consumer>(Returns);
}

void kassay::cuda::markReturns(llvm::Function &Kernel, const Positions &Returns) {
  llvm::LLVMContext &C = Kernel.getContext();
  // To the end, to destructors before it, or the end itself, where only one `return` comes to it.
  for (llvm::BasicBlock &Block : Kernel) {
    llvm::Instruction *Jump = Block.getTerminator();
    const llvm::DebugLoc &At = Jump->getDebugLoc();
    if (Jump->getNumSuccessors() < 2 && At && Returns.count({At.getLine(), At.getCol()}))
      Jump->setMetadata("kassay.returns", llvm::MDNode::get(C, {}));
  }
}

namespace {

class BoundsFinder : public DynamicRecursiveASTVisitor {
  ASTContext &Context;
  ASTNameGenerator Names;
  kassay::cuda::Bounds &Found;

public:
  BoundsFinder(ASTContext &Context, kassay::cuda::Bounds &Found) : Context(Context), Names(Context), Found(Found) {
    ShouldVisitTemplateInstantiations = true;
  }

  bool VisitFunctionDecl(FunctionDecl *F) override {
    const auto *Bounds = F->getAttr<CUDALaunchBoundsAttr>();
    const Expr *Most = Bounds && F->hasAttr<CUDAGlobalAttr>() && !F->isDependentContext() ? Bounds->getMaxThreads() : nullptr;
    Expr::EvalResult Value;
    if (!Most || Most->isInstantiationDependent() || Most->containsErrors() || !Most->EvaluateAsInt(Value, Context))
      return true;
    int64_t Threads = Value.Val.getInt().getExtValue();
    if (Threads > 0 && Threads <= UINT32_MAX)
      Found.emplace(Names.getName(F), static_cast<unsigned>(Threads));
    return true;
  }
};

class BoundsConsumer : public ASTConsumer {
  kassay::cuda::Bounds &Found;

public:
  explicit BoundsConsumer(kassay::cuda::Bounds &Found) : Found(Found) {}

  void HandleTranslationUnit(ASTContext &Context) override {
    BoundsFinder(Context, Found).TraverseDecl(Context.getTranslationUnitDecl());
  }
};

} // namespace

std::unique_ptr<ASTConsumer> kassay::cuda::boundsConsumer(Bounds &Found) { return std::make_unique<BoundsConsumer>(Found); }

void kassay::cuda::markBounds(llvm::Function &Kernel, const Bounds &Found) {
  auto Known = Found.find(Kernel.getName().str());
  if (Known == Found.end())
    return;
  llvm::LLVMContext &C = Kernel.getContext();
  auto *Most = llvm::ConstantInt::get(llvm::Type::getInt32Ty(C), Known->second);
  Kernel.setMetadata("kassay.launch_bounds", llvm::MDNode::get(C, llvm::ConstantAsMetadata::get(Most)));
}
