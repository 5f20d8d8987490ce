// Programs from several strings, from headers and a link, from a binary, with other options, with errors; all kernels at
// once into an array that is too large; kernels by functions asked for by name.
#include "host.h"

int main(void) {
  start(CL_DEVICE_TYPE_CPU, 0);
  cl_int error;
  int value = 1;
  cl_mem memory = buffer_of(CL_MEM_COPY_HOST_PTR, sizeof value, &value);

  const char *strings[] = {"#define STEP 5\n", "kernel void step_on(global int *a) { *a += STEP; }garbage"};
  size_t lengths[] = {0, strlen(strings[1]) - 7};
  cl_program pieces = clCreateProgramWithSource(context, 2, strings, lengths, &error);
  CHECK(error);
  CHECK(clBuildProgram(pieces, 0, NULL, "", NULL, NULL));
  cl_kernel kernel = kernel_of(pieces, "step_on");
  set(kernel, 0, sizeof memory, &memory);
  launch(kernel, 1);

  // The binary of that program.
  size_t size;
  CHECK(clGetProgramInfo(pieces, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  unsigned char *binary = malloc(size);
  CHECK(clGetProgramInfo(pieces, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
  const unsigned char *binaries[] = {binary};
  cl_program cached = clCreateProgramWithBinary(context, 1, &device, &size, binaries, NULL, &error);
  CHECK(error);
  CHECK(clBuildProgram(cached, 1, &device, NULL, NULL, NULL));
  kernel = kernel_of(cached, "step_on");
  set(kernel, 0, sizeof memory, &memory);
  launch(kernel, 1);

  const char *header = "int triple(int a);\n", *body = "int triple(int a) { return 3 * a; }\n";
  const char *user = "#include \"lib/triple.h\"\nkernel void use(global int *a) { *a = triple(*a); }\nkernel void other(global int *a) { *a = 0; }\n";
  cl_program head = clCreateProgramWithSource(context, 1, &header, NULL, &error);
  cl_program library = clCreateProgramWithSource(context, 1, &body, NULL, &error);
  cl_program main_part = clCreateProgramWithSource(context, 1, &user, NULL, &error);
  const char *names[] = {"lib/triple.h"};
  CHECK(clCompileProgram(library, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  CHECK(clCompileProgram(main_part, 0, NULL, "-DX", 1, &head, names, NULL, NULL));
  cl_program inputs[] = {library, main_part};
  cl_program linked = clLinkProgram(context, 0, NULL, NULL, 2, inputs, NULL, NULL, &error);
  CHECK(error);
  cl_kernel kernels[16];
  memset(kernels, 0xAA, sizeof kernels);
  CHECK(clCreateKernelsInProgram(linked, 16, kernels, NULL));
  for (int i = 0; i < 2; i++) {
    char name[16];
    CHECK(clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
    if (strcmp(name, "use") == 0) {
      set(kernels[i], 0, sizeof memory, &memory);
      launch(kernels[i], 1);
    }
  }

  // The same text with another option is another program.
  const char *text = "kernel void step_on(global int *a) { *a += STEP; }";
  for (int i = 0; i < 2; i++) {
    cl_program program = build(text, i ? "-DSTEP=100" : "-DSTEP=1000");
    kernel = kernel_of(program, "step_on");
    set(kernel, 0, sizeof memory, &memory);
    launch(kernel, 1);
    CHECK(clReleaseProgram(program));
  }
  const char *wrong = "kernel void broken(";
  cl_program broken = clCreateProgramWithSource(context, 1, &wrong, NULL, &error);
  printf("broken: %d\n", clBuildProgram(broken, 1, &device, "-w", NULL, NULL));

  cl_program (*with_il)(cl_context, const void *, size_t, cl_int *) =
      (cl_program (*)(cl_context, const void *, size_t, cl_int *))clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR");
  if (with_il) {
    printf("no IL: %d\n", with_il(context, "none", 4, &error) != NULL);
  }
  read_back(memory, sizeof value, &value);
  show("value", &value, 1);
  return 0;
}
