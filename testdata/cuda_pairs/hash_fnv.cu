// hash_fnv.cl in CUDA, each line in its place.





#define FNV_PRIME 1099511628211ULL
#define FNV_BASIS 14695981039346656037ULL

#define MODE_FNV1 0
#define MODE_FNV1A 1
#define MODE_DJB2 2

__global__ void hash_fnv(const unsigned char *bytes, const unsigned *offsets, unsigned count, unsigned mode,
                         unsigned bits, unsigned long long *hashes)
{
    unsigned gid = blockIdx.x * blockDim.x + threadIdx.x;
    if (gid >= count)
        return;

    unsigned long long hash = mode == MODE_DJB2 ? 5381ULL : FNV_BASIS;
    for (unsigned i = offsets[gid]; i < offsets[gid + 1]; i++) {
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
        hash = (hash >> bits) ^ (hash & ((1ULL << bits) - 1));
    hashes[gid] = hash;
}
