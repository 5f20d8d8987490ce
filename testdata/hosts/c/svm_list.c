/* Coarse-grained SVM: linked lists whose nodes the host scatters over one allocation, and the heads in another.
 *
 * Kernels: walk, 2 launches.
 * Special: no buffer at all. The heads are an argument (clSetKernelArgSVMPointer); the nodes are reached only through
 * pointers in memory and are named by clSetKernelExecInfo. The host links the lists anew between the launches, so that
 * addresses are data. */

#include "host.h"

enum { LISTS = 16, NODES = 1000 };

struct node {
    struct node *next;
    cl_int value;
    cl_int visits;
};

static const char *source =
    "struct node { global struct node *next; int value; int visits; };\n"
    "kernel void walk(global struct node *global *heads, global int *sums) {\n"
    "    size_t list = get_global_id(0);\n"
    "    int sum = 0;\n"
    "    for (global struct node *at = heads[list]; at; at = at->next) {\n"
    "        sum += at->value;\n"
    "        at->visits++;\n"
    "    }\n"
    "    sums[list] = sum;\n"
    "}\n";

int main(void)
{
    struct host host = host_open(0);
    cl_device_svm_capabilities svm = 0;
    if (clGetDeviceInfo(host.device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL) != CL_SUCCESS ||
        !(svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
        skip("the device has no shared virtual memory");
    cl_program program = host_program(&host, source, "-cl-std=CL2.0");
    cl_kernel walk = host_kernel(program, "walk");

    struct node *nodes = clSVMAlloc(host.context, CL_MEM_READ_WRITE, NODES * sizeof *nodes, 0);
    struct node **heads = clSVMAlloc(host.context, CL_MEM_READ_ONLY, LISTS * sizeof *heads, 0);
    cl_int *sums = clSVMAlloc(host.context, CL_MEM_WRITE_ONLY, LISTS * sizeof *sums, 64);
    EXPECT(nodes && heads && sums);
    CHECK(clSetKernelArgSVMPointer(walk, 0, heads));
    CHECK(clSetKernelArgSVMPointer(walk, 1, sums));
    void *reached[] = {nodes};
    CHECK(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof reached, reached));

    for (int round = 0; round < 2; round++) {
        cl_int expected[LISTS] = {0};
        CHECK(clEnqueueSVMMap(host.queue, CL_TRUE, CL_MAP_WRITE | CL_MAP_READ, nodes, NODES * sizeof *nodes, 0, NULL, NULL));
        CHECK(clEnqueueSVMMap(host.queue, CL_TRUE, CL_MAP_WRITE, heads, LISTS * sizeof *heads, 0, NULL, NULL));
        for (int i = 0; i < LISTS; i++) heads[i] = NULL;
        for (int i = 0; i < NODES; i++) {
            /* 7 and 1000 have no common divisor: every node is used once. The last list stays empty. */
            struct node *node = &nodes[i * 7 % NODES];
            int list = (i * i + round) % (LISTS - 1);
            node->value = i - 300 * round;
            if (round == 0) node->visits = 0;
            node->next = heads[list];
            heads[list] = node;
            expected[list] += node->value;
        }
        CHECK(clEnqueueSVMUnmap(host.queue, nodes, 0, NULL, NULL));
        CHECK(clEnqueueSVMUnmap(host.queue, heads, 0, NULL, NULL));
        host_launch(&host, walk, LISTS, 4);
        CHECK(clEnqueueSVMMap(host.queue, CL_TRUE, CL_MAP_READ, sums, LISTS * sizeof *sums, 0, NULL, NULL));
        EXPECT(memcmp(sums, expected, sizeof expected) == 0);
        CHECK(clEnqueueSVMUnmap(host.queue, sums, 0, NULL, NULL));
    }
    CHECK(clEnqueueSVMMap(host.queue, CL_TRUE, CL_MAP_READ, nodes, NODES * sizeof *nodes, 0, NULL, NULL));
    for (int i = 0; i < NODES; i++) EXPECT(nodes[i].visits == 2);
    CHECK(clEnqueueSVMUnmap(host.queue, nodes, 0, NULL, NULL));
    CHECK(clFinish(host.queue));
    clSVMFree(host.context, sums);
    clSVMFree(host.context, heads);
    CHECK(clEnqueueSVMFree(host.queue, 1, reached, NULL, NULL, 0, NULL, NULL));
    CHECK(clReleaseKernel(walk));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("svm_list: right");
    return 0;
}
