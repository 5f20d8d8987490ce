//! Encodes the syntax tree as records: the functions that some kernel can reach, and the declarations that
//! they refer to.
//!
//! Nodes, their order and their texts are those of clang's own `-ast-dump=json`; a test compares the two. Nodes that
//! the dump files under a name other than `inner` (all children of an initialiser list with a filler) are left out here
//! too, and so are documentation comments.

#include "clang.h"

#include "../cuda/callees.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ASTNodeTraverser.h>
#include <clang/AST/Mangle.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>

using namespace clang;
using kassay::Writer;

namespace {

/// Deeper trees are refused: walking them would need a large stack.
constexpr unsigned MaxDepth = 1000;

/// The first byte of a record; `ast_records.rs` has the same values.
enum Tag : char { End = 0, Absent = 1, Present = 2 };

/// The optional parts of a record, as a bit mask; they follow in this order.
enum Part : unsigned {
  HasRange = 1 << 0,
  HasOpcode = 1 << 1,
  IsPostfix = 1 << 2,
  HasName = 1 << 3,
  HasReference = 1 << 4,
  HasType = 1 << 5,
  HasDesugared = 1 << 6,
  HasArgumentType = 1 << 7,
  HasCast = 1 << 8,
  HasValue = 1 << 9,
  HasElse = 1 << 10,
  IsRange = 1 << 11,
  HasInit = 1 << 12,
  HasVariable = 1 << 13,
  HasBuiltin = 1 << 14,
};

/// Numbers strings and declarations in the order of their first use.
class Interner {
  llvm::StringMap<unsigned> Strings;
  llvm::DenseMap<const Decl *, unsigned> Declarations;

public:
  Writer Texts;

  unsigned text(llvm::StringRef Text) {
    auto [At, New] = Strings.try_emplace(Text, Strings.size());
    if (New)
      Texts.text(Text);
    return At->second;
  }
  unsigned texts() const { return Strings.size(); }

  unsigned declaration(const Decl *D) { return Declarations.try_emplace(D, Declarations.size()).first->second; }
};

/// The attributes of one node, written when all of them are known.
struct Attributes {
  unsigned Parts = 0;
  std::string Kind, Opcode, Name, Builtin, Type, Desugared, ArgumentType, Cast, Value;
  SourceRange Range;
  const NamedDecl *Reference = nullptr;
};

/// Encodes single nodes.
class NodeWriter : public ConstStmtVisitor<NodeWriter>, public ConstDeclVisitor<NodeWriter> {
  ASTContext &Context;
  const SourceManager &SM;
  PrintingPolicy Policy;
  Interner &Table;
  Writer *Out = nullptr;
  Attributes Current;
  unsigned Depth = 0;
  /// For each open node: whether it has a child yet, and whether its children are under a name other than `inner`.
  llvm::SmallVector<std::pair<bool, bool>, 64> OpenNodes;

public:
  bool TooDeep = false;
  /// Declarations that nodes refer to, in order of first reference.
  llvm::SmallSetVector<const Decl *, 32> Referenced;

  NodeWriter(ASTContext &Context, Interner &Table)
      : Context(Context), SM(Context.getSourceManager()), Policy(Context.getPrintingPolicy()), Table(Table) {}

  void beginRecord(Writer &W) {
    Out = &W;
    OpenNodes.clear();
    Depth = 1; // The declaration counts as the first level.
  }

  template <typename Fn> void AddChild(Fn Child) { AddChild("", Child); }

  template <typename Fn> void AddChild(llvm::StringRef Label, Fn Child) {
    if (!OpenNodes.empty()) {
      auto &[HasChild, IsHidden] = OpenNodes.back();
      if (!HasChild) {
        HasChild = true;
        IsHidden = !Label.empty() && Label != "inner";
      }
      if (IsHidden)
        return;
    }
    if (Depth >= MaxDepth) {
      TooDeep = true;
      return;
    }
    Depth++;
    OpenNodes.emplace_back(false, false);
    size_t Before = Out->size();
    Child();
    if (Out->size() != Before) // Otherwise the node is of a kind that is left out.
      Out->byte(End);
    OpenNodes.pop_back();
    Depth--;
  }

  // ---- Nodes by class.

  void Visit(const Stmt *S) {
    if (!S)
      return absent();
    begin(S->getStmtClassName(), S->getSourceRange());
    if (const auto *E = dyn_cast<Expr>(S))
      type(E->getType());
    ConstStmtVisitor<NodeWriter>::Visit(S);
    write();
  }

