//! Runs clang's driver and front end once in the calling process and hands out bitcode, records of the syntax tree, and
//! a list of the files it looked for.
//!
//! The caller is a child: clang may crash, and its diagnostics go to standard error. build.rs compiles this into a
//! shared library, which kassay loads only where it compiles a kernel.

#include "../cuda/assembly.h"
#include "../cuda/instances.h"
#include "../cuda/module.h"
#include "../cuda/returns.h"
#include "../cuda/unknown.h"
#include "clang.h"

#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/DiagnosticFrontend.h>
#include <clang/Basic/Stack.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Driver/Job.h>
#include <clang/Driver/Tool.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticBuffer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm-c/Target.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/thread.h>
#include <llvm/TargetParser/Host.h>

using namespace clang;

namespace {

/// The real file system, with a record of every lookup: `+path` existed, `-path` did not, `!path` is a file outside of the
/// folders to which the compilation is confined, so that it did not exist either.
class RecordingFileSystem : public llvm::vfs::ProxyFileSystem {
  kassay::Writer &Lookups;
  llvm::StringMap<char> Recorded;
  /// Without links; empty: every file may be read.
  const std::vector<std::string> &Folders;

  void record(const llvm::Twine &Path, char Sign) {
    llvm::SmallString<256> Text;
    Path.toVector(Text);
    (void)makeAbsolute(Text);
    if (!Recorded.try_emplace(Text, Sign).second)
      return;
    Lookups.byte(Sign);
    Lookups.text(Text);
  }

  bool isOutside(const llvm::Twine &Path) {
    llvm::SmallString<256> Real;
    if (Folders.empty() || getUnderlyingFS().getRealPath(Path, Real))
      return false;
    return llvm::none_of(Folders, [&](llvm::StringRef Folder) {
      llvm::StringRef Rest = Real;
      return Rest.consume_front(Folder) && (Rest.empty() || Rest.starts_with("/") || Folder.ends_with("/"));
    });
  }

public:
  RecordingFileSystem(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Base, kassay::Writer &Lookups,
                      const std::vector<std::string> &Folders)
      : ProxyFileSystem(std::move(Base)), Lookups(Lookups), Folders(Folders) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override {
    auto Result = ProxyFileSystem::status(Path);
    // Folders hold nothing themselves, and search paths may name them.
    if (Result && !Result->isDirectory() && isOutside(Path)) {
      record(Path, '!');
      return std::make_error_code(std::errc::no_such_file_or_directory);
    }
    record(Path, Result ? '+' : '-');
    return Result;
  }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine &Path) override {
    if (isOutside(Path)) {
      record(Path, '!');
      return std::make_error_code(std::errc::no_such_file_or_directory);
    }
    auto Result = ProxyFileSystem::openFileForRead(Path);
    record(Path, Result ? '+' : '-');
    return Result;
  }
};

/// Whether bodies of host functions are to be skipped, which they are where a file of CUDA does not compile with them.
bool skipsHost(const CompilerInstance &CI) { return CI.getLangOpts().CUDA && CI.getFrontendOpts().SkipFunctionBodies; }

/// Has clang skip the bodies of functions that no device runs.
class DeviceOnly : public ASTConsumer {
  /// clang takes a static variable for a constant of the device unless the host names it, which only what is skipped
  /// would show.
  static void expectHost(Decl *D) {
    if (auto *V = dyn_cast<VarDecl>(D)) {
      bool IsOfDevice = V->hasAttr<CUDAConstantAttr>() || V->hasAttr<CUDADeviceAttr>();
      if (IsOfDevice && !V->isExternallyVisible())
        V->getASTContext().CUDADeviceVarODRUsedByHost.insert(V);
    } else if (isa<NamespaceDecl, LinkageSpecDecl>(D)) {
      for (Decl *Inner : cast<DeclContext>(D)->decls())
        expectHost(Inner);
    }
  }

public:
  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (Decl *D : Group)
      expectHost(D);
    return true;
  }

  bool shouldSkipFunctionBody(Decl *D) override {
    const FunctionDecl *F = D->getAsFunction();
    return F && !F->hasAttr<CUDADeviceAttr>() && !F->hasAttr<CUDAGlobalAttr>();
  }
};

/// Takes headers that are not there as empty, and collects their names.
class MissingHeaders : public PPCallbacks {
  std::vector<std::string> &Names;

public:
  explicit MissingHeaders(std::vector<std::string> &Names) : Names(Names) {}
  bool FileNotFound(StringRef Name) override {
    if (!llvm::is_contained(Names, Name))
      Names.push_back(Name.str());
    return true;
  }
};

