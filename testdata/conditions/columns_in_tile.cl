// The columns of a sparse row come by way of local memory.
// expect: clean
kernel void rows_times_vector(global const int *column, global const float *value, global const float *x,
                              global float *products) {
    local int columns[16];
    const int l = get_local_id(0), i = get_global_id(0);
    columns[l] = column[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    products[i] = value[i] * x[columns[l]];
}
