// Every other work-item stores the weight of its pair of particles.
// The right form of `testdata/check/race_same_field`.
typedef struct {
    int first;
    float weight;
} Pair;

kernel void weigh(global Pair *pairs, global const float *mass, int n) {
    int i = (int)get_global_id(0);
    if (i % 2 == 0 && i < n)
        pairs[i / 2].weight = mass[i] + (i + 1 < n ? mass[i + 1] : 0.0f);
}
