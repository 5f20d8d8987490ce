// Bit-fields that a field of width 0 keeps in words of their own: two work-items may write them at once.
// expect: clean all-interleavings
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
typedef struct {
    uint low : 12;
    uint : 0;
    uint high : 20;
} Split;

kernel void fill_in(global uint *words, global const uint *in) {
    global Split *s = (global Split *)words;
    size_t i = get_global_id(0);
    if (i % 2 == 0)
        s[i / 2].low = in[i];
    else
        s[i / 2].high = in[i];
}