  void Visit(const Decl *D) {
    if (!D)
      return absent();
    begin(std::string(D->getDeclKindName()) + "Decl", D->getSourceRange());
    if (const auto *N = dyn_cast<NamedDecl>(D); N && N->getDeclName())
      name(N->getNameAsString());
    ConstDeclVisitor<NodeWriter>::Visit(D);
    write();
  }

  void Visit(const Attr *A) {
    const char *Kind = "";
    switch (A->getKind()) {
#define ATTR(X)                                                                                                        \
  case attr::X:                                                                                                        \
    Kind = #X "Attr";                                                                                                  \
    break;
#include <clang/Basic/AttrList.inc>
#undef ATTR
    }
    begin(Kind, A->getRange());
    write();
  }

  void Visit(QualType T) {
    begin("QualType", {});
    Current.Parts &= ~HasRange;
    plainType(T);
    write();
  }

  void Visit(const Type *T) {
    if (!T)
      return absent();
    begin(std::string(T->getTypeClassName()) + "Type", {});
    Current.Parts &= ~HasRange;
    plainType(QualType(T, 0));
    write();
  }

  /// A node that clang's tree does not have.
  void synthetic(llvm::StringRef Kind, SourceRange Range) {
    begin(Kind, Range);
    write();
  }

  /// Stands for an initialiser whose value is known.
  void constant(const Expr *E, const llvm::APSInt &Known) {
    begin("ConstantExpr", E->getSourceRange());
    type(E->getType());
    llvm::SmallString<16> Text;
    Known.toString(Text);
    value(Text);
    write();
  }

  void Visit(const GenericSelectionExpr::ConstAssociation &A) { absent(); }
  void Visit(const CXXCtorInitializer *) { absent(); }
  void Visit(const BlockDecl::Capture &) { absent(); }
  void Visit(const TemplateArgument &, SourceRange = {}, const Decl * = nullptr, llvm::StringRef = {}) { absent(); }
  void Visit(TypeLoc) { absent(); }
  void Visit(const OpenACCClause *) { absent(); }
  void Visit(const OMPClause *) { absent(); }
  void Visit(const concepts::Requirement *) { absent(); }
  void Visit(const ConceptReference *) { absent(); }
  void Visit(const APValue &, QualType) { absent(); }
  void Visit(const comments::Comment *, const comments::FullComment *) {}

  // ---- Attributes of the nodes.

