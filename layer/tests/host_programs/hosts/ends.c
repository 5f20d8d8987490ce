// Ends and forks, by the first argument. The second is the number of launches.
#include "host.h"
#include <signal.h>

static const char *source = "kernel void more(global int *a) { a[get_global_id(0)] += 1; }\n";

static int work(int launches) {
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_program program = build(source, NULL);
  int value = 0;
  cl_mem memory = buffer_of(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
  cl_kernel kernel = kernel_of(program, "more");
  set(kernel, 0, sizeof memory, &memory);
  for (int i = 0; i < launches; i++) launch(kernel, 1);
  read_back(memory, sizeof value, &value);
  return value;
}

int main(int count, char **arguments) {
  const char *how = count > 1 ? arguments[1] : "return";
  int launches = count > 2 ? atoi(arguments[2]) : 1;
  signal(SIGSEGV, SIG_DFL);
  if (strcmp(how, "nothing") == 0) return 0;
  if (strcmp(how, "fork-before") == 0) {
    pid_t child = fork();
    int value = work(child ? launches : 2 * launches), status = 0;
    if (!child) _exit(value);
    waitpid(child, &status, 0);
    printf("child %d, parent %d\n", WEXITSTATUS(status), value);
    return 0;
  }
  int value = work(launches);
  printf("%d\n", value);
  fflush(stdout);
  if (strcmp(how, "fork-after") == 0) {
    settle();
    pid_t child = fork();
    if (!child) _exit(work(2 * launches));
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
  } else if (strcmp(how, "_exit") == 0) {
    _exit(4);
  } else if (strcmp(how, "abort") == 0) {
    signal(SIGABRT, SIG_DFL);
    abort();
  } else if (strcmp(how, "kill") == 0) {
    kill(getpid(), SIGKILL);
  }
  return 5;
}