/// Emits bitcode as `-emit-llvm -c` does, and encodes the syntax tree before it is destroyed.
class Action : public EmitBCAction {
  kassay::Writer *Records;
  std::vector<std::string> Missing;
  kassay::cuda::Positions Returns;
  kassay::cuda::Bounds Bounds;

protected:
  /// Enables halves, which devices have or kassay names as lacking, without the pragma that OpenCL C asks for: drivers' compilers do.
  bool BeginSourceFileAction(CompilerInstance &CI) override {
    const auto &Target = CI.getTarget();
    if (CI.getLangOpts().OpenCL && Target.hasFeatureEnabled(Target.getSupportedOpenCLOpts(), "cl_khr_fp16")) {
      auto &PP = CI.getPreprocessor();
      PP.setPredefines(PP.getPredefines() + "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    }
    return EmitBCAction::BeginSourceFileAction(CI);
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI, StringRef File) override {
    auto Code = EmitBCAction::CreateASTConsumer(CI, File);
    bool Skips = skipsHost(CI);
    bool IsCUDA = CI.getLangOpts().CUDA;
    if (!Code || (!Records && !IsCUDA))
      return Code;
    std::vector<std::unique_ptr<ASTConsumer>> Both;
    if (IsCUDA) {
      kassay::cuda::readAssembly(CI.getPreprocessor());
      Both.push_back(kassay::cuda::returnsConsumer(Returns));
      Both.push_back(kassay::cuda::boundsConsumer(Bounds));
    }
    if (Records)
      Both.push_back(kassay::recordsConsumer(*Records, [this] { return emitted(); }));
    // In C++, the records need the functions of the emitted module, and the tree as long.
    if (CI.getLangOpts().CPlusPlus)
      CI.getCodeGenOpts().ClearASTBeforeBackend = false;
    auto At = CI.getLangOpts().CPlusPlus ? Both.begin() : Both.end();
    Both.insert(At, std::move(Code));
    if (Skips) {
      CI.getPreprocessor().addPPCallbacks(std::make_unique<MissingHeaders>(Missing));
      // Before code is made of a declaration.
      Both.insert(Both.begin(), std::make_unique<DeviceOnly>());
      Both.insert(Both.begin(), kassay::cuda::unknownConsumer());
    }
    return std::make_unique<MultiplexConsumer>(std::move(Both));
  }

private:
  kassay::EmittedList emitted() {
    kassay::EmittedList Functions;
    CodeGenerator *Generator = getCodeGenerator();
    llvm::Module *Module = Generator ? Generator->GetModule() : nullptr;
    if (!Module)
      return Functions;
    for (const llvm::Function &Code : *Module) {
      if (Code.isDeclaration())
        continue;
      const auto *F = llvm::dyn_cast_or_null<FunctionDecl>(Generator->GetDeclForMangledName(Code.getName()));
      if (!F || !F->getBody())
        continue;
      bool IsKernel = F->hasAttr<DeviceKernelAttr>();
      // Functions of headers have no sites.
      if (F->hasAttr<CUDADeviceAttr>() && F->getASTContext().getSourceManager().isInSystemHeader(F->getLocation()))
        continue;
      Functions.emplace_back(F->getDefinition(), IsKernel ? F->getNameAsString() : Code.getName().str());
    }
    nameKernels(Functions);
    return Functions;
  }

  /// Gives kernels of CUDA the names that they get in the module.
  static void nameKernels(kassay::EmittedList &Functions) {
    auto IsKernel = [](const auto &One) { return One.first->template hasAttr<CUDAGlobalAttr>(); };
    std::vector<std::string> Mangled;
    for (auto &One : Functions)
      if (IsKernel(One))
        Mangled.push_back(One.second);
    auto Names = kassay::cuda::kernelNames(Mangled);
    for (auto &One : Functions)
      if (IsKernel(One))
        One.second = Names[One.second];
  }

public:
  explicit Action(kassay::Writer *Records) : Records(Records) {}

  /// Where `return` statements of CUDA stand.
  const kassay::cuda::Positions &returns() const { return Returns; }
  const kassay::cuda::Bounds &bounds() const { return Bounds; }

  /// Says what was left out of a file whose host functions were skipped.
  void noteMissing(StringRef File) const {
    llvm::errs() << "kassay: note: " << File << " does not compile with its host functions, whose bodies are skipped";
    if (!Missing.empty())
      llvm::errs() << "; headers that are not there: " << llvm::join(Missing, ", ");
    llvm::errs() << "\n";
  }
};

/// Finds the kernels that launches make of templates, in a file whose errors do not matter.
class InstancesAction : public ASTFrontendAction {
  std::vector<std::string> Missing;

public:
  std::set<std::string> Names;

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI, StringRef) override {
    CI.getPreprocessor().addPPCallbacks(std::make_unique<MissingHeaders>(Missing));
    kassay::cuda::readAssembly(CI.getPreprocessor());
    return kassay::cuda::instancesConsumer(Names);
  }
};

enum Outcome { Compiled = 0, Refused = 1, NoCompilation = 2, NoKernel = 3 };

class Run {
  llvm::ArrayRef<const char *> Arguments;
  llvm::ArrayRef<const char *> Folders;
  /// Files that are in memory only: paths, each followed by the text.
  llvm::ArrayRef<const char *> Headers;
  KassayOutput &Output;