  void VisitUnaryOperator(const UnaryOperator *O) {
    opcode(UnaryOperator::getOpcodeStr(O->getOpcode()));
    flag(IsPostfix, O->isPostfix());
  }
  void VisitBinaryOperator(const BinaryOperator *O) { opcode(BinaryOperator::getOpcodeStr(O->getOpcode())); }
  void VisitCastExpr(const CastExpr *C) { set(HasCast, Current.Cast, C->getCastKindName()); }
  void VisitMemberExpr(const MemberExpr *M) {
    const ValueDecl *D = M->getMemberDecl();
    name(D->getDeclName() ? D->getNameAsString() : "");
  }
  void VisitDeclRefExpr(const DeclRefExpr *R) {
    Current.Parts |= HasReference;
    Current.Reference = R->getDecl();
    name(R->getDecl()->getDeclName().getAsString());
    Referenced.insert(R->getDecl());
  }
  /// The function that a call names directly.
  void VisitCallExpr(const CallExpr *C) {
    const Expr *Callee = C->getCallee();
    for (;;) {
      if (const auto *Cast = dyn_cast<ImplicitCastExpr>(Callee))
        Callee = Cast->getSubExpr();
      else if (const auto *Paren = dyn_cast<ParenExpr>(Callee))
        Callee = Paren->getSubExpr();
      else
        break;
    }
    if (const auto *R = dyn_cast<DeclRefExpr>(Callee))
      name(R->getDecl()->getDeclName().getAsString());
    else if (const auto *M = dyn_cast<MemberExpr>(Callee))
      name(M->getMemberDecl()->getDeclName().getAsString());
    const FunctionDecl *F = C->getDirectCallee();
    if (auto Label = kassay::cuda::builtin(F, Context); !Label.empty())
      set(HasBuiltin, Current.Builtin, Label);
    // clang folds calls of constexpr functions in conditions.
    Expr::EvalResult Known;
    if (F && F->isConstexpr() && C->getType()->isIntegralOrEnumerationType() && C->EvaluateAsInt(Known, Context)) {
      llvm::SmallString<16> Text;
      Known.Val.getInt().toString(Text);
      value(Text);
    }
  }
  /// An operator of one of kassay's types of numbers is one of the source's.
  void VisitCXXOperatorCallExpr(const CXXOperatorCallExpr *C) {
    VisitCallExpr(C);
    if (kassay::cuda::isArithmetic(C, Context))
      opcode(getOperatorSpelling(C->getOperator()));
  }
  void VisitUnaryExprOrTypeTraitExpr(const UnaryExprOrTypeTraitExpr *E) {
    name(getTraitSpelling(E->getKind()));
    if (E->isArgumentType()) {
      auto [Text, Desugared] = texts(E->getArgumentType());
      set(HasArgumentType, Current.ArgumentType, Desugared.empty() ? Text : Desugared);
    }
  }
  void VisitAtomicExpr(const AtomicExpr *A) { name(A->getOpAsString()); }
  void VisitPredefinedExpr(const PredefinedExpr *P) { name(PredefinedExpr::getIdentKindName(P->getIdentKind())); }
  void VisitAddrLabelExpr(const AddrLabelExpr *A) { name(A->getLabel()->getName()); }
  void VisitLabelStmt(const LabelStmt *L) { name(L->getName()); }
  void VisitConstantExpr(const ConstantExpr *C) {
    if (C->getResultAPValueKind() != APValue::None)
      value(C->getAPValueResult().getAsString(Context, C->getType()));
  }
  void VisitIntegerLiteral(const IntegerLiteral *L) {
    llvm::SmallString<16> Text;
    L->getValue().toString(Text, 10, L->getType()->isSignedIntegerType());
    value(Text);
  }
  void VisitCharacterLiteral(const CharacterLiteral *L) { value(std::to_string(L->getValue())); }
  void VisitFixedPointLiteral(const FixedPointLiteral *L) { value(L->getValueAsString(10)); }
  void VisitFloatingLiteral(const FloatingLiteral *L) {
    llvm::SmallString<16> Text;
    L->getValue().toString(Text);
    value(Text);
  }
  void VisitStringLiteral(const StringLiteral *L) {
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    L->outputString(Stream);
    value(Text);
  }
  void VisitCXXBoolLiteralExpr(const CXXBoolLiteralExpr *L) { value(L->getValue() ? "true" : "false"); }
  void VisitIfStmt(const IfStmt *S) {
    flag(HasElse, S->hasElseStorage());
    flag(HasInit, S->hasInitStorage());
    flag(HasVariable, S->hasVarStorage());
  }
  void VisitSwitchStmt(const SwitchStmt *S) {
    flag(HasInit, S->hasInitStorage());
    flag(HasVariable, S->hasVarStorage());
  }
  void VisitWhileStmt(const WhileStmt *S) { flag(HasVariable, S->hasVarStorage()); }
  void VisitCaseStmt(const CaseStmt *S) { flag(IsRange, S->caseStmtIsGNURange()); }
  void VisitTypedefNameDecl(const TypedefNameDecl *D) { type(D->getUnderlyingType()); }
  void VisitValueDecl(const ValueDecl *D) {
    if (isa<VarDecl, FieldDecl, FunctionDecl, EnumConstantDecl>(D))
      type(D->getType());
  }

  /// Encodes a token's position: where it is expanded and, under another tag, also where it is spelt.
  void position(Writer &W, SourceLocation At) {
    SourceLocation Spelling = SM.getSpellingLoc(At), Expansion = SM.getExpansionLoc(At);
    if (!SM.getPresumedLoc(Expansion).isValid())
      return W.number(0);
    if (Spelling == Expansion) {
      W.number(1);
      return location(W, Expansion);
    }
    bool IsSpelt = SM.getPresumedLoc(Spelling).isValid();
    W.number(2 + (IsSpelt ? 1 : 0) + (SM.isMacroArgExpansion(At) ? 2 : 0));
    location(W, Expansion);
    if (IsSpelt)
      location(W, Spelling);
  }

  /// The type as the source spells it, and its spelling without typedefs if that differs.
  std::pair<std::string, std::string> texts(QualType T) {
    SplitQualType Written = T.split();
    std::string Text = QualType::getAsString(Written, Policy), Desugared;
    if (!T.isNull()) {
      SplitQualType Plain = T.getSplitDesugaredType();
      if (Plain != Written)
        Desugared = QualType::getAsString(Plain, Policy);
      if (Desugared == Text)
        Desugared.clear();
    }
    return {Text, Desugared};
  }

private:
  void absent() { Out->byte(Absent); }

