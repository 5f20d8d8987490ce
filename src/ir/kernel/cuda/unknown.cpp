//! Finds types of libraries that are not there in code of the device: what they are decides what it does.

#include "unknown.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DynamicRecursiveASTVisitor.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfo.h>

using namespace clang;

namespace {

/// The type in host_types.h that stands for them, from which templates derive.
constexpr char UnknownName[] = "kassay_unknown";

bool isUnknown(const CXXRecordDecl *Class) {
  if (!Class)
    return false;
  if (Class->getName() == UnknownName)
    return true;
  return Class->hasDefinition() && llvm::any_of(Class->bases(), [](const CXXBaseSpecifier &Base) {
           const CXXRecordDecl *Of = Base.getType()->getAsCXXRecordDecl();
           return Of && Of->getName() == UnknownName;
         });
}

class UnknownFinder : public DynamicRecursiveASTVisitor {
  ASTContext &Context;
  bool IsOfDevice = false;

public:
  explicit UnknownFinder(ASTContext &Context) : Context(Context) { ShouldVisitTemplateInstantiations = true; }

  bool TraverseDecl(Decl *D) override {
    const FunctionDecl *F = D ? D->getAsFunction() : nullptr;
    if (!F)
      return DynamicRecursiveASTVisitor::TraverseDecl(D);
    bool Outer = IsOfDevice;
    bool IsOfHeader = Context.getSourceManager().isInSystemHeader(F->getLocation());
    IsOfDevice = !IsOfHeader && !F->isImplicit() && (F->hasAttr<CUDADeviceAttr>() || F->hasAttr<CUDAGlobalAttr>());
    bool Done = DynamicRecursiveASTVisitor::TraverseDecl(D);
    IsOfDevice = Outer;
    return Done;
  }

  bool VisitTypeLoc(TypeLoc At) override {
    if (!IsOfDevice)
      return true;
    QualType T = At.getType();
    if (!T->isDependentType())
      T = T.getCanonicalType();
    if (isUnknown(T->getPointeeOrArrayElementType()->getAsCXXRecordDecl())) {
      auto &Diagnostics = Context.getDiagnostics();
      Diagnostics.Report(At.getBeginLoc(), Diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "%0"))
          << kassay::cuda::UnknownOnDevice;
    }
    return true;
  }
};

class UnknownConsumer : public ASTConsumer {
  void HandleTranslationUnit(ASTContext &Context) override { UnknownFinder(Context).TraverseDecl(Context.getTranslationUnitDecl()); }
};

/// What a member is, but for pointers, whose size is known.
const llvm::DIType *underlying(const llvm::DIType *T) {
  while (T) {
    auto *Derived = llvm::dyn_cast<llvm::DIDerivedType>(T);
    auto *Array = llvm::dyn_cast<llvm::DICompositeType>(T);
    if (Derived && Derived->getTag() != llvm::dwarf::DW_TAG_pointer_type &&
        Derived->getTag() != llvm::dwarf::DW_TAG_reference_type)
      T = Derived->getBaseType();
    else if (Array && Array->getTag() == llvm::dwarf::DW_TAG_array_type)
      T = Array->getBaseType();
    else
      break;
  }
  return T;
}

} // namespace

std::unique_ptr<ASTConsumer> kassay::cuda::unknownConsumer() { return std::make_unique<UnknownConsumer>(); }

bool kassay::cuda::containsUnknown(const llvm::Module &M) {
  llvm::DebugInfoFinder All;
  All.processModule(M);
  for (const llvm::DIType *T : All.types()) {
    auto *Class = llvm::dyn_cast<llvm::DICompositeType>(T);
    if (!Class || Class->getTag() == llvm::dwarf::DW_TAG_array_type)
      continue;
    for (const llvm::DINode *Element : Class->getElements()) {
      auto *Member = llvm::dyn_cast_or_null<llvm::DIDerivedType>(Element);
      const llvm::DIType *Of = Member ? underlying(Member->getBaseType()) : nullptr;
      if (Of && Of->getName() == UnknownName)
        return true;
    }
  }
  return false;
}
