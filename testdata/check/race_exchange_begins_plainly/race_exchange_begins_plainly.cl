// A loop with a compare-exchange, as it is written for want of an atomic on floats: it begins with a plain read.
// expect: racy
// finding A: data-race intra-group global largest
// finding B: data-race inter-group global largest
// cause A: mixed-atomic
// cause B: mixed-atomic
kernel void maximum(global const float *in, global float *largest) {
    float own = in[get_global_id(0)];
    volatile global uint *word = (volatile global uint *)largest;
    uint seen = *word; // <- A B
    while (own > as_float(seen)) {
        uint before = atomic_cmpxchg(word, seen, as_uint(own)); // <- A B
        if (before == seen)
            break;
        seen = before;
    }
}
