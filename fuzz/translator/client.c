// Stands in for llvm-spirv while fuzzing: has server.c run the call, and ends as that ended.

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "protocol.h"

int main(int count, char **arguments) {
  const char *path = getenv("KASSAY_FUZZ_TRANSLATOR");
  int server = path ? connect_to(path) : -1;
  struct Call call = {0};
  if (server < 0 || count > MOST_ARGUMENTS || !getcwd(call.text, sizeof call.text)) {
    perror(path ? path : "KASSAY_FUZZ_TRANSLATOR");
    return 127;
  }
  size_t used = strlen(call.text) + 1;
  for (int n = 0; n < count; n++) {
    size_t length = strlen(arguments[n]) + 1;
    if (used + length >= sizeof call.text) return 127;
    memcpy(call.text + used, arguments[n], length);
    used += length;
  }
  call.arguments = (unsigned)count;
  int status = 0;
  const int files[FILES] = {0, 1, 2};
  if (send_call(server, &call, files) != 0 || read(server, &status, sizeof status) != sizeof status) return 127;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 127;
}
