// conformance: out=4096 global=256 local=64 values=uint
// A tagged union in an array in private memory, and in global memory.
typedef struct { int tag; union { int number; float real; struct { short low, high; } pair; } value; } Variant;

int weight(const Variant* v)
{
    switch (v->tag) {
    case 0: return v->value.number / 2;
    case 1: return (int)(v->value.real * 4.0f);
    case 2: return v->value.pair.low - v->value.pair.high;
    }
    return -1;
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global const short* shorts = (__global const short*)(in + 512);
    size_t g = get_global_id(0);
    Variant list[4];
    for (int i = 0; i < 4; i++) {
        list[i].tag = (g + i) & 3;
        if (list[i].tag == 0) list[i].value.number = shorts[g] * 1000;
        else if (list[i].tag == 1) list[i].value.real = shorts[g] * 0.25f;
        else { list[i].value.pair.low = shorts[g]; list[i].value.pair.high = shorts[255 - g]; }
    }
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum = sum * 3 + weight(&list[i]) % 1000;
    ((__global Variant*)out)[g] = list[g & 3];
    ((__global int*)out)[512 + g] = sum;
    ((__global int*)out)[768 + g] = sizeof(Variant);
}
