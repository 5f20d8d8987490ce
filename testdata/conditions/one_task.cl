// A task: the kernel reads no id, so that several work-items would all do the same.
// expect: conditional a single work-item runs it
kernel void offsets(global const uint *lengths, global uint *starts, int n) {
    uint sum = 0;
    for (int i = 0; i < n; i++) {
        starts[i] = sum;
        sum += lengths[i];
    }
}