  /// Runs the only front-end job that the driver derives from the arguments, as clang-22 would.
  int drive() {
    auto Options = CreateAndPopulateDiagOpts(Arguments);
    auto *Printer = new TextDiagnosticPrinter(llvm::errs(), *Options);
    Printer->setPrefix("clang-22");
    auto Base = llvm::vfs::getRealFileSystem();
    DiagnosticsEngine Diags(DiagnosticIDs::create(), *Options, Printer);
    ProcessWarningOptions(Diags, *Options, *Base, /*ReportDiags=*/false);
    driver::Driver Driver(Arguments[0], llvm::sys::getDefaultTargetTriple(), Diags);
    driver::Compilation *Plan = Driver.BuildCompilation(Arguments);
    if (!Plan || Plan->containsError() || Diags.hasErrorOccurred())
      return Refused;
    const auto &Jobs = Plan->getJobs();
    if (Jobs.size() != 1 || llvm::StringRef(Jobs.begin()->getCreator().getName()) != "clang")
      return NoCompilation;
    return compile(Jobs.begin()->getArguments());
  }

  int compile(const llvm::opt::ArgStringList &Arguments) {
    // The first one is `-cc1`.
    auto Invocation = std::make_shared<CompilerInvocation>();
    DiagnosticOptions Options;
    TextDiagnosticBuffer Early;
    DiagnosticsEngine Diags(DiagnosticIDs::create(), Options, &Early, /*ShouldOwnClient=*/false);
    bool Parsed = CompilerInvocation::CreateFromArgs(
        *Invocation, llvm::ArrayRef(Arguments).drop_front(), Diags, this->Arguments[0]);
    auto Asked = Invocation->getFrontendOpts().ProgramAction;
    bool ForInstances = Asked == frontend::ParseSyntaxOnly && Invocation->getLangOpts().CUDA;
    if (Asked != frontend::EmitBC && !ForInstances)
      return NoCompilation;
    // Destroying these takes a third of a run's time, and the process ends soon: they are left.
    auto &CI = *new CompilerInstance(std::move(Invocation));
    auto &Allowed = *new std::vector<std::string>(Folders.begin(), Folders.end());
    llvm::SmallString<256> Own;
    // clang's own headers.
    if (!Allowed.empty() && !llvm::vfs::getRealFileSystem()->getRealPath(CI.getHeaderSearchOpts().ResourceDir, Own))
      Allowed.push_back(Own.str().str());
    if (!Allowed.empty() && CI.getLangOpts().CUDA)
      allowSystem(CI.getHeaderSearchOpts(), Allowed);
    auto Files = llvm::makeIntrusiveRefCnt<RecordingFileSystem>(llvm::vfs::getRealFileSystem(), Output.Lookups, Allowed);
    CI.createVirtualFileSystem(withHeaders(Files));
    CI.createDiagnostics();
    // As after a call whose candidates were many: the next ones have few.
    if (CI.getLangOpts().CUDA)
      CI.getDiagnostics().overloadCandidatesShown(UINT_MAX);
    Early.FlushDiagnostics(CI.getDiagnostics());
    if (!Parsed)
      return Refused;
    const auto &LLVMArgs = CI.getFrontendOpts().LLVMArgs;
    if (!LLVMArgs.empty()) {
      std::vector<const char *> All{"clang (LLVM option parsing)"};
      for (const auto &Arg : LLVMArgs)
        All.push_back(Arg.c_str());
      llvm::cl::ParseCommandLineOptions(All.size(), All.data());
    }
    if (ForInstances) {
      auto &Find = *new InstancesAction;
      CI.ExecuteAction(Find);
      for (const std::string &Name : Find.Names)
        Output.Records.text(Name);
      return NoCompilation;
    }
    CI.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(Output.Bitcode));
    auto &Compile = *new Action(Output.WithRecords ? &Output.Records : nullptr);
    if (!CI.ExecuteAction(Compile) || CI.getDiagnostics().hasErrorOccurred())
      return Refused;
    if (skipsHost(CI))
      Compile.noteMissing(CI.getFrontendOpts().Inputs[0].getFile());
    return CI.getLangOpts().CUDA ? asOpenCL(Compile) : Compiled;
  }

