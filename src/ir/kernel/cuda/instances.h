//! Which templates the launches of a file make kernels, whether it compiles or not.

#pragma once

#include <clang/AST/ASTConsumer.h>

#include <memory>
#include <set>
#include <string>

namespace kassay::cuda {

/// Collects the instances of templates that are kernels, as code outside of functions names them: `reduce<float, 64>`.
std::unique_ptr<clang::ASTConsumer> instancesConsumer(std::set<std::string> &Names);

} // namespace kassay::cuda
