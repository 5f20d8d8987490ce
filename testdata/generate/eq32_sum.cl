// The sum of two arguments and an element has to be one number of 32 bits.
kernel void eq32_sum(global int *out, global const int *bias, int a, int b) {
    int i = get_global_id(0);
    int key = (int)((uint)a * 31u + (uint)b) ^ 0x2545f491;
    if (key == 1566083941) // -> true covered
        out[i] = 1;
    else if ((uint)key + (uint)bias[i] == 3000000019u) // -> true covered
        out[i] = 2;
    else
        out[i] = 0;
}