  void begin(llvm::StringRef Kind, SourceRange Range) {
    Current = {};
    Current.Kind = Kind.str();
    Current.Range = Range;
    Current.Parts = HasRange;
  }
  void set(Part P, std::string &Field, llvm::StringRef Text) {
    Current.Parts |= P;
    Field = Text.str();
  }
  void flag(Part P, bool Is) { Current.Parts |= Is ? P : 0; }
  void opcode(llvm::StringRef Text) { set(HasOpcode, Current.Opcode, Text); }
  void name(llvm::StringRef Text) { set(HasName, Current.Name, Text); }
  void value(llvm::StringRef Text) { set(HasValue, Current.Value, Text); }
  void plainType(QualType T) { set(HasType, Current.Type, QualType::getAsString(T.split(), Policy)); }
  void type(QualType T) {
    auto [Text, Desugared] = texts(T);
    set(HasType, Current.Type, Text);
    if (!Desugared.empty())
      set(HasDesugared, Current.Desugared, Desugared);
  }

  void location(Writer &W, SourceLocation At) {
    auto [File, Offset] = SM.getDecomposedLoc(At);
    W.number(Table.text(SM.getBufferName(At)));
    W.number(SM.getLineNumber(File, Offset));
    W.number(SM.getPresumedLoc(At).getColumn());
    W.number(Offset);
    W.number(Lexer::MeasureTokenLength(At, SM, Context.getLangOpts()));
  }

  void write() {
    Out->byte(Present);
    Out->number(Table.text(Current.Kind));
    Out->number(Current.Parts);
    if (Current.Parts & HasRange) {
      position(*Out, Current.Range.getBegin());
      position(*Out, Current.Range.getEnd());
    }
    auto Text = [&](Part P, const std::string &Field) {
      if (Current.Parts & P)
        Out->number(Table.text(Field));
    };
    Text(HasOpcode, Current.Opcode);
    Text(HasName, Current.Name);
    if (Current.Parts & HasReference) {
      Out->number(Table.declaration(Current.Reference));
      Out->number(Table.text(std::string(Current.Reference->getDeclKindName()) + "Decl"));
    }
    Text(HasType, Current.Type);
    Text(HasDesugared, Current.Desugared);
    Text(HasArgumentType, Current.ArgumentType);
    Text(HasCast, Current.Cast);
    Text(HasValue, Current.Value);
    Text(HasBuiltin, Current.Builtin);
  }
};

/// Visits nodes in clang's own order.
class Traverser : public ASTNodeTraverser<Traverser, NodeWriter> {
  NodeWriter &Nodes;

public:
  explicit Traverser(NodeWriter &Nodes) : Nodes(Nodes) {}
  NodeWriter &doGetNodeDelegate() { return Nodes; }
};

class Records : public ASTConsumer {
  Writer &Out;
  kassay::EmittedFunctions Emitted;

public:
  Records(Writer &Out, kassay::EmittedFunctions Emitted) : Out(Out), Emitted(std::move(Emitted)) {}

