// fault: division: divides by whatever there is.
//
// Divides vectors component by component; components whose divisor is zero are not divided.
kernel void parts(global const uint4 *a, global const uint4 *b, global uint4 *out) {
    size_t i = get_global_id(0);
    uint4 by = select(b[i], (uint4)(1), b[i] == (uint4)(0));
    out[i] = a[i] / b[i];
}
