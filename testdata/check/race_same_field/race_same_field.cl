// Particles of a pair write the same field of their pair.
// expect: racy
// finding A: data-race intra-group global pairs
typedef struct {
    int first;
    float weight;
} Pair;

kernel void weigh(global Pair *pairs, global const float *mass) {
    size_t i = get_global_id(0);
    pairs[i / 2].weight = mass[i]; // <- A
}
