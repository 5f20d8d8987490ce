// conformance: out=4 global=1 local=1 printed=1
// printf of integers of all lengths, floats, characters, strings, widths, precisions and flags.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global const int* ints = (__global const int*)(in + 1536);
    __global const long* longs = (__global const long*)(in + 3584);
    __global const uchar* bytes = in + 256;
    for (int i = 0; i < 8; i++) {
        printf("%d|%i|%u|%x|%X|%o\n", ints[i], ints[i], ints[i], ints[i], ints[i], ints[i]);
        printf("%ld|%lu|%lx|%5hd|%hhu|%hhd\n", longs[i], longs[i], longs[i], (short)ints[i], bytes[i], (char)bytes[i]);
        printf("[%8d] [%-8d] [%08d] [%+d] [% d] [%.6d] [%#x]\n", i, i, i, i, i, i, i + 1);
        printf("%f|%.2f|%10.3f|%-10.1f|%e|%.3E|%g\n", i * 0.5f, i * 0.25f, -i * 1.5f, i * 2.0f, i * 1000.0f, i * 0.001953125f, i * 0.5f);
    }
    printf("%c%c%c %s [%10s] [%-6s] %%\n", 'a', 66, '!', "text", "right", "left");
    *(__global int*)out = 1;
}
