// string_search.cl in CUDA, each line in its place.






__device__ unsigned char fold_case(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c + ('a' - 'A');
    return c;
}

__global__ void string_search(const unsigned char *text, unsigned text_len, const unsigned char *pattern,
                              unsigned pattern_len, int ignore_case, unsigned char *hit, unsigned *hits)
{
    unsigned start = blockIdx.x * blockDim.x + threadIdx.x;
    if (start >= text_len)
        return;

    hit[start] = 0;
    if (pattern_len == 0 || start + pattern_len > text_len)
        return;

    unsigned k = 0;
    while (k < pattern_len && text[start + k] != '\n') {
        unsigned char p = pattern[k];
        unsigned char t = text[start + k];
        if (p != '?') {
            if (ignore_case ? fold_case(p) != fold_case(t) : p != t)
                break;
        }
        k++;
    }

    if (k == pattern_len) {
        hit[start] = 1;
        atomicAdd(hits, 1);
    }
}
