// conformance: out=1024 global=256 local=64 values=uint
// A cyclic redundancy check whose table the work-items build in local memory.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local uint table[256];
    size_t g = get_global_id(0), l = get_local_id(0);
    for (uint i = l; i < 256; i += 64) {
        uint c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint crc = ~0u;
    for (uint i = 0; i < 64 + g % 7; i++)
        crc = table[(crc ^ in[g * 16 + i]) & 255] ^ crc >> 8;
    ((__global uint*)out)[g] = ~crc;
}
