// The parameters begin at 0, but the code looks for them one further on.
// expect: memory-fault
typedef struct {
    float depth[3], width[3];
} pair_t;

kernel void attract(int count, global const int *types, global const float *x, global float *energies, pair_t pair) {
    const int i = get_global_id(0);
    if (i >= count)
        return;
    float energy = 0.0f;
    for (int j = 0; j < count; j++) {
        const int both = types[i] + types[j] + 1;
        const float apart = (x[j] - x[i]) / pair.width[both];
        energy += pair.depth[both] * exp(-apart * apart);
    }
    energies[i] = energy;
}
