// fault: data-race: takes the number in the group.
//
// Squares of the first n numbers.
kernel void square(global float *out, int n) {
    int i = (int)get_local_id(0);
    if (i < n)
        out[i] = (float)(i * i);
}
