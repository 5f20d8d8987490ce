/* System SVM: memory of malloc and of the stack goes to a kernel as it is.
 *
 * Kernels: count_words, 2 launches.
 * Special: nothing tells a tool how long such an argument is. */

#include "host.h"

enum { LINES = 64, LENGTH = 80 };

static const char *source =
    "kernel void count_words(global const char *text, int length, global int *words) {\n"
    "    size_t line = get_global_id(0);\n"
    "    int count = 0;\n"
    "    for (int i = 0; i < length; i++) {\n"
    "        char c = text[line * length + i], before = i ? text[line * length + i - 1] : ' ';\n"
    "        count += c != ' ' && before == ' ';\n"
    "    }\n"
    "    words[line] = count;\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_device_svm_capabilities svm = 0;
    if (clGetDeviceInfo(host.device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL) != CL_SUCCESS ||
        !(svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM))
        skip("the device does not share the host's memory");
    cl_program program = host_program(&host, source, "-cl-std=CL2.0");
    cl_kernel count = host_kernel(program, "count_words");
    char *text = malloc(LINES * LENGTH);
    cl_int words[LINES], length = LENGTH;
    EXPECT(text);
    CHECK(clSetKernelArgSVMPointer(count, 0, text));
    ARG(count, 1, length);
    CHECK(clSetKernelArgSVMPointer(count, 2, words));

    unsigned state = 5;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < LINES * LENGTH; i++) text[i] = next_random(&state) % 4 ? 'x' : ' ';
        host_launch(&host, count, LINES, 0);
        CHECK(clFinish(host.queue));
        for (int line = 0; line < LINES; line++) {
            int expected = 0;
            for (int i = 0; i < LENGTH; i++)
                expected += text[line * LENGTH + i] != ' ' && (i == 0 || text[line * LENGTH + i - 1] == ' ');
            EXPECT(words[line] == expected);
        }
    }
    CHECK(clReleaseKernel(count));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    free(text);
    puts("svm_system: right");
    return 0;
}
