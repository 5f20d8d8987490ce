// What client.c and server.c say to each other: a call with the files that are standard input, output and error, and the status, as
// waitpid(2) has it, with which it ended.

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 32, FILES = 3 };

struct Call {
  unsigned arguments;
  char text[8192]; // the working directory and the arguments, each with a zero at its end
};

static inline int address(const char *path, struct sockaddr_un *name) {
  *name = (struct sockaddr_un){.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof name->sun_path) return -1;
  strcpy(name->sun_path, path);
  return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

static inline int listen_at(const char *path) {
  struct sockaddr_un name;
  int at = address(path, &name);
  if (at < 0 || bind(at, (struct sockaddr *)&name, sizeof name) != 0 || listen(at, 8) != 0) return -1;
  return at;
}

static inline int connect_to(const char *path) {
  struct sockaddr_un name;
  int to = address(path, &name);
  if (to < 0 || connect(to, (struct sockaddr *)&name, sizeof name) != 0) return -1;
  return to;
}

union Control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(FILES * sizeof(int))];
};

static inline int send_call(int to, struct Call *call, const int *files) {
  union Control control = {0};
  struct iovec part = {call, sizeof *call};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(FILES * sizeof(int));
  memcpy(CMSG_DATA(header), files, FILES * sizeof(int));
  return sendmsg(to, &message, 0) == (ssize_t)sizeof *call ? 0 : -1;
}

static inline int receive(int from, struct Call *call, int *files) {
  union Control control = {0};
  struct iovec part = {call, sizeof *call};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *call) return -1;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_len != CMSG_LEN(FILES * sizeof(int))) return -1;
  memcpy(files, CMSG_DATA(header), FILES * sizeof(int));
  return 0;
}
