// The element before the buffer is read in every launch, and used in none: no launch is without a fault, and each has one all the same.
kernel void fault_before(global const int *in, global int *out) {
    int i = get_global_id(0);
    int unused = in[-1];
    if (in[i] > 100) // -> true covered-with-fault, false covered-with-fault
        out[i] = 1;
    else
        out[i] = unused - unused;
}
