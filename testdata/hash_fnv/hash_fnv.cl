/* Hashes byte strings, one a work-item.
 *
 * The strings lie one after the other; offsets[i] is where string i begins and offsets[i + 1] where it ends. Fixture for:
 * a switch inside a loop with a default, 64-bit multiplication, uchar loads.
 */

#define FNV_PRIME 1099511628211UL
#define FNV_BASIS 14695981039346656037UL

#define MODE_FNV1 0
#define MODE_FNV1A 1
#define MODE_DJB2 2

__kernel void hash_fnv(__global const uchar *bytes, __global const uint *offsets, uint count, uint mode, uint bits,
                       __global ulong *hashes)
{
    uint gid = get_global_id(0);
    if (gid >= count)
        return;

    ulong hash = mode == MODE_DJB2 ? 5381UL : FNV_BASIS;
    for (uint i = offsets[gid]; i < offsets[gid + 1]; i++) {
        switch (mode) {
        case MODE_FNV1:
            hash *= FNV_PRIME;
            hash ^= bytes[i];
            break;
        case MODE_FNV1A:
            hash ^= bytes[i];
            hash *= FNV_PRIME;
            break;
        case MODE_DJB2:
            hash = (hash << 5) + hash + bytes[i];
            break;
        default:
            hash += bytes[i];
        }
    }

    if (bits < 64)
        hash = (hash >> bits) ^ (hash & ((1UL << bits) - 1));
    hashes[gid] = hash;
}
