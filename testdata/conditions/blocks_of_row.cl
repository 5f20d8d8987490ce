// The pitch is the number of blocks of 32 weights in a row, which the host does not pass.
// expect: clean
typedef struct {
    float scale;
    char weights[32];
} packed_t;

kernel void unpack_scales(global const packed_t *blocks, global float *scales, int columns, int rows) {
    const int block = get_global_id(0), row = get_global_id(1);
    const int blocks_per_row = columns / 32;
    if (row < rows)
        scales[row * blocks_per_row + block] = blocks[row * blocks_per_row + block].scale;
}
