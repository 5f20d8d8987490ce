// conformance: out=2048 global=256 local=64
// Designated initialisers, compound literals, arrays sized by initialisers, strings, zeroed rests.
typedef struct { int a; int b[3]; struct { char c; short d; } in; } Deep;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    Deep x = { .b = { [1] = 5, 6 }, .in.d = -7, .a = (int)g };
    Deep y = { 1, { 2 }, { 3, 4 } };
    const int sizes[] = { 9, 8, 7, [6] = 1 };
    char word[] = "abcdef", padded[10] = "xy";
    Deep z = (Deep){ .a = 40, .in = { .c = 'z' } };
    Deep* p = g & 1 ? &x : &z;
    int3 v = { 1, 2, 3 };
    ((__global int*)out)[g] = p->a + p->b[1] * 3 + p->b[2] * 5 + p->in.c + p->in.d + y.b[0] + y.b[2] + y.in.d;
    ((__global int*)out)[256 + g] = sizes[g % 7] + sizeof(sizes) + word[g % 7] + padded[g % 10] * 256 + v.z;
}
