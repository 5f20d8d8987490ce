// Kernels whose arguments share memory, are null, or are buffers to which the host has written nothing.

// In place if x and y are the same buffer.
kernel void saxpy(uint n, float a, global const float *x, global float *y) {
    uint i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// A race if `to` begins in what other work-items read of `from`.
kernel void shift(global const int *from, global int *to) {
    uint i = get_global_id(0);
    to[i] = from[i] + 1;
}

// Without factors, everything is doubled.
kernel void scale(global float *x, global const float *factors) {
    uint i = get_global_id(0);
    if (factors)
        x[i] *= factors[i];
    else
        x[i] *= 2.0f;
}

// Writes all of `tmp` before it reads it.
kernel void squares(global int *tmp, global int *out) {
    uint i = get_global_id(0);
    tmp[i] = (int)i;
    out[i] = tmp[i] * tmp[i];
}

// Reads what it adds to.
kernel void count(global int *total) {
    uint i = get_global_id(0);
    total[i] += 1;
}

// Reads in front of its pointer.
kernel void last_four(global const int *end, global int *out) {
    int i = (int)get_global_id(0);
    out[i] = end[i - 4];
}

struct line {
    char kind;
    float slope;
    float2 start;
};

kernel void points(struct line l, float a, float4 v, global float *out) {
    uint i = get_global_id(0);
    out[i] = l.start.y + l.slope * (float)i + (float)l.kind + a + v.z;
}

// Every work-item writes its id.
kernel void ids(global uint *out) {
    size_t width = get_global_size(0), height = get_global_size(1);
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t column = x - get_global_offset(0), row = y - get_global_offset(1), plane = z - get_global_offset(2);
    out[column + width * (row + height * plane)] = (uint)(x + 100 * y + 10000 * z);
}
