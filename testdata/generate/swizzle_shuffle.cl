// A shuffle by constants, and a vector made of parts of others.
kernel void swizzle_shuffle(global const short8 *v, global int *out) {
    int i = get_global_id(0);
    short8 s = v[i];
    short4 even = shuffle(s, (ushort4)(0, 2, 4, 6));
    short4 mixed = (short4)(even.hi, s.s7, s.s1);
    if (mixed.y == 444 && mixed.z == -444) // -> true covered
        out[i] = 1;
    else
        out[i] = mixed.w;
}
