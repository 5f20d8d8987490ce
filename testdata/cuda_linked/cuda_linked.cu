// Looks keys up in a hash table with chained entries: the first entry of each bucket begins a
// list, whose entries lead to each other.
struct Entry {
    unsigned int key;
    int value;
    Entry *next;
};

__device__ Entry *first_with(Entry *from, unsigned int key)
{
    while (from != nullptr && from->key != key) {
        from = from->next;
    }
    return from;
}

__global__ void look_up(Entry *entries, int buckets, const unsigned int *keys, int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    Entry *found = first_with(&entries[keys[i] % buckets], keys[i]);
    values[i] = found ? found->value : -1;
}
