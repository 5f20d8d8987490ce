// A hash of shifts of one word: every bit counts, no multiplication.
kernel void hash_shift(global const uint *keys, global int *bucket, uint wanted) {
    int i = get_global_id(0);
    uint x = keys[i];
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    if (x == 0x12345678u) // -> true covered
        bucket[i] = 1;
    else if (x == wanted && wanted > 0xf0000000u) // -> true covered
        bucket[i] = 2;
    else
        bucket[i] = 0;
}
