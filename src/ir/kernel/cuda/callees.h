//! What calls of the functions of kassay's headers are, for those who read the syntax tree.

#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/ExprCXX.h>

namespace kassay::cuda {

/// Whether an operator is one of kassay's types of numbers, and computes or compares.
bool isArithmetic(const clang::CXXOperatorCallExpr *Call, const clang::ASTContext &Context);

/// The mangled name of the builtin of OpenCL that a function of a header stands for: all that it does is to call it.
llvm::StringRef builtin(const clang::FunctionDecl *F, const clang::ASTContext &Context);

} // namespace kassay::cuda
