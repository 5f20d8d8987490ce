//! Gives inline assembly the form in which clang takes it for SPIR-V: there, results are only in registers of the kind `r`,
//! and a `%` before a letter, as in `%laneid`, has to be doubled. What is in the registers says the type of the operand.
//!
//! This is done to the tokens of `asm` statements, before the parser gets them: places in the source do not change.

#include "assembly.h"

#include <clang/Lex/Preprocessor.h>

#include <deque>
#include <memory>
#include <string>

using namespace clang;

namespace {

/// The kinds of registers that PTX has besides `r`.
constexpr llvm::StringLiteral Kinds = "hlfdq";

class Watcher {
  Preprocessor &PP;
  /// The texts of changed tokens, which live as long as those of files.
  std::shared_ptr<std::deque<std::string>> Texts = std::make_shared<std::deque<std::string>>();
  bool IsAssembly = false;
  unsigned Depth = 0, Colons = 0;

public:
  explicit Watcher(Preprocessor &PP) : PP(PP) {}

  void operator()(const Token &Seen) {
    if (Seen.is(tok::kw_asm)) {
      IsAssembly = true;
      Depth = Colons = 0;
    } else if (IsAssembly) {
      // The parser gets this very token afterwards.
      follow(const_cast<Token &>(Seen));
    }
  }

private:
  void follow(Token &Seen) {
    switch (Seen.getKind()) {
    case tok::l_paren:
      ++Depth;
      break;
    case tok::r_paren:
      IsAssembly = Depth > 1;
      Depth -= Depth > 0;
      break;
    case tok::colon:
      Colons += Depth == 1;
      break;
    case tok::coloncolon:
      Colons += Depth == 1 ? 2 : 0;
      break;
    case tok::string_literal:
      if (Depth == 1 && Colons == 0)
        change(Seen, templateText(spelling(Seen)));
      else if (Depth == 1 && Colons == 1)
        change(Seen, constraint(spelling(Seen)));
      break;
    case tok::semi:
    case tok::eof:
      IsAssembly = Depth > 0 && Seen.isNot(tok::eof);
      break;
    default:
      break;
    }
  }

  std::string spelling(const Token &Seen) const { return PP.getSpelling(Seen); }

  void change(Token &Seen, const std::string &Text) {
    if (Text == spelling(Seen))
      return;
    const std::string &Kept = Texts->emplace_back(Text);
    Seen.setLiteralData(Kept.c_str());
    Seen.setLength(Kept.size());
    Seen.clearFlag(Token::NeedsCleaning);
  }

  static std::string templateText(llvm::StringRef Text) {
    std::string Changed;
    for (size_t At = 0; At < Text.size(); ++At) {
      Changed += Text[At];
      if (Text[At] != '%' || At + 1 == Text.size())
        continue;
      char Next = Text[At + 1];
      if (Next == '%')
        Changed += Text[++At];
      else if (llvm::isAlpha(Next) || Next == '_')
        Changed += '%';
    }
    return Changed;
  }

  static std::string constraint(llvm::StringRef Text) {
    std::string Changed = Text.str();
    // "=f", "+l", "=&r"
    if (Text.size() >= 4 && (Text[1] == '=' || Text[1] == '+') && Kinds.contains(Text[Text.size() - 2]))
      Changed[Text.size() - 2] = 'r';
    return Changed;
  }
};

} // namespace

void kassay::cuda::readAssembly(Preprocessor &PP) {
  PP.setTokenWatcher([Watch = std::make_shared<Watcher>(PP)](const Token &Seen) { (*Watch)(Seen); });
}
