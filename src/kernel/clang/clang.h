//! What the two halves of the library around clang share: `compile.cpp` runs it, `records.cpp` reads its syntax tree.

#pragma once

#include <clang/AST/ASTConsumer.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/raw_ostream.h>

namespace kassay {

/// Bytes as `src/kernel/records.rs` reads them: numbers in LEB128, texts with their length in front.
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

/// Writes the records once the translation unit is whole.
std::unique_ptr<clang::ASTConsumer> recordsConsumer(Writer &Records);

} // namespace kassay

struct KassayOutput {
  bool WithRecords = false;
  llvm::SmallVector<char, 0> Bitcode;
  kassay::Writer Records;
  kassay::Writer Asked;
};

/// Takes one piece: 0 the bitcode, 1 the records, 2 the files asked for.
using KassaySink = void (*)(void *To, unsigned Piece, const char *Bytes, size_t Count);
