//! Names of kernels and of their parameters as in the source. Helpers and variables get theirs later (`cpp_names`).

#include "module.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/InstIterator.h>

#include <set>

using namespace llvm;

namespace {

std::string taken(char *Text, const std::string &Otherwise) {
  std::string Found = Text ? Text : Otherwise;
  std::free(Text);
  return Found;
}

/// Operands of nodes of debug information: LLVM has no other way to change them.
constexpr unsigned SubprogramScope = 1, SubprogramName = 2, VariableName = 1;

void describe(Function &Kernel, StringRef Name) {
  DISubprogram *Described = Kernel.getSubprogram();
  if (!Described)
    return;
  // The name has the namespaces in it.
  Described->replaceOperandWith(SubprogramScope, Described->getFile());
  Described->replaceOperandWith(SubprogramName, MDString::get(Kernel.getContext(), Name));
}

std::vector<DILocalVariable *> parameters(Function &Kernel) {
  std::set<DILocalVariable *> Found;
  if (DISubprogram *Described = Kernel.getSubprogram())
    for (DINode *Node : Described->getRetainedNodes())
      if (auto *Variable = dyn_cast<DILocalVariable>(Node))
        Found.insert(Variable);
  for (Instruction &I : instructions(Kernel))
    for (DbgVariableRecord &Record : filterDbgVars(I.getDbgRecordRange()))
      if (!Record.getDebugLoc() || !Record.getDebugLoc()->getInlinedAt())
        Found.insert(Record.getVariable());
  std::vector<DILocalVariable *> All;
  for (DILocalVariable *Variable : Found)
    if (Variable->getArg() > 0)
      All.push_back(Variable);
  return All;
}

/// A pack of parameters gives several of one name: they are numbered by their position.
void number(Function &Kernel) {
  StringMap<std::set<unsigned>> Positions;
  auto All = parameters(Kernel);
  for (DILocalVariable *Variable : All)
    Positions[Variable->getName()].insert(Variable->getArg());
  for (DILocalVariable *Variable : All) {
    std::string Name = Variable->getName().str();
    if (Name.empty() || Positions[Name].size() < 2)
      continue;
    auto Before = std::distance(Positions[Name].begin(), Positions[Name].find(Variable->getArg()));
    Variable->replaceOperandWith(VariableName, MDString::get(Kernel.getContext(), Name + std::to_string(Before)));
  }
}

} // namespace

std::map<std::string, std::string> kassay::cuda::kernelNames(const std::vector<std::string> &Mangled) {
  std::map<std::string, std::string> Names;
  std::map<std::string, unsigned> Count;
  for (const std::string &One : Mangled) {
    ItaniumPartialDemangler Parts;
    std::string Name = One;
    if (!Parts.partialDemangle(One.c_str()) && Parts.isFunction())
      Name = taken(Parts.getFunctionName(nullptr, nullptr), One);
    Names[One] = Name;
    Count[Name]++;
  }
  for (auto &[One, Name] : Names) {
    ItaniumPartialDemangler Parts;
    if (Count[Name] > 1 && !Parts.partialDemangle(One.c_str()))
      Name += taken(Parts.getFunctionParameters(nullptr, nullptr), "");
  }
  return Names;
}

void kassay::cuda::nameKernels(Module &M) {
  std::vector<std::string> Mangled;
  for (Function &F : M)
    if (isKernel(F))
      Mangled.push_back(F.getName().str());
  for (auto &[Old, Name] : kernelNames(Mangled)) {
    Function &Kernel = *M.getFunction(Old);
    Kernel.setName(Name);
    describe(Kernel, Name);
    number(Kernel);
  }
}
