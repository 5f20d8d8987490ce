// conformance: out=256 global=1 local=1
// Sizes and alignments of types, vec_step, offsets of members.
typedef struct { char a; long b; char c; int3 d; half e; } S;
typedef union { char16 a; double b[3]; } U;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global int* to = (__global int*)out;
    to[0] = sizeof(S);
    to[1] = sizeof(U);
    to[2] = (int)(size_t)&((S*)0)->d;
    to[3] = (int)(size_t)&((S*)0)->e;
    to[4] = __alignof__(S);
    to[5] = __alignof__(int3) + __alignof__(double) * 100;
    to[6] = vec_step(int3) + vec_step(char16) * 10 + vec_step(float) * 1000;
    to[7] = sizeof(bool) + sizeof(half) * 10 + sizeof(size_t) * 100 + sizeof(void*) * 1000 + sizeof(1L) * 10000 + sizeof('a') * 100000;
    to[8] = sizeof(uchar3[5]) + sizeof(S[2]);
}
