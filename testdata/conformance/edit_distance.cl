// conformance: out=1024 global=256 local=64
// The distance of two strings by rows in private memory.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const uchar *s = in + 256 + (g & 63), *t = in + 256 + (g >> 2);
    uchar row[17];
    int n = 8 + (int)(g & 7), m = 16;
    for (int j = 0; j <= m; j++)
        row[j] = (uchar)j;
    for (int i = 1; i <= n; i++) {
        uchar corner = row[0];
        row[0] = (uchar)i;
        for (int j = 1; j <= m; j++) {
            uchar cost = corner + (s[i] % 4 != t[j] % 4);
            corner = row[j];
            row[j] = min(min((uchar)(row[j] + 1), (uchar)(row[j - 1] + 1)), cost);
        }
    }
    ((__global int*)out)[g] = row[m];
}
