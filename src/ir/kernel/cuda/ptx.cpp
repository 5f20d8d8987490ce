//! Reads the templates of inline assembly (PTX ISA, "Syntax").

#include "ptx.h"
#include "module.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;
using namespace kassay::cuda::ptx;

namespace {

class Parser {
  StringRef Rest;
  Template Read;

public:
  explicit Parser(StringRef Text) : Rest(Text) {}

  Template run() {
    while (Read.Wrong.empty()) {
      skipSpace();
      if (Rest.empty())
        break;
      if (StringRef("{};").contains(Rest.front()))
        Rest = Rest.drop_front();
      else
        statement();
    }
    return std::move(Read);
  }

private:
  bool fail(const Twine &What) {
    if (Read.Wrong.empty())
      Read.Wrong = What.str();
    return false;
  }

  void skipSpace() {
    for (;;) {
      Rest = Rest.ltrim();
      if (Rest.starts_with("//"))
        Rest = Rest.drop_until([](char C) { return C == '\n'; });
      else if (Rest.starts_with("/*"))
        Rest = Rest.contains("*/") ? Rest.split("*/").second : "";
      else
        return;
    }
  }

  bool take(char C) {
    skipSpace();
    return !Rest.empty() && Rest.front() == C && (Rest = Rest.drop_front(), true);
  }

  StringRef word() {
    skipSpace();
    StringRef Word = Rest.take_while([](char C) { return isAlnum(C) || StringRef("_$%.:").contains(C); });
    Rest = Rest.drop_front(Word.size());
    return Word;
  }

  bool statement() {
    if (Rest.starts_with("."))
      return directive();
    Command One;
    if (take('@')) {
      One.IsNegated = take('!');
      One.Predicate = word().str();
    }
    StringRef Name = word();
    if (Name.empty())
      return fail(Rest.take_front(1));
    if (Name.ends_with(":"))
      return fail("a label");
    SmallVector<StringRef, 8> Words;
    Name.split(Words, '.');
    for (StringRef Word : Words)
      One.Words.push_back(Word.str());
    for (bool IsFirst = true; !end(); IsFirst = false) {
      if (!IsFirst && !take(','))
        return fail(One.name());
      Operand Given;
      if (!operand(Given))
        return fail(One.name());
      One.Operands.push_back(std::move(Given));
    }
    Read.Instructions.push_back(std::move(One));
    return true;
  }

  bool end() {
    skipSpace();
    return Rest.empty() || Rest.front() == ';' || Rest.front() == '}';
  }

  bool directive() {
    StringRef Name = word();
    if (Name != ".reg")
      return fail(Name);
    StringRef Type = word();
    if (!Type.consume_front("."))
      return fail(".reg");
    do {
      std::string Register = word().str();
      if (!take('<')) {
        Read.Registers.emplace_back(Register, Type.str());
        continue;
      }
      unsigned Count = 0;
      if (word().getAsInteger(10, Count) || Count > 64 || !take('>'))
        return fail(".reg");
      for (unsigned I = 0; I < Count; ++I)
        Read.Registers.emplace_back(Register + std::to_string(I), Type.str());
    } while (take(','));
    return end() || fail(".reg");
  }

  bool operand(Operand &Given) {
    if (take('[')) {
      Given.Is = Operand::Address;
      Given.Parts.resize(1);
      if (!simple(Given.Parts[0]))
        return false;
      if (take('+')) {
        Operand Offset;
        if (!simple(Offset) || Offset.Is != Operand::Number)
          return false;
        Given.Offset = static_cast<int64_t>(Offset.Bits);
      }
      return take(']');
    }
    if (take('{')) {
      Given.Is = Operand::Vector;
      do {
        Given.Parts.emplace_back();
        if (!simple(Given.Parts.back()))
          return false;
      } while (take(','));
      return take('}');
    }
    if (!simple(Given))
      return false;
    if (!take('|'))
      return true;
    Operand First = std::move(Given), Second;
    if (!simple(Second))
      return false;
    Given = Operand();
    Given.Is = Operand::Pair;
    Given.Parts = {std::move(First), std::move(Second)};
    return true;
  }

  bool simple(Operand &Given) {
    Given.IsNegated = take('!');
    bool IsMinus = take('-');
    StringRef Word = word();
    if (Word == "_" && !IsMinus)
      return true;
    if (Word.empty() || !isDigit(Word.front())) {
      Given.Is = Operand::Register;
      Given.Name = Word.str();
      return !Word.empty() && !IsMinus;
    }
    Given.Is = Operand::Number;
    // The bits of a float: 0f3F800000, 0d3FF0000000000000.
    bool IsFloat = Word.size() > 2 && Word[0] == '0' && StringRef("fFdD").contains(Word[1]);
    if (IsFloat)
      return !IsMinus && !Word.drop_front(2).getAsInteger(16, Given.Bits);
    Word = Word.rtrim("U");
    if (Word.getAsInteger(0, Given.Bits))
      return false;
    if (IsMinus)
      Given.Bits = 0 - Given.Bits;
    return true;
  }
};

} // namespace

std::string Command::name() const { return join(Words, "."); }

bool Command::has(StringRef Word) const { return is_contained(drop_begin(Words), Word); }

Template kassay::cuda::ptx::parse(StringRef Text) { return Parser(Text).run(); }

void kassay::cuda::fitAssembly(Module &M) {
  std::vector<CallInst *> Statements;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isInlineAsm())
        Statements.push_back(Call);
  for (CallInst *Statement : Statements) {
    std::string Unknown = translate(*Statement);
    if (Unknown.empty())
      continue;
    // Refused where a kernel comes to it, by name (`absent` in mod.rs).
    IRBuilder<> Builder(Statement);
    FunctionCallee Word = M.getOrInsertFunction("cuda.ptx " + Unknown, Builder.getVoidTy());
    Builder.CreateCall(Word);
    if (!Statement->getType()->isVoidTy())
      Statement->replaceAllUsesWith(Constant::getNullValue(Statement->getType()));
    Statement->eraseFromParent();
  }
}
