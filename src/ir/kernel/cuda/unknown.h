//! Whether code of the device has types of libraries that are not there, for which any type stands (`missing.rs`).

#pragma once

#include <clang/AST/ASTConsumer.h>

#include <llvm/IR/Module.h>

#include <memory>

namespace kassay::cuda {

/// Reports such types in functions of the device as errors.
std::unique_ptr<clang::ASTConsumer> unknownConsumer();

/// Whether a type that code of the device uses contains one.
bool containsUnknown(const llvm::Module &M);

/// How what is said of them begins.
constexpr char UnknownOnDevice[] = "kassay: a type that is not there";

} // namespace kassay::cuda
