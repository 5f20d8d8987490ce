// A checksum over eight elements has to agree with the ninth.
kernel void checksum_sum(global const uint *packets, global int *valid) {
    int i = get_global_id(0);
    global const uint *p = packets + i * 9;
    uint sum = 0x5a5a5a5au;
    for (int k = 0; k < 8; k++)
        sum = sum * 3u + p[k];
    if (sum == p[8]) // -> true covered, false covered
        valid[i] = 1;
    else
        valid[i] = 0;
}
