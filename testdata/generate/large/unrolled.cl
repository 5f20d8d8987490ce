// Rounds of a mixing function written out by macros: thousands of instructions without a loop, and decisions between them. The time that is
// given has to do.
#define STEP(k) \
    x += (y ^ z) + k; x = rotate(x, 7u); y ^= x * 0x9e3779b1u; z += y >> 3; \
    if ((x & 0xffu) == (k & 0xffu)) z ^= w[(k) & 15]; else y += w[(k + 1) & 15];
#define FOUR(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
#define SIXTEEN(k) FOUR(k) FOUR(k + 4) FOUR(k + 8) FOUR(k + 12)
#define ROUNDS(k) SIXTEEN(k) SIXTEEN(k + 16) SIXTEEN(k + 32) SIXTEEN(k + 48)
kernel void unrolled(global const uint *words, global uint *out, uint wanted) {
    uint w[16];
    int i = get_global_id(0);
    for (int k = 0; k < 16; k++)
        w[k] = words[16 * i + k];
    uint x = 1, y = 2, z = 3;
    ROUNDS(0u) ROUNDS(64u)
    if (x == wanted && y == wanted * 3)
        out[i] = 1;
    else
        out[i] = x ^ y ^ z;
}
