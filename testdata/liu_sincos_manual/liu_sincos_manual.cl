// Per work-group the sums of sin(x) and of cos(x) over its part of x, reduced by a tree in local memory.
//
// Fixture: LIU's "Sincos (manual)" (tables 7.3 to 7.8): two `__local` arrays and a loop of barriers. The size of a work-group
// is a power of two of at most 16.

#define MAX_GROUP 16

__kernel void liu_sincos_manual(__global const float *x, __global float *sines, __global float *cosines, const int n)
{
    __local float s[MAX_GROUP];
    __local float c[MAX_GROUP];
    int lid = get_local_id(0);
    s[lid] = 0.0f;
    c[lid] = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        s[lid] += sin(x[i]);
        c[lid] += cos(x[i]);
    }
    for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < step) {
            s[lid] += s[lid + step];
            c[lid] += c[lid + step];
        }
    }
    if (lid == 0) {
        sines[get_group_id(0)] = s[0];
        cosines[get_group_id(0)] = c[0];
    }
}
