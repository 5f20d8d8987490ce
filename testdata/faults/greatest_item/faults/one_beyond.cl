// fault: out-of-bounds: the guard lets one work-item too many through.
//
// The number of the last work-item whose value is positive goes into a variable of the program.
global int last = -1;

kernel void note(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i > n)
        return;
    if (in[i] > 0)
        atomic_max(&last, i);
    out[i] = in[i] > 0;
}
