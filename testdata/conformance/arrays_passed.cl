// conformance: out=1024 global=256 local=64
// Arrays passed to functions decay; sort of a private one.
void sort(short values[], int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && values[j - 1] > values[j]; j--) {
            short kept = values[j];
            values[j] = values[j - 1];
            values[j - 1] = kept;
        }
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    short own[9];
    for (int i = 0; i < 9; i++)
        own[i] = ((__global const short*)(in + 512))[(g * 7 + i * 11) & 255];
    sort(own, 9);
    sort(own + 2, 3);
    ((__global int*)out)[g] = own[g % 9] * 3 + own[4];
}
