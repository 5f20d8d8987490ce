// A fork server for llvm-spirv, preloaded into it: the program is loaded once, and a fork of it runs each call.
//
// Starting the translator takes twenty times as long as translating a small module; with this, a campaign of the target `spirv`
// reaches as many inputs an hour as others. client.c hands a call over. Only scripts/fuzz uses either.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "protocol.h"

typedef int (*Main)(int, char **, char **);
static Main translate;

// The limits that kassay sets for a translator (src/base/external_tools.rs), which it can set here for the client only; but for a
// shorter time, because translators do not end on some inputs.
static void limit(void) {
  setrlimit(RLIMIT_CPU, &(struct rlimit){2, 3});
  setrlimit(RLIMIT_AS, &(struct rlimit){4ull << 30, 4ull << 30});
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

// Becomes the translator of one call.
static void run(struct Call *call, const int *files) {
  limit();
  char *arguments[MOST_ARGUMENTS + 1] = {0};
  char *at = call->text, *end = call->text + sizeof call->text - 1;
  if (chdir(at) != 0) _exit(126);
  for (unsigned n = 0; n < call->arguments && n < MOST_ARGUMENTS; n++) {
    at += strlen(at) + 1;
    if (at >= end) _exit(126);
    arguments[n] = at;
  }
  for (int n = 0; n < FILES; n++) dup2(files[n], n);
  exit(translate((int)call->arguments, arguments, environ));
}

static int serve(int argc, char **argv, char **envp) {
  const char *path = getenv("KASSAY_FUZZ_TRANSLATOR");
  if (!path) return translate(argc, argv, envp);
  int listening = listen_at(path);
  if (listening < 0) {
    perror(path);
    return 3;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) continue;
    struct Call call = {0};
    int files[FILES];
    if (receive(client, &call, files) == 0) {
      pid_t child = fork();
      if (child == 0) run(&call, files);
      int status = 0;
      if (child > 0) waitpid(child, &status, 0);
      if (child < 0 || write(client, &status, sizeof status) < 0) perror("a call");
      for (int n = 0; n < FILES; n++) close(files[n]);
    }
    close(client);
  }
}

int __libc_start_main(Main main, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack) {
  int (*start)(Main, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
  translate = main;
  return start(serve, argc, argv, init, fini, rtld_fini, stack);
}
