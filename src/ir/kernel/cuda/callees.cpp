//! What calls of the functions of kassay's headers are, for those who read the syntax tree.

#include "callees.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/Basic/SourceManager.h>

using namespace clang;

namespace {

bool isOfSystem(const FunctionDecl *F, const ASTContext &Context) {
  return Context.getLangOpts().CUDA && Context.getSourceManager().isInSystemHeader(F->getLocation());
}

/// Whether another operator of its kind could stand there.
bool computes(OverloadedOperatorKind Operator) {
  switch (Operator) {
  case OO_Plus: case OO_Minus: case OO_Star: case OO_Slash: case OO_Percent: case OO_Amp: case OO_Pipe: case OO_Caret:
  case OO_LessLess: case OO_GreaterGreater: case OO_Less: case OO_LessEqual: case OO_Greater: case OO_GreaterEqual:
  case OO_EqualEqual: case OO_ExclaimEqual: case OO_PlusEqual: case OO_MinusEqual: case OO_StarEqual:
  case OO_SlashEqual: case OO_PercentEqual: case OO_AmpEqual: case OO_PipeEqual: case OO_CaretEqual:
  case OO_LessLessEqual: case OO_GreaterGreaterEqual: case OO_Tilde: case OO_Exclaim:
    return true;
  default:
    return false;
  }
}

/// Whether a value is the object's own: a member, or what a method without arguments says of it.
bool isOfObject(const Expr *E) {
  if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E))
    return Call->getNumArgs() == 0 && isOfObject(Call->getCallee()->IgnoreParenImpCasts());
  const auto *Member = dyn_cast<MemberExpr>(E);
  return Member && isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts());
}

/// The function that is called by a body that does nothing else, with the body's own parameters and constants. What only
/// waits may have values of its object.
const FunctionDecl *onlyCallee(const FunctionDecl *F, const ASTContext &Context) {
  const auto *Body = dyn_cast_or_null<CompoundStmt>(F->getBody());
  if (!Body || Body->size() != 1)
    return nullptr;
  const Stmt *Only = Body->body_front();
  if (const auto *Return = dyn_cast<ReturnStmt>(Only))
    Only = Return->getRetValue();
  const auto *E = dyn_cast_or_null<Expr>(Only);
  // A cast of bits is a computation.
  while (E && isa<ExprWithCleanups, ImplicitCastExpr, ParenExpr, CStyleCastExpr>(E))
    E = cast<Expr>(*E->child_begin());
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (!Call)
    return nullptr;
  for (const Expr *Argument : Call->arguments()) {
    const auto *Named = dyn_cast<DeclRefExpr>(Argument->IgnoreParenImpCasts());
    if (!(Named && isa<ParmVarDecl>(Named->getDecl())) && !Argument->isEvaluatable(Context) &&
        !(F->getReturnType()->isVoidType() && isOfObject(Argument->IgnoreParenImpCasts())))
      return nullptr;
  }
  return Call->getDirectCallee();
}

} // namespace

bool kassay::cuda::isArithmetic(const CXXOperatorCallExpr *Call, const ASTContext &Context) {
  const FunctionDecl *F = Call->getDirectCallee();
  // Of all headers, only kassay's have no lines.
  return F && isOfSystem(F, Context) && F->hasAttr<NoDebugAttr>() && computes(Call->getOperator());
}

llvm::StringRef kassay::cuda::builtin(const FunctionDecl *F, const ASTContext &Context) {
  // Functions of groups call one another.
  for (unsigned Calls = 0; F && Calls < 4 && isOfSystem(F, Context); Calls++) {
    if (const auto *Label = F->getAttr<AsmLabelAttr>())
      return Label->getLabel();
    F = onlyCallee(F, Context);
  }
  return "";
}
