//! Finds the instances of templates that are kernels. Where a function of the host does not compile, clang leaves out
//! what is wrong in it, and instantiates what the rest of it launches.

#include "instances.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/DynamicRecursiveASTVisitor.h>
#include <clang/AST/ExprCXX.h>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/raw_ostream.h>

#include <optional>

using namespace clang;

namespace {

bool isNamedOutside(const TemplateArgument &Argument);

bool areNamedOutside(llvm::ArrayRef<TemplateArgument> Arguments) {
  return llvm::all_of(Arguments, [](const TemplateArgument &One) { return isNamedOutside(One); });
}

/// Whether code outside of functions can name the type: no part of it is declared in one, or has no name.
bool isNamedOutside(const TagDecl *Tag) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Tag);
  if (Tag->getParentFunctionOrMethod() || (Class && Class->isLambda()))
    return false;
  const auto *Instance = dyn_cast<ClassTemplateSpecializationDecl>(Tag);
  return !Instance || areNamedOutside(Instance->getTemplateArgs().asArray());
}

bool isNamedOutside(QualType T) {
  if (T->isDependentType())
    return false;
  const TagDecl *Tag = T.getCanonicalType()->getPointeeOrArrayElementType()->getAsTagDecl();
  return !Tag || isNamedOutside(Tag);
}

bool isNamedOutside(const TemplateArgument &Argument) {
  switch (Argument.getKind()) {
  case TemplateArgument::Type:
    return isNamedOutside(Argument.getAsType());
  case TemplateArgument::Declaration:
    return !Argument.getAsDecl()->getParentFunctionOrMethod();
  case TemplateArgument::Pack:
    return areNamedOutside(Argument.getPackAsArray());
  case TemplateArgument::Integral:
  case TemplateArgument::NullPtr:
  case TemplateArgument::Template:
    return !Argument.isDependent();
  default:
    return false;
  }
}

class InstanceFinder : public DynamicRecursiveASTVisitor {
  const ASTContext &Context;
  PrintingPolicy Policy;
  std::set<std::string> &Names;

public:
  InstanceFinder(const ASTContext &Context, std::set<std::string> &Names)
      : Context(Context), Policy(Context.getLangOpts()), Names(Names) {
    Policy.SuppressUnwrittenScope = true;
    ShouldVisitTemplateInstantiations = true;
  }

  bool VisitFunctionDecl(FunctionDecl *F) override {
    bool IsInstance = F->getTemplateSpecializationKind() == TSK_ImplicitInstantiation;
    const FunctionDecl *Pattern = F->getTemplateInstantiationPattern();
    if (!F->hasAttr<CUDAGlobalAttr>() || !IsInstance || !Pattern || !Pattern->hasBody())
      return true;
    // What a class has, and what overload resolution looks at, is instantiated whether it is launched or not.
    if (!F->isReferenced() && !F->isUsed(false))
      return true;
    const TemplateArgumentList *Arguments = F->getTemplateSpecializationArgs();
    const auto *Class = dyn_cast<CXXRecordDecl>(F->getDeclContext());
    if ((Arguments && !areNamedOutside(Arguments->asArray())) || (Class && !isNamedOutside(Class)))
      return true;
    std::string Name;
    llvm::raw_string_ostream Stream(Name);
    F->getNameForDiagnostic(Stream, Policy, /*Qualified=*/true);
    Names.insert(Name);
    return true;
  }

  /// A launch whose arguments clang does not know names its template all the same.
  bool VisitUnresolvedLookupExpr(UnresolvedLookupExpr *E) override {
    if (!E->hasExplicitTemplateArgs())
      return true;
    for (const NamedDecl *D : E->decls()) {
      const auto *Template = dyn_cast<FunctionTemplateDecl>(D->getUnderlyingDecl());
      if (!Template || !Template->getTemplatedDecl()->hasAttr<CUDAGlobalAttr>())
        continue;
      llvm::SmallVector<TemplateArgument, 4> Arguments;
      for (const TemplateArgumentLoc &One : E->template_arguments())
        if (std::optional<TemplateArgument> Known = known(One.getArgument()))
          Arguments.push_back(*Known);
      if (Arguments.size() != E->getNumTemplateArgs() || !areNamedOutside(Arguments))
        continue;
      std::string Name = Template->getQualifiedNameAsString();
      llvm::raw_string_ostream Stream(Name);
      printTemplateArgumentList(Stream, Arguments, Policy, Template->getTemplateParameters());
      Names.insert(Name);
    }
    return true;
  }

private:
  /// The argument with the value of its expression; nothing if it is not known, or of a type that has to be named.
  std::optional<TemplateArgument> known(const TemplateArgument &Argument) const {
    if (Argument.getKind() != TemplateArgument::Expression)
      return Argument;
    const Expr *E = Argument.getAsExpr();
    Expr::EvalResult Value;
    if (E->isInstantiationDependent() || E->containsErrors() || !E->getType()->isIntegralOrEnumerationType() ||
        !E->EvaluateAsInt(Value, Context))
      return std::nullopt;
    return TemplateArgument(Context, Value.Val.getInt(), E->getType());
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