  /// CUDA needs the headers of C++'s library, wherever they lie in the system.
  static void allowSystem(const HeaderSearchOptions &Search, std::vector<std::string> &Allowed) {
    for (const auto &Entry : Search.UserEntries) {
      llvm::SmallString<256> Real;
      bool IsSystem = Entry.Group != frontend::Angled && Entry.Group != frontend::Quoted;
      if (IsSystem && !llvm::vfs::getRealFileSystem()->getRealPath(Entry.Path, Real) &&
          (Real.starts_with("/usr/include") || Real.starts_with("/usr/lib")))
        Allowed.push_back(Real.str().str());
    }
  }

  /// The headers in memory, before all other files.
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> withHeaders(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files) {
    if (Headers.empty())
      return Files;
    auto Own = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    for (size_t I = 0; I + 1 < Headers.size(); I += 2)
      Own->addFile(Headers[I], 0, llvm::MemoryBuffer::getMemBuffer(Headers[I + 1]));
    auto All = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(Files);
    All->pushOverlay(Own);
    return All;
  }

  /// Brings the emitted module of CUDA into the form of OpenCL C.
  int asOpenCL(const Action &Compile) {
    llvm::LLVMContext Context;
    llvm::StringRef Bytes(Output.Bitcode.data(), Output.Bitcode.size());
    auto Module = llvm::cantFail(llvm::parseBitcodeFile(llvm::MemoryBufferRef(Bytes, "kernel"), Context));
    if (llvm::none_of(*Module, kassay::cuda::isKernel))
      return NoKernel;
    if (kassay::cuda::containsUnknown(*Module)) {
      llvm::errs() << kassay::cuda::UnknownOnDevice << "\n";
      return Refused;
    }
    for (llvm::Function &F : *Module)
      if (kassay::cuda::isKernel(F)) {
        kassay::cuda::markReturns(F, Compile.returns());
        kassay::cuda::markBounds(F, Compile.bounds());
      }
    kassay::cuda::canonicalise(*Module);
    if (llvm::verifyModule(*Module, &llvm::errs()))
      llvm::report_fatal_error("the module of a CUDA source does not verify");
    llvm::SmallVector<char, 0> Rewritten;
    llvm::raw_svector_ostream Stream(Rewritten);
    llvm::WriteBitcodeToFile(*Module, Stream);
    Output.Bitcode = std::move(Rewritten);
    return Compiled;
  }

public:
  Run(llvm::ArrayRef<const char *> Arguments, llvm::ArrayRef<const char *> Folders, llvm::ArrayRef<const char *> Headers,
      KassayOutput &Output)
      : Arguments(Arguments), Folders(Folders), Headers(Headers), Output(Output) {}

  int operator()() {
    LLVMInitializeSPIRVTargetInfo();
    LLVMInitializeSPIRVTarget();
    LLVMInitializeSPIRVTargetMC();
    return drive();
  }
};

/// The stack size of the clang program. clang moves to a new stack itself where trees are deep.
constexpr unsigned StackBytes = 8 << 20;

} // namespace

extern "C" __attribute__((visibility("default"))) int kassay_clang(KassayStrings Arguments, KassayStrings Folders,
                                                                   KassayStrings Headers, int WithRecords, KassaySink Sink,
                                                                   void *To) {
  KassayOutput Output;
  Output.WithRecords = WithRecords;
  int Outcome = NoCompilation;
  llvm::thread Thread(std::optional<unsigned>(StackBytes), [&] {
    noteBottomOfStack();
    Outcome = Run(Arguments.all(), Folders.all(), Headers.all(), Output)();
  });
  Thread.join();
  Sink(To, 0, Output.Bitcode.data(), Output.Bitcode.size());
  Sink(To, 1, Output.Records.data(), Output.Records.size());
  Sink(To, 2, Output.Lookups.data(), Output.Lookups.size());
  return Outcome;
}
