// Records with padding, vectors, halves, flags, a union and arrays of structs: what is written of a suite is whole records.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct inner {
    uchar tag;
    short2 pair;
} inner;

typedef union word {
    uint whole;
    uchar bytes[4];
} word;

typedef struct record {
    char kind;
    float3 place;
    bool is_open;
    half level;
    inner parts[3];
    word bits;
    ushort last;
} record;

__kernel void visit(__global const record *records, __global int *out, int which, uint part) {
    int id = get_global_id(0);
    __global const record *r = &records[which + id];
    if (part > 2)
        return;
    if (r->kind == 7 && r->parts[part].pair.y > 1000) // -> true covered, false covered
        out[id] = 1;
    else if (r->is_open && r->bits.bytes[2] == 0x5a)
        out[id] = 2;
    else if (r->place.z > 2.5f && r->last == 777)
        out[id] = 3;
    else if (r->level > (half)8.0f)
        out[id] = 4;
}
