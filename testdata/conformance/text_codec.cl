// conformance: out=16384 global=256 local=64 values=uchar
// Bytes into characters by a table of program scope, and run-length coding, with byte stores of varying length.
constant char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const uchar* from = in + 256 + (g & 127);
    __global uchar* to = out + 64 * g;
    for (int i = 0; i < 5; i++, from += 3) {
        uint bits = from[0] << 16 | from[1] << 8 | from[2];
        for (int k = 0; k < 4; k++)
            *to++ = letters[bits >> (18 - 6 * k) & 63];
    }
    for (int i = 0; i < 12;) {
        int run = 1;
        while (i + run < 12 && from[i + run] % 3 == from[i] % 3)
            run++;
        if (run > 1) *to++ = (uchar)(128 + run);
        *to++ = from[i] % 3 + '0';
        i += run;
    }
    *to = 0;
}
