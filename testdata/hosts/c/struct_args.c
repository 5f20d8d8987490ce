/* Structs: particles in a box, the box passed by value, the particles as structs in a buffer.
 *
 * Kernels: move, 8 launches; tint, 1 launch.
 * Special: a struct by value with padding; a struct with an array in it; a vector by value (int4, 16 bytes) and scalars of
 * 1, 2 and 8 bytes. */

#include "host.h"

enum { COUNT = 300, STEPS = 8 };

struct box {
    cl_int2 low, high;
    cl_char damping;
    cl_short wind[3];
};

struct particle {
    cl_int2 at, speed;
    cl_uchar bounces;
};

static const char *source =
    "struct box { int2 low, high; char damping; short wind[3]; };\n"
    "struct particle { int2 at, speed; uchar bounces; };\n"
    "kernel void move(global struct particle *particles, struct box box, uint count) {\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i >= count) return;\n"
    "    global struct particle *p = particles + i;\n"
    "    p->at += p->speed + (int2)(box.wind[i % 3], 0);\n"
    "    if (p->at.x < box.low.x || p->at.x > box.high.x) { p->speed.x = -p->speed.x / box.damping; p->bounces++; }\n"
    "    if (p->at.y < box.low.y || p->at.y > box.high.y) { p->speed.y = -p->speed.y / box.damping; p->bounces++; }\n"
    "    p->at = clamp(p->at, box.low, box.high);\n"
    "}\n"
    "kernel void tint(global int4 *colours, int4 by, uchar times, short plus, long mask) {\n"
    "    size_t i = get_global_id(0);\n"
    "    colours[i] = (colours[i] + by * times + plus) & (int)(mask >> 32);\n"
    "}\n";

static void move_here(struct particle *p, const struct box *box, int i)
{
    cl_int *at[] = {&p->at.s[0], &p->at.s[1]}, *speed[] = {&p->speed.s[0], &p->speed.s[1]};
    for (int d = 0; d < 2; d++) {
        *at[d] += *speed[d] + (d ? 0 : box->wind[i % 3]);
        if (*at[d] < box->low.s[d] || *at[d] > box->high.s[d]) {
            *speed[d] = -*speed[d] / box->damping;
            p->bounces++;
        }
        *at[d] = *at[d] < box->low.s[d] ? box->low.s[d] : *at[d] > box->high.s[d] ? box->high.s[d] : *at[d];
    }
}

int main(void)
{
    struct host host = host_open(0);
    cl_program program = host_program(&host, source, NULL);
    cl_kernel move = host_kernel(program, "move"), tint = host_kernel(program, "tint");

    struct box box;
    struct particle particles[COUNT], result[COUNT];
    memset(&box, 0, sizeof box);
    memset(particles, 0, sizeof particles);
    box.low.s[0] = box.low.s[1] = -500;
    box.high.s[0] = 700;
    box.high.s[1] = 400;
    box.damping = 2;
    for (int i = 0; i < 3; i++) box.wind[i] = (cl_short)(i * 20 - 20);
    unsigned state = 11;
    for (int i = 0; i < COUNT; i++)
        for (int d = 0; d < 2; d++) {
            particles[i].at.s[d] = (cl_int)(next_random(&state) % 800) - 400;
            particles[i].speed.s[d] = (cl_int)(next_random(&state) % 400) - 200;
        }
    cl_mem buffer = host_buffer(&host, CL_MEM_READ_WRITE, sizeof particles, particles);
    cl_uint count = COUNT;
    for (int step = 0; step < STEPS; step++) {
        box.high.s[0] -= 10; /* the box shrinks: another value in each launch */
        ARG(move, 0, buffer);
        ARG(move, 1, box);
        ARG(move, 2, count);
        host_launch(&host, move, 320, 32);
        for (int i = 0; i < COUNT; i++) move_here(&particles[i], &box, i);
    }
    host_read(&host, buffer, sizeof result, result);
    for (int i = 0; i < COUNT; i++) {
        EXPECT(memcmp(&result[i].at, &particles[i].at, sizeof result[i].at) == 0);
        EXPECT(memcmp(&result[i].speed, &particles[i].speed, sizeof result[i].speed) == 0);
        EXPECT(result[i].bounces == particles[i].bounces);
    }

    cl_int4 colours[64], by = {{1, -2, 3, -4}};
    cl_uchar times = 200;
    cl_short plus = -7;
    cl_long mask = 0xFFFFFFll << 32;
    for (int i = 0; i < 64; i++)
        for (int c = 0; c < 4; c++) colours[i].s[c] = i * 1000 + c;
    cl_mem palette = host_buffer(&host, CL_MEM_READ_WRITE, sizeof colours, colours);
    ARG(tint, 0, palette);
    ARG(tint, 1, by);
    ARG(tint, 2, times);
    ARG(tint, 3, plus);
    ARG(tint, 4, mask);
    host_launch(&host, tint, 64, 0);
    cl_int4 tinted[64];
    host_read(&host, palette, sizeof tinted, tinted);
    for (int i = 0; i < 64; i++)
        for (int c = 0; c < 4; c++)
            EXPECT(tinted[i].s[c] == ((colours[i].s[c] + by.s[c] * times + plus) & (cl_int)(mask >> 32)));

    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseMemObject(palette));
    CHECK(clReleaseKernel(move));
    CHECK(clReleaseKernel(tint));
    CHECK(clReleaseProgram(program));
    host_close(&host);
    puts("struct_args: right");
    return 0;
}
