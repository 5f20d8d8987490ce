// conformance: out=256 global=1 local=1 printed=1
// printf in functions, loops and branches, with many arguments, with none.
int report(int n, float f)
{
    return n & 1 ? printf("odd %d %f\n", n, f) : printf("even\n");
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    for (int i = 0; i < 5; i++)
        report(i, i * 0.5f);
    printf("%d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    printf("%s: %lu, %5.1f; %s\n", "name", 0xFFFFFFFFFFFFFFFFUL, 2.5f, in[0] == in[0] ? "good" : "failed");
    printf("tab\t\"quoted\" \\ back\n");
    printf("no newline, ");
    printf("%d%%\n", 100);
    *(__global int*)out = 1;
}
