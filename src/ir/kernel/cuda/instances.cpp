//! Finds the instances of templates that are kernels. Where a function of the host does not compile, clang leaves out
//! what is wrong in it, and instantiates what the rest of it launches.

#include "instances.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/DynamicRecursiveASTVisitor.h>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/raw_ostream.h>

using namespace clang;

namespace {

bool isNamedOutside(const TemplateArgument &Argument);

/// Whether code outside of functions can name the type: no part of it is declared in one, or has no name.
bool isNamedOutside(QualType T) {
  if (T->isDependentType())
    return false;
  const Type *Base = T.getCanonicalType()->getPointeeOrArrayElementType();
  const TagDecl *Tag = Base->getAsTagDecl();
  if (!Tag)
    return true;
  const auto *Class = dyn_cast<CXXRecordDecl>(Tag);
  if (Tag->getParentFunctionOrMethod() || (Class && Class->isLambda()))
    return false;
  const auto *Instance = dyn_cast<ClassTemplateSpecializationDecl>(Tag);
  return !Instance || llvm::all_of(Instance->getTemplateArgs().asArray(),
                                   [](const TemplateArgument &One) { return isNamedOutside(One); });
}

bool isNamedOutside(const TemplateArgument &Argument) {
  switch (Argument.getKind()) {
  case TemplateArgument::Type:
    return isNamedOutside(Argument.getAsType());
  case TemplateArgument::Declaration:
    return !Argument.getAsDecl()->getParentFunctionOrMethod();
  case TemplateArgument::Pack:
    return llvm::all_of(Argument.pack_elements(), [](const TemplateArgument &One) { return isNamedOutside(One); });
  case TemplateArgument::Integral:
  case TemplateArgument::NullPtr:
  case TemplateArgument::Template:
    return !Argument.isDependent();
  default:
    return false;
  }
}

class InstanceFinder : public DynamicRecursiveASTVisitor {
  PrintingPolicy Policy;
  std::set<std::string> &Names;

public:
  InstanceFinder(const ASTContext &Context, std::set<std::string> &Names) : Policy(Context.getLangOpts()), Names(Names) {
    Policy.SuppressUnwrittenScope = true;
  }

  bool VisitFunctionTemplateDecl(FunctionTemplateDecl *Template) override {
    if (!Template->getTemplatedDecl()->hasAttr<CUDAGlobalAttr>())
      return true;
    for (FunctionDecl *F : Template->specializations()) {
      const TemplateArgumentList *Arguments = F->getTemplateSpecializationArgs();
      bool IsWritten = F->getTemplateSpecializationKind() == TSK_ExplicitSpecialization;
      if (IsWritten || !Arguments ||
          !llvm::all_of(Arguments->asArray(), [](const TemplateArgument &One) { return isNamedOutside(One); }))
        continue;
      std::string Name;
      llvm::raw_string_ostream Stream(Name);
      F->getNameForDiagnostic(Stream, Policy, /*Qualified=*/true);
      Names.insert(Name);
    }
    return true;
  }
};

class InstancesConsumer : public ASTConsumer {
  std::set<std::string> &Names;

public:
  explicit InstancesConsumer(std::set<std::string> &Names) : Names(Names) {}

  void HandleTranslationUnit(ASTContext &Context) override {
    InstanceFinder(Context, Names).TraverseDecl(Context.getTranslationUnitDecl());
  }
};

} // namespace

std::unique_ptr<ASTConsumer> kassay::cuda::instancesConsumer(std::set<std::string> &Names) {
  return std::make_unique<InstancesConsumer>(Names);
}
