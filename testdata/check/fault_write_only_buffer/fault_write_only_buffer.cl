// The host has made the sums for writing only, and the kernel adds to them. A part of the same memory is for both.
// expect: memory-fault
// finding A: write-only-read global sums
// finding B: write-only-read global sums
kernel void add(global const int *in, global int *sums, global int *rest) {
    size_t i = get_global_id(0);
    sums[i] += in[i]; // <- A
    rest[i] += in[i];
    if (i == 0)
        atomic_add(&sums[2], 1); // <- B
}
