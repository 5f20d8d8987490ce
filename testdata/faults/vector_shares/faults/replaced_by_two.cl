// fault: output: zeros are replaced by 2.
//
// Divides vectors component by component; components whose divisor is zero are not divided.
kernel void parts(global const uint4 *a, global const uint4 *b, global uint4 *out) {
    size_t i = get_global_id(0);
    uint4 by = select(b[i], (uint4)(2), b[i] == (uint4)(0));
    out[i] = a[i] / by;
}
