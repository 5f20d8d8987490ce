// conformance: out=8192 global=256 local=64 values=uint
// Rounds like those of a cryptographic hash: constants, rotations, choices, a message schedule in private memory.
constant uint keys[8] = { 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5 };
#define TURN(x, n) rotate((x), (uint)(32 - (n)))
#define CHOOSE(e, f, g) bitselect(g, f, e)
#define MAJORITY(a, b, c) bitselect(a, b, (c) ^ (a))

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t n = get_global_id(0);
    uint w[16];
    for (int i = 0; i < 16; i++)
        w[i] = ((__global const uint*)(in + 2560))[(n + i) & 255];
    uint8 s = (uint8)(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19);
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i & 15] += (TURN(a, 7) ^ TURN(a, 18) ^ a >> 3) + w[(i + 9) & 15] + (TURN(b, 17) ^ TURN(b, 19) ^ b >> 10);
        }
        uint t = s.s7 + (TURN(s.s4, 6) ^ TURN(s.s4, 11) ^ TURN(s.s4, 25)) + CHOOSE(s.s4, s.s5, s.s6) + keys[i & 7] + w[i & 15];
        uint u = (TURN(s.s0, 2) ^ TURN(s.s0, 13) ^ TURN(s.s0, 22)) + MAJORITY(s.s0, s.s1, s.s2);
        s.s7654 = s.s6543;
        s.s4 += t;
        s.s321 = s.s210;
        s.s0 = t + u;
    }
    vstore8(s, n, (__global uint*)out);
}