  void HandleTranslationUnit(ASTContext &Context) override {
    if (Context.getDiagnostics().hasErrorOccurred())
      return;
    Interner Table;
    NodeWriter Nodes(Context, Table);
    Traverser Walk(Nodes);
    llvm::SetVector<const FunctionDecl *> Reachable;
    llvm::DenseMap<const FunctionDecl *, unsigned> IndexOf;
    std::vector<const FunctionDecl *> Defined;
    std::vector<std::string> Names;
    bool IsCPlusPlus = Context.getLangOpts().CPlusPlus;
    std::unique_ptr<MangleContext> Mangler(Context.createMangleContext());
    if (IsCPlusPlus)
      for (auto &[F, Name] : inSourceOrder(Context, Emitted()))
        if (Reachable.insert(F)) {
          IndexOf[F] = Defined.size();
          Defined.push_back(F);
          Names.push_back(Name);
        }
    for (const Decl *D : Context.getTranslationUnitDecl()->noload_decls()) {
      const auto *F = dyn_cast<FunctionDecl>(D);
      if (IsCPlusPlus || !F || F->getKind() != Decl::Function || !F->doesThisDeclarationHaveABody())
        continue;
      IndexOf[F] = Defined.size();
      Defined.push_back(F);
      Names.push_back(nameInModule(*Mangler, F));
      if (F->hasAttr<DeviceKernelAttr>())
        Reachable.insert(F);
    }
    std::vector<Writer> Functions(Defined.size());
    Writer Values, Initializers;
    unsigned ValueCount = 0, InitializerCount = 0, FunctionCount = 0, NextReference = 0;
    for (unsigned Next = 0; Next < Reachable.size() || NextReference < Nodes.Referenced.size();) {
      if (Next < Reachable.size()) {
        const FunctionDecl *F = Reachable[Next++];
        if (auto At = IndexOf.find(F); At != IndexOf.end()) {
          function(Functions[At->second], F, Names[At->second], Table, Nodes, Walk);
          FunctionCount++;
        }
        continue;
      }
      const Decl *D = Nodes.Referenced[NextReference++];
      if (const auto *F = dyn_cast<FunctionDecl>(D)) {
        if (const FunctionDecl *Definition = IsCPlusPlus ? nullptr : F->getDefinition())
          Reachable.insert(Definition);
      } else if (const auto *E = dyn_cast<EnumConstantDecl>(D)) {
        if (!E->getInitVal().isRepresentableByInt64())
          continue;
        ValueCount++;
        Values.number(Table.declaration(E));
        int64_t Value = E->getInitVal().getExtValue();
        Values.number((static_cast<uint64_t>(Value) << 1) ^ static_cast<uint64_t>(Value >> 63));
      } else if (const auto *V = dyn_cast<VarDecl>(D); V && V->getKind() == Decl::Var && V->hasInit()) {
        auto [Text, Desugared] = Nodes.texts(V->getType());
        if (llvm::StringRef(Desugared.empty() ? Text : Desugared).contains("const")) {
          InitializerCount++;
          Initializers.number(Table.declaration(V));
          Nodes.beginRecord(Initializers);
          const APValue *Known = IsCPlusPlus && V->isConstexpr() ? V->evaluateValue() : nullptr;
          if (Known && Known->isInt())
            Nodes.AddChild([&] { Nodes.constant(V->getInit(), Known->getInt()); });
          else
            Walk.Visit(V->getInit());
        }
      }
    }
    if (Nodes.TooDeep)
      return;
    Out.number(Table.texts());
    Out.append(Table.Texts);
    Out.number(ValueCount);
    Out.append(Values);
    Out.number(InitializerCount);
    Out.append(Initializers);
    Out.number(FunctionCount);
    for (const Writer &One : Functions)
      Out.append(One);
  }

private:
  /// The name that the code of a function of C has: that of the source, unless it is overloadable.
  static std::string nameInModule(MangleContext &Mangler, const FunctionDecl *F) {
    // A kernel has two functions, of which neither is overloadable.
    if (F->hasAttr<DeviceKernelAttr>() || !Mangler.shouldMangleDeclName(F))
      return F->getNameAsString();
    std::string Name;
    llvm::raw_string_ostream Stream(Name);
    Mangler.mangleName(GlobalDecl(F), Stream);
    return Name;
  }

  static kassay::EmittedList inSourceOrder(ASTContext &Context, kassay::EmittedList Functions) {
    const SourceManager &SM = Context.getSourceManager();
    llvm::stable_sort(Functions, [&](const auto &A, const auto &B) {
      return SM.isBeforeInTranslationUnit(A.first->getLocation(), B.first->getLocation());
    });
    return Functions;
  }

  static void function(Writer &W, const FunctionDecl *F, llvm::StringRef Name, Interner &Table, NodeWriter &Nodes,
                       Traverser &Walk) {
    W.number(Table.text(Name));
    W.number(F->hasAttr<DeviceKernelAttr>() || F->hasAttr<CUDAGlobalAttr>());
    Nodes.position(W, F->getLocation());
    Nodes.beginRecord(W);
    const auto *Constructor = dyn_cast<CXXConstructorDecl>(F);
    if (!Constructor || Constructor->getNumCtorInitializers() == 0)
      return Walk.Visit(F->getBody());
    // The initialisers are code of the constructor, too; those that the source does not spell have no operators.
    Nodes.AddChild([&] {
      Nodes.synthetic("CompoundStmt", F->getSourceRange());
      for (const CXXCtorInitializer *One : Constructor->inits())
        if (One->isWritten())
          Nodes.AddChild([&] {
            Nodes.synthetic("CXXCtorInitializer", One->getSourceRange());
            Walk.Visit(One->getInit());
          });
      Walk.Visit(F->getBody());
    });
  }
};

} // namespace

std::unique_ptr<ASTConsumer> kassay::recordsConsumer(Writer &Records, EmittedFunctions Emitted) {
  return std::make_unique<::Records>(Records, std::move(Emitted));
}
