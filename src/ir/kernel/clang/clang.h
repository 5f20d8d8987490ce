//! Declarations shared by the two halves of the library around clang: `compile.cpp` runs it, `records.cpp` encodes
//! its syntax tree.

#pragma once

#include <clang/AST/ASTConsumer.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/raw_ostream.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kassay {

/// Encodes data for `src/ir/kernel/bytes.rs`: numbers in LEB128, strings with their length in front.
class Writer {
  llvm::SmallVector<char, 0> Bytes;

public:
  void byte(char Byte) { Bytes.push_back(Byte); }

  void number(uint64_t Number) {
    for (; Number >= 0x80; Number >>= 7)
      byte(static_cast<char>(Number | 0x80));
    byte(static_cast<char>(Number));
  }

  void text(llvm::StringRef Text) {
    number(Text.size());
    Bytes.append(Text.begin(), Text.end());
  }

  void append(const Writer &Other) { Bytes.append(Other.Bytes.begin(), Other.Bytes.end()); }

  const char *data() const { return Bytes.data(); }
  size_t size() const { return Bytes.size(); }
};

/// Functions with the names that their code has in the module.
using EmittedList = std::vector<std::pair<const clang::FunctionDecl *, std::string>>;

/// Returns the functions for which code has been emitted, in the module's order.
using EmittedFunctions = std::function<EmittedList()>;

/// A consumer that writes the records once the translation unit is complete. It asks for `Emitted` only in C++, where
/// templates make functions that no list of declarations has, and where names are mangled.
std::unique_ptr<clang::ASTConsumer> recordsConsumer(Writer &Records, EmittedFunctions Emitted);

} // namespace kassay

/// A number of strings; `Strings` in `clang.rs`.
struct KassayStrings {
  unsigned Count;
  const char *const *Texts;

  llvm::ArrayRef<const char *> all() const { return llvm::ArrayRef(Texts, Count); }
};

struct KassayOutput {
  bool WithRecords = false;
  llvm::SmallVector<char, 0> Bitcode;
  kassay::Writer Records;
  kassay::Writer Lookups;
};

/// Receives one piece of the result: 0 the bitcode, 1 the records, 2 the file lookups.
using KassaySink = void (*)(void *To, unsigned Piece, const char *Bytes, size_t Count);
